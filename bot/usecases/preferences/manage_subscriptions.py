"""Subscribe a channel, unsubscribe it, and list its subscriptions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import Action, ActResult, AuditRecord, Caller
from bot.domain.channels import ChannelAccess
from bot.domain.check_statistics import with_zone
from bot.domain.commands import COMMAND_BY_WORD
from bot.domain.errors import CommandSyntaxError
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import (
    DIGEST_AT,
    UTC_ZONE,
    DigestTime,
    InvalidOptions,
    Level,
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

PART_SIZE = 500
"""Repositories in one transaction, so that it is over in a fraction of a second."""


@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """A request for a channel, with the same options for each repository."""

    repositories: Sequence[RepositoryName]
    options: SubscriptionOptions
    caller: Caller


@dataclass(frozen=True, slots=True)
class Subscribed:
    """The subscription to one repository, and whether the bot can post in the channel.

    `changed`: it is different from before.
    `configured`: the channel's subscriptions from the configuration.
    """

    subscription: Subscription
    access: ChannelAccess
    changed: bool = True
    configured: Subscription | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    """The result of unsubscribing from one repository.

    `changed`: there was something to remove.
    `left`: what remains subscribed by command.
    `configured`: a subscription from the configuration, which stays.
    """

    repository: RepositoryName
    changed: bool
    left: Subscription | None
    configured: Subscription | None

    @property
    def still(self) -> list[Subscription]:
        """The channel's remaining subscriptions to the repository."""
        return [one for one in (self.left, self.configured) if one is not None]


@dataclass(frozen=True, slots=True)
class ManageSubscriptions:
    """Changes a channel's subscriptions and audits each change.

    Many repositories take several transactions. After a StoreError the request can be repeated,
    because parts already done stay as they are.
    """

    acts: ActLog
    next_digest: NextDigest

    async def subscribe(self, request: SubscriptionRequest) -> Sequence[Subscribed]:
        """Subscribe; existing topics stay. Raises PermissionDenied and StoreError."""
        first, *others = self._acts(Action.SUBSCRIBE, request)
        await self.acts.permit(first, [one.repository for one in others])
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
        subscribed = _Subscriptions.by_channel(transaction, request.caller.place)
        done: list[Subscribed] = []
        for act in acts:
            before, configured = (
                subscribed.by_command(act.repository),
                subscribed.configured(act.repository),
            )
            after = added(before, _new(request, act, digest), request.options)
            known = before.digest if before is not None else None
            after = with_zone(after, known or digest)
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
        """Post waiting deliveries at the new digest time, or immediately without a digest."""
        if (before.style, before.digest) == (after.style, after.digest):
            return
        to = now
        if after.style is Style.DIGEST and after.digest is not None:
            to = self.next_digest(after.digest, now)
        transaction.outbox.move_digest(after.channel_id, after.repository, to, now)

    async def _zone(self, request: SubscriptionRequest) -> str:
        """The person's own time zone, in which they give a time of day."""
        options = request.options
        is_weekly = Topic.WEEKLY in options.topics or options.level is Level.EVERYTHING
        is_timed = is_weekly or options.style is Style.DIGEST
        if not is_timed or options.digest_zone is not None:
            return UTC_ZONE
        return (await self.acts.check.zone(request.caller.actor)).key

    async def unsubscribe(self, request: SubscriptionRequest) -> Sequence[Unsubscribed]:
        """Unsubscribe, the mirror of subscribing.

        Raises PermissionDenied, StoreError, and CommandSyntaxError if one subscription can't
        express the rest.
        """
        first, *others = self._acts(Action.UNSUBSCRIBE, request)
        await self.acts.permit(first, [one.repository for one in others])
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
        """Each topic with the subscriptions that match an event of it, one per channel.

        Uses the same decision as routing.
        """
        found = await self.acts.store.read(
            lambda transaction: transaction.subscriptions.of_repository(repository)
        )
        # Queue health concerns all branches.
        of_all = {Topic.HEALTH, Topic.WEEKLY}
        on = {topic: None if topic in of_all else branch for topic in Topic}
        return [(topic.value, _reached(found, topic, on[topic])) for topic in Topic]

    def _acts(self, action: Action, request: SubscriptionRequest) -> Sequence[AuditRecord]:
        """An audit record for each of the repositories."""
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
class _Subscriptions:
    """The channel's subscriptions."""

    found: dict[tuple[RepositoryName, SubscriptionSource], Subscription]

    @classmethod
    def by_channel(cls, transaction: Transaction, channel_id: str) -> "_Subscriptions":
        found = transaction.subscriptions.of_channel(channel_id)
        return cls({(one.repository, one.source): one for one in found})

    def by_command(self, repository: RepositoryName) -> Subscription | None:
        return self.found.get((repository, SubscriptionSource.COMMAND))

    def configured(self, repository: RepositoryName) -> Subscription | None:
        return self.found.get((repository, SubscriptionSource.CONFIGURATION))


def _parts(acts: Sequence[AuditRecord]) -> Iterator[Sequence[AuditRecord]]:
    for begin in range(0, len(acts), PART_SIZE):
        yield acts[begin : begin + PART_SIZE]


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
    subscribed = _Subscriptions.by_channel(transaction, request.caller.place)
    done: list[Unsubscribed] = []
    for act in acts:
        before, configured = (
            subscribed.by_command(act.repository),
            subscribed.configured(act.repository),
        )
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
    """End a subscription; drop its waiting deliveries if nothing else matches them."""
    transaction.subscriptions.delete(ended.channel_id, ended.repository)
    if not is_configured:
        transaction.outbox.drop_unsubscribed(ended.channel_id, ended.repository, now)


def _record(
    transaction: Transaction,
    act: AuditRecord,
    before: Subscription | None,
    after: Subscription | None,
) -> None:
    """Audit a change, in the same transaction."""
    setting_before, setting_after = _words(before), _words(after)
    transaction.audit.add(
        replace(
            act,
            result=ActResult.UNCHANGED if setting_before == setting_after else ActResult.DONE,
            setting_before=setting_before,
            setting_after=setting_after,
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
