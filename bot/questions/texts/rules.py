"""The queue rules in words, in processing order; every setting on request."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from pydantic import JsonValue

from bot.blocks import blocks
from bot.blocks.controls import NEXT_PAGE
from bot.blocks.groups import name_of
from bot.blocks.message import Message
from bot.blocks.overview import GROUP_QUEUES_PER_PAGE as GROUP_PAGE, of_those_read, overview
from bot.blocks.paging import from_place, page_buttons, slice_from
from bot.blocks.text import NAME_LIMIT, code, duration, escape, listed, plural, quote
from bot.kernel.groups import Group, GroupAnswers
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import QueueRule

RULES_PER_PAGE = 5
RULE_ROOM = 1700
"""Characters for each rule of a page."""

RULES_NAMED = 5
"""Rules of each queue of a group."""

INTERNAL_NAME = "__default__"
RULE_VALUE_LIMIT = 120
LONGEST_MINUTES = 120
"""More are shown in hours and days."""

LONGEST_RULE_SECONDS = 10**9


def rules(
    repository: RepositoryName, found: Sequence[QueueRule], first: int = 0, *, whole: bool = False
) -> Message:
    """A page of them; `first` counts from 0. `whole`: with all settings, by their own names."""
    name = escape(repository)
    if not found:
        return blocks.sentence(f"{name} has no queue rules.")
    first, page = slice_from(found, first, RULES_PER_PAGE)
    shown = [
        blocks.section(f":straight_ruler: *{name}* has {plural(len(found), 'queue rule')}"),
        blocks.context("In the order the service tries them"),
        *(blocks.section(_rule(at, rule, whole=whole)) for at, rule in enumerate(page, first + 1)),
    ]
    command = f"rules {repository}"
    if not whole and any(rule.config.keys() - _IN_WORDS.keys() for rule in page):
        value = from_place(f"{command} show:all", first)
        shown.append(blocks.actions([blocks.button("Show all", action_id=NEXT_PAGE, value=value)]))
    command += " show:all" if whole else ""
    shown += page_buttons(command, first, len(found), RULES_PER_PAGE)
    return blocks.message(*shown)


def rules_of_group(group: Group, found: GroupAnswers[Sequence[QueueRule]]) -> Message:
    """The names of the rules of each queue."""
    count = plural(sum(map(len, found.known)), "queue rule")
    title = f":straight_ruler: *{name_of(group.name)}*: {count}{of_those_read(found)}"
    command = f"rules {group.mention}"
    return overview(title, found, _rule_names, command=command, size=GROUP_PAGE)


def _rule_names(found: Sequence[QueueRule]) -> str:
    if not found:
        return "has no queue rules"
    names = [_rule_name(rule) for rule in found]
    return f"{plural(len(found), 'rule')}: {listed(names, most=RULES_NAMED)}"


def _rule_name(rule: QueueRule) -> str:
    return "the default rule" if rule.name == INTERNAL_NAME else quote(rule.name, NAME_LIMIT)


def _rule(place: int, rule: QueueRule, *, whole: bool) -> str:
    """In words, the settings people ask about; an unknown kind of value shows its own name."""
    head = f"*{place}. {_rule_name(rule)}*"
    if not whole:
        known = [write(rule.config[key]) for key, write in _IN_WORDS.items() if key in rule.config]
        return f"{head}: {', '.join(filter(None, known)) or 'no settings of its own'}"
    lines = [
        f"• {code(key, NAME_LIMIT)}: {_rule_value(value)}" for key, value in rule.config.items()
    ]
    shown = listed(lines, "\n", length=RULE_ROOM - len(head))
    return f"{head}\n{shown}".rstrip()


def _batch_size(value: JsonValue) -> str:
    if isinstance(value, dict):
        return f"batch size {_rule_value(value.get('min'))} to {_rule_value(value.get('max'))}"
    return f"batch size {_rule_value(value)}"


def _timeout(value: JsonValue) -> str:
    if value is None:
        return "checks never time out"
    if value == "auto":
        return "checks time out based on past durations"
    return f"checks time out after {_seconds(value)}"


def _seconds(value: JsonValue) -> str:
    """A duration in words from seconds; LONGEST_RULE_SECONDS prevents overflows."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not 0 <= value <= LONGEST_RULE_SECONDS
    ):
        return _rule_value(value)
    minutes, rest = divmod(value, 60)
    if 0 < minutes <= LONGEST_MINUTES and not rest:
        return f"{minutes:g} min"
    return duration(timedelta(seconds=value))


def _wait_to_fill(value: JsonValue) -> str:
    if value is None or value == 0:
        return "starts a batch immediately"
    return f"waits {_seconds(value)} for a batch to fill"


def _splits(value: JsonValue) -> str:
    return f"splits a failed batch up to {_rule_value(value)} times" if value is not None else ""


def _merge_method(value: JsonValue) -> str:
    is_named = isinstance(value, str) and value.strip()
    return f"merges with {_rule_value(value)}" if is_named else ""


_IN_WORDS: Mapping[str, Callable[[JsonValue], str]] = {
    "batch_size": _batch_size,
    "batch_max_wait_time": _wait_to_fill,
    "checks_timeout": _timeout,
    "batch_max_failure_resolution_attempts": _splits,
    "merge_method": _merge_method,
}


def _rule_value(value: JsonValue) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return code(value, RULE_VALUE_LIMIT) if value.strip() else "empty"
    if isinstance(value, (int, float)):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return code(json.dumps(value, ensure_ascii=False), RULE_VALUE_LIMIT) if value else "none"
