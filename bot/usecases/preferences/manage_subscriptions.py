"""Subscribe a channel, unsubscribe it, list what it hears about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import Action, ActResult, AuditRecord, Caller
from bot.domain.channels import ChannelAccess
from bot.domain.commands import COMMAND_BY_WORD
from bot.domain.errors import CommandSyntaxError
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import (
    DIGEST_AT,
    UTC_ZONE,
    DigestTime,
    InvalidOptions,
    NextDigest,
    Style,
    Subscription,
    SubscriptionOptions,
    SubscriptionSource,
    Topic,
    added,
    removed,
    words_of,
)
from bot.store.transactions import Transaction
from bot.usecases.pausing.acts import ActLog

TOGETHER = 500
"""Repositories in one transaction, so that it is over in a fraction of a second."""


@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """What is asked for a channel, the same for each of the repositories."""

    repositories: Sequence[RepositoryName]
    options: SubscriptionOptions
    caller: Caller


@dataclass(frozen=True, slots=True)
class Subscribed:
    """The subscription to one repository as it now is, and whether the bot can post in the channel.

    `changed`: it was not so before. `configured`: what the channel hears about besides.
    """

    subscription: Subscription
    access: ChannelAccess
    changed: bool = True
    configured: Subscription | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    """How unsubscribing from one repository ended.

    `changed`: there was something to end. `left`: what is still heard about by command.
    `configured`: a subscription from the configuration, which stays.
    """

    repository: RepositoryName
    changed: bool
    left: Subscription | None
    configured: Subscription | None

    @property
    def still(self) -> list[Subscription]:
        """What the channel hears about the repository now."""
        return [one for one in (self.left, self.configured) if one is not None]


@dataclass(frozen=True, slots=True)
class ManageSubscriptions:
    """Everything a channel can say about what it wants to hear; each decision is put on record.

    Many repositories take several transactions. After a StoreError the same can be asked again:
    what is so already stays as it is.
    """

    acts: ActLog
    next_digest: NextDigest

    async def subscribe(self, request: SubscriptionRequest) -> Sequence[Subscribed]:
        """Subscribing to x turns on x only. Raises PermissionDenied and StoreError."""
        first, *others = self._acts(Action.SUBSCRIBE, request)
        await self.acts.permit(first, more=len(others))
        access = await self.acts.channels.access(request.caller.place)
        digest = DigestTime(DIGEST_AT, await self._zone(request))
        done: list[Subscribed] = []
        for part in _parts(self._acts(Action.SUBSCRIBE, request)):
            done += await self.acts.store.run(self._subscribe, request, part, digest, access)
        return done

    def _subscribe(
        self,
        transaction: Transaction,
        request: SubscriptionRequest,
        acts: Sequence[AuditRecord],
        digest: DigestTime,
        access: ChannelAccess,
    ) -> Sequence[Subscribed]:
        transaction.subscriptions.hold(request.caller.place)
        heard = _Heard.by_channel(transaction, request.caller.place)
        done: list[Subscribed] = []
        for act in acts:
            before, configured = heard.by_command(act.repository), heard.configured(act.repository)
            after = added(before, _new(request, act, digest), request.options)
            changed = before is None or not before.has_same_options(after)
            if changed:
                transaction.subscriptions.save(after)
            if changed and before is not None and configured is None:
                self._move_digest(transaction, before, after, act.at)
            _record(transaction, act, before, after)
            done.append(Subscribed(after, access, changed, configured))
        return done

    def _move_digest(
        self, transaction: Transaction, before: Subscription, after: Subscription, now: datetime
    ) -> None:
        """What waits comes when the channel asks for it now, or at once."""
        if (before.style, before.digest) == (after.style, after.digest):
            return
        to = now
        if after.style is Style.DIGEST and after.digest is not None:
            to = self.next_digest(after.digest, now)
        transaction.outbox.move_digest(after.channel_id, after.repository, to, now)

    async def _zone(self, request: SubscriptionRequest) -> str:
        """The person's own, in which they say a time of day."""
        if request.options.style is not Style.DIGEST or request.options.digest_zone is not None:
            return UTC_ZONE
        return (await self.acts.check.zone(request.caller.actor)).key

    async def unsubscribe(self, request: SubscriptionRequest) -> Sequence[Unsubscribed]:
        """The mirror of subscribing.

        Raises PermissionDenied, StoreError, and CommandSyntaxError when what would be left could
        not be said in one subscription.
        """
        first, *others = self._acts(Action.UNSUBSCRIBE, request)
        await self.acts.permit(first, more=len(others))
        done: list[Unsubscribed] = []
        for part in _parts(self._acts(Action.UNSUBSCRIBE, request)):
            done += await self.acts.store.run(_unsubscribe, request, part)
        return done

    async def subscriptions(self, channel_id: str) -> Sequence[Subscription]:
        return await self.acts.store.run(
            lambda transaction: transaction.subscriptions.of_channel(channel_id)
        )

    async def samples(
        self, repository: RepositoryName, branch: str | None
    ) -> Sequence[tuple[str, Sequence[Subscription]]]:
        """Each topic with the subscriptions that an event of it reaches; one for a channel.

        By the same decision that routes events.
        """
        found = await self.acts.store.read(
            lambda transaction: transaction.subscriptions.of_repository(repository)
        )
        # The condition of a queue is that of all its branches.
        on = {topic: None if topic is Topic.HEALTH else branch for topic in Topic}
        return [(topic.value, _reached(found, topic, on[topic])) for topic in Topic]

    def _acts(self, action: Action, request: SubscriptionRequest) -> Sequence[AuditRecord]:
        """One for each of the repositories."""
        return [self.acts.record(request.caller, action, one) for one in request.repositories]


