"""The command table, and how a text is read by it."""

from dataclasses import dataclass
from difflib import get_close_matches

from bot.domain.commands import asking, auditing, pausing, people, subscribing
from bot.domain.commands.command import Arguments, Command, GeneralCommand, Verb
from bot.domain.errors import CommandSyntaxError
from bot.domain.groups import Groups, Repositories


@dataclass(frozen=True)
class HelpCommand(GeneralCommand):
    """The commands, or one of them."""

    verb: str | None = None


def parse_command(text: str, repositories: Repositories, groups: Groups | None = None) -> Command:
    """Read the text after the slash command; nothing typed asks for the status.

    Raises CommandSyntaxError for an unknown verb or a malformed option, RepositoryNotAllowed
    when a repository is typed that this bot is not configured for, UnknownGroup for a group that
    there is not. Without `groups` there is only the one of all repositories.
    """
    words = text.split()
    if not words:
        return asking.StatusCommand()
    verb = VERB_BY_WORD.get(words[0].lower())
    if verb is None:
        raise _unknown_verb(words[0])
    known = groups or Groups((), repositories)
    arguments = Arguments(verb, words[1:], text, repositories, known)
    of_group = verb.read_group(arguments) if verb.read_group is not None else None
    return of_group or verb.read(arguments)


WORD_SHOWN = 60
"""How many characters of an unknown word are shown; the answer after it has to be read too."""


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


VERBS = (
    *asking.VERBS,
    *pausing.VERBS,
    *auditing.VERBS,
    *subscribing.VERBS,
    *people.VERBS,
    Verb("help", "help [verb]", "Show these commands", ("help", "help pause"), read=_read_help),
)
"""The command table."""

VERB_BY_WORD = {word: verb for verb in VERBS for word in (verb.name, *verb.aliases)}
