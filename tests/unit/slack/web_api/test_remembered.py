"""Memory of Slack's answers is bounded, in number and in age."""

import pytest

from bot.slack.web_api import remembered
from bot.slack.web_api.remembered import REMEMBERED, Bounded, Remembered
from tests.support.clock import FakeClock


async def test_an_answer_is_as_old_as_its_question_and_the_oldest_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remembered, "REMEMBERED_MOST", 2)
    clock, asked = FakeClock(), list[str]()

    async def ask(key: str) -> str:
        asked.append(key)
        clock.advance(10)
        return key

    answers = Remembered(ask, clock)
    await answers.get("U1")
    clock.advance(REMEMBERED.total_seconds() - 11)
    await answers.get("U1")
    assert asked == ["U1"]
    clock.advance(1)
    for user in ("U1", "U2", "U3", "U2", "U1"):
        await answers.get(user)
    assert asked == ["U1", "U1", "U2", "U3", "U1"]


def test_setting_renews_an_entry() -> None:
    kept = Bounded[str, int](2)
    kept["a"], kept["b"] = 1, 2
    kept["a"] = 3
    kept["c"] = 4
    assert kept == {"a": 3, "c": 4}
