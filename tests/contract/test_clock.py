"""The Clock port: FakeClock and SystemClock."""

import asyncio
from datetime import timedelta

import pytest

from bot.kernel.clock import Clock
from bot.runtime.clock import SystemClock
from tests.support.clock import NOON, FakeClock


@pytest.fixture(params=[FakeClock, SystemClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    made: Clock = request.param()
    return made


async def test_time_is_in_utc_and_goes_on_and_never_back(clock: Clock) -> None:
    assert clock.now().utcoffset() == timedelta()
    moments = [clock.now() for _ in range(100)]
    assert moments == sorted(moments)

    await clock.sleep(0.02)

    # The wall clock and the timer need not agree to the last millisecond.
    assert clock.now() - moments[-1] >= timedelta(seconds=0.015)


@pytest.mark.parametrize("seconds", [0, 0.001])
async def test_other_tasks_run_while_one_sleeps(clock: Clock, seconds: float) -> None:
    turns: list[str] = []

    async def other() -> None:
        turns.append("other")

    task = asyncio.create_task(other())
    await clock.sleep(seconds)
    turns.append("sleeper")
    await task

    assert turns == ["other", "sleeper"]


async def test_a_sleeper_can_be_cancelled(clock: Clock) -> None:
    task = asyncio.create_task(clock.sleep(3600))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_fake_clock_moves_at_once_and_remembers_its_waits() -> None:
    fake = FakeClock()
    await fake.sleep(90)
    fake.advance(30)

    assert fake.now() == NOON + timedelta(minutes=2)
    assert fake.slept == [90]
