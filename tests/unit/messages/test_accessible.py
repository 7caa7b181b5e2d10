"""What people read who don't see blocks: in notifications, and with a screen reader."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from bot.blocks.blocks import text_of
from bot.blocks.message import Message, View
from bot.blocks.text import without_markup
from tests.support.every_message import REVIEWED
from tests.support.messages.rendering import render

WORD = re.compile(r"[\w.#@/:-]*\w")

NOT_SAID = {"and", "repository"}
"""What joins or labels a fact, which the text says in its own way."""


def _words(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text)} - NOT_SAID


def test_the_text_of_a_message_says_each_fact_of_its_blocks() -> None:
    """Names, numbers, reasons, who and when."""
    left_out = {}
    for name, case in REVIEWED.items():
        message = render(case)
        if not isinstance(message, Message):
            continue
        read = without_markup("\n".join(map(text_of, message.blocks)))
        missing = _words(read) - _words(message.text)
        if missing:
            left_out[name] = sorted(missing)
    assert left_out == {}


SAYS_NOTHING = {"yes", "no", "ok", "submit", "more", "here", "click here", "confirm", "go"}
"""What a person who hears only the label of a button can't act on."""


def _buttons(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        if part.get("type") == "button":
            yield part
        for inner in part.values():
            yield from _buttons(inner)
    elif isinstance(part, (list, tuple)):
        for inner in part:
            yield from _buttons(inner)


def _heard(button: dict[str, Any]) -> str:
    return str(button.get("accessibility_label") or button["text"]["text"])


def _shown(name: str) -> Any:
    shown = render(REVIEWED[name])
    return shown.view["blocks"] if isinstance(shown, View) else shown.blocks


@pytest.mark.parametrize("name", sorted(REVIEWED))
def test_the_label_of_a_button_says_alone_what_it_does(name: str) -> None:
    does = defaultdict(set)
    for button in _buttons(_shown(name)):
        heard = _heard(button)
        assert heard.strip("….!?").casefold() not in SAYS_NOTHING
        assert button["text"]["text"].strip("….") in heard, "the label is a part of what is heard"
        does[heard].add((button["action_id"], button["value"]))
        question = button.get("confirm")
        if question is not None:
            assert question["confirm"]["text"].casefold() not in SAYS_NOTHING
    assert {heard: some for heard, some in does.items() if len(some) > 1} == {}


MOST_ANSWERS = 4
QUESTIONS = ("which-", "stop-which", "pause-in-doubt", "freeze-in-doubt", "pause-confirm", "remove")


@pytest.mark.parametrize("name", [name for name in sorted(REVIEWED) if name.startswith(QUESTIONS)])
def test_a_question_has_at_most_four_answers(name: str) -> None:
    assert len(list(_buttons(_shown(name)))) <= MOST_ANSWERS
