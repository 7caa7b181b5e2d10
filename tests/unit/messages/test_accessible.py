"""What people read who don't see blocks: in notifications, and with a screen reader."""

import re

from bot.blocks.blocks import text_of
from bot.blocks.message import Message
from bot.blocks.text import without_markup
from tests.support.every_message import REVIEWED
from tests.support.messages.rendering import render

WORD = re.compile(r"[\w.#@/:-]*\w")

NOT_SAID = {"and", "repository"}
"""What joins or labels a fact, which the text says in its own way."""

OF_REMINDERS = {"reminder", "group_reminder"}


def _words(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text)} - NOT_SAID


def test_the_text_of_a_message_says_each_fact_of_its_blocks() -> None:
    """Names, numbers, reasons, who and when."""
    left_out = {}
    for name, case in REVIEWED.items():
        message = render(case)
        if not isinstance(message, Message) or name in OF_REMINDERS:
            continue
        read = without_markup("\n".join(map(text_of, message.blocks)))
        missing = _words(read) - _words(message.text)
        if missing:
            left_out[name] = sorted(missing)
    assert left_out == {}
