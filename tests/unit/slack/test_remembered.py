"""Memory of Slack's answers is bounded."""

from bot.slack.remembered import REMEMBERED_MOST, Remembered
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
