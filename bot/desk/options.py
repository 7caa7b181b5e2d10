"""Options behind a command, such as `branch:main`: what each takes, and how its value is read."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import Any

from bot.channels.subscription import Topic
from bot.desk.names import read_number
from bot.kernel.durations import read_lookback
from bot.kernel.typed import Word
from bot.merge_queue.event_types import EVENT_TYPES, LIVE_EVENT_TYPES, MERGED, is_known_event_type
from bot.merge_queue.window import LONGEST_LOOKBACK
from bot.questions.snapshots import EVENTS_PER_PAGE, LARGEST_SHOWN, TYPES_LIMIT

BRANCH_LIMIT = 255
"""Longer than hosts allow, and short enough to be carried by a button."""

COMMON_TYPES = ("enter", "leave", "merged", "checks_start", "checks_end")
"""The event types that are asked for most, as they may be typed."""

_OPTION = re.compile(r"(?P<dashes>-{0,2})(?P<name>[A-Za-z]+)(?P<sign>[:=]?)(?P<value>.*)")
"""`branch:main`, also as people write options elsewhere: `--branch=main`, `--branch main`."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option typed as `name:value`."""

    name: str
    sample: str  #: shown in the usage; without one, only buttons use the option
    keyword: str  #: the name of its value in a request
    #: converts everything typed for it, in order; raises ValueError with the rest of a sentence
    #: that begins with the name
    read: Callable[[Sequence[str]], Any]
    needs: str  #: describes a value
    default: Any = None

    @property
    def usage(self) -> str:
        return f"[{self.name}:{self.sample}]" if self.sample else ""


def option_in(word: Word) -> tuple[str, str]:
    """The name of an option and its value; two empty texts for another word."""
    found = _OPTION.fullmatch(word.plain)
    if found is None or not (found["dashes"] or found["sign"]):
        return "", ""
    return found["name"].lower(), found["value"]


def _read_branch(typed: Sequence[str]) -> str:
    if len(typed[-1]) > BRANCH_LIMIT:
        raise ValueError(f"at most {BRANCH_LIMIT} characters")
    return typed[-1]


def _read_pull_request(typed: Sequence[str]) -> int:
    number = read_number(typed[-1])
    if number is None:
        raise ValueError(f"needs {PULL_REQUEST.needs}")
    return number


def _read_recent(typed: Sequence[str]) -> timedelta:
    length = read_lookback(typed[-1])
    if length > LONGEST_LOOKBACK:
        raise ValueError(f"at most {LONGEST_LOOKBACK.days} days")
    return length


def _read_place(typed: Sequence[str]) -> int:
    if not typed[-1].isascii() or not typed[-1].isdigit():
        raise ValueError(f"needs {FROM_OPTION.needs}")
    return max(int(typed[-1][:6]) - 1, 0)


def _read_limit(typed: Sequence[str]) -> int:
    value = typed[-1]
    if not value.isascii() or not value.isdigit() or not 1 <= int(value[:6]) <= LARGEST_SHOWN:
        raise ValueError(f"needs a number from 1 to {LARGEST_SHOWN}")
    return int(value)


def _read_show(typed: Sequence[str]) -> bool:
    if typed[-1].lower() != "all":
        raise ValueError("takes nothing but all: show:all")
    return True


def _read_types(typed: Sequence[str]) -> frozenset[str]:
    words = [part for value in typed for part in value.lower().split(",") if part]
    types = frozenset(_event_type(word) for word in words)
    if len(types) > TYPES_LIMIT:
        raise ValueError(f"at most {TYPES_LIMIT} event types at a time")
    return types


def _event_type(word: str) -> str:
    """An event type, given in full or by its last words; queue events take precedence."""
    if is_known_event_type(word):
        return word
    if word == Topic.MERGE:
        # Not `action.merge`, a rule's merge outside the queue, which also ends in this word.
        return MERGED
    known = sorted(EVENT_TYPES | LIVE_EVENT_TYPES)
    ending = [event_type for event_type in known if event_type.endswith(f".{word}")]
    of_queue = [event_type for event_type in ending if event_type.startswith("action.queue.")]
    meant = of_queue or ending
    if len(meant) == 1:
        return meant[0]
    similar = ending or _similar_types(word, known)
    if similar:
        choices = f"Did you mean {', '.join(similar[:5])}?"
    else:
        choices = f"Common ones: {', '.join(COMMON_TYPES)}."
    raise ValueError(f"there is no event type “{word}”. {choices}")


def _similar_types(word: str, known: Sequence[str]) -> Sequence[str]:
    """Event types with the word in them; if there are none, those that are spelled like it."""
    containing = [event_type for event_type in known if word and word in event_type]
    if containing:
        return containing
    spelled_alike = get_close_matches(word, known, n=3)
    if spelled_alike:
        return spelled_alike
    last_words = {event_type.rpartition(".")[2]: event_type for event_type in known}
    return [last_words[last_word] for last_word in get_close_matches(word, last_words, n=3)]


BRANCH_OPTION = Option(
    "branch", "NAME", "branch", _read_branch, "a branch name, for example branch:main"
)
PULL_REQUEST = Option("pr", "N", "pull_request", _read_pull_request, "a number, for example pr:41")
TYPES = Option(
    "type",
    "TYPE",
    "types",
    _read_types,
    "an event type, for example type:action.queue.leave",
    frozenset(),
)
FROM_OPTION = Option("from", "", "first", _read_place, "a number, for example from:26", 0)
"""The place at which a page of a list begins."""

SHOW = Option("show", "all", "whole", _read_show, "all, as in show:all", default=False)
UNTIL_OPTION = Option(
    "until", "1h", "until", _read_recent, "a length of time, for example until:1h"
)
LIMIT_OPTION = Option(
    "limit", "N", "per_page", _read_limit, "a number, for example limit:20", EVENTS_PER_PAGE
)


def since(default: timedelta, sample: str = "7d", *, may_be_any: bool = False) -> Option:
    """How far back to look: at most as far as the service's log goes, unless it `may_be_any`."""

    def read_any(typed: Sequence[str]) -> timedelta:
        return read_lookback(typed[-1])

    read = read_any if may_be_any else _read_recent
    return Option("since", sample, "since", read, "a length of time, for example since:2h", default)
