"""Answers about what a channel hears."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.commands import RepositoryCommand, SubscribeCommand, UnsubscribeCommand
from bot.domain.denials import Right
from bot.domain.repository import RepositoryName
from bot.messages import subscriptions
from bot.slack.answers.room import RepositoryAnswer
from bot.slack.conversation import Conversation
from bot.usecases.check_permission import CheckPermission
from bot.usecases.manage_subscriptions import ManageSubscriptions


@dataclass(frozen=True, slots=True)
class SubscriptionAnswers:
    """A change is told to the channel, everything else to the caller."""

    check_permission: CheckPermission
    manage_subscriptions: ManageSubscriptions
    command: str
    bot_name: str

    def answers(self) -> Mapping[type[RepositoryCommand], RepositoryAnswer]:
        return {SubscribeCommand: self._subscribe, UnsubscribeCommand: self._unsubscribe}

    async def list_of_channel(self, conversation: Conversation) -> None:
        found = []
        if conversation.channel_id is not None:
            found = list(await self.manage_subscriptions.subscriptions(conversation.channel_id))
        await conversation.tell_actor(subscriptions.subscriptions(found, self.command))

    async def _subscribe(
        self, command: SubscribeCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        await self.check_permission.require(conversation.actor, Right.SUBSCRIBE)
        done = await self.manage_subscriptions.subscribe(
            conversation.channel_id or conversation.actor.user_id,
            repository,
            command.topics,
            conversation.actor.user_id,
        )
        message = subscriptions.subscribed(done.subscription, done.access, bot_name=self.bot_name)
        await conversation.tell_channel(message)

    async def _unsubscribe(
        self, command: UnsubscribeCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        await self.check_permission.require(conversation.actor, Right.SUBSCRIBE)
        done = await self.manage_subscriptions.unsubscribe(
            conversation.channel_id or conversation.actor.user_id, repository, command.topics
        )
        if done.changed:
            await conversation.tell_channel(subscriptions.unsubscribed(repository, done.left))
        if done.configured is not None:
            await conversation.tell_actor(subscriptions.configured_stays(repository))
        elif not done.changed:
            await conversation.tell_actor(subscriptions.was_not_subscribed(repository))
