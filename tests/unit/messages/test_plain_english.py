"""Texts for people use the everyday words: a queue is paused and resumed, people are notified."""

import re
from collections.abc import Iterator

from bot.domain.message import Message, View
from tests.support.every_message import EVERY
from tests.support.messages.rendering import render

BANNED = re.compile(
    r"\b(hears?|heard|goes? on|lifts?|lifted|unpaused|told|tells|looks? after|mends?|whoever"
    r"|at once|kept true|waited for no|it is tried)\b",
    re.IGNORECASE,
)
"""Words that the first edition used with a meaning of its own, or as a translation does."""

NOT_READ = {"action_id", "block_id", "callback_id", "private_metadata", "type", "url", "value"}


def test_no_message_uses_a_banned_word() -> None:
    found = {
        (name, match[0], text)
        for name, case in EVERY.items()
        for text in _texts(_read(render(case)))
        if (match := BANNED.search(text))
    }
    assert found == set()


def _read(shown: Message | View) -> object:
    return shown.view if isinstance(shown, View) else [shown.text, list(shown.blocks)]


def _texts(part: object) -> Iterator[str]:
    """Everything in a block that a person reads."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for name, value in part.items():
            if name not in NOT_READ:
                yield from _texts(value)
    elif isinstance(part, (list, tuple)):
        for value in part:
            yield from _texts(value)
