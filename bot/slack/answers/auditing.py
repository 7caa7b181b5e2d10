"""Answers to those who ask who did what."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.audit import AuditSelection
from bot.domain.commands import AuditCommand, GeneralCommand
from bot.messages import audit
from bot.ports import Clock
from bot.slack.answers.answer import GeneralAnswer
from bot.slack.replying.conversation import Conversation
from bot.usecases.asking.show_audit import ShowAudit


@dataclass(frozen=True, slots=True)
class AuditAnswers:
    """For the caller alone, newest first."""

    show_audit: ShowAudit
    clock: Clock

    def general(self) -> Mapping[type[GeneralCommand], GeneralAnswer]:
        return {AuditCommand: self._audit}

    async def _audit(self, command: AuditCommand, conversation: Conversation) -> None:
        selection = AuditSelection(command.repository, self.clock.now() - command.lookback)
        await conversation.tell_actor(audit.audit(await self.show_audit.newest(selection)))
