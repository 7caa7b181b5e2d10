"""What a person types after the slash command, parsed once into a closed set of values."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from bot.domain.errors import CommandSyntaxError, RepositoryNotAllowed
from bot.domain.repositories import Repositories
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import DEFAULT_TOPICS, UnknownTopic, read_topics

BRANCH_LIMIT = 255
"""Longer than hosts allow, and short enough to be carried by a button."""


@dataclass(frozen=True, slots=True)
class StatusCommand:
    """The live queue, of one base branch when `branch` is given."""

    repository: RepositoryName | None = None
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class PauseCommand:
    """`reason` is None when none was typed: a modal asks for it."""

    repository: RepositoryName | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class UnpauseCommand:
    """Lift the pause."""

    repository: RepositoryName | None = None


@dataclass(frozen=True, slots=True)
class SubscribeCommand:
    """Have the channel hear about `topics`."""

    repository: RepositoryName | None = None
    topics: frozenset[str] = DEFAULT_TOPICS


@dataclass(frozen=True, slots=True)
class UnsubscribeCommand:
    """`topics` is None for all of them."""

    repository: RepositoryName | None = None
    topics: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class SubscriptionsCommand:
    """The list of what the channel hears."""


@dataclass(frozen=True, slots=True)
class HelpCommand:
    """The commands, or one of them."""

    verb: str | None = None


Command = (
    StatusCommand
    | PauseCommand
    | UnpauseCommand
    | SubscribeCommand
    | UnsubscribeCommand
    | SubscriptionsCommand
    | HelpCommand
)


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of the command table: help is made from it."""

    name: str
    usage: str
    task: str
    examples: tuple[str, ...]
    aliases: tuple[str, ...] = ()


VERBS = (
    Verb(
        "status",
        "status [owner/name] [branch:NAME]",
        "See the live queue",
        ("status", "status acme/site branch:main"),
    ),
    Verb(
        "pause",
        "pause [owner/name] [reason]",
        "Pause the queue; without a reason a form asks for it",
        ("pause CI runners are down", "pause acme/site database migration"),
    ),
    Verb(
        "unpause",
        "unpause [owner/name]",
        "Let the queue go on",
        ("unpause", "unpause acme/site"),
        aliases=("resume",),
    ),
    Verb(
        "subscribe",
        "subscribe [owner/name] [topic …]",
        "Have this channel hear about the queue",
        ("subscribe", "subscribe acme/site merge failure"),
    ),
    Verb(
        "unsubscribe",
        "unsubscribe [owner/name] [topic …]",
        "Stop hearing about it, or about some of it",
        ("unsubscribe", "unsubscribe acme/site enter"),
    ),
    Verb(
        "subscriptions",
        "subscriptions",
        "See what this channel hears about",
        ("subscriptions",),
    ),
    Verb("help", "help [verb]", "Show these commands", ("help", "help pause")),
)
"""The command table."""

_VERB_BY_WORD = {word: verb for verb in VERBS for word in (verb.name, *verb.aliases)}


def parse_command(text: str, repositories: Repositories) -> Command:
    """Read the text after the slash command; nothing typed asks for the status.

    Raises CommandSyntaxError for an unknown verb or a malformed option, RepositoryNotAllowed
    when a repository is typed that this bot is not configured for.
    """
    words = text.split()
    if not words:
        return StatusCommand()
    verb = _VERB_BY_WORD.get(words[0].lower())
    if verb is None:
        raise _unknown_verb(words[0])
    return _READERS[verb.name](_Arguments(verb, words[1:], text, repositories))


def _unknown_verb(word: str) -> CommandSyntaxError:
    nearest = get_close_matches(word.lower(), _VERB_BY_WORD, n=1, cutoff=0.6)
    names = ", ".join(verb.name for verb in VERBS)
    return CommandSyntaxError(
        f"There is no command “{word}”.",
        usage=_VERB_BY_WORD[nearest[0]].usage if nearest else names,
        nearest=nearest[0] if nearest else None,
    )


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The words after the verb."""

    verb: Verb
    words: list[str]
    text: str
    repositories: Repositories

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
        if re.fullmatch(r"[a-zA-Z0-9\-]+/[\w\-.]+", self.words[0], re.ASCII):
            raise RepositoryNotAllowed(self.words[0], self.repositories.names)
        return None, self.words

    def problem(self, sentence: str) -> CommandSyntaxError:
        return CommandSyntaxError(sentence, usage=self.verb.usage)

    def rest_of_text(self, words: list[str]) -> str | None:
        """The text from the first of `words` on, with the person's own spaces."""
        if not words:
            return None
        skipped = 1 + len(self.words) - len(words)
        return self.text.split(maxsplit=skipped)[skipped].strip()


def _status(arguments: _Arguments) -> Command:
    repository, words = arguments.repository()
    branch = None
    for word in words:
        name, colon, value = word.partition(":")
        if name.lower() != "branch" or not colon:
            raise arguments.problem(f"I do not understand “{word}” here.")
        if not value:
            raise arguments.problem("branch: needs a branch name, for example branch:main.")
        if len(value) > BRANCH_LIMIT:
            raise arguments.problem(f"A branch name has at most {BRANCH_LIMIT} characters.")
        branch = value
    return StatusCommand(repository, branch)


def _pause(arguments: _Arguments) -> Command:
    repository, words = arguments.repository()
    return PauseCommand(repository, arguments.rest_of_text(words))


def _unpause(arguments: _Arguments) -> Command:
    repository, words = arguments.repository()
    if words:
        raise arguments.problem(f"I do not know a repository “{words[0]}”.")
    return UnpauseCommand(repository)


def _subscribe(arguments: _Arguments) -> Command:
    repository, words = arguments.repository()
    topics = _topics(arguments, words)
    return SubscribeCommand(repository, topics or DEFAULT_TOPICS)


def _unsubscribe(arguments: _Arguments) -> Command:
    repository, words = arguments.repository()
    return UnsubscribeCommand(repository, _topics(arguments, words) or None)


def _subscriptions(arguments: _Arguments) -> Command:
    if arguments.words:
        raise arguments.problem(f"I do not understand “{arguments.words[0]}” here.")
    return SubscriptionsCommand()


def _help(arguments: _Arguments) -> Command:
    if not arguments.words:
        return HelpCommand()
    verb = _VERB_BY_WORD.get(arguments.words[0].lower())
    if verb is None:
        raise _unknown_verb(arguments.words[0])
    return HelpCommand(verb.name)


def _topics(arguments: _Arguments, words: list[str]) -> frozenset[str]:
    try:
        return read_topics(words)
    except UnknownTopic as error:
        raise arguments.problem(str(error)) from error


_READERS: dict[str, Callable[[_Arguments], Command]] = {
    "status": _status,
    "pause": _pause,
    "unpause": _unpause,
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
    "subscriptions": _subscriptions,
    "help": _help,
}
