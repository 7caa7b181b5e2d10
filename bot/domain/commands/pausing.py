"""How pausing and unpausing are read."""

from bot.domain.commands.arguments import Arguments
from bot.domain.commands.values import Command, PauseCommand, UnpauseCommand
from bot.domain.durations import read_doubtful, read_lasting


def read_pause(arguments: Arguments) -> Command:
    """The repository before or after the duration, and the reason last."""
    repository, words = arguments.repository()
    lasting, taken = read_lasting(words)
    words = words[taken:]
    if repository is None and taken and words and "/" in words[0]:
        repository = arguments.repositories.find(words[0])
        words = words if repository is None else words[1:]
    reason = arguments.rest_of_text(words)
    if lasting is not None or reason is None:
        return PauseCommand(repository, reason, lasting)
    doubtful, before = read_doubtful(words)
    return PauseCommand(repository, reason, None, doubtful, " ".join(words[:before]) or None)


def read_unpause(arguments: Arguments) -> Command:
    repository, words = arguments.repository()
    if words and repository is not None:
        raise arguments.problem(f"Unpausing takes no reason: leave “{words[0]}” out.")
    if words:
        raise arguments.problem(f"I do not know a repository “{words[0]}”.")
    return UnpauseCommand(repository)
