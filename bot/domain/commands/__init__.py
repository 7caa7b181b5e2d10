"""What a person types after the slash command: a closed set of values, and how they are read."""

from bot.domain.commands.parsing import parse_command
from bot.domain.commands.values import (
    BRANCH_LIMIT,
    Command,
    GeneralCommand,
    HelpCommand,
    LinkCommand,
    MeCommand,
    PauseCommand,
    RepositoryCommand,
    StatusCommand,
    SubscribeCommand,
    SubscriptionsCommand,
    UnpauseCommand,
    UnsubscribeCommand,
)
from bot.domain.commands.verbs import VERBS, Verb

__all__ = [
    "BRANCH_LIMIT",
    "VERBS",
    "Command",
    "GeneralCommand",
    "HelpCommand",
    "LinkCommand",
    "MeCommand",
    "PauseCommand",
    "RepositoryCommand",
    "StatusCommand",
    "SubscribeCommand",
    "SubscriptionsCommand",
    "UnpauseCommand",
    "UnsubscribeCommand",
    "Verb",
    "parse_command",
]
