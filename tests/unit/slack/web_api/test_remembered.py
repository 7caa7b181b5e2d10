"""Memory of Slack's answers is bounded, in number and in age."""

from bot.slack.web_api.remembered import REMEMBERED, REMEMBERED_MOST, Bounded, Remembered
from tests.support.clock import FakeClock


async def test_the_oldest_entry_is_dropped_at_the_limit() -> None:
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


async def test_entries_expire_after_a_minute_and_future_ones_are_ignored() -> None:
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


def test_the_oldest_entry_is_dropped_and_setting_renews_an_entry() -> None:
    kept = Bounded[str, int](2)
    kept["a"], kept["b"] = 1, 2
    kept["a"] = 3
    kept["c"] = 4
    assert kept == {"a": 3, "c": 4}
