"""What a command is: the words that are typed, how they are read, the value that comes of it."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from typing import ClassVar

from bot.domain.errors import CommandSyntaxError, RepositoryNotAllowed
from bot.domain.event_log import LONGEST_LOOKBACK, PULL_REQUEST_END
from bot.domain.event_types import EVENT_TYPES, LIVE_EVENT_TYPES, MERGED, is_known_event_type
from bot.domain.groups import Group, Groups, Repositories
from bot.domain.log_pages import LARGEST_SHOWN, TYPES_LIMIT
from bot.domain.lookback import InvalidLookback, read_lookback
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Topic


class Command:
    """One thing that a person can ask for."""

    is_act: ClassVar[bool] = False
    """Whether the permission is asked for, and put on record, where it is carried out."""


class RepositoryCommand(Command):
    """About one repository, which may be left out."""

    repository: RepositoryName | None


class GeneralCommand(Command):
    """About no single repository."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of the command table: parsing, help and the documents are made from it.

    `read_group` is tried first and gives None when the first word is no group.
    """

    name: str
    usage: str
    task: str
    examples: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    read: Callable[["Arguments"], Command] = field(kw_only=True)
    read_group: Callable[["Arguments"], Command | None] | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """The words after the verb."""

    verb: Verb
    words: list[str]
    text: str
    repositories: Repositories
    groups: Groups

    def repository(self) -> tuple[RepositoryName | None, list[str]]:
        """The repository, if the first word is one, and the other words.

        A word of the form owner/name that is not configured is refused, never taken for part of
        a reason: the wrong queue would be paused.
        """
        if not self.words:
            return None, []
        found = self.repositories.find(self.words[0])
        if found is not None:
            return found, self.words[1:]
        self._refuse_unknown(self.words[0])
        return None, self.words

    def repository_among(
        self, words: list[str], topics: Collection[str] = ()
    ) -> tuple[RepositoryName | None, list[str]]:
        """The first of `words` that names a repository, wherever it stands, and the other words.

        For commands without free text. A word of `topics` names a repository only if it comes
        first; where there are topics, another word with a slash may be a time zone.
        """
        for place, word in enumerate(words):
            found = self.repositories.find(word)
            if found is not None and not (place and word.lower() in topics):
                return found, [*words[:place], *words[place + 1 :]]
        for word in words[:1] if topics else words:
            self._refuse_unknown(word)
        return None, words

    def _refuse_unknown(self, word: str) -> None:
        if re.fullmatch(r"[a-zA-Z0-9\-]+/[\w\-.]+", word, re.ASCII):
            raise RepositoryNotAllowed(word, self.repositories.names)

    def group(self) -> tuple[Group | None, list[str]]:
        """The group of repositories, if the first word is one, and the other words.

        Raises UnknownGroup for a word with an `@` that is none.
        """
        found = self.groups.find(self.words[0]) if self.words else None
        return (None, self.words) if found is None else (found, self.words[1:])

    def named(self, word: str) -> RepositoryName:
        """The repository that `word` has to be; raises RepositoryNotAllowed."""
        return self.repositories.allowed(word)

    def problem(self, sentence: str) -> CommandSyntaxError:
        return CommandSyntaxError(sentence, usage=self.verb.usage)

    def rest_of_text(self, words: list[str]) -> str | None:
        """The text from the first of `words` on, with the person's own spaces."""
        if not words:
            return None
        skipped = 1 + len(self.words) - len(words)
        return self.text.split(maxsplit=skipped)[skipped].strip()


_NEEDED = {
    "branch": "a branch name, for example branch:main",
    "limit": "a number, for example limit:20",
    "pr": "a number, for example pr:41",
    "since": "a length of time, for example since:2h",
    "type": "an event type, for example type:action.queue.leave",
    "until": "a length of time, for example until:1h",
}
USUAL = ("enter", "leave", "merged", "checks_start", "checks_end")
"""The event types that are asked for most, as they may be typed."""

