"""What a person types after the slash command: a closed set of values, and how they are read."""

from bot.domain.commands.parsing import parse_command
from bot.domain.commands.values import (
    BRANCH_LIMIT,
    AuditCommand,
    Command,
    GeneralCommand,
    GroupStatusCommand,
    HelpCommand,
    LinkCommand,
    MeCommand,
    PauseCommand,
    PauseGroupCommand,
    RepositoryCommand,
    StatusCommand,
    SubscribeCommand,
    SubscriptionsCommand,
    UnpauseCommand,
    UnpauseGroupCommand,
    UnsubscribeCommand,
)
from bot.domain.commands.verbs import VERBS, Verb

__all__ = [
    "BRANCH_LIMIT",
    "VERBS",
    "AuditCommand",
    "Command",
    "GeneralCommand",
    "GroupStatusCommand",
    "HelpCommand",
    "LinkCommand",
    "MeCommand",
    "PauseCommand",
    "PauseGroupCommand",
    "RepositoryCommand",
    "StatusCommand",
    "SubscribeCommand",
    "SubscriptionsCommand",
    "UnpauseCommand",
    "UnpauseGroupCommand",
    "UnsubscribeCommand",
    "Verb",
    "parse_command",
]
