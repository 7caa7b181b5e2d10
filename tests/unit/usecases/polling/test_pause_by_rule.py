"""The rule pauses a queue once for the same failures, and never against a person."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.audit import Action, ActResult, AuditRecord, Evidence, Origin
from bot.domain.auto_pause import AUTO_PAUSE, AutoPause
from bot.domain.configured import Policies, Policy
from bot.domain.errors import MergeQueueUnavailable, PermissionDenied, SecondPersonNeeded
from bot.domain.pause_records import PauseRecord
from bot.domain.permissions import Listed, Right
from tests.support.desk import Desk, World
from tests.support.make import BOB, CHANNEL, SITE
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

MINUTES = 60
NOBODY = Listed(frozenset({"U0NOBODY"}), frozenset())
RULE = Policy(
    who_may={Right.PAUSE: NOBODY},
    alert_mention="S0ONCALL",
    auto_pause=AutoPause(3, timedelta(minutes=20)),
    second_person=True,
)
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
    return list(await desk.acts.store.run(lambda transaction: transaction.audit.since(SITE, since)))


def ended(desk: Desk) -> None:
    """The pause ended by itself, as on the dashboard."""
    desk.world.service.resumed_by("carol")


async def test_it_pauses_for_its_time_with_the_evidence_whoever_may_pause() -> None:
    desk = await watched()
    desk.world.fails(1, 2)
    await desk.turns(12)
    assert in_force(desk) is None
    desk.world.fails(3)
    await desk.turns(12)
    assert in_force(desk) == REASON
    started, done = await audit(desk)
    assert (started.result, done.result) == (ActResult.STARTED, ActResult.DONE)
    assert (done.action, done.origin, done.actor) == (Action.PAUSE, Origin.RULE, AUTO_PAUSE)
    assert done.evidence == Evidence("unit tests", "main", (1, 2, 3), "S0ONCALL")
    (pause,) = desk.world.pauses()
    assert pause.resumes_at == started.at + timedelta(minutes=20)
    (card,) = desk.world.shown()
    assert "<!subteam^S0ONCALL>" in card
    assert "Failed: #1, #2, #3" in card


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


async def test_a_pause_on_record_keeps_the_service_from_being_asked() -> None:
    desk = await watched()
    with begin(InMemoryStore(desk.world.database)) as transaction:
        transaction.pauses.save(PauseRecord(SITE, desk.world.clock.now(), "x", "x"))
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
    assert [one.result for one in await audit(desk)] == [ActResult.STARTED, ActResult.DONE]


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
    desk = await watched(replace(RULE, who_may=dict.fromkeys(Right, NOBODY)))
    desk.world.fails(1, 2, 3)
    await desk.turns(12)
    with pytest.raises(PermissionDenied):
        await desk.resume(BOB)
    desk.world.policy = RULE
    with pytest.raises(SecondPersonNeeded):
        await Desk(desk.world, "two").resume(BOB)
