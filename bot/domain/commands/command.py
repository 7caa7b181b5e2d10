"""What a command is: the words that are typed, how they are read, the value that comes of it."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import ClassVar

from bot.domain.errors import CommandSyntaxError, RepositoryNotAllowed
from bot.domain.groups import Group, Groups
from bot.domain.repositories import Repositories
from bot.domain.repository import RepositoryName


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
