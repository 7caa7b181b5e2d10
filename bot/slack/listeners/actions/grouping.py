"""Clicks that act on a group of repositories: each acts on the state now, and says what is true."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.denials import Right
from bot.domain.group_acts import read_kept
from bot.domain.groups import Groups
from bot.messages import actions, timers
from bot.messages.groups import group_form
from bot.slack.answers.grouping import GroupAnswers
from bot.slack.listeners.actions.click import OnClick
from bot.slack.payloads import BlockActions
from bot.slack.replying.conversation import Conversation
from bot.usecases.check_permission import CheckPermission
from bot.usecases.pausing.group_work import GroupRequest


@dataclass(frozen=True, slots=True)
class GroupActions:
    """*Pause 50 queues*, *Unpause @release*, *Extend…* and *Try the rest again*."""

    answers: GroupAnswers
    groups: Groups
    check_permission: CheckPermission

    def clicks(self) -> Mapping[str, OnClick]:
        return {
            actions.PAUSE_GROUP: self._pause,
            actions.PAUSE_GROUP_FOR: self._pause_for,
            actions.AGAIN_PAUSE_GROUP: self._pause,
            actions.UNPAUSE_GROUP: self._unpause,
            actions.AGAIN_UNPAUSE_GROUP: self._unpause,
            actions.EXTEND_GROUP: self._extend,
            actions.AGAIN_EXTEND_GROUP: self._extend_rest,
            actions.GROUP_STATUS_ON: self._status,
            actions.GROUP_STATUS_BACK: self._status,
        }

    async def _status(self, click: BlockActions, conversation: Conversation) -> None:
        await self.check_permission.require(conversation.actor, Right.READ)
        first, _, name = click.action.chosen.partition(" ")
        message = await self.answers.status_page(self.groups.named(name), int(first))
        await conversation.put_in_place(message)

    async def _pause(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.pause(self._request(click, conversation), conversation)

    async def _pause_for(self, click: BlockActions, conversation: Conversation) -> None:
        """The end was typed behind the reason, or as the reason: then a form asks for one."""
        request = self._request(click, conversation)
        wanted = read_kept(request.asked)
        if wanted.reason:
            await self.answers.pause(request, conversation)
            return
        await self.answers.pause_group.permit(request)
        await self.answers.ask_why(request.group, wanted.lasting, conversation)
        await conversation.take_away()

    async def _unpause(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.unpause(self._request(click, conversation), conversation)

    async def _extend(self, click: BlockActions, conversation: Conversation) -> None:
        length, name, had_end = actions.read_extend_value(click.action.chosen)
        group = self.groups.named(name)
        if length == timers.OTHER:
            await self.answers.extend_group.permit(self.answers.request(group, conversation))
            form = group_form.extend_form(group, conversation.channel_id, had_end=had_end)
            await conversation.open_modal(form)
            return
        await self.answers.extend(self.answers.request(group, conversation, length), conversation)

    async def _extend_rest(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.extend(self._request(click, conversation), conversation)

    def _request(self, click: BlockActions, conversation: Conversation) -> GroupRequest:
        target = actions.read_group_target(click.action.chosen)
        group = self.groups.named(target.group)
        return self.answers.request(group, conversation, target.asked, target.again)
