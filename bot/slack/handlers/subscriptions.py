"""What a channel hears."""

from collections.abc import Mapping

from typing_extensions import override

from bot.domain.groups import Group
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import SubscriptionOptions
from bot.messages import subscriptions
from bot.slack.conversation import Conversation
from bot.slack.handlers.subject import OnCommand, Subject
from bot.usecases.preferences.manage_subscriptions import SubscriptionRequest


class Subscriptions(Subject):
    """A change is told to the channel, everything else to the caller."""

    @override
    def on_command(self) -> Mapping[str, OnCommand]:
        return {
            "subscribe": self._subscribe,
            "subscribe @group": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "unsubscribe @group": self._unsubscribe,
            "subscriptions": self._list,
            "subscriptions test": self._sample,
            "default": self._default,
            "default off": self._forget_default,
        }

    async def _list(self, _: None, conversation: Conversation, *, first: int) -> None:
        channel_id = conversation.caller.place
        found = await self.use.manage_subscriptions.subscriptions(channel_id)
        default = await self.use.channel_default.of(channel_id)
        page = subscriptions.subscriptions(found, self.command, default, first)
        await conversation.answer(page)

    async def _sample(
        self, repository: RepositoryName, conversation: Conversation, *, branch: str | None
    ) -> None:
        hearing = await self.use.manage_subscriptions.samples(repository, branch)
        await conversation.tell_actor(subscriptions.samples(repository, hearing, branch))

    async def _default(self, repository: RepositoryName | None, conversation: Conversation) -> None:
        if repository is None:
            known = await self.use.channel_default.of(conversation.caller.place)
            await conversation.tell_actor(subscriptions.default_told(known, self.command))
        elif await self._change_default(repository, conversation):
            await conversation.tell_channel(subscriptions.default_set(repository))

    async def _forget_default(self, _: None, conversation: Conversation) -> None:
        if await self._change_default(None, conversation):
            await conversation.tell_channel(subscriptions.default_forgotten())

    async def _change_default(
        self, repository: RepositoryName | None, conversation: Conversation
    ) -> bool:
        """Whether there is something to tell the channel; the person is told when there isn't."""
        changed = await self.use.channel_default.change(repository, conversation.caller)
        if not changed:
            await conversation.tell_actor(subscriptions.default_told(repository, self.command))
        return changed

    async def _subscribe(
        self,
        where: RepositoryName | Group,
        conversation: Conversation,
        *,
        options: SubscriptionOptions,
    ) -> None:
        done = await self.use.manage_subscriptions.subscribe(_request(where, options, conversation))
        found = [one.subscription for one in done]
        if not any(one.changed for one in done):
            message = subscriptions.already_so(where, found, self.command)
            await conversation.tell_actor(message)
            return
        message = subscriptions.subscribed(
            where,
            found,
            done[0].access,
            command=self.command,
            bot_name=self.bot_name,
            configured=[one.configured for one in done if one.configured is not None],
        )
        await conversation.tell_channel(message)

    async def _unsubscribe(
        self,
        where: RepositoryName | Group,
        conversation: Conversation,
        *,
        options: SubscriptionOptions,
    ) -> None:
        done = await self.use.manage_subscriptions.unsubscribe(
            _request(where, options, conversation)
        )
        changed = [one for one in done if one.changed]
        configured = [one.repository for one in done if one.configured is not None]
        if changed:
            ended = [one.repository for one in changed if not one.still]
            still = [left for one in changed for left in one.still]
            message = subscriptions.unsubscribed(where, ended, still, self.command)
            await conversation.tell_channel(message)
        if configured:
            await conversation.tell_actor(subscriptions.configured_stays(configured))
        elif not changed:
            left = [one.left for one in done if one.left is not None]
            message = subscriptions.not_subscribed(where, left, self.command)
            await conversation.tell_actor(message)


def _request(
    where: RepositoryName | Group, options: SubscriptionOptions, conversation: Conversation
) -> SubscriptionRequest:
    repositories = where.repositories if isinstance(where, Group) else (where,)
    return SubscriptionRequest(repositories, options, conversation.caller)
