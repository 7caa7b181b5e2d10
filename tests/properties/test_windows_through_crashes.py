"""A crash or a failure at any step, and processes beside each other: one freeze or pause each."""

from contextlib import suppress
from datetime import timedelta
from typing import Literal
from zoneinfo import ZoneInfo

import pytest

from bot.freezes.applying_windows import ApplyWindows
from bot.freezes.freezing import FreezeQueue
from bot.freezes.windows import RecurringWindow, WindowRules
from bot.kernel.configured import Policy
from bot.kernel.cron import next_start
from bot.kernel.errors import BotError
from bot.merge_queue.errors import FreezesNotOffered
from tests.support.desk import Desk, World
from tests.support.disturbances import Crash, Disturbance
from tests.support.make import CHANNEL, SITE, make_configured

Kind = Literal["crash", "store fails"]
MINUTE = 60


class NoFreezes(World):
    """A service that has none."""

    def fail_freezes(self) -> None:
        self.service.fail_next(FreezesNotOffered(404, "no such endpoint"), method="freezes")


def applying(desk: Desk) -> ApplyWindows:
    """A window that begins ten minutes from the beginning of the test, every day."""
    at = desk.world.clock.now() + timedelta(minutes=10)
    window = RecurringWindow(
        name="night",
        repositories=[SITE],
        starts=f"{at.minute} {at.hour} * * *",
        lasts=timedelta(hours=2),
        zone=ZoneInfo("UTC"),
        reason="No merges at night",
        announced=timedelta(minutes=5),
    )
    configured = make_configured(policy=Policy([WindowRules([window])]))
    freezing = FreezeQueue(desk.pausing.merge_queue, desk.pausing.acts)
    return ApplyWindows(desk.pausing, freezing, configured, next_start)


async def lived(world: World, struck: Disturbance) -> None:
    """The window comes while the process is struck, and another takes over beside it."""
    desk = Desk(world)
    other = Desk(world, "another")
    windows = [applying(desk), applying(other)]
    await desk.subscribe(CHANNEL)
    desk.steps.arm(struck)
    for minute in range(30):
        for window in windows if minute > 15 else windows[:1]:
            if isinstance(world, NoFreezes):
                world.fail_freezes()
            with suppress(BotError, Crash):
                await window.run()
        await other.turns_unless_struck(1, seconds=MINUTE)


@pytest.mark.parametrize("kind", ["crash", "store fails"])
@pytest.mark.steps(range(1, 31), 8)
async def test_an_occurrence_is_frozen_once(at: int, kind: Kind) -> None:
    world = World()
    await lived(world, Disturbance(kind, at))
    (freeze,) = world.service.all_freezes[SITE]
    assert freeze.reason == "No merges at night (by window night via mqbot)"


@pytest.mark.parametrize("kind", ["crash", "store fails"])
@pytest.mark.steps(range(1, 61), 12)
async def test_without_freezes_it_is_paused_once_and_announced_at_most_once(
    at: int, kind: Kind
) -> None:
    world = NoFreezes()
    await lived(world, Disturbance(kind, at))
    assert len([call for call in world.service.calls if call.method == "pause"]) == 1
    (pause,) = world.pauses()
    assert pause.is_open
    assert len([text for text in world.shown() if "Pause planned" in text]) <= 1
