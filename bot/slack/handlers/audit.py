"""Who did what: typed, and paged through."""

from collections.abc import Mapping
from datetime import timedelta

from typing_extensions import override

from bot.domain.audit import AuditSelection
from bot.domain.repository import RepositoryName
from bot.messages import actions, audit
from bot.slack.conversation import Conversation
from bot.slack.handlers.subject import OnClick, OnCommand, Subject
from bot.slack.payloads import BlockActions
from bot.usecases.asking import audit as show_audit


class Audit(Subject):
    """For the caller alone, newest first."""

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {"audit": self._audit}

    @override
    def on_click(self) -> Mapping[str, OnClick]:
        return {
            actions.AUDIT_OLDER: self._older,
            actions.AUDIT_NEWER: self._newer,
        }

    async def _audit(
        self, repository: RepositoryName | None, conversation: Conversation, *, since: timedelta
    ) -> None:
        selection = AuditSelection(repository, self.clock.now() - since)
        page = await show_audit.newest(self.sources.store, selection)
        await conversation.tell_actor(audit.audit(page))

    async def _older(self, click: BlockActions, conversation: Conversation) -> None:
        target = await self._target(click, conversation)
        page = await show_audit.older(self.sources.store, target.selection, target.place)
        await conversation.put_in_place(audit.audit(page))

    async def _newer(self, click: BlockActions, conversation: Conversation) -> None:
        target = await self._target(click, conversation)
        page = await show_audit.newer(self.sources.store, target.selection, target.place)
        await conversation.put_in_place(audit.audit(page))

    async def _target(self, click: BlockActions, conversation: Conversation) -> actions.AuditTarget:
        """Raises PermissionDenied: who turns a page may read it."""
        await self.admit(conversation)
        return actions.read_audit_target(click.action.chosen, self.repositories)
