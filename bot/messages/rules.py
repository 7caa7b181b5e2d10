"""The queue rules with their configuration, in processing order."""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from bot.domain.message import Message
from bot.domain.queue import QueueRule
from bot.domain.repository import RepositoryName
from bot.messages import blocks
from bot.messages.paging import page_buttons, slice_from
from bot.messages.text import NAME_LIMIT, code, escape, listed, plural, quote

PAGE = 5
RULE_ROOM = 1700
"""Characters for each rule of a page."""

INTERNAL_NAME = "__default__"
VALUE_LIMIT = 120


def rules(repository: RepositoryName, found: Sequence[QueueRule], first: int = 0) -> Message:
    """A page of them; `first` counts from 0."""
    name = escape(repository)
    if not found:
        text = f"{name} has no queue rules."
        return blocks.sentence(text)
    first, page = slice_from(found, first, PAGE)
    count = plural(len(found), "queue rule")
    shown = [
        blocks.section(f":straight_ruler: *{name}* has {count}"),
        blocks.context("In the order in which the service tries them"),
        *(blocks.section(_rule(at, one)) for at, one in enumerate(page, first + 1)),
    ]
    shown += page_buttons(f"rules {repository}", first, len(found), PAGE)
    names = ", ".join(f"{at}. {_name(one)}" for at, one in enumerate(page, first + 1))
    return Message(text=f"{name} has {count}: {names}", blocks=tuple(shown))


def _rule(place: int, rule: QueueRule) -> str:
    head = f"*{place}. {_name(rule)}*"
    lines = [f"• {code(key, NAME_LIMIT)}: {_value(value)}" for key, value in rule.config.items()]
    shown = listed(lines, "\n", length=RULE_ROOM - len(head))
    return f"{head}\n{shown}".rstrip()


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
