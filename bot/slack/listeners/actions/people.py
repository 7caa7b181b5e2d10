"""Clicks that switch what a person is told."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.audit import Origin
from bot.domain.denials import Right
from bot.domain.message import Message
from bot.messages import actions
from bot.slack.answers.people import AccountAnswers
from bot.slack.listeners.actions.click import OnClick
from bot.slack.payloads import BlockActions
from bot.slack.replying.conversation import Conversation
from bot.usecases.check_permission import CheckPermission


@dataclass(frozen=True, slots=True)
class NoticeActions:
    """*Turn on* and *Turn off*: pressed on an old card or twice, the card comes to say what is."""

    answers: AccountAnswers
    check_permission: CheckPermission

    def clicks(self) -> Mapping[str, OnClick]:
        return {
            actions.NOTICE: self._switch,
            actions.NOTICE_STOP: self._stop,
            actions.STOP_WAITING: self._stop_waiting,
        }

    async def _switch(self, click: BlockActions, conversation: Conversation) -> None:
        card = await self._card(click, conversation)
        if conversation.origin is not Origin.HOME:
            await conversation.put_in_place(card)

    async def _stop_waiting(self, _click: BlockActions, conversation: Conversation) -> None:
        await self.check_permission.require(conversation.actor, Right.READ)
        card = await self.answers.stop_waiting(conversation)
        if conversation.origin is not Origin.HOME:
            await conversation.put_in_place(card)

    async def _stop(self, click: BlockActions, conversation: Conversation) -> None:
        """What was told stays to be read; the answer comes beside it."""
        await conversation.tell_actor(await self._card(click, conversation))

    async def _card(self, click: BlockActions, conversation: Conversation) -> Message:
        await self.check_permission.require(conversation.actor, Right.READ)
        notice, is_on = actions.read_notice_value(click.action.chosen)
        return await self.answers.switch({notice}, conversation, is_on=is_on)
