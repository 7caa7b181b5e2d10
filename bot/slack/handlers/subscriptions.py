"""What a channel hears."""

from collections.abc import Mapping, Sequence

from typing_extensions import override

from bot.domain.commands import GeneralCommand, RepositoryCommand
from bot.domain.commands.subscribing import (
    DefaultCommand,
    SampleCommand,
    SubscribeCommand,
    SubscribeGroupCommand,
    SubscriptionsCommand,
    UnsubscribeCommand,
    UnsubscribeGroupCommand,
)
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.domain.wishes import Wish
from bot.messages import actions, subscriptions
from bot.slack.handlers.subject import OnClick, OnGeneralCommand, OnRepositoryCommand, Subject
from bot.slack.payloads import BlockActions
from bot.slack.replying.conversation import Conversation
from bot.usecases.preferences.channel_default import DefaultRequest
from bot.usecases.preferences.manage_subscriptions import SubscriptionRequest


class Subscriptions(Subject):
    """A change is told to the channel, everything else to the caller."""

    @override
    def on_repository(self) -> Mapping[type[RepositoryCommand], OnRepositoryCommand]:
        return {
            SubscribeCommand: self._subscribe,
            UnsubscribeCommand: self._unsubscribe,
            SampleCommand: self._sample,
        }

    @override
    def on_general(self) -> Mapping[type[GeneralCommand], OnGeneralCommand]:
        return {
            SubscribeGroupCommand: self._subscribe_together,
            UnsubscribeGroupCommand: self._unsubscribe_together,
            SubscriptionsCommand: self._list,
            DefaultCommand: self._default,
        }

    @override
    def on_click(self) -> Mapping[str, OnClick]:
        return {
            actions.SUBSCRIPTIONS_ON: self._turn,
            actions.SUBSCRIPTIONS_BACK: self._turn,
        }

    async def _list(self, _command: SubscriptionsCommand, conversation: Conversation) -> None:
        await conversation.tell_actor(await self._page(0, conversation))

    async def _turn(self, click: BlockActions, conversation: Conversation) -> None:
        await self.admit(conversation)
        page = int(click.action.chosen.partition(" ")[0])
        await conversation.put_in_place(await self._page(page, conversation))

    async def _page(self, page: int, conversation: Conversation) -> Message:
        channel_id = _where(conversation)
        found = await self.use.manage_subscriptions.subscriptions(channel_id)
        default = await self.use.channel_default.of(channel_id)
        return subscriptions.subscriptions(found, self.command, default, page)

    async def _sample(
        self, command: SampleCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        hearing = await self.use.show_hearing.run(repository, command.branch)
        await conversation.tell_actor(subscriptions.samples(repository, hearing, command.branch))

    async def _default(self, command: DefaultCommand, conversation: Conversation) -> None:
        channel_id = _where(conversation)
        if command.repository is None and not command.is_off:
            known = await self.use.channel_default.of(channel_id)
            await conversation.tell_actor(subscriptions.default_told(known, self.command))
            return
        request = DefaultRequest(
            channel_id, command.repository, conversation.actor, conversation.origin
        )
        changed = await self.use.channel_default.change(request)
        if not changed:
            told = subscriptions.default_told(command.repository, self.command)
            await conversation.tell_actor(told)
        elif command.repository is not None:
            await conversation.tell_channel(subscriptions.default_set(command.repository))
        else:
            await conversation.tell_channel(subscriptions.default_forgotten())

    async def _subscribe(
        self, command: SubscribeCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        (done,) = await self.use.manage_subscriptions.subscribe(
            _request([repository], command.wish, conversation)
        )
        if not done.changed:
            await conversation.tell_actor(subscriptions.already_so(done.subscription))
            return
        message = subscriptions.subscribed(
            done.subscription, done.access, bot_name=self.bot_name, configured=done.configured
        )
        await conversation.tell_channel(message)

    async def _unsubscribe(
        self, command: UnsubscribeCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        (done,) = await self.use.manage_subscriptions.unsubscribe(
            _request([repository], command.wish, conversation)
        )
        if done.changed:
            await conversation.tell_channel(subscriptions.unsubscribed(repository, done.still))
        if done.configured is not None:
            await conversation.tell_actor(subscriptions.configured_stays([repository]))
        elif not done.changed and done.left is not None:
            await conversation.tell_actor(subscriptions.was_not_heard(done.left))
        elif not done.changed:
            await conversation.tell_actor(subscriptions.was_not_subscribed(repository))

    async def _subscribe_together(
        self, command: SubscribeGroupCommand, conversation: Conversation
    ) -> None:
        group = command.group
        done = await self.use.manage_subscriptions.subscribe(
            _request(group.repositories, command.wish, conversation)
        )
        found = [one.subscription for one in done]
        if not any(one.changed for one in done):
            await conversation.tell_actor(
                subscriptions.already_so_together(group, found, self.command)
            )
            return
        message = subscriptions.subscribed_together(
            group,
            found,
            done[0].access,
            command=self.command,
            bot_name=self.bot_name,
            configured=[one.configured.repository for one in done if one.configured is not None],
        )
        await conversation.tell_channel(message)

    async def _unsubscribe_together(
        self, command: UnsubscribeGroupCommand, conversation: Conversation
    ) -> None:
        done = await self.use.manage_subscriptions.unsubscribe(
            _request(command.group.repositories, command.wish, conversation)
        )
        changed = [one for one in done if one.changed]
        configured = [one.repository for one in done if one.configured is not None]
        if changed:
            ended = [one.repository for one in changed if not one.still]
            still = [left for one in changed for left in one.still]
            await conversation.tell_channel(
                subscriptions.unsubscribed_together(ended, still, self.command)
            )
        if configured:
            await conversation.tell_actor(subscriptions.configured_stays(configured))
        elif not changed:
            left = [one.left for one in done if one.left is not None]
            await conversation.tell_actor(subscriptions.not_heard_together(left, self.command))


def _request(
    repositories: Sequence[RepositoryName], wish: Wish, conversation: Conversation
) -> SubscriptionRequest:
    return SubscriptionRequest(
        _where(conversation),
        repositories,
        wish,
        conversation.actor,
        conversation.origin,
    )


def _where(conversation: Conversation) -> str:
    """This channel, or the person alone where there is none."""
    return conversation.channel_id or conversation.actor.user_id
