"""What people read about groups and the audit, compared with the JSON files in `snapshots/`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.audit import Action, Actor, ActResult, AuditPage, AuditSelection, Origin
from bot.domain.group_acts import GroupOutcome, RepositoryResult
from bot.domain.groups import ALL, Group, Repositories
from bot.domain.message import Message, View
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.repository import RepositoryName
from bot.messages import actions, audit, blocks, group_acts, groups, pause_form, reminders, timers
from bot.messages.group_acts import Ends
from tests.support.clock import NOON
from tests.support.group_messages import PLACE, make_group_act
from tests.support.make import (
    API,
    BOB,
    SITE,
    make_act,
    make_batch,
    make_known_pause,
    make_queued,
    make_snapshot,
    make_status,
)
from tests.support.snapshots import Snapshots

DOCS = RepositoryName("acme/docs")
RELEASE = Group("release", (SITE, API, DOCS))
BUSY = make_snapshot(
    make_status(
        make_batch(make_queued(41), estimated_merge_at=NOON + timedelta(minutes=6)),
        waiting=[make_queued(42), make_queued(43)],
    )
)
PAUSED = make_snapshot(repository=API, pause=make_known_pause(actor=BOB))
RESULTS = (
    RepositoryResult(SITE, GroupOutcome.CHANGED),
    RepositoryResult(API, GroupOutcome.ALREADY_PAUSED, who="bob"),
    RepositoryResult(DOCS, GroupOutcome.FAILED, detail="409 conflict: the queue changed"),
)
RESTORED = (
    RepositoryResult(SITE, GroupOutcome.CHANGED),
    RepositoryResult(API, GroupOutcome.NOT_OURS, who="bob"),
    RepositoryResult(DOCS, GroupOutcome.REPLACED),
)
RESUMED = make_group_act(*RESTORED, action=Action.RESUME, actor=BOB)
EXTENDED = replace(
    make_group_act(
        RESULTS[0], RepositoryResult(API, GroupOutcome.REPLACED), action=Action.EXTEND, actor=BOB
    ),
    resumes_at=NOON + timedelta(hours=1),
)

MESSAGES: Mapping[str, Callable[[], Message | View]] = {
    "group_confirm": lambda: groups.confirm(RELEASE, "freeze for 4.2", [BUSY, PAUSED, DOCS]),
    "group_confirm_unread": lambda: groups.confirm(RELEASE, "freeze for 4.2", [SITE, API, DOCS]),
    "group_confirm_all": lambda: groups.confirm(Group(ALL, (SITE,)), "CI is down", [BUSY]),
    "group_progress": lambda: group_acts.progress("release", Action.PAUSE, 12, 50),
    "group_progress_resume": lambda: group_acts.progress(ALL, Action.RESUME, 0, 2),
    "group_paused": lambda: group_acts.act(make_group_act(*RESULTS)),
    "group_paused_for_a_while": lambda: group_acts.act(
        make_group_act(RESULTS[0], asked="1h30m freeze for 4.2")
    ),
    "group_paused_until": lambda: group_acts.act(
        make_group_act(RESULTS[0], asked="until 15:00 freeze for 4.2")
    ),
    "group_confirm_for_a_while": lambda: groups.confirm(
        RELEASE, "30m freeze", [BUSY], NOON + timedelta(minutes=30)
    ),
    "group_confirm_in_doubt": lambda: groups.confirm(RELEASE, "CI down 30m", [BUSY]),
    "group_paused_answer": lambda: group_acts.answer(make_group_act(*RESULTS), posted_here=True),
    "group_resume_done": lambda: group_acts.act(RESUMED),
    "group_going_on": lambda: group_acts.act(
        replace(make_group_act(*RESULTS), results=RESULTS[:2], ended_at=None)
    ),
    "group_cut_short": lambda: group_acts.answer(
        replace(
            make_group_act(RESULTS[0], RepositoryResult(API, GroupOutcome.NOT_TRIED)),
            ended_at=NOON + timedelta(minutes=2),
        ),
        posted_here=False,
    ),
    "group_snoozed": lambda: reminders.snoozed(SITE, NOON, "release"),
    "group_since_then": lambda: group_acts.since_then("release", RESUMED),
    "group_since_then_unknown": lambda: group_acts.since_then("release", None),
    "group_card": lambda: group_acts.card(make_group_act(*RESULTS), [SITE]),
    "group_card_of_two": lambda: group_acts.card(
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)), [API]
    ),
    "group_card_paused_anew": lambda: group_acts.card(
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)),
        [SITE],
        again_paused=[PauseRecord(API, NOON, "Night", "Night", by=Who("carol"))],
    ),
    "group_card_over_and_paused_anew": lambda: group_acts.card(
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)),
        [],
        again_paused=[PauseRecord(API, NOON, "Night", "Night")],
    ),
    "group_card_overdue": lambda: group_acts.card(
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API), asked="30m freeze"),
        [SITE, API],
        Ends((NOON + timedelta(minutes=30),) * 2, 2, overdue=1),
    ),
    "group_card_that_is_over": lambda: group_acts.card(
        make_group_act(*RESULTS, asked="30m freeze for 4.2"), []
    ),
    "group_lifted_by_its_timers": lambda: group_acts.act(
        replace(RESUMED, origin=Origin.TIMER, resumes_at=NOON - timedelta(minutes=25))
    ),
    "group_reminder": lambda: reminders.of_group(
        make_group_act(*RESULTS),
        [
            PauseRecord(SITE, NOON, "freeze", "freeze", queued_at_start=2, queued_now=5),
            PauseRecord(API, NOON, "freeze", "freeze", queued_at_start=1, queued_now=4),
        ],
        NOON + timedelta(minutes=30),
    ),
    "group_card_that_lifts_itself": lambda: group_acts.card(
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API), asked="30m freeze"),
        [SITE, API],
        Ends((NOON + timedelta(minutes=30),) * 2, 2),
    ),
    "group_card_of_which_one_lifts_itself": lambda: group_acts.card(
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)),
        [SITE, API],
        Ends((NOON + timedelta(minutes=30),), 2),
    ),
    "group_card_with_ends_apart": lambda: group_acts.card(
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)),
        [SITE, API],
        Ends((NOON + timedelta(minutes=30), NOON + timedelta(minutes=90)), 2),
    ),
    "group_extended": lambda: group_acts.act(EXTENDED),
    "group_extended_in_part": lambda: group_acts.act(
        replace(EXTENDED, results=(*EXTENDED.results, RESULTS[2]))
    ),
    "group_extended_since_then": lambda: group_acts.since_then("release", EXTENDED),
    "group_nothing_held": lambda: group_acts.nothing_held("release"),
    "group_will_tell": lambda: group_acts.will_notify("release", is_new=True),
    "group_asked_already": lambda: group_acts.will_notify("release", is_new=False),
    "group_resumed": lambda: group_acts.resumed(
        make_group_act(*RESULTS),
        PauseRecord(
            SITE,
            NOON,
            "freeze",
            "freeze",
            ended_by=Who("bob"),
            ended_at=NOON + timedelta(minutes=42),
            ending=PauseEnding.RESUMED,
        ),
    ),
    "group_status_unread": lambda: groups.status(RELEASE, [SITE, API, DOCS]),
    "group_status": lambda: groups.status(RELEASE, [BUSY, PAUSED, DOCS]),
    "audit": lambda: audit.audit(
        AuditPage(
            AuditSelection(None, NOON - timedelta(days=7)),
            [
                replace(make_act(), answer="200", group="release", group_act_id=3),
                replace(
                    make_act(Action.RESUME, actor=BOB, previous_reason="Night"),
                    origin=Origin.BUTTON,
                    answer="204",
                ),
                replace(make_act(Action.SUBSCRIBE), setting_before="", setting_after="enter merge"),
                replace(
                    make_act(result=ActResult.REFUSED),
                    origin=Origin.MODAL,
                    detail="pause: not_listed",
                ),
                replace(
                    make_act(result=ActResult.FAILED), answer="no answer: the connection was lost"
                ),
                make_act(result=ActResult.STARTED),
            ],
            has_newer=True,
            has_older=True,
        )
    ),
    "audit_of_nothing": lambda: audit.audit(
        AuditPage(AuditSelection(SITE), [], has_newer=False, has_older=False)
    ),
    "group_form": lambda: pause_form.form(
        [RELEASE, *RELEASE.repositories],
        chosen=RELEASE,
        channel_id="C1",
        notes=groups.notes(RELEASE, "/mq", [BUSY, PAUSED, DOCS]),
        end="30m",
    ),
    "group_form_while_reading": lambda: pause_form.form(
        [RELEASE, *RELEASE.repositories],
        chosen=RELEASE,
        channel_id=None,
        notes=groups.notes(RELEASE, "/mq"),
    ),
    "group_extend_form": lambda: timers.extend_form("@release", "@release", "C1"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_the_message_is_as_reviewed(name: str, snapshots: Snapshots) -> None:
    snapshots.check(name, MESSAGES[name]())


def test_button_values_survive_a_round_trip() -> None:
    known = Repositories((SITE,))
    target = actions.GroupTarget("release", 'freeze "for" 4.2 é', 7)
    assert actions.read_value(actions.GroupTarget, actions.value_of(target), known) == target
    assert len(actions.value_of(replace(target, asked="é" * 255))) <= blocks.VALUE_LIMIT
    for selection in (AuditSelection(), AuditSelection(SITE, NOON)):
        edge = actions.AuditTarget(selection, PLACE)
        assert actions.read_value(actions.AuditTarget, actions.value_of(edge), known) == edge


def test_the_counts_match_the_table() -> None:
    many = [RepositoryResult(RepositoryName(f"acme/r{n}"), GroupOutcome.CHANGED) for n in range(48)]
    done = make_group_act(*many, *RESULTS[1:], actor=Actor("U1", "alice"))
    assert group_acts.summary(done) == ["48 paused", "1 already paused by bob", "1 failed"]
    assert "@release: 48 of 50 queues paused" in group_acts.act(done).text


def test_every_snapshot_is_of_a_message(snapshots: Snapshots) -> None:
    snapshots.check_names(MESSAGES)


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("result", ActResult)
@pytest.mark.parametrize("origin", Origin)
def test_every_kind_of_record_has_words(action: Action, result: ActResult, origin: Origin) -> None:
    record = replace(make_act(action, result), origin=origin)
    reported = audit.audit(AuditPage(AuditSelection(), [record], has_newer=False, has_older=False))
    assert "alice" in reported.text
