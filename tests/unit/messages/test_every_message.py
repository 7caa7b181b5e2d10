"""Every message as people see it: reviewed as snapshots, in plain English, within Slack's limits.

Snapshots are JSON files in `snapshots/`. `--update-snapshots` writes them anew; the difference is
then reviewed as wording.
"""

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

import bot.messages
from bot.domain import errors
from bot.domain.errors import MergeQueueError, UserError
from bot.domain.message import Message, View
from tests.support.every_message import EVERY, REVIEWED, every_message
from tests.support.messages.rendering import render
from tests.support.snapshots import Snapshots

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


@pytest.mark.parametrize("name", sorted(REVIEWED))
def test_message_is_as_it_was_reviewed(name: str, snapshots: Snapshots) -> None:
    snapshots.check(name, render(REVIEWED[name]))


def test_every_snapshot_is_of_a_message(snapshots: Snapshots) -> None:
    snapshots.check_names(REVIEWED)


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


BOT = Path(__file__).parents[3] / "bot"
STATIC = BOT / "sandbox" / "slack" / "static"
USED = re.compile(r"[\"' ]:([a-z][a-z_]*):[\"' ]")


def used() -> set[str]:
    sources = [*(BOT / "messages").rglob("*.py"), *(BOT / "slack").rglob("*.py")]
    return {name for one in sources for name in USED.findall(one.read_text())}


def test_slack_knows_every_emoji() -> None:
    table = (STATIC / "emoji-table.js").read_text()
    known = set(re.findall(r"[\"|]([a-z0-9_+'-]+) ", table))
    assert len(known) > 1900
    assert used() - known == set()


def test_every_emoji_has_a_picture_where_the_system_has_none() -> None:
    pictures = (STATIC / "emoji-pictures.js").read_text()
    pictured = set(re.findall(r"^  ([a-z_]+)(?::|,$)", pictures, re.MULTILINE))
    assert used() - pictured == set()
