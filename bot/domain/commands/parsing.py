"""From the text after the slash command to the value it asks for."""

from collections.abc import Callable
from difflib import get_close_matches

from bot.domain.commands.arguments import Arguments
from bot.domain.commands.asking import (
    read_branches,
    read_log,
    read_rules,
    read_stats,
    read_status,
    read_why,
)
from bot.domain.commands.grouping import (
    read_audit,
    read_group_status,
    read_pause_group,
    read_unpause_group,
)
from bot.domain.commands.pausing import read_pause, read_unpause
from bot.domain.commands.people import read_link, read_me
from bot.domain.commands.subscribing import (
    read_board,
    read_default,
    read_subscribe,
    read_subscribe_group,
    read_subscriptions,
    read_unsubscribe,
    read_unsubscribe_group,
)
from bot.domain.commands.values import Command, HelpCommand, StatusCommand
from bot.domain.commands.verbs import VERB_BY_WORD, VERBS
from bot.domain.errors import CommandSyntaxError
from bot.domain.groups import Groups
from bot.domain.repositories import Repositories


def parse_command(text: str, repositories: Repositories, groups: Groups | None = None) -> Command:
    """Read the text after the slash command; nothing typed asks for the status.

    Raises CommandSyntaxError for an unknown verb or a malformed option, RepositoryNotAllowed
    when a repository is typed that this bot is not configured for, UnknownGroup for a group that
    there is not. Without `groups` there is only the one of all repositories.
    """
    words = text.split()
    if not words:
        return StatusCommand()
    verb = VERB_BY_WORD.get(words[0].lower())
    if verb is None:
        raise _unknown_verb(words[0])
    known = groups or Groups((), repositories)
    arguments = Arguments(verb, words[1:], text, repositories, known)
    of_group = _GROUP_READERS.get(verb.name, _no_group)(arguments)
    return of_group or _READERS[verb.name](arguments)


def _no_group(_arguments: Arguments) -> None:
    """The verb is about one repository at a time."""


WORD_SHOWN = 60
"""Of a word that is none of ours, so that what follows it is still read."""


def _unknown_verb(word: str) -> CommandSyntaxError:
    nearest = get_close_matches(word.lower(), VERB_BY_WORD, n=1, cutoff=0.6)
    names = ", ".join(verb.name for verb in VERBS)
    shown = word if len(word) <= WORD_SHOWN else f"{word[:WORD_SHOWN]}…"
    if not nearest:
        said = f"There is no command “{shown}”. There are {names}."
        return CommandSyntaxError(said, usage=VERB_BY_WORD["help"].usage)
    return CommandSyntaxError(
        f"There is no command “{shown}”.",
        usage=VERB_BY_WORD[nearest[0]].usage,
        nearest=nearest[0],
    )


def _read_help(arguments: Arguments) -> Command:
    if not arguments.words:
        return HelpCommand()
    verb = VERB_BY_WORD.get(arguments.words[0].lower())
    if verb is None:
        raise _unknown_verb(arguments.words[0])
    return HelpCommand(verb.name)


_READERS: dict[str, Callable[[Arguments], Command]] = {
    "status": read_status,
    "why": read_why,
    "log": read_log,
    "rules": read_rules,
    "branches": read_branches,
    "stats": read_stats,
    "pause": read_pause,
    "unpause": read_unpause,
    "subscribe": read_subscribe,
    "unsubscribe": read_unsubscribe,
    "subscriptions": read_subscriptions,
    "default": read_default,
    "board": read_board,
    "audit": read_audit,
    "link": read_link,
    "me": read_me,
    "help": _read_help,
}

_GROUP_READERS: dict[str, Callable[[Arguments], Command | None]] = {
    "status": read_group_status,
    "pause": read_pause_group,
    "unpause": read_unpause_group,
    "subscribe": read_subscribe_group,
    "unsubscribe": read_unsubscribe_group,
}
