"""The text of every event type and code, with full, little and no metadata."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from bot.blocks.message import Message
from bot.blocks.text import utc_time
from bot.feed.texts import event_posts
from bot.log.classification import EventKind, classify, kinds
from bot.log.preceding import with_preceding_events
from bot.merge_queue.event_records import EventDetails, EventRecord, FailedCheck
from bot.merge_queue.event_types import (
    DEQUEUE_CODES,
    LEAVE,
    MERGED,
    REMOVED_HERE,
    CodeClass,
    Turn,
    turn_of,
)
from bot.verdicts.texts.leaving import LEAVINGS, NO_STEP
from bot.verdicts.texts.verdict import said
from bot.verdicts.verdict import Facts, judge
from tests.documentation import DATE
from tests.support.clock import NOON
from tests.support.event_samples import ERAS, TYPES, checks_end_with, leave_with, sample_record
from tests.support.make import make_event_record, make_pull_request_record
from tests.support.snapshots import Snapshots

SEEN = make_pull_request_record()


CHECKS_START = "action.queue.checks_start"
CHECKS_END = "action.queue.checks_end"
LEAVE_BY_REASON = make_event_record(LEAVE, event_id=5, merged=False)
ASKED = make_event_record("command.dequeue", actor="bob")


def aborted(
    code: str | None, *, status: str | None = None, is_aborted: bool | None = True
) -> EventRecord:
    return make_event_record(CHECKS_END, code=code, abort_status=status, aborted=is_aborted)


@pytest.mark.parametrize("event_type", TYPES)
def test_an_events_text_is_as_reviewed_and_without_internal_names(
    event_type: str, snapshots: Snapshots
) -> None:
    shown: dict[str, Message] = {
        era: event_posts.event(sample_record(event_type, era), SEEN) for era in ERAS
    }
    snapshots.check_all(event_type, shown)
    for message in shown.values():
        assert event_type not in message.text
        assert "_" not in DATE.sub(r"\1", message.text)


@pytest.mark.parametrize("code", sorted(DEQUEUE_CODES))
def test_a_codes_text_is_as_reviewed_and_says_who_acts(code: str, snapshots: Snapshots) -> None:
    shown: dict[str, Message] = {}
    for era in ERAS[:2]:
        shown[f"leave {era}"] = event_posts.event(leave_with(code, era), SEEN)
        if not code.startswith("PR_MERGED"):
            shown[f"checks end {era}"] = event_posts.event(checks_end_with(code, era), SEEN)
    snapshots.check_all(code, shown)

    turn = turn_of(code)
    next_step = LEAVINGS[code].next_step
    assert (NO_STEP in next_step) == (turn is Turn.NOBODY)
    assert ("administrator" in next_step) == (turn is Turn.ADMINISTRATOR)
    assert code not in shown["leave full"].text


def test_every_snapshot_is_of_a_type_or_a_code(snapshots: Snapshots) -> None:
    snapshots.check_names([*TYPES, *DEQUEUE_CODES])
    assert LEAVINGS.keys() == DEQUEUE_CODES.keys()


@pytest.mark.parametrize(
    "code",
    sorted(
        code
        for code, code_class in DEQUEUE_CODES.items()
        if code_class not in {CodeClass.MERGED, CodeClass.REQUEUED}
    ),
)
def test_an_early_leave_is_reported_with_the_code_of_its_checks(code: str) -> None:
    ended = checks_end_with(code, "seed")
    leave = replace(leave_with(code, "seed"), event_id=9, received_at=NOON + timedelta(seconds=2))

    reported = with_preceding_events(leave, [ended, leave])

    assert kinds([leave], [ended, leave])[9] is classify(leave_with(code))
    text = event_posts.event(reported, SEEN).text
    assert said(judge(Facts(leave_with(code)))).cause in text or LEAVINGS[code].cause in text


@pytest.mark.parametrize("code", ["PR_MANUALLY_DEQUEUED", None])
def test_the_commands_event_names_the_person_who_removed_it(code: str | None) -> None:
    """Without a code too: an early removal is not a failure."""
    leave = make_event_record(LEAVE, event_id=5, code=code, merged=False)

    reported = event_posts.event(with_preceding_events(leave, [ASKED, leave]), SEEN).text

    assert kinds([leave], [ASKED, leave])[5] is EventKind.DEQUEUE
    assert reported.startswith("Removed from the queue #41 Add search")
    assert "Removed by @bob" in reported


@pytest.mark.parametrize("code", ["PR_MANUALLY_DEQUEUED", None])
def test_checks_that_start_after_a_removal_do_not_hide_who_asked_for_it(code: str | None) -> None:
    """The service takes a while to carry out a removal; a command before them led to nothing."""
    started = make_event_record(CHECKS_START, event_id=2)
    leave = make_event_record(LEAVE, event_id=5, code=code, merged=False)
    removed = make_event_record(REMOVED_HERE, event_id=0, actor="alice")

    assert with_preceding_events(leave, [removed, started, leave]).details.actor == "alice"
    assert with_preceding_events(leave, [ASKED, started, leave]) == leave


def test_only_events_that_explain_a_leave_are_a_reason_for_it() -> None:
    leave = LEAVE_BY_REASON
    entered = make_event_record(event_id=2)
    of_others = make_event_record("command.dequeue", event_id=4, pull_request=42, actor="eve")
    later = make_event_record("command.dequeue", event_id=9, actor="eve")
    assert with_preceding_events(leave, [ASKED, entered, of_others, leave, later]) == leave

    put_back = aborted("BATCH_AHEAD_FAILED", status="REEMBARKED")
    assert with_preceding_events(leave, [put_back, leave]) == leave
    restarted = make_event_record(CHECKS_START, event_id=2)
    assert with_preceding_events(leave, [aborted("CHECKS_FAILED"), restarted, leave]) == leave

    timeout = aborted("CHECKS_TIMEOUT")
    for explained in (
        make_event_record(MERGED, event_id=5),
        make_event_record(LEAVE, event_id=5, merged=False, code="CHECKS_FAILED"),
    ):
        assert with_preceding_events(explained, [timeout, explained]) is explained


@pytest.mark.parametrize("code", ["CHECKS_FAILED", "A_NEW_CODE", None])
def test_a_requeue_never_needs_action(code: str | None) -> None:
    text = event_posts.event(aborted(code, status="REEMBARKED"), SEEN).text

    assert text.startswith("Put back #41")
    assert text.splitlines()[0].endswith("No action needed.")


@pytest.mark.parametrize("is_aborted", [True, None])
def test_checks_without_a_status_are_retried_where_their_code_says_so(
    *, is_aborted: bool | None
) -> None:
    ended = aborted("BATCH_AHEAD_FAILED", is_aborted=is_aborted)

    assert "Put back #41 Add search: a batch ahead failed. No action needed." in (
        event_posts.event(ended, SEEN).text
    )
    assert kinds([LEAVE_BY_REASON], [ended, LEAVE_BY_REASON])[5] is EventKind.FAILURE


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (
            {"culprit_pr_numbers": [42, 43], "dropped_unverified_pr_numbers": [43]},
            "#42 broke the batch; #43 dropped by elimination, never tested alone; #41 continues",
        ),
        (
            {"culprit_pr_numbers": [42, 43], "dropped_unverified_pr_numbers": [42, 43]},
            "#42, #43 dropped by elimination, never tested alone; #41 continues",
        ),
        ({"culprit_pr_numbers": [42, 43]}, "#42, #43 broke the batch; #41 continues"),
        ({"culprit_found": False, "culprit_pr_numbers": []}, "no culprit was found"),
    ],
)
def test_only_a_pull_request_tested_alone_is_blamed_for_a_broken_batch(
    numbers: dict[str, JsonValue], said: str
) -> None:
    ended = sample_record(
        "action.queue.batch_bisection_end", "full", **{"remaining_pr_numbers": [41], **numbers}
    )

    text = event_posts.event(ended, SEEN).text.replace("Bisection ended ", "Bisection ended: ")
    assert f"Bisection ended: {said}\n" in text


def _local(day: int, hour: int, minute: int = 0) -> str:
    return utc_time(datetime(2026, 7, day, hour, minute, tzinfo=UTC))


def _frozen(times: Mapping[str, JsonValue]) -> EventRecord:
    freeze = {"reason": "release week", "timezone": "Europe/Paris", **times}
    return sample_record("scheduled_freeze.create", "full", scheduled_freeze_attributes=freeze)


IN_PARIS = " (2026-07-21 08:00 to 2026-07-22 18:30 Europe/Paris)"


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (
            {"start": "2026-07-21T08:00:00", "end": "2026-07-22T18:30:00"},
            f"release week · from {_local(21, 6)} until {_local(22, 16, 30)}{IN_PARIS}\nby Ana",
        ),
        (
            {"start": "2026-07-21T08:00:00", "end": None},
            f"release week · from {_local(21, 6)} (2026-07-21 08:00 Europe/Paris), no end given",
        ),
        ({"end": "2026-07-22T18:30:00"}, f"release week · until {_local(22, 16, 30)}"),
        (
            # As the local service sends it: by another clock than that of the freeze's zone.
            {"start": "2026-07-21T06:00:00Z", "end": "2026-07-22T16:30:00+00:00"},
            f"release week · from {_local(21, 6)} until {_local(22, 16, 30)}{IN_PARIS}\nby Ana",
        ),
        (
            {"start": "2026-07-21T06:00:00Z", "timezone": "Mars/Olympus"},
            f"release week · from {_local(21, 6)}, no end given\nby Ana",
        ),
        ({"start": "next <week>"}, "release week · from next &lt;week&gt; Europe/Paris"),
        ({}, "release week\nby Ana"),
    ],
)
def test_a_freeze_is_reported_in_the_readers_time(times: dict[str, JsonValue], said: str) -> None:
    assert said in event_posts.event(_frozen(times), None).text


def test_a_changed_freeze_says_what_is_new() -> None:
    freeze: dict[str, JsonValue] = {"reason": "release", "start": "2026-07-21T06:00:00"}
    later = {**freeze, "start": "2026-07-21T07:00:00", "exclude_conditions": ["label=hotfix"]}
    terms = {
        "scheduled_freeze_attributes_before": freeze,
        "scheduled_freeze_attributes_after": later,
    }
    record = sample_record("scheduled_freeze.update", "full", **terms)

    assert event_posts.event(record, None).text == (
        f"Planned freeze changed acme/site: now from {_local(21, 7)}, no end given "
        f"(was from {_local(21, 6)}, no end given) · now except label=hotfix "
        "(was no exceptions)\nby Ana (acme/site)"
    )


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("2026-07-20T10:00:00Z", "Queue frozen"),
        ("2026-07-21T10:00:00Z", "Freeze planned"),
        ("soon", "Freeze planned"),
    ],
)
def test_an_active_freeze_is_not_called_planned(start: str, said: str) -> None:
    text = event_posts.event(_frozen({"start": start}), None).text
    assert text.startswith(f"{said} acme/site: release week")


def test_all_failing_checks_are_counted() -> None:
    failing = [{"name": f"check {number}", "state": "failure"} for number in range(9)]
    leave = sample_record("action.queue.leave", "full", unsuccessful_checks=failing)
    silent = sample_record(
        "action.queue.leave", "full", dequeue_code=None, checks=[], unsuccessful_checks=[]
    )
    ended = sample_record(
        "action.queue.checks_end",
        "full",
        speculative_check_pull_request={"unsuccessful_checks": failing},
    )
    left_later = replace(silent, event_id=9, received_at=NOON + timedelta(seconds=2))

    for reported in (leave, ended, with_preceding_events(left_later, [ended, left_later])):
        assert "and 6 more" in str(event_posts.event(reported, SEEN).blocks)
    own_checks = replace(left_later, details=EventDetails(checks=(FailedCheck(name="lint"),)))
    posted_alone = with_preceding_events(own_checks, [ended, own_checks])
    assert "more" not in str(event_posts.event(posted_alone, SEEN).blocks)
