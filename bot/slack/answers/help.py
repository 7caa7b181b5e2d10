"""Answers to those who ask what there is to ask."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.commands import GeneralCommand, HelpCommand
from bot.messages import help as help_messages
from bot.slack.answers.answer import GeneralAnswer
from bot.slack.replying.conversation import Conversation


@dataclass(frozen=True, slots=True)
class HelpAnswers:
    """The command table, or one of its rows."""

    command: str

    def general(self) -> Mapping[type[GeneralCommand], GeneralAnswer]:
        return {HelpCommand: self._help}

    async def _help(self, command: HelpCommand, conversation: Conversation) -> None:
        await conversation.tell_actor(help_messages.help_text(self.command, command.verb))
