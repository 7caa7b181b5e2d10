"""The rule pauses a queue once for the same failures on one check, never against a person."""

from datetime import timedelta

import pytest
from pydantic import JsonValue

from bot.acts.errors import PermissionDenied, SecondPersonNeeded
from bot.acts.permission import Listed, Right, RightRules
from bot.acts.record import ActResult, AuditRecord, Evidence
from bot.acts.rows import Audit
from bot.health.alert import AlertRules
from bot.kernel.configured import Policies, Policy
from bot.log.classification import classify
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.event_records import EventRecord
from bot.pauses.by_rule import AutoPause, PauseRules, failures_count_from, failures_in_a_row
from bot.pauses.pause import PauseEnd, PauseLine, PauseRecord
from bot.pauses.rows import Pauses
from tests.support.clock import NOON
from tests.support.desk import Desk, World
from tests.support.make import BOB, CHANNEL, SITE, make_event
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

MINUTES = 60
NOBODY = Listed(frozenset({"U0NOBODY"}), frozenset())
PAUSE_RULES = PauseRules(second_person=True, auto_pause=AutoPause(3, timedelta(minutes=20)))
ALERT_RULES = AlertRules(mention="S0ONCALL")
RULE = Policy([RightRules({Right.PAUSE: NOBODY}), ALERT_RULES, PAUSE_RULES])
REASON = "unit tests failed in a row for #1, #2, #3 on main (by auto-pause via mqbot)"


async def watched(policy: Policy = RULE) -> Desk:
    desk = Desk(World(policy=policy))
    await desk.subscribe(CHANNEL)
    await desk.turns(2)
    return desk


async def after(desk: Desk, minutes: float) -> None:
    desk.world.clock.advance(minutes * MINUTES)
    await desk.turns(12)


def in_force(desk: Desk) -> str | None:
    pause = desk.world.service.pauses.get(SITE)
    return pause.reason if pause is not None else None


async def audit(desk: Desk) -> list[AuditRecord]:
    since = desk.world.clock.now() - timedelta(days=1)
    return list(
        await desk.acts.store.run(lambda transaction: Audit(transaction).since(SITE, since))
    )


def ended(desk: Desk) -> None:
    """The pause ended by itself, as on the dashboard."""
    desk.world.service.resumed_by("carol")


async def test_a_policy_that_is_reloaded_counts_from_then_on() -> None:
    desk = await watched(Policy())
    desk.acts.check.configured.policies = Policies(RULE)
    await desk.turns(12)
    desk.world.fails(1, 2, 3)
    await desk.turns(12)
    assert in_force(desk) == REASON
    desk.world.service.resumed_by("carol")
    desk.acts.check.configured.policies = Policies()
    await after(desk, 61)
    desk.world.fails(4, 5, 6)
    await desk.turns(12)
    assert in_force(desk) is None


async def test_failures_before_the_end_of_a_pause_do_not_count_again() -> None:
    desk = await watched()
    desk.world.fails(1, 2, 3)
    await desk.turns(12)
    ended(desk)
    await after(desk, 50)
    desk.world.fails(4, 5)
    await after(desk, 12)
    assert in_force(desk) is None
    assert len(desk.world.pauses()) == 1
    desk.world.fails(6)
    await desk.turns(12)
    assert "#4, #5, #6" in (in_force(desk) or "")


async def test_it_pauses_at_most_once_an_hour() -> None:
    desk = await watched()
    desk.world.fails(1, 2, 3)
    await desk.turns(12)
    ended(desk)
    await after(desk, 20)
    desk.world.fails(4, 5, 6)
    await desk.turns(12)
    assert in_force(desk) is None
    await after(desk, 40)
    desk.world.fails(7)
    await desk.turns(12)
    assert "#4, #5, #6, #7" in (in_force(desk) or "")


async def test_a_pause_that_only_the_service_knows_stays_as_it_is() -> None:
    desk = await watched()
    desk.world.is_silent = True
    desk.world.service.paused_by("carol", "Night")
    desk.world.is_silent = False
    desk.world.fails(1, 2, 3)
    await desk.turns(12)
    assert in_force(desk) == "Night"
    assert await audit(desk) == []


