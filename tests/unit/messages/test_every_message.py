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
from typing import Any

import pytest

import bot
from bot.blocks.message import Message, View
from bot.kernel.errors import MergeQueueError, UserError
from tests.support.every_message import EVERY, REVIEWED, every_message
from tests.support.messages.rendering import render
from tests.support.snapshots import Snapshots

SHOWN_AFTER_ALL_ELSE = {"with_invitation", "without_controls"}
"""What takes a finished message and makes another of it."""

TEXTS_ELSEWHERE = {
    "bot.desk.choice",
    "bot.desk.end_questions",
    "bot.desk.explain",
    "bot.desk.help",
    "bot.groups.confirmations",
}
"""Modules of texts that aren't called so."""


class Calls:
    """Which functions are called."""

    def __init__(self) -> None:
        self.seen: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self.seen.add(frame.f_code)


def has_texts(module: str) -> bool:
    parts = module.split(".")
    return "texts" in parts or parts[1] == "blocks" or module in TEXTS_ELSEWHERE


def shown_by() -> dict[str, CodeType]:
    """The functions of texts that give a message or a view, by their names."""
    found: dict[str, CodeType] = {}
    for each in pkgutil.walk_packages(bot.__path__, f"{bot.__name__}."):
        if not has_texts(each.name):
            continue
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


def leaves(of: type[Exception]) -> set[type[Exception]]:
    below = of.__subclasses__()
    return set().union(*map(leaves, below)) if below else {of}


def test_every_error_shown_to_people_is_included() -> None:
    shown = {type(argument) for case in EVERY.values() for argument in case.args}
    reported = leaves(UserError) | leaves(MergeQueueError)
    ours = {error for error in reported if error.__module__.startswith("bot.")}
    assert ours - shown == set()


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

NOT_READ = {
    "action_id",
    "block_id",
    "callback_id",
    "level",
    "private_metadata",
    "type",
    "url",
    "value",
}


def test_no_message_uses_a_banned_word() -> None:
    found = {
        (name, match[0], text)
        for name, case in EVERY.items()
        for text in _texts(_read(render(case)))
        if (match := BANNED.search(text))
    }
    assert found == set()


DATE = re.compile(r"(?P<before>[^<>|]*)<!date\^\d+\^(?!\{_\})(?P<format>[^|>]*)\|[^>]+>")
"""Not a character that is shown as it was typed."""

DAY = "{date_short_pretty} at {time}"
FORMS = {DAY, "{time}", "{ago}", f"{{ago}} ({DAY})", f"{DAY} ({{ago}})", "{time} ({ago})"}
LOWER = "\u200b"
BEFORE_A_CLOCK = re.compile(r"\b(at|since|until|Updated) \Z")


def test_no_time_says_today_with_a_capital_in_the_middle_of_a_sentence() -> None:
    """Slack begins a time with a capital, "resumes Today at 5:00 PM", unless something hides it."""
    found = {
        (name, match["format"])
        for name, case in EVERY.items()
        for text in _texts(list(_blocks(render(case))))
        for match in DATE.finditer(text)
        if not match["format"].startswith(LOWER)
    }
    assert found == set()


def test_times_have_fitting_words_in_front_of_them() -> None:
    """A time reads "resumes today at 5:00 PM", "Updated 5:00 PM", "4 minutes ago"; never "on"."""
    found = {
        (name, match["before"][-40:], match["format"])
        for name, case in EVERY.items()
        for text in _texts(list(_blocks(render(case))))
        for match in DATE.finditer(text)
        if not _fits(match["before"], match["format"].removeprefix(LOWER))
    }
    assert found == set()


def _fits(before: str, form: str) -> bool:
    assert form in FORMS
    if form == "{time}":
        return BEFORE_A_CLOCK.search(before) is not None
    return not before.endswith((" on ", " at "))


BARE = re.compile(
    r"\d{1,2}:\d\d(:\d\d)? ?(UTC|GMT|Z)\b"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?! to | [A-Z][a-z]+/|:\d\d\+)"
    r"|(?<![.*:] )\b(Today|Tomorrow|Yesterday)\b"
)
"""A time of nobody's zone, or one that begins with a capital in mid-sentence."""

