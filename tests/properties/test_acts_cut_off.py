"""A person's action is interrupted at any step, as when the process stops: it is posted once."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import pytest
from typing_extensions import override

from bot.acts.record import ActResult
from bot.kernel.actor import Caller, Origin
from bot.kernel.durations import For
from bot.kernel.errors import BotError
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.pauses.history import know_pause
from bot.pauses.outcomes import OtherPause, PauseChange
from bot.pauses.pause import drawn_line
from tests.support.desk import Desk, World
from tests.support.disturbances import Disturbance, Steps
from tests.support.make import ALICE, BOB, CHANNEL, SITE
from tests.support.steps import tried

OTHER = "C0OTHER"
SETTLED_SECONDS = 90
"""Longer than leases, claims and the time in which an act counts as under way."""


@pytest.fixture
def cuts(request: pytest.FixtureRequest) -> range:
    """At more steps than an act takes."""
    return tried(range(1, 41), 6, request.config)


@dataclass
class Cutting(Steps):
    """Cancels `act` at its step `at`: before that is done, or as soon as it waits again."""

    act: asyncio.Task[object] | None = None
    at: int = 0
    is_before: bool = True

    def cut(self, act: asyncio.Task[object], at: int, *, is_before: bool) -> None:
        self.act = act
        self.at = at
        self.is_before = is_before

    @override
    async def step(self, place: str) -> None:
        if asyncio.current_task() is self.act and self.act is not None:
            self.at -= 1
            if self.at == 0:
                self.act.cancel()
                if not self.is_before:
                    return
        await super().step(place)


async def begun(desk: Desk) -> None:
    await desk.subscribe(CHANNEL, OTHER)
    await desk.turns(2)


async def cut_off(desk: Desk, act: asyncio.Task[object], at: int, *, is_before: bool) -> bool:
    """Whether it was interrupted; then another process takes over and resumes the rest."""
    assert isinstance(desk.steps, Cutting)
    desk.steps.cut(act, at, is_before=is_before)
    with suppress(asyncio.CancelledError, BotError):
        await act
    other = Desk(desk.world, "another")
    await other.settles(SETTLED_SECONDS)
    if SITE in desk.world.service.pauses:
        await other.resume(BOB)
        await other.settles(SETTLED_SECONDS)
    return act.cancelled()


def kinds(world: World, channel: str) -> list[str]:
    return [re.split(r" · |\n", text)[0] for text in world.shown(channel)]


@pytest.mark.parametrize("is_before", [True, False])
async def test_an_interrupted_pause_is_reported_once_or_did_not_happen(
    cuts: range, *, is_before: bool
) -> None:
    cut = made = 0
    for at in cuts:
        desk = Desk(World(), steps=Cutting())
        await begun(desk)
        pausing = asyncio.create_task(desk.pause())
        cut += await cut_off(desk, pausing, at, is_before=is_before)
        if not desk.world.pauses():
            assert desk.world.shown(CHANNEL) == desk.world.shown(OTHER) == []
            continue
        made += 1
        for channel in (CHANNEL, OTHER):
            assert kinds(desk.world, channel) == [
                "acme/site was paused",
                "acme/site has resumed",
            ], at
    assert 0 < cut < len(cuts)
    assert 0 < made < len(cuts)


@pytest.mark.parametrize("is_before", [True, False])
async def test_an_interrupted_resume_is_reported_once(cuts: range, *, is_before: bool) -> None:
    cut = 0
    for at in cuts:
        desk = Desk(World(), steps=Cutting())
        await begun(desk)
        await desk.pause()
        await desk.turns(3)
        lifting = asyncio.create_task(desk.resume(BOB))
        cut += await cut_off(desk, lifting, at, is_before=is_before)
        for channel in (CHANNEL, OTHER):
            assert kinds(desk.world, channel) == [
                "acme/site was paused",
                "acme/site has resumed",
            ], at
    assert 0 < cut < len(cuts)


@pytest.mark.parametrize("is_silent", [False, True])
@pytest.mark.parametrize("looks_fail", [False, True])
async def test_an_interrupted_timed_pause_has_its_end_and_its_owner(
    cuts: range, *, is_silent: bool, looks_fail: bool
) -> None:
    """Also where the event log tells of it before the service says what pause is in force."""
    made = 0
    for at in cuts:
        desk = Desk(World(is_silent=is_silent), steps=Cutting())
        await begun(desk)
        assert isinstance(desk.steps, Cutting)
        pausing = asyncio.create_task(desk.pause(lasting=For(timedelta(minutes=45))))
        desk.steps.cut(pausing, at, is_before=False)
        with suppress(asyncio.CancelledError, BotError):
            await pausing
        service = desk.world.service
        if SITE not in service.pauses:
            continue
        made += 1
        other = Desk(desk.world, "another")
        # As the processes that live do with the leases of one that is silent.
        await desk.polls.release()
        for _ in range(2 if looks_fail else 0):
            service.fail_next(MergeQueueUnavailable("away"), method="current_pause")
        await other.turns(45)

        known = await know_pause(other.acts.store, SITE, service.pauses[SITE])
        assert known is not None
        assert known.line.by == ALICE, at
        assert known.resumes_at is not None, at
    assert made


async def test_an_interrupted_replacement_has_its_end(cuts: range) -> None:
    """The service says of it what it said of the pause before, but for the reason."""
    made = 0
    for at in cuts:
        desk = Desk(World(is_silent=True, keeps_time=True), steps=Cutting())
        await desk.pause()
        await desk.turns(3)
        service = desk.world.service
        desk.world.clock.advance(60)
        assert isinstance(desk.steps, Cutting)
        hour = For(timedelta(hours=1))
        pausing = desk.pause("deploying", replacing=service.pauses[SITE], lasting=hour)
        replacing = asyncio.create_task(pausing)
        desk.steps.cut(replacing, at, is_before=False)
        with suppress(asyncio.CancelledError, BotError):
            await replacing
        if not service.pauses[SITE].reason.startswith("deploying"):
            continue
        made += 1
        other = Desk(desk.world, "another")
        await desk.polls.release()
        await other.turns(15)
        known = await know_pause(other.acts.store, SITE, service.pauses[SITE])
        assert known.resumes_at is not None, at
        if not replacing.cancelled():
            break
    assert made


@pytest.mark.steps(range(1, 25), 4)
@pytest.mark.parametrize(
    ("origin", "advances", "jumps"),
    [(Origin.BUTTON, 4, 0), (Origin.TIMER, 4, 0), (Origin.BUTTON, 0, 4), (Origin.BUTTON, 4, -4)],
    ids=["button", "timer", "machine sleeps", "clock is set back"],
)
async def test_a_process_that_hangs_while_resuming_leaves_other_peoples_pauses_alone(
    at: int, origin: Origin, advances: float, jumps: float
) -> None:
    """Or a database that does: for some seconds, between any two steps.

    The monotonic clock does not count a machine's sleep, and the one on the wall may be set.
    """
    desk = Desk(World())
    await desk.pause()
    ours = desk.world.service.pauses[SITE]
    desk.world.clock.advance(60)
    done_before: list[bool] = []

    async def carol_replaces_it() -> None:
        done_before.append(SITE not in desk.world.service.pauses)
        desk.world.clock.advance(advances)
        desk.world.clock.jump(jumps)
        desk.world.service.resumed_by("carol")
        desk.world.service.paused_by("carol", "Database migration")

    desk.steps.arm(Disturbance("freeze", at, carol_replaces_it, short=True))
    caller = Caller(ALICE, origin, CHANNEL)
    outcome = await desk.resuming.run(
        caller, SITE, expected=drawn_line(ours.paused_at, ours.reason)
    )

    if not done_before:
        assert isinstance(outcome, PauseChange)
        return
    assert desk.world.service.pauses[SITE].reason == "Database migration", at
    assert isinstance(outcome, PauseChange) == done_before[0]
    if isinstance(outcome, OtherPause):
        audit = desk.world.database.contents.audit
        record = audit[outcome.record_id]
        assert record.previous.reason == "Database migration"
        assert all(
            any(end.act_id == act.record_id for end in audit.values())
            for act in audit.values()
            if act.result is ActResult.STARTED
        )
