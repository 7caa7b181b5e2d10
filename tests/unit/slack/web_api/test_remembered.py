"""Memory of Slack's answers is bounded, in number and in age."""

from bot.slack.web_api.remembered import REMEMBERED, REMEMBERED_MOST, Remembered
from tests.support.clock import FakeClock


async def test_the_oldest_answer_is_given_up_past_the_most() -> None:
    asked: list[str] = []

    async def ask(key: str) -> str:
        asked.append(key)
        return key

    remembered = Remembered(ask, FakeClock())
    for number in range(REMEMBERED_MOST + 1):
        await remembered.get(str(number))
    await remembered.get(str(REMEMBERED_MOST))
    assert len(asked) == REMEMBERED_MOST + 1
    await remembered.get("0")
    assert asked[-1] == "0"
    assert len(asked) == REMEMBERED_MOST + 2


async def test_nothing_older_than_a_minute_is_used_and_nothing_of_the_future() -> None:
    clock = FakeClock()
    asked: list[str] = []

    async def ask(key: str) -> str:
        asked.append(key)
        clock.advance(10)
        return key

    remembered = Remembered(ask, clock)
    await remembered.get("U1")
    clock.advance(REMEMBERED.total_seconds() - 11)
    await remembered.get("U1")
    assert len(asked) == 1
    clock.advance(1)
    await remembered.get("U1")
    assert len(asked) == 2
    clock.advance(-3600)
    await remembered.get("U1")
    assert len(asked) == 3
