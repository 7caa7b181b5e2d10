"""Clicks that turn the pages of the audit."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.denials import Right
from bot.domain.repositories import Repositories
from bot.messages import actions, audit
from bot.slack.listeners.actions.click import OnClick
from bot.slack.payloads import BlockActions
from bot.slack.replying.conversation import Conversation
from bot.usecases.asking.show_audit import ShowAudit
from bot.usecases.check_permission import CheckPermission


@dataclass(frozen=True, slots=True)
class AuditActions:
    """*Older* and *Newer*."""

    show_audit: ShowAudit
    check_permission: CheckPermission
    repositories: Repositories

    def clicks(self) -> Mapping[str, OnClick]:
        return {actions.AUDIT_OLDER: self._older, actions.AUDIT_NEWER: self._newer}

    async def _older(self, click: BlockActions, conversation: Conversation) -> None:
        target = await self._target(click, conversation)
        page = await self.show_audit.older(target.selection, target.place)
        await conversation.put_in_place(audit.audit(page))

    async def _newer(self, click: BlockActions, conversation: Conversation) -> None:
        target = await self._target(click, conversation)
        page = await self.show_audit.newer(target.selection, target.place)
        await conversation.put_in_place(audit.audit(page))

    async def _target(self, click: BlockActions, conversation: Conversation) -> actions.AuditTarget:
        """Raises PermissionDenied: who turns a page may read it."""
        await self.check_permission.require(conversation.actor, Right.READ)
        return actions.read_audit_target(click.action.chosen, self.repositories)
