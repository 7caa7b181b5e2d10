"""The queue rules in words, in processing order; every setting on request."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from pydantic import JsonValue

from bot.domain.message import Message
from bot.domain.queue import QueueRule
from bot.domain.repository import RepositoryName
from bot.messages import blocks
from bot.messages.actions import NEXT
from bot.messages.paging import from_place, page_buttons, slice_from
from bot.messages.text import NAME_LIMIT, code, duration, escape, listed, plural, quote

PAGE = 5
RULE_ROOM = 1700
"""Characters for each rule of a page."""

INTERNAL_NAME = "__default__"
VALUE_LIMIT = 120
LONGEST_MINUTES = 120
"""More are shown in hours and days."""

LONGEST = 10**9


def rules(
    repository: RepositoryName, found: Sequence[QueueRule], first: int = 0, *, whole: bool = False
) -> Message:
    """A page of them; `first` counts from 0. `whole`: with all settings, by their own names."""
    name = escape(repository)
    if not found:
        text = f"{name} has no queue rules."
        return blocks.sentence(text)
    first, page = slice_from(found, first, PAGE)
    count = plural(len(found), "queue rule")
    shown = [
        blocks.section(f":straight_ruler: *{name}* has {count}"),
        blocks.context("In the order the service tries them"),
        *(blocks.section(_rule(at, one, whole=whole)) for at, one in enumerate(page, first + 1)),
    ]
    command = f"rules {repository}"
    if not whole and any(one.config.keys() - _IN_WORDS.keys() for one in page):
        value = from_place(f"{command} show:all", first)
        shown.append(blocks.actions([blocks.button("Show all", action_id=NEXT, value=value)]))
    command += " show:all" if whole else ""
    shown += page_buttons(command, first, len(found), PAGE)
    return blocks.message(*shown)


def _rule(place: int, rule: QueueRule, *, whole: bool) -> str:
    head = f"*{place}. {_name(rule)}*"
    if not whole:
        return f"{head}: {_in_words(rule)}"
    lines = [f"• {code(key, NAME_LIMIT)}: {_value(value)}" for key, value in rule.config.items()]
    shown = listed(lines, "\n", length=RULE_ROOM - len(head))
    return f"{head}\n{shown}".rstrip()


def _in_words(rule: QueueRule) -> str:
    """The settings people ask about; an unknown kind of value is shown with its own name."""
    known = [write(rule.config[key]) for key, write in _IN_WORDS.items() if key in rule.config]
    return ", ".join(one for one in known if one) or "no settings of its own"


def _batch_size(value: JsonValue) -> str:
    if isinstance(value, dict):
        smallest, largest = _value(value.get("min")), _value(value.get("max"))
        return f"batch size {smallest} to {largest}"
    return f"batch size {_value(value)}"


def _wait(value: JsonValue) -> str:
    if value in {0, None}:
        return "starts a batch immediately"
    return f"waits {_seconds(value)} for a batch to fill"


def _timeout(value: JsonValue) -> str:
    if value is None:
        return "checks never time out"
    if value == "auto":
        return "checks time out based on past durations"
    return f"checks time out after {_seconds(value)}"


def _attempts(value: JsonValue) -> str:
    return "" if value is None else f"splits a failed batch up to {_value(value)} times"


def _method(value: JsonValue) -> str:
    return f"merges with {_value(value)}" if isinstance(value, str) and value.strip() else ""


def _seconds(value: JsonValue) -> str:
    """A duration in words from seconds; LONGEST prevents overflows."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LONGEST:
        return _value(value)
    minutes, rest = divmod(value, 60)
    if 0 < minutes <= LONGEST_MINUTES and not rest:
        return f"{minutes:g} min"
    return duration(timedelta(seconds=value))


_IN_WORDS: Mapping[str, Callable[[JsonValue], str]] = {
    "batch_size": _batch_size,
    "batch_max_wait_time": _wait,
    "checks_timeout": _timeout,
    "batch_max_failure_resolution_attempts": _attempts,
    "merge_method": _method,
}


def _name(rule: QueueRule) -> str:
    return "the default rule" if rule.name == INTERNAL_NAME else quote(rule.name, NAME_LIMIT)


def _value(value: JsonValue) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return code(value, VALUE_LIMIT) if value.strip() else "empty"
    if isinstance(value, (int, float)):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return code(json.dumps(value, ensure_ascii=False), VALUE_LIMIT) if value else "none"
