"""A pause that a rule decided on is tried until it works, and its channels read that it doesn't."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.kernel.configured import Policy
from bot.kernel.errors import InvalidRequest, MergeQueueError, MergeQueueRefused
from bot.merge_queue.errors import CredentialRefused, MergeQueueUnavailable
from bot.pauses.by_rule import AutoPause, PauseRules
from bot.store.coordination import Leases
from tests.support.desk import Desk, World
from tests.support.disturbances import Disturbance
from tests.support.make import BOB, CHANNEL, SITE
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

POLICY = Policy([PauseRules(auto_pause=AutoPause(failures=3, length=timedelta(minutes=20)))])
ERRORS = [
    MergeQueueUnavailable("slow down", status=429, retry_after=1),
    MergeQueueUnavailable("down", status=500),
    MergeQueueUnavailable("down", status=503),
    MergeQueueUnavailable("no answer"),
    CredentialRefused(403, "not allowed"),
    MergeQueueRefused(409, "conflict"),
    InvalidRequest(422, "not now"),
]
by_status = pytest.mark.parametrize(
    "error", ERRORS, ids=lambda one: str(getattr(one, "status", None))
)
by_request = pytest.mark.parametrize("method", ["pause", "current_pause"])


async def failing() -> Desk:
    """Three pull requests fail on one check."""
    desk = Desk(World(policy=POLICY))
    await desk.subscribe(CHANNEL)
    await desk.turns(2)
    desk.world.fails(71, 72, 73)
    return desk


def tries(desk: Desk) -> int:
    return len(desk.world.service.called("pause"))


def warnings(desk: Desk) -> list[str]:
    return [text for text in desk.world.shown() if "should be paused" in text]


@by_status
@by_request
async def test_one_failed_request_is_repeated_at_once(error: MergeQueueError, method: str) -> None:
    desk = await failing()
    desk.world.service.fail_next(error, method=method)
    await desk.turns_unless_struck(25)
    assert SITE in desk.world.service.pauses
    assert any(text.startswith("acme/site is paused") for text in desk.world.shown())
    assert warnings(desk) == []


@by_status
async def test_while_it_does_not_work_channels_read_so_and_it_asks_ever_more_slowly(
    error: MergeQueueError,
) -> None:
    desk = await failing()
    for _ in range(60):
        desk.world.service.forget_failures()
        desk.world.service.fail_next(error, method="pause")
        await desk.turns(1, seconds=5)
    (warning,) = warnings(desk)
    assert "acme/site" in warning
    assert "#71, #72, #73" in warning
    assert 5 <= tries(desk) <= 12
    assert SITE not in desk.world.service.pauses
    desk.world.service.forget_failures()
    await desk.turns(30, seconds=10)
    assert SITE in desk.world.service.pauses
    assert any(text.startswith("acme/site is paused") for text in desk.world.shown())
    assert len(warnings(desk)) == 1


async def test_channels_read_so_though_somebody_acts_on_the_queue_at_the_second_try() -> None:
    desk = await failing()
    desk.acts.locks = replace(desk.acts.locks, patience=timedelta())
    desk.world.service.fail_next(MergeQueueUnavailable("down", status=500), method="pause")
    while not tries(desk):
        await desk.turns(1)
    with begin(InMemoryStore(desk.world.database)) as transaction:
        now = desk.world.clock.now()
        soon = timedelta(seconds=20)
        assert Leases(transaction).claim(f"act:{SITE}", holder="two", now=now, lifetime=soon)
    await desk.turns(20)
    assert tries(desk) == 1
    for _ in range(40):
        desk.world.service.forget_failures()
        desk.world.service.fail_next(MergeQueueUnavailable("down", status=500), method="pause")
        await desk.turns(1, seconds=5)
    assert len(warnings(desk)) == 1


async def test_a_pause_that_happened_is_the_only_one_of_its_hour() -> None:
    desk = await failing()
    desk.world.service.fail_next(MergeQueueUnavailable("lost"), method="pause", after=True)
    await desk.turns_unless_struck(25)
    assert SITE in desk.world.service.pauses
    assert tries(desk) == 1
    await desk.resume(BOB)
    await desk.turns(3)
    desk.world.fails(74, 75, 76)
    await desk.turns(30, seconds=10)
    assert SITE not in desk.world.service.pauses
    assert tries(desk) == 1


@pytest.mark.parametrize("place", ["acting committed", "ask"])
@pytest.mark.parametrize("at", range(1, 8))
async def test_a_kill_before_the_request_is_carried_out_costs_no_hour(place: str, at: int) -> None:
    desk = await failing()
    desk.steps.arm(Disturbance("crash", at, place=place))
    await desk.turns_unless_struck(5)
    other = Desk(desk.world, "another")
    await other.turns_unless_struck(60)
    assert SITE in desk.world.service.pauses
    assert tries(desk) == 1
