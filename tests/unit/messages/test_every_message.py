"""Every function that makes a message or view is covered by the other tests."""

import importlib
import inspect
import pkgutil
import sys
from types import CodeType, FrameType

import pytest

import bot.messages
from bot.domain import errors
from bot.domain.errors import MergeQueueError, UserError
from tests.support.every_message import EVERY, every_message
from tests.support.messages.rendering import render

SHOWN_AFTER_ALL_ELSE = {"without_controls"}
"""What takes a finished message and makes another of it."""


class Calls:
    """Which functions are called."""

    def __init__(self) -> None:
        self.seen: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self.seen.add(frame.f_code)


def shown_by() -> dict[str, CodeType]:
    """The functions of `bot.messages` that give a message or a view, by their names."""
    found: dict[str, CodeType] = {}
    for each in pkgutil.walk_packages(bot.messages.__path__, f"{bot.messages.__name__}."):
        module = importlib.import_module(each.name)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            given = str(inspect.signature(function).return_annotation)
            is_shown = "Message" in given or "View" in given
            if is_shown and function.__module__ == each.name and name not in SHOWN_AFTER_ALL_ELSE:
                found[f"{each.name}.{name}"] = function.__code__
    return found


def test_every_function_that_makes_a_message_is_called() -> None:
    calls = Calls()
    before = sys.getprofile()
    sys.setprofile(calls)
    try:
        for case in EVERY.values():
            render(case)
    finally:
        sys.setprofile(before)
    functions = shown_by()
    assert len(functions) > 50
    assert [name for name, code in sorted(functions.items()) if code not in calls.seen] == []


def leaves(of: type[Exception]) -> set[str]:
    below = of.__subclasses__()
    return set().union(*map(leaves, below)) if below else {of.__name__}


def test_every_error_shown_to_people_is_included() -> None:
    shown = {type(each).__name__ for case in EVERY.values() for each in case.args}
    reported = leaves(UserError) | leaves(MergeQueueError)
    assert {one for one in reported if hasattr(errors, one)} - shown == set()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("&" * 3000, ""),
        ("&" * 3000, "&" * 95),
        ("x" * 3000, "z" * 550),
        ("x" * 3000, "z" * 3000),
        ("<!channel> " * 300, "z" * 550),
    ],
)
def test_messages_fit_for_any_length_of_outside_text(text: str, path: str) -> None:
    rendered = every_message(lambda: text, lambda: f"https://code.example/{path}", many=8)
    assert len(rendered) > 300