BRANCH_LIMIT = 255
"""Longer than hosts allow, and short enough to be carried by a button."""

_NUMBER = re.compile(r"#?([0-9]{1,19})")


class Options:
    """What was typed as `name:value`; a name that the verb does not know is refused."""

    def __init__(self, arguments: Arguments, words: Sequence[str], names: Collection[str]) -> None:
        self._arguments = arguments
        self._values: dict[str, list[str]] = {}
        for word in words:
            name, colon, value = word.partition(":")
            if not colon or name.lower() not in names:
                raise arguments.problem(f"I do not understand “{word}” here.")
            if not value:
                raise arguments.problem(f"{name.lower()}: needs {_NEEDED[name.lower()]}.")
            self._values.setdefault(name.lower(), []).append(value)

    def one(self, name: str) -> str | None:
        """The value typed last."""
        values = self._values.get(name)
        return values[-1] if values else None

    def several(self, name: str) -> list[str]:
        """All values; commas part them too."""
        typed = self._values.get(name, [])
        return [part for value in typed for part in value.split(",") if part]

    def branch(self) -> str | None:
        branch = self.one("branch")
        if branch is not None and len(branch) > BRANCH_LIMIT:
            raise self._arguments.problem(f"A branch name has at most {BRANCH_LIMIT} characters.")
        return branch

    def pull_request(self) -> int | None:
        value = self.one("pr")
        if value is None:
            return None
        number = read_number(value)
        if number is None:
            raise self._arguments.problem(f"pr: needs {_NEEDED['pr']}.")
        return number

    def lookback(self, name: str) -> timedelta | None:
        value = self.one(name)
        if value is None:
            return None
        try:
            length = read_lookback(value)
        except InvalidLookback as error:
            raise self._arguments.problem(f"{name}: {error}.") from error
        if length > LONGEST_LOOKBACK:
            raise self._arguments.problem(f"{name}: at most {LONGEST_LOOKBACK.days} days.")
        return length

    def limit(self) -> int | None:
        value = self.one("limit")
        if value is None:
            return None
        if not value.isascii() or not value.isdigit() or not 1 <= int(value[:6]) <= LARGEST_SHOWN:
            raise self._arguments.problem(f"limit: needs a number from 1 to {LARGEST_SHOWN}.")
        return int(value)

    def types(self) -> frozenset[str]:
        types = frozenset(self._event_type(word.lower()) for word in self.several("type"))
        if len(types) > TYPES_LIMIT:
            raise self._arguments.problem(f"type: at most {TYPES_LIMIT} event types at once.")
        return types

    def _event_type(self, word: str) -> str:
        """A whole event type, or its last words; a type of the queue goes before its namesakes."""
        if is_known_event_type(word):
            return word
        if word == Topic.MERGE:
            # Not `action.merge`, a rule's merge outside the queue, which ends in this word.
            return MERGED
        known = sorted(EVENT_TYPES | LIVE_EVENT_TYPES)
        ending = [one for one in known if one.endswith(f".{word}")]
        of_queue = [one for one in ending if one.startswith("action.queue.")]
        if len(of_queue or ending) == 1:
            return (of_queue or ending)[0]
        similar = ending or [one for one in known if word and word in one]
        similar = similar or get_close_matches(word, known, n=3) or _near_ending(word, known)
        choices = (
            f"Did you mean {', '.join(similar[:5])}?"
            if similar
            else f"There are {', '.join(USUAL)}, and more."
        )
        raise self._arguments.problem(f"There is no event type “{word}”. {choices}")


def _near_ending(word: str, known: Sequence[str]) -> list[str]:
    """Those whose last words are nearly what was typed."""
    endings = {one.rpartition(".")[2]: one for one in known}
    return [endings[one] for one in get_close_matches(word, endings, n=3)]


def read_number(text: str) -> int | None:
    """The number of a pull request, `41` or `#41`, within the service's limits."""
    matched = _NUMBER.fullmatch(text)
    number = int(matched[1]) if matched else 0
    return number if 1 <= number < PULL_REQUEST_END else None
