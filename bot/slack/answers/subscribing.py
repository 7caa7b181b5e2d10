"""Answers about what a channel hears."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.commands import (
    GeneralCommand,
    RepositoryCommand,
    SubscribeCommand,
    SubscriptionsCommand,
    UnsubscribeCommand,
)
from bot.domain.repository import RepositoryName
from bot.messages import subscriptions
from bot.slack.answers.room import GeneralAnswer, RepositoryAnswer
from bot.slack.conversation import Conversation
from bot.usecases.manage_subscriptions import ManageSubscriptions, SubscriptionRequest


@dataclass(frozen=True, slots=True)
class SubscriptionAnswers:
    """A change is told to the channel, everything else to the caller."""

    manage_subscriptions: ManageSubscriptions
    command: str
    bot_name: str

    def answers(self) -> Mapping[type[RepositoryCommand], RepositoryAnswer]:
        return {SubscribeCommand: self._subscribe, UnsubscribeCommand: self._unsubscribe}

    def general(self) -> Mapping[type[GeneralCommand], GeneralAnswer]:
        return {SubscriptionsCommand: self._list}

    async def _list(self, _command: SubscriptionsCommand, conversation: Conversation) -> None:
        found = []
        if conversation.channel_id is not None:
            found = list(await self.manage_subscriptions.subscriptions(conversation.channel_id))
        await conversation.tell_actor(subscriptions.subscriptions(found, self.command))

    async def _subscribe(
        self, command: SubscribeCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        done = await self.manage_subscriptions.subscribe(
            _request(repository, command.topics, conversation)
        )
        message = subscriptions.subscribed(done.subscription, done.access, bot_name=self.bot_name)
        await conversation.tell_channel(message)

    async def _unsubscribe(
        self, command: UnsubscribeCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        done = await self.manage_subscriptions.unsubscribe(
            _request(repository, command.topics, conversation)
        )
        if done.changed:
            await conversation.tell_channel(subscriptions.unsubscribed(repository, done.left))
        if done.configured is not None:
            await conversation.tell_actor(subscriptions.configured_stays(repository))
        elif not done.changed:
            await conversation.tell_actor(subscriptions.was_not_subscribed(repository))


def _request(
    repository: RepositoryName, topics: frozenset[str] | None, conversation: Conversation
) -> SubscriptionRequest:
    """For this channel, or for the person alone where there is none."""
    return SubscriptionRequest(
        conversation.channel_id or conversation.actor.user_id,
        repository,
        topics,
        conversation.actor,
        conversation.origin,
    )
