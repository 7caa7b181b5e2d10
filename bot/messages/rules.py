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
        return blocks.sentence(f"{name} has no queue rules.")
    first, page = slice_from(found, first, PAGE)
    shown = [
        blocks.section(f":straight_ruler: *{name}* has {plural(len(found), 'queue rule')}"),
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
    """In words, the settings people ask about; an unknown kind of value shows its own name."""
    name = "the default rule" if rule.name == INTERNAL_NAME else quote(rule.name, NAME_LIMIT)
    head = f"*{place}. {name}*"
    if not whole:
        known = [write(rule.config[key]) for key, write in _IN_WORDS.items() if key in rule.config]
        return f"{head}: {', '.join(filter(None, known)) or 'no settings of its own'}"
    lines = [f"• {code(key, NAME_LIMIT)}: {_value(value)}" for key, value in rule.config.items()]
    shown = listed(lines, "\n", length=RULE_ROOM - len(head))
    return f"{head}\n{shown}".rstrip()


def _batch_size(value: JsonValue) -> str:
    if isinstance(value, dict):
        return f"batch size {_value(value.get('min'))} to {_value(value.get('max'))}"
    return f"batch size {_value(value)}"


def _timeout(value: JsonValue) -> str:
    if value is None:
        return "checks never time out"
    if value == "auto":
        return "checks time out based on past durations"
    return f"checks time out after {_seconds(value)}"


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
    "batch_max_wait_time": lambda value: (
        f"waits {_seconds(value)} for a batch to fill"
        if value not in {0, None}
        else "starts a batch immediately"
    ),
    "checks_timeout": _timeout,
    "batch_max_failure_resolution_attempts": lambda value: (
        "" if value is None else f"splits a failed batch up to {_value(value)} times"
    ),
    "merge_method": lambda value: (
        f"merges with {_value(value)}" if isinstance(value, str) and value.strip() else ""
    ),
}


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
