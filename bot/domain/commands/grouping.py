"""How acts and questions about a group of repositories are read, and the question who did what."""

from bot.domain.commands.arguments import Arguments
from bot.domain.commands.values import (
    AUDIT_LOOKBACK,
    AuditCommand,
    Command,
    GroupStatusCommand,
    PauseGroupCommand,
    UnpauseGroupCommand,
)
from bot.domain.lookback import InvalidLookback, read_lookback


def read_pause_group(arguments: Arguments) -> Command | None:
    """None when the first word is no group."""
    group, words = arguments.group()
    if group is None:
        return None
    return PauseGroupCommand(group, arguments.rest_of_text(words) or "")


def read_unpause_group(arguments: Arguments) -> Command | None:
    """None when the first word is no group."""
    group, words = arguments.group()
    if group is None:
        return None
    if words:
        raise arguments.problem(f"Unpausing takes no reason: leave “{words[0]}” out.")
    return UnpauseGroupCommand(group)


def read_group_status(arguments: Arguments) -> Command | None:
    """None when the first word is no group."""
    group, words = arguments.group()
    if group is None:
        return None
    if words:
        raise arguments.problem(f"I do not understand “{words[0]}” here.")
    return GroupStatusCommand(group)


def read_audit(arguments: Arguments) -> Command:
    """Without a repository it is about all of them."""
    repository, words = arguments.repository_among(arguments.words)
    lookback = AUDIT_LOOKBACK
    for word in words:
        name, colon, value = word.partition(":")
        if name.lower() != "since" or not colon:
            raise arguments.problem(f"I do not understand “{word}” here.")
        try:
            lookback = read_lookback(value)
        except InvalidLookback as error:
            raise arguments.problem(f"since: {error}.") from error
    return AuditCommand(repository, lookback)