PLAIN = re.compile(r"<!date[^>]*>")


def test_no_time_is_shown_in_a_zone_that_is_not_the_readers() -> None:
    """The text for notifications can't know the reader's zone: it names UTC."""
    found = {
        (name, match[0], text[:80])
        for name, case in EVERY.items()
        for text in _texts(list(_blocks(render(case))))
        if (match := BARE.search(PLAIN.sub("", text)))
    }
    assert found == set()


def _blocks(shown: Message | View) -> Iterator[object]:
    """What people see in Slack: the text of a message only where it has no blocks."""
    if isinstance(shown, View):
        yield shown.view
    elif shown.blocks:
        yield list(shown.blocks)
    else:
        yield shown.text


QUEUE = re.compile(r"acme/|@release|\ball\b")
LINK = re.compile(r"<[^|>]*\|([^>]*)>")

OF_A_QUEUE = ("event-pause", "event-resumed", "event-freeze")
"""Of events, only those about a whole queue: the others name their pull request first."""

NOT_OF_A_QUEUE = {
    "a pull request's event, with its queue in the line below": (
        *("event-", "merged-together", "merge-told", "failure-told", "removed"),
    ),
    "several events": ("summary",),
    "a person": ("me", "linked", "unlinked", "was-not-linked", "login-", "home", "refused-"),
    "a channel": (
        "greeting",
        "subscriptions",
        "default-",
        "channel-ended",
        "narrowed-",
        "was-not-",
    ),
    "what was typed, the service or the bot": (
        *("help", "error-", "defect", "not-read-", "outage-of-slack", "outcome-", "still-working"),
        *("question-", "pause-unchanged", "subscription-saving"),
    ),
    "the question which queue is meant": (
        *("which-of-many", "which-of-none", "which-of-unchecked", "which-repository"),
        "nothing-paused",
    ),
    "a form in which it is chosen first": (
        *("modal-to-choose", "freeze-form-any", "subscription-add"),
    ),
}
"""What begins without the name of a queue, and what it is about instead, by beginnings."""


def test_every_card_answer_question_and_form_names_its_queue_first() -> None:
    exempt = tuple(name for names in NOT_OF_A_QUEUE.values() for name in names)
    unnamed = {
        (name, first)
        for name, case in REVIEWED.items()
        if name.startswith(OF_A_QUEUE) or not name.startswith(exempt)
        if not QUEUE.search(first := _first_line(render(case)))
    }
    assert unnamed == set()


@pytest.mark.parametrize("beginning", [one for some in NOT_OF_A_QUEUE.values() for one in some])
def test_each_exception_is_one(beginning: str) -> None:
    cases = {name: case for name, case in REVIEWED.items() if name.startswith(beginning)}
    others = [name for name in cases if not name.startswith(OF_A_QUEUE)]
    assert any(not QUEUE.search(_first_line(render(cases[name]))) for name in others)


def _first_line(shown: Message | View) -> str:
    """What a person sees first, without the addresses of links; in a menu, what is chosen."""
    if isinstance(shown, Message) and not shown.blocks:
        return shown.text
    all_blocks: Any = shown.view["blocks"] if isinstance(shown, View) else shown.blocks
    block = all_blocks[0]
    if "element" in block:
        return str(block["element"].get("initial_option", {}).get("value", ""))
    return LINK.sub(r"\1", next(_texts(block))).partition("\n")[0]


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
    return {name for source in sources for name in USED.findall(source.read_text())}


def test_slack_knows_every_emoji() -> None:
    table = (STATIC / "emoji-table.js").read_text()
    known = set(re.findall(r"[\"|]([a-z0-9_+'-]+) ", table))
    assert len(known) > 1900
    assert used() - known == set()


def test_every_emoji_has_a_picture_where_the_system_has_none() -> None:
    pictures = (STATIC / "emoji-pictures.js").read_text()
    pictured = set(re.findall(r"^  ([a-z_]+)(?::|,$)", pictures, re.MULTILINE))
    assert used() - pictured == set()
