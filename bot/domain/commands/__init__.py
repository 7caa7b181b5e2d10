"""What a person types after the slash command, and how it is read: one file per subject."""

from bot.domain.commands.command import Command, GeneralCommand, RepositoryCommand, Verb
from bot.domain.commands.verbs import VERBS, parse_command

__all__ = ["VERBS", "Command", "GeneralCommand", "RepositoryCommand", "Verb", "parse_command"]
