"""Subscribe a channel, unsubscribe it, list what it hears about."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.domain.audit import Action, Actor, ActResult, AuditRecord, Origin
from bot.domain.channels import ChannelAccess
from bot.domain.commands.verbs import VERB_BY_WORD
from bot.domain.digests import DIGEST_AT, UTC_ZONE, DigestTime
from bot.domain.errors import CommandSyntaxError
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Style, Subscription, SubscriptionSource
from bot.domain.wishes import InvalidWish, Wish, granted, withdrawn, words_of
from bot.ports import Transaction
from bot.usecases.acts import ActLog


@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """What is asked for a channel."""

    channel_id: str
    repository: RepositoryName
    wish: Wish
    actor: Actor
    origin: Origin


@dataclass(frozen=True, slots=True)
class Subscribed:
    """The subscription as it now is, and whether the bot can post in the channel.

    `changed`: it was not so before. `configured`: what the channel hears about besides.
    """

    subscription: Subscription
    access: ChannelAccess
    changed: bool = True
    configured: Subscription | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    """How unsubscribing ended.

    `changed`: there was something to end. `left`: what is still heard about by command.
    `configured`: a subscription from the configuration, which stays.
    """

    changed: bool
    left: Subscription | None
    configured: Subscription | None


@dataclass(frozen=True, slots=True)
class ManageSubscriptions:
    """Everything a channel can say about what it wants to hear; each decision is put on record."""

    acts: ActLog

    async def subscribe(self, request: SubscriptionRequest) -> Subscribed:
        """Subscribing to x turns on x only. Raises PermissionDenied."""
        await self.acts.permit(self._act(Action.SUBSCRIBE, request))
        access = await self.acts.channels.access(request.channel_id)
        new = Subscription(
            request.channel_id,
            request.repository,
            created_by=request.actor.user_id,
            created_at=self.acts.clock.now(),
            digest=DigestTime(DIGEST_AT, await self._zone(request)),
        )
        async with self.acts.store.begin() as transaction:
            found = await transaction.subscriptions.of_channel(request.channel_id)
            before = _by_command(found, request.repository)
            after = granted(before, new, request.wish)
            changed = before is None or not before.hears_the_same(after)
            if changed:
                await transaction.subscriptions.save(after)
            await self._record(transaction, Action.SUBSCRIBE, request, before, after)
        configured = _of(found, request.repository, SubscriptionSource.CONFIGURATION)
        return Subscribed(after, access, changed, configured)

    async def _zone(self, request: SubscriptionRequest) -> str:
        """The person's own, in which they say a time of day."""
        if request.wish.style is not Style.DIGEST or request.wish.digest_zone is not None:
            return UTC_ZONE
        return (await self.acts.check.zone(request.actor)).key

    async def unsubscribe(self, request: SubscriptionRequest) -> Unsubscribed:
        """The mirror of subscribing. Raises PermissionDenied and CommandSyntaxError."""
        await self.acts.permit(self._act(Action.UNSUBSCRIBE, request))
        async with self.acts.store.begin() as transaction:
            found = await transaction.subscriptions.of_channel(request.channel_id)
            before = _by_command(found, request.repository)
            left = None if before is None else _without(before, request.wish)
            if left is not None:
                await transaction.subscriptions.save(left)
            elif before is not None:
                await transaction.subscriptions.delete(request.channel_id, request.repository)
                if _of(found, request.repository, SubscriptionSource.CONFIGURATION) is None:
                    await transaction.outbox.drop_digest(
                        request.channel_id, request.repository, self.acts.clock.now()
                    )
            await self._record(transaction, Action.UNSUBSCRIBE, request, before, left)
        configured = _of(found, request.repository, SubscriptionSource.CONFIGURATION)
        return Unsubscribed(before != left, left, configured)

    async def subscriptions(self, channel_id: str) -> Sequence[Subscription]:
        async with self.acts.store.begin() as transaction:
            return await transaction.subscriptions.of_channel(channel_id)

    async def _record(
        self,
        transaction: Transaction,
        action: Action,
        request: SubscriptionRequest,
        before: Subscription | None,
        after: Subscription | None,
    ) -> None:
        """In the transaction of the change itself: neither is there without the other."""
        heard_before, heard_after = _words(before), _words(after)
        await transaction.audit.add(
            replace(
                self._act(action, request),
                result=ActResult.UNCHANGED if heard_before == heard_after else ActResult.DONE,
                heard_before=heard_before,
                heard_after=heard_after,
            )
        )

    def _act(self, action: Action, request: SubscriptionRequest) -> AuditRecord:
        return AuditRecord(
            at=self.acts.clock.now(),
            actor=request.actor,
            action=action,
            origin=request.origin,
            repository=request.repository,
            result=ActResult.STARTED,
            channel_id=request.channel_id,
        )


def _words(subscription: Subscription | None) -> str:
    return words_of(subscription) if subscription is not None else ""


def _without(subscription: Subscription, wish: Wish) -> Subscription | None:
    try:
        return withdrawn(subscription, wish)
    except InvalidWish as error:
        usage = VERB_BY_WORD["unsubscribe"].usage
        raise CommandSyntaxError(str(error), usage=usage) from error


def _by_command(found: Sequence[Subscription], repository: RepositoryName) -> Subscription | None:
    return _of(found, repository, SubscriptionSource.COMMAND)


def _of(
    found: Sequence[Subscription], repository: RepositoryName, source: SubscriptionSource
) -> Subscription | None:
    for one in found:
        if one.repository == repository and one.source is source:
            return one
    return None
