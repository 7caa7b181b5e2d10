"""A crash or a failure at any step, and processes beside each other: one pause by rule, or none."""

from datetime import timedelta
from typing import Literal

import pytest

from bot.acts.record import ActResult
from bot.kernel.configured import Policy
from bot.pauses.by_rule import AutoPause, PauseRules
from tests.support.desk import Desk, World
from tests.support.disturbances import Disturbance
from tests.support.make import CHANNEL, SITE

STEPS = range(1, 91)
POLICY = Policy([PauseRules(auto_pause=AutoPause(3, timedelta(minutes=20)))])
SETTLED_SECONDS = 90


async def lived(struck: Disturbance) -> World:
    """Three fail while the process is struck, and another takes over beside it."""
    world = World(policy=POLICY)
    desk = Desk(world)
    await desk.subscribe(CHANNEL)
    await desk.turns(2)
    desk.steps.arm(struck)
    world.fails(1, 2, 3)
    await desk.turns_unless_struck(14)
    desk.steps.arm(None)
    other = Desk(world, "another")
    for _ in range(SETTLED_SECONDS // 5):
        await desk.turns_unless_struck(1)
        await other.turns_unless_struck(1, seconds=4)
    return world


@pytest.mark.parametrize("kind", ["crash", "store fails"])
@pytest.mark.steps(STEPS, 12)
async def test_it_pauses_once_or_not_at_all(at: int, kind: Literal["crash", "store fails"]) -> None:
    world = await lived(Disturbance(kind, at))
    begun = [
        act for act in world.database.contents.audit.values() if act.result is ActResult.STARTED
    ]
    assert len(begun) == 1
    asked = [call for call in world.service.calls if call.method == "pause"]
    assert len(asked) <= 1
    if not asked:
        assert world.pauses() == [] == world.shown()
        return
    (pause,) = world.pauses()
    assert pause.resumes_at == begun[0].at + timedelta(minutes=20)
    assert SITE in world.service.pauses
    (card,) = world.shown()
    assert card.startswith("acme/site is paused · unit tests failed in a row")
