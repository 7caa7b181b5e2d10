"""An act whose answer was lost is finished by the event log, whatever was done with a freeze."""

from contextlib import suppress
from datetime import timedelta

import pytest

from bot.acts.asked import Asked
from bot.acts.record import Action, ActResult
from bot.freezes.freezing import FreezeQueue
from bot.kernel.actor import Caller, Origin
from bot.kernel.durations import For
from bot.kernel.errors import BotError
from bot.merge_queue.errors import MergeQueueUnavailable
from tests.support.desk import Desk, World
from tests.support.disturbances import Crash, Disturbance
from tests.support.make import ALICE, CHANNEL, SITE

CALLER = Caller(ALICE, Origin.COMMAND, CHANNEL)
LOST = MergeQueueUnavailable("the connection broke")


def freezing(desk: Desk) -> FreezeQueue:
    return FreezeQueue(desk.pausing.merge_queue, desk.acts)


async def freeze(desk: Desk) -> None:
    asked = Asked(reason="Release", lasting=For(timedelta(hours=2)))
    await freezing(desk).freeze(CALLER, SITE, asked)


async def unfreeze(desk: Desk) -> None:
    await freezing(desk).unfreeze(CALLER, SITE, "Released")


async def allow(desk: Desk) -> None:
    await freezing(desk).allow(CALLER, SITE, 41, "urgent fix")


async def extend(desk: Desk) -> None:
    (frozen,) = await freezing(desk).freezes(SITE)
    await freezing(desk).change_end(
        CALLER, SITE, For(timedelta(hours=1)), freeze_id=frozen.listed_id
    )


@pytest.mark.parametrize("is_killed", [True, False])
@pytest.mark.parametrize(
    ("act", "action", "method"),
    [
        (freeze, Action.FREEZE, "create_freeze"),
        (unfreeze, Action.UNFREEZE, "delete_freeze"),
        (allow, Action.ALLOW, "change_freeze"),
        (extend, Action.CHANGE_FREEZE, "change_freeze"),
    ],
)
async def test_it_is_done_once_in_the_audit(
    act: object, action: Action, method: str, *, is_killed: bool
) -> None:
    assert callable(act)
    desk = Desk(World())
    await desk.subscribe(CHANNEL, topics=("pause", "freeze"))
    await desk.turns(2)
    if act is not freeze:
        await freeze(desk)
        await desk.turns(3)
    if is_killed:
        desk.steps.arm(Disturbance("crash", 1, place=f"{method} answered"))
    else:
        desk.world.service.fail_next(LOST, method=method, after=True)
    with suppress(BotError, Crash):
        await act(desk)
    other = Desk(desk.world, "another")
    await other.turns(24, seconds=5)
    acts = [one for one in desk.world.database.contents.audit.values() if one.action is action]
    assert [one.result for one in acts].count(ActResult.DONE) == 1
    assert [one.result for one in acts].count(ActResult.STARTED) == 1


async def test_the_channel_of_a_freeze_that_was_cut_off_has_its_card() -> None:
    """Also where nobody subscribed to freezes: its person waits for the answer there."""
    desk = Desk(World())
    await desk.turns(2)
    desk.steps.arm(Disturbance("crash", 1, place="create_freeze answered"))
    with suppress(Crash):
        await freeze(desk)
    await Desk(desk.world, "another").turns(24, seconds=5)
    (card,) = desk.world.shown()
    assert "Release" in card
    assert "alice" in card