def _reached(
    found: Sequence[Subscription], topic: Topic, branch: str | None
) -> Sequence[Subscription]:
    by_channel = {
        one.channel_id: one
        for one in reversed(found)
        if one.wants(topic=topic, event_type="", branch=branch)
    }
    return [by_channel[each] for each in sorted(by_channel)]


@dataclass(frozen=True, slots=True)
class _Heard:
    """What the channel hears about."""

    found: dict[tuple[RepositoryName, SubscriptionSource], Subscription]

    @classmethod
    def by_channel(cls, transaction: Transaction, channel_id: str) -> "_Heard":
        found = transaction.subscriptions.of_channel(channel_id)
        return cls({(one.repository, one.source): one for one in found})

    def by_command(self, repository: RepositoryName) -> Subscription | None:
        return self.found.get((repository, SubscriptionSource.COMMAND))

    def configured(self, repository: RepositoryName) -> Subscription | None:
        return self.found.get((repository, SubscriptionSource.CONFIGURATION))


def _parts(acts: Sequence[AuditRecord]) -> Iterator[Sequence[AuditRecord]]:
    for begin in range(0, len(acts), TOGETHER):
        yield acts[begin : begin + TOGETHER]


def _new(request: SubscriptionRequest, act: AuditRecord, digest: DigestTime) -> Subscription:
    return Subscription(
        request.caller.place,
        act.repository,
        created_by=request.caller.actor.user_id,
        created_at=act.at,
        digest=digest,
    )


def _unsubscribe(
    transaction: Transaction, request: SubscriptionRequest, acts: Sequence[AuditRecord]
) -> Sequence[Unsubscribed]:
    transaction.subscriptions.hold(request.caller.place)
    heard = _Heard.by_channel(transaction, request.caller.place)
    done: list[Unsubscribed] = []
    for act in acts:
        before, configured = heard.by_command(act.repository), heard.configured(act.repository)
        left = None if before is None else _without(before, request)
        if left is not None:
            transaction.subscriptions.save(left)
        elif before is not None:
            _end(transaction, before, act.at, is_configured=configured is not None)
        _record(transaction, act, before, left)
        done.append(Unsubscribed(act.repository, before != left, left, configured))
    return done


def _end(
    transaction: Transaction, ended: Subscription, now: datetime, *, is_configured: bool
) -> None:
    """What waits for a digest or a suspended channel is not told to who hears of it no more."""
    transaction.subscriptions.delete(ended.channel_id, ended.repository)
    if not is_configured:
        transaction.outbox.drop_unheard(ended.channel_id, ended.repository, now)


def _record(
    transaction: Transaction,
    act: AuditRecord,
    before: Subscription | None,
    after: Subscription | None,
) -> None:
    """In the transaction of the change itself: neither is there without the other."""
    heard_before, heard_after = _words(before), _words(after)
    transaction.audit.add(
        replace(
            act,
            result=ActResult.UNCHANGED if heard_before == heard_after else ActResult.DONE,
            heard_before=heard_before,
            heard_after=heard_after,
        )
    )


def _words(subscription: Subscription | None) -> str:
    return words_of(subscription) if subscription is not None else ""


def _without(subscription: Subscription, request: SubscriptionRequest) -> Subscription | None:
    try:
        return removed(subscription, request.options)
    except InvalidOptions as error:
        usage = COMMAND_BY_WORD["unsubscribe"].usage
        where = f"{subscription.repository}: " if len(request.repositories) > 1 else ""
        raise CommandSyntaxError(f"{where}{error}", usage=usage) from error