async def test_a_pause_stays_as_it_is_while_the_bot_still_believes_that_it_ended() -> None:
    desk = await watched()
    desk.polls.observe = None
    desk.world.is_silent = True
    night = desk.world.service.paused_by("carol", "Night")
    desk.world.is_silent = False
    ended_at = desk.world.clock.now()
    over = PauseRecord(SITE, PauseLine(night.paused_at, "Night", "Night"), end=PauseEnd(ended_at))
    with begin(InMemoryStore(desk.world.database)) as transaction:
        Pauses(transaction).save(over)

    desk.world.clock.advance(1)
    desk.world.fails(1, 2, 3)
    await desk.turns(12)

    assert in_force(desk) == "Night"
    assert await audit(desk) == []


async def test_a_pause_on_record_keeps_the_service_from_being_asked() -> None:
    desk = await watched()
    with begin(InMemoryStore(desk.world.database)) as transaction:
        Pauses(transaction).save(PauseRecord(SITE, PauseLine(desk.world.clock.now(), "x", "x")))
    asked = len(desk.world.service.called("current_pause"))
    desk.polls.observe = None
    desk.world.fails(1, 2, 3)
    await desk.turns(12)
    assert len(desk.world.service.called("current_pause")) == asked
    assert in_force(desk) is None


async def test_it_tries_again_when_the_service_does_not_say_whether_it_is_paused() -> None:
    desk = await watched()
    desk.polls.observe = None
    desk.world.service.fail_next(MergeQueueUnavailable("down"), method="current_pause")
    desk.world.fails(1, 2, 3)
    await desk.turns(9)
    await desk.turns(12)
    assert in_force(desk) == REASON
    assert [act.result for act in await audit(desk)] == [ActResult.STARTED, ActResult.DONE]


async def test_two_processes_pause_once() -> None:
    desk = await watched()
    other = Desk(desk.world, "two")
    desk.world.fails(1, 2, 3)
    for _ in range(12):
        await other.turns()
        await desk.turns()
    assert in_force(desk) == REASON
    assert len(await audit(desk)) == 2
    assert len(desk.world.pauses()) == 1


async def test_resuming_it_needs_the_right_and_a_second_person_as_ever() -> None:
    rights = RightRules(dict.fromkeys(Right, NOBODY))
    desk = await watched(Policy([rights, ALERT_RULES, PAUSE_RULES]))
    desk.world.fails(1, 2, 3)
    await desk.turns(12)
    with pytest.raises(PermissionDenied):
        await desk.resume(BOB)
    desk.world.policy = RULE
    with pytest.raises(SecondPersonNeeded):
        await Desk(desk.world, "two").resume(BOB)


THREE = AutoPause(3, timedelta(minutes=20))
LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"
CHECKS_END = "action.queue.checks_end"


def left(
    number: int,
    *checks: str,
    code: str | None = "CHECKS_FAILED",
    state: str | None = None,
    trigger: str = "merge queue internal",
    **more: JsonValue,
) -> EventRecord:
    failed = [{"name": check, "state": state} for check in checks]
    metadata = {"merged": False, "dequeue_code": code, "unsuccessful_checks": failed, **more}
    return make_event(0, LEAVE, pull_request=number, trigger=trigger, metadata=metadata)


REQUIRES_TYPES: JsonValue = {"label": "check-success=types", "match": False}
"""Conditions of a queue that requires no other check."""


def merged(number: int, branch: str = "main") -> EventRecord:
    return make_event(0, MERGED, pull_request=number, base_ref=branch)


def passed(number: int, conclusion: str = "success", code: str | None = None) -> EventRecord:
    """In a freeze it doesn't merge."""
    checked = {"checks_conclusion": conclusion}
    metadata = {
        "aborted": code is not None,
        "abort_code": code,
        "speculative_check_pull_request": checked,
    }
    return make_event(0, CHECKS_END, pull_request=number, metadata=metadata)


