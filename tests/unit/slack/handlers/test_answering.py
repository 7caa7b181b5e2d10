"""What becomes of the questions that a command answers, if the command fails."""

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from bot.acts.errors import QueueBusy
from bot.desk.meant import ask_again, take_questions
from bot.desk.question import Asker, Question
from bot.desk.registry import Call
from bot.store.errors import StoreUnavailable
from tests.support.stored import NOW, SITE

ASKER = Asker("U0ADA", "C0GENERAL")
QUESTION = Question(ASKER, "pause", "pause 1h")


class GoneStore:
    """A database that goes away after the questions were taken."""

    async def read(self, _: Callable[..., Any]) -> dict[Question, None]:
        return {QUESTION: None}

    async def run(self, body: Callable[..., Any], *_: object) -> dict[Question, None]:
        if body is ask_again:
            raise StoreUnavailable("its disk is full")
        assert body is take_questions
        return {QUESTION: None}


async def test_the_commands_own_failure_is_said_although_its_question_cannot_be_opened_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bot = SimpleNamespace(
        sources=SimpleNamespace(store=GoneStore()), clock=SimpleNamespace(now=lambda: NOW)
    )
    call: Any = SimpleNamespace(bot=bot, asker=ASKER, pressed_ts="")
    with caplog.at_level(logging.WARNING), pytest.raises(QueueBusy):
        async with Call.answering(call, "pause"):
            raise QueueBusy(SITE)
    assert [record.__dict__["action"] for record in caplog.records] == ["question_not_reopened"]
