"""A late edit by a process that hung doesn't stay on the card."""

from tests.support.desk import Desk, World
from tests.support.disturbances import Disturbance
from tests.support.make import BOB, CHANNEL

HUNG_SECONDS = 45
"""Longer than the lease of edits."""


async def test_a_card_is_correct_after_an_edit_was_sent_too_late() -> None:
    world = World()
    hung = Desk(world, "hung")
    other = Desk(world, "other")
    await hung.subscribe(CHANNEL)
    await hung.turns(2)
    await hung.pause()
    await hung.turns(3)

    async def meanwhile() -> None:
        await other.resume(BOB)
        await other.turns(HUNG_SECONDS)
        assert world.shown()[0].startswith("acme/site was paused")

    world.enqueue(1, 2)
    hung.steps.arm(Disturbance("freeze", 1, meanwhile, place="edit"))
    await hung.turns(70)
    assert hung.steps.disturbance is None
    await other.settles(30)

    assert world.shown()[0].startswith("acme/site was paused")