def found(*events: EventRecord, minutes: float = 0) -> Evidence | None:
    judged = [(event, classify(event)) for event in events]
    return failures_in_a_row(judged, THREE, NOON + timedelta(minutes=minutes))


ROW = (left(1, "unit"), left(2, "unit"), left(3, "unit"))


@pytest.mark.parametrize(
    "events",
    [
        ROW,
        (left(1, "lint", "unit"), left(2, "unit", "e2e"), left(3, "e2e", "unit")),
        (merged(9), *ROW),
        (left(8, "lint"), *ROW),
        (ROW[0], merged(9, "release"), *ROW[1:]),
        (ROW[0], passed(9, "failure"), *ROW[1:]),
        (ROW[0], passed(9, "cancelled", "PR_AHEAD_DEQUEUED"), *ROW[1:]),
        (ROW[0], left(4, code="CONFLICT_WITH_BASE_BRANCH"), *ROW[1:]),
        (ROW[0], left(4, code="PR_MANUALLY_DEQUEUED"), *ROW[1:]),
        (ROW[0], left(4, "unit", code="DROPPED_BY_BISECTION_ELIMINATION"), *ROW[1:]),
        (ROW[0], left(1, "unit"), *ROW[1:]),
        (left(1, "unit", code=None), left(2, "unit", code="CHECKS_TIMEOUT"), ROW[2]),
        [left(n, "unit", code="CHECKS_TIMEOUT", state="pending") for n in (1, 2, 3)],
        [left(n, "unit", code=None, state="failure") for n in (1, 2, 3)],
    ],
)
def test_three_pull_requests_on_one_check_are_a_row(events: tuple[EventRecord, ...]) -> None:
    assert found(*events) == Evidence("unit", "main", (1, 2, 3))


@pytest.mark.parametrize(
    "events",
    [
        ROW[:2],
        (*ROW, merged(9)),
        (ROW[0], passed(9), *ROW[1:]),
        (*ROW[:2], left(3, "lint")),
        (left(1, "unit", "lint"), left(2, "lint", "e2e"), left(3, "e2e", "unit")),
        (ROW[0], left(2), *ROW[2:]),
        (*ROW[:2], left(2, "unit")),
        (*ROW[:2], make_event(0, LEAVE, pull_request=3)),
        (*ROW[:2], left(3, "unit", code="BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS")),
        [left(n, "unit", batch_id="7a5c") for n in (1, 2, 3)],
        (*ROW[:2], make_event(0, LEAVE, pull_request=3, base_ref="release", metadata={})),
        [left(n, "unit", code=None, state="pending") for n in (1, 2, 3)],
        [left(n, "unit", code=None, state="cancelled") for n in (1, 2, 3)],
        [left(n, "unit", state="pending") for n in (1, 2, 3)],
        [left(n, "docs", conditions_evaluation=REQUIRES_TYPES) for n in (1, 2, 3)],
        [left(n, "unit", code=None, trigger="Rule: no drafts") for n in (1, 2, 3)],
        (),
    ],
)
def test_anything_less_is_none(events: tuple[EventRecord, ...]) -> None:
    assert found(*events) is None


def test_a_row_that_ended_long_ago_is_no_reason() -> None:
    assert found(*ROW, minutes=10) is not None
    assert found(*ROW, minutes=11) is None


def test_the_whole_row_is_shown_with_the_check_of_all() -> None:
    row = found(left(7, "unit", "lint"), *ROW)
    assert row == Evidence("unit", "main", (7, 1, 2, 3))


def test_failures_count_from_the_end_of_the_last_pause_by_the_later_clock() -> None:
    ended = NOON - timedelta(hours=1)
    pause = PauseRecord(SITE, PauseLine(ended, "x", "x"), end=PauseEnd(ended), pause_id=1)
    assert failures_count_from([pause], NOON) == ended
    ahead = timedelta(minutes=5)
    assert failures_count_from([pause], NOON, ahead) == ended + ahead
    assert failures_count_from([pause], NOON, -ahead) == ended
    assert failures_count_from([], NOON) == NOON - timedelta(hours=6)
