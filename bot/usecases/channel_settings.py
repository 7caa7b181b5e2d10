"""What a channel is subscribed to, and the repository that it means by default."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import Action, ActResult, AuditRecord, Caller
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

logger = logging.getLogger(__name__)

PART_SIZE = 500
"""Repositories in one transaction, so that it is over in a fraction of a second."""

RENAME_ATTEMPTS = 60
"""A second apart: a claim of posts that are being sent lasts half as long."""


@dataclass(frozen=True, slots=True)
class SubscriptionChange:
    """The subscription by command to one repository, before and after; None for none.

    `configured`: the channel's subscription from the configuration, which stays.
    """

    repository: RepositoryName
    before: Subscription | None
    after: Subscription | None
    configured: Subscription | None

    @property
    def is_new(self) -> bool:
        if self.before is None or self.after is None:
            return self.before is not self.after
        return not self.before.has_same_options(self.after)

    @property
    def left(self) -> list[Subscription]:
        """The channel's subscriptions to the repository afterwards."""
        return [one for one in (self.after, self.configured) if one is not None]


After = Callable[[Subscription | None, AuditRecord], Subscription | None]
"""The subscription after an act, of the one before it."""


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """Concern everybody in the channel, so each change is audited.

    Many repositories take several transactions. After a StoreError the request can be repeated,
    because parts already done stay as they are.
    """

    acts: ActLog
    next_digest: NextDigest

    async def subscribe(
        self, caller: Caller, repositories: Sequence[RepositoryName], options: SubscriptionOptions
    ) -> Sequence[SubscriptionChange]:
        """Subscribe; existing topics stay. Raises PermissionDenied and StoreError."""
        acts = await self._permitted(caller, Action.SUBSCRIBE, repositories)
        zone, is_weekly = UTC_ZONE, Topic.WEEKLY in options.topics
        is_timed = is_weekly or options.level is Level.EVERYTHING or options.style is Style.DIGEST
        if is_timed and options.digest_zone is None:
            # The person's own, in which they give a time of day.
            zone = (await self.acts.check.zone(caller.actor)).key
        digest = DigestTime(DIGEST_AT, zone)

        def subscribed(before: Subscription | None, act: AuditRecord) -> Subscription:
            by, place = caller.actor.user_id, caller.place
            new = Subscription(
                place, act.repository, created_by=by, created_at=act.at, digest=digest
            )
            return added(before, new, options)

        return await self._change(caller.place, acts, subscribed)

    async def unsubscribe(
        self, caller: Caller, repositories: Sequence[RepositoryName], options: SubscriptionOptions
    ) -> Sequence[SubscriptionChange]:
        """Unsubscribe, the mirror of subscribing.

        Raises PermissionDenied, StoreError, and CommandSyntaxError if one subscription can't
        express the rest.
        """
        acts = await self._permitted(caller, Action.UNSUBSCRIBE, repositories)

        def left(before: Subscription | None, act: AuditRecord) -> Subscription | None:
            try:
                return removed(before, options) if before is not None else None
            except InvalidOptions as error:
                usage = COMMAND_BY_WORD["unsubscribe"].usage
                where = f"{act.repository}: " if repositories[1:] else ""
                raise CommandSyntaxError(f"{where}{error}", usage=usage) from error

        return await self._change(caller.place, acts, left)

    async def _permitted(
        self, caller: Caller, action: Action, repositories: Sequence[RepositoryName]
    ) -> Sequence[AuditRecord]:
        """An act for each of the repositories."""
        acts = [self.acts.record(caller, action, one) for one in repositories]
        await self.acts.permit(acts[0], repositories[1:])
        return acts

    async def _change(
        self, channel_id: str, acts: Sequence[AuditRecord], after: After
    ) -> Sequence[SubscriptionChange]:
        done: list[SubscriptionChange] = []
        for begin in range(0, len(acts), PART_SIZE):
            part = acts[begin : begin + PART_SIZE]
            done += await self.acts.store.run(self._change_part, channel_id, part, after)
        return done

    def _change_part(
        self, transaction: Transaction, channel_id: str, acts: Sequence[AuditRecord], after: After
    ) -> Sequence[SubscriptionChange]:
        transaction.subscriptions.hold(channel_id)
        found = transaction.subscriptions.of_channel(channel_id)
        known = {(one.repository, one.source): one for one in found}
        done: list[SubscriptionChange] = []
        for act in acts:
            before = known.get((act.repository, SubscriptionSource.COMMAND))
            configured = known.get((act.repository, SubscriptionSource.CONFIGURATION))
            change = SubscriptionChange(act.repository, before, after(before, act), configured)
            if change.is_new:
                self._store(transaction, channel_id, change, act.at)
            words = [words_of(one) if one is not None else "" for one in (before, change.after)]
            _audit(transaction, replace(act, setting_before=words[0], setting_after=words[1]))
            done.append(change)
        return done

    def _store(
        self, transaction: Transaction, channel_id: str, change: SubscriptionChange, now: datetime
    ) -> None:
        """Waiting deliveries that nothing else matches go to a new digest time, or are dropped."""
        before, after, outbox = change.before, change.after, transaction.outbox
        if after is None:
            transaction.subscriptions.delete(channel_id, change.repository)
            if change.configured is None:
                outbox.drop_unsubscribed(channel_id, change.repository, now)
            return
        transaction.subscriptions.save(after)
        if before is None or change.configured is not None:
            return
        if (before.style, before.digest) != (after.style, after.digest):
            to = now
            if after.style is Style.DIGEST and after.digest is not None:
                to = self.next_digest(after.digest, now)
            outbox.move_digest(channel_id, change.repository, to, now)

    async def subscriptions(self, channel_id: str) -> Sequence[Subscription]:
        return await self.acts.store.run(lambda one: one.subscriptions.of_channel(channel_id))

    async def samples(
        self, repository: RepositoryName, branch: str | None
    ) -> Sequence[tuple[str, Sequence[Subscription]]]:
        """Each topic with the subscriptions that match an event of it, one per channel.

        Uses the same decision as routing.
        """
        found = await self.acts.store.read(lambda one: one.subscriptions.of_repository(repository))
        return [(topic.value, _reached(found, topic, branch)) for topic in Topic]

    async def default(self, channel_id: str) -> RepositoryName | None:
        """The repository meant in the channel where none is typed."""
        return await self.acts.store.run(lambda one: one.channel_defaults.of(channel_id))

    async def change_default(self, repository: RepositoryName | None, caller: Caller) -> bool:
        """Change or clear (None) it; return whether it changed. Raises PermissionDenied."""
        before = await self.default(caller.place)
        about = repository or before
        if about is None:
            return False
        act = self.acts.record(caller, Action.DEFAULT, about)
        act = replace(act, setting_before=before or "", setting_after=repository or "")
        await self.acts.permit(act)

        def change(transaction: Transaction) -> None:
            transaction.channel_defaults.set(caller.place, repository)
            _audit(transaction, act)

        await self.acts.store.run(change)
        return before != repository

    async def rename(self, old: str, new: str) -> None:
        """Move the data to the channel's new id, once nothing is being sent to the old one.

        Raises StoreError.
        """
        for _ in range(RENAME_ATTEMPTS):
            if await self.acts.store.run(
                lambda transaction: transaction.upkeep.rename_channel(old, new)
            ):
                # Settings that name the old id would restore it at the next start.
                extra = {"action": "channel_renamed", "channel": old, "new_channel": new}
                logger.warning("channel id changed", extra=extra)
                self.acts.wake()
                return
            await self.acts.clock.sleep(1)
        extra = {"action": "channel_not_renamed", "channel": old, "new_channel": new}
        logger.error("channel id not changed", extra=extra)


def _audit(transaction: Transaction, act: AuditRecord) -> None:
    is_new = act.setting_before != act.setting_after
    result = ActResult.DONE if is_new else ActResult.UNCHANGED
    transaction.audit.add(replace(act, result=result))


def _reached(
    found: Sequence[Subscription], topic: Topic, branch: str | None
) -> Sequence[Subscription]:
    if topic in {Topic.HEALTH, Topic.WEEKLY}:
        branch = None  # They concern all branches.
    by_channel = {
        one.channel_id: one
        for one in reversed(found)
        if one.wants(topic=topic, event_type="", branch=branch)
    }
    return [by_channel[each] for each in sorted(by_channel)]


def take_configuration(
    transaction: Transaction, now: datetime, subscriptions: Sequence[Subscription]
) -> None:
    """Replace configured subscriptions; drop waiting deliveries of those that are gone."""
    for one in transaction.subscriptions.replace_configured(subscriptions):
        here = transaction.subscriptions.of_channel(one.channel_id)
        if all(other.repository != one.repository for other in here):
            transaction.outbox.drop_unsubscribed(one.channel_id, one.repository, now)
