"""The words after a verb: repositories, groups, options and free text."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import Any

from bot.domain.durations import read_lookback
from bot.domain.errors import CommandSyntaxError, RepositoryNotAllowed
from bot.domain.event_log import LONGEST_LOOKBACK, PULL_REQUEST_END
from bot.domain.event_types import EVENT_TYPES, LIVE_EVENT_TYPES, MERGED, is_known_event_type
from bot.domain.groups import Group, Groups, Repositories
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import LARGEST_SHOWN, PAGE, TYPES_LIMIT
from bot.domain.subscriptions import Topic

BRANCH_LIMIT = 255
"""Longer than hosts allow, and short enough to be carried by a button."""

COMMON_TYPES = ("enter", "leave", "merged", "checks_start", "checks_end")
"""The event types that are asked for most, as they may be typed."""

_NUMBER = re.compile(r"#?([0-9]{1,19})")


@dataclass(frozen=True, slots=True)
class Option:
    """An option typed as `name:value`.

    `keyword`: the name of its value in a request.
    `read`: converts everything typed for it, in order; raises ValueError with the rest of a
    sentence that begins with the name.
    `needs`: describes a value.
    `sample`: shown in the usage; without one, only buttons use the option.
    """

    name: str
    sample: str
    keyword: str
    read: Callable[[Sequence[str]], Any]
    needs: str
    default: Any = None

    @property
    def usage(self) -> str:
        return f"[{self.name}:{self.sample}]" if self.sample else ""


class Words:
    """The words after a verb; problems with them raise CommandSyntaxError with the usage.

    `rest`: those that were not read yet.
    """

    def __init__(
        self, usage: str, text: str, repositories: Repositories, groups: Groups | None = None
    ) -> None:
        self.usage = usage
        self.text = text
        self.all = text.split()[1:]
        self.rest = [*self.all]
        self.repositories = repositories
        self.groups = groups or Groups((), repositories)

    def problem(self, sentence: str) -> CommandSyntaxError:
        return CommandSyntaxError(sentence, usage=self.usage)

    def end(self) -> None:
        """Raise CommandSyntaxError if there are words left."""
        if self.rest:
            raise self.problem(f"I don't understand “{self.rest[0]}” here.")

    def skip(self, count: int = 1) -> None:
        del self.rest[:count]

    def take(self, word: str) -> bool:
        """Whether it is the next one, which is then read."""
        if not self.rest or self.rest[0].lower() != word:
            return False
        self.skip()
        return True

    def take_anywhere(self, word: str) -> bool:
        """Read it wherever it is, and as often."""
        left = [one for one in self.rest if one.lower() != word]
        is_there = len(left) < len(self.rest)
        self.rest = left
        return is_there

    def repository(self) -> RepositoryName | None:
        """Read the repository, if the next word is one.

        A word of the form owner/name that isn't configured is refused: read as part of a reason, it
        would pause the wrong queue.
        """
        found = self.repositories.find(self.rest[0]) if self.rest else None
        if found is not None:
            self.skip()
        elif self.rest:
            self._refuse_unknown(self.rest[0])
        return found

    def repository_anywhere(self, topics: Collection[str] = ()) -> RepositoryName | None:
        """Read the first word that names a repository.

        For commands without free text. A word of `topics` names a repository only in first
        position. If there are topics, another word with a slash may be a time zone.
        """
        for place, word in enumerate(self.rest):
            found = self.repositories.find(word)
            if found is not None and not (place and word.lower() in topics):
                del self.rest[place]
                return found
        for word in self.rest[:1] if topics else self.rest:
            self._refuse_unknown(word)
        return None

    def only_repository(self) -> RepositoryName | None:
        found = self.repository_anywhere()
        self.end()
        return found

    def _refuse_unknown(self, word: str) -> None:
        if re.fullmatch(r"[a-zA-Z0-9\-]+/[\w\-.]+", word, re.ASCII):
            raise RepositoryNotAllowed(word, self.repositories.names)

    def group(self) -> Group | None:
        """Read the group of repositories, if the next word is one.

        Raises UnknownGroup for an unknown `@` word.
        """
        found = self.groups.find(self.rest[0]) if self.rest else None
        if found is not None:
            self.skip()
        return found

    def rest_of_text(self) -> str:
        """The text from the next word on, with its original spaces."""
        if not self.rest:
            return ""
        skipped = 1 + len(self.all) - len(self.rest)
        return self.text.split(maxsplit=skipped)[skipped].strip()

    def options(self, known: Sequence[Option]) -> dict[str, Any]:
        """Read all words: the value of each known option, or its default."""
        by_name = {one.name: one for one in known}
        typed: dict[str, list[str]] = {}
        for word in self.rest:
            name, colon, value = word.partition(":")
            option = by_name.get(name.lower())
            if not colon or option is None:
                raise self.problem(f"I don't understand “{word}” here.")
            if not value:
                raise self.problem(f"{option.name}: needs {option.needs}.")
            typed.setdefault(option.name, []).append(value)
        return {one.keyword: self._value(one, typed.get(one.name)) for one in known}

    def _value(self, option: Option, typed: Sequence[str] | None) -> object:
        if typed is None:
            return option.default
        try:
            return option.read(typed)
        except ValueError as error:
            sentence = f"{option.name}: {error}"
            is_whole = sentence.endswith((".", "?"))
            raise self.problem(sentence if is_whole else f"{sentence}.") from error


def read_number(text: str) -> int | None:
    """The number of a pull request, `41` or `#41`, within the service's limits."""
    matched = _NUMBER.fullmatch(text)
    number = int(matched[1]) if matched else 0
    return number if 1 <= number < PULL_REQUEST_END else None


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
        raise ValueError(f"needs {FROM.needs}")
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
    ending = [one for one in known if one.endswith(f".{word}")]
    of_queue = [one for one in ending if one.startswith("action.queue.")]
    if len(of_queue or ending) == 1:
        return (of_queue or ending)[0]
    last_words = {one.rpartition(".")[2]: one for one in known}
    similar = (
        ending
        or [one for one in known if word and word in one]
        or get_close_matches(word, known, n=3)
        or [last_words[one] for one in get_close_matches(word, last_words, n=3)]
    )
    choices = f"Did you mean {', '.join(similar[:5])}?"
    if not similar:
        choices = f"Common ones: {', '.join(COMMON_TYPES)}."
    raise ValueError(f"there is no event type “{word}”. {choices}")


BRANCH = Option("branch", "NAME", "branch", _read_branch, "a branch name, for example branch:main")
PULL_REQUEST = Option("pr", "N", "pull_request", _read_pull_request, "a number, for example pr:41")
TYPES = Option(
    "type",
    "TYPE",
    "types",
    _read_types,
    "an event type, for example type:action.queue.leave",
    frozenset(),
)
FROM = Option("from", "", "first", _read_place, "a number, for example from:26", 0)
"""The place at which a page of a list begins."""

SHOW = Option("show", "all", "whole", _read_show, "all, as in show:all", default=False)
UNTIL = Option("until", "1h", "until", _read_recent, "a length of time, for example until:1h")
LIMIT = Option("limit", "N", "per_page", _read_limit, "a number, for example limit:20", PAGE)


def since(default: timedelta, sample: str = "7d", *, may_be_any: bool = False) -> Option:
    """How far back to look: at most as far as the service's log goes, unless it `may_be_any`."""

    def read_any(typed: Sequence[str]) -> timedelta:
        return read_lookback(typed[-1])

    read = read_any if may_be_any else _read_recent
    return Option("since", sample, "since", read, "a length of time, for example since:2h", default)
