"""How pausing and unpausing are read."""

from bot.domain.commands.arguments import Arguments
from bot.domain.commands.values import Command, PauseCommand, UnpauseCommand
from bot.domain.durations import read_lasting


def read_pause(arguments: Arguments) -> Command:
    repository, words = arguments.repository()
    lasting, taken = read_lasting(words)
    return PauseCommand(repository, arguments.rest_of_text(words[taken:]), lasting)


def read_unpause(arguments: Arguments) -> Command:
    repository, words = arguments.repository()
    if words and repository is not None:
        raise arguments.problem(f"Unpausing takes no reason: leave “{words[0]}” out.")
    if words:
        raise arguments.problem(f"I do not know a repository “{words[0]}”.")
    return UnpauseCommand(repository)
