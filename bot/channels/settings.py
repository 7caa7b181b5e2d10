"""What a channel is subscribed to, and the repository that it means by default."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

from bot.acts.permission import Right
from bot.acts.record import Action, ActResult, AuditRecord, SettingChange, Where
from bot.acts.recording import RecordActs
from bot.acts.rows import Audit
from bot.channels.rows import ChannelDefaults, Followed, Subscriptions
from bot.channels.subscription import (
    DIGEST_AT,
    DefaultChange,
    Following,
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
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.cron import UTC_ZONE, DigestTime
from bot.kernel.errors import CommandSyntaxError
from bot.kernel.groups import ALL, name_in
from bot.kernel.repository import RepositoryName
from bot.posts.outbox import Outbox
from bot.store.slack_limits import ChannelSharings
from bot.store.transaction import Transaction

logger = logging.getLogger(__name__)

PART_SIZE = 500
"""Repositories in one transaction, so that it is over in a fraction of a second."""

RENAME_ATTEMPTS = 60
"""A second apart: a claim of posts that are being sent lasts half as long."""


@dataclass(frozen=True, slots=True)
class SubscriptionChange:
    """The subscription by command to one repository, before and after; None for none."""

    repository: RepositoryName
    before: Subscription | None
    after: Subscription | None
    #: the channel's subscription from the configuration, which stays
    configured: Subscription | None

    @property
    def is_new(self) -> bool:
        if self.before is None or self.after is None:
            return self.before is not self.after
        return not self.before.has_same_options(self.after)

    @property
    def left(self) -> list[Subscription]:
        """The channel's subscriptions to the repository afterwards."""
        return [
            subscription
            for subscription in (self.after, self.configured)
            if subscription is not None
        ]


class TopicSample(NamedTuple):
    """Who would be notified of an event of a topic."""

    topic: str
    subscriptions: Sequence[Subscription]  #: one per channel


After = Callable[[Subscription | None, AuditRecord], Subscription | None]
"""The subscription after an act, of the one before it."""


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """Concern everybody in the channel, so each change is audited.

    Many repositories take several transactions. After a StoreError the request can be repeated,
    because parts already done stay as they are.
    """

    acts: RecordActs
    next_digest: NextDigest
    rename_channel: Callable[[Transaction, str, str], bool]
    """Moves the rows of a channel to its new id; False while something is being sent there."""

    async def subscribe(
        self,
        caller: Caller,
        repositories: Sequence[RepositoryName],
        options: SubscriptionOptions,
        through: str | None = None,
    ) -> Sequence[SubscriptionChange]:
        """Subscribe; existing topics stay. Raises PermissionDenied and StoreError.

        `through`: the selection that was typed, whose later repositories the channel gets too.
        """
        acts = await self._permitted(caller, Action.SUBSCRIBE, repositories)
        zone = UTC_ZONE
        is_weekly = Topic.WEEKLY in options.topics
        is_timed = is_weekly or options.level is Level.EVERYTHING or options.style is Style.DIGEST
        if is_timed and options.digest_zone is None:
            # The person's own, in which they give a time of day.
            zone = (await self.acts.check.zone(caller.actor)).key
        digest = DigestTime(DIGEST_AT, zone)

        def subscribed(before: Subscription | None, act: AuditRecord) -> Subscription:
            # A repository's own subscription outlives the selection.
            is_own = before is not None and before.through is None
            new = Subscription(
                caller.place,
                act.repository,
                created_by=caller.actor.user_id,
                created_at=act.at,
                digest=digest,
                through=None if is_own else through,
            )
            return added(before, new, options)

        def follow(transaction: Transaction, now: datetime) -> None:
            if through is None:
                return
            none = RepositoryName.none()
            before: Subscription | None = None
            left_out: frozenset[str] = frozenset()
            for following in Followed(transaction).of_channel(caller.place):
                if following.selection == through:
                    before = following.subscription(none)
                    left_out = following.left_out
            new = Subscription(caller.place, none, digest=digest)
            wanted = added(before, new, options)
            followed = _following(wanted, through, caller.actor, now)
            # What is asked for by name is out of it already.
            followed = replace(followed, left_out=left_out)
            Followed(transaction).save(followed)

        return await self._change(caller.place, acts, subscribed, follow)

    async def unsubscribe(
        self,
        caller: Caller,
        repositories: Sequence[RepositoryName],
        options: SubscriptionOptions,
        through: str | None = None,
    ) -> Sequence[SubscriptionChange]:
        """Unsubscribe, the mirror of subscribing.

        `through`: the selection that was typed, which the channel doesn't follow any more.

        Raises PermissionDenied, StoreError, and CommandSyntaxError if one subscription can't
        express the rest.
        """
        acts = await self._permitted(caller, Action.UNSUBSCRIBE, repositories)

        def left(before: Subscription | None, act: AuditRecord) -> Subscription | None:
            try:
                after = removed(before, options) if before is not None else None
                if before is None or after is None or after.has_same_options(before):
                    return after
                return replace(after, through=before.through if through else None)
            except InvalidOptions as error:
                where = f"{act.repository}: " if repositories[1:] else ""
                raise CommandSyntaxError(f"{where}{error}", "unsubscribe") from error

        def unfollow(transaction: Transaction, _: datetime) -> None:
            if through is None:
                return
            try:
                _unfollow(transaction, caller.place, through, options)
            except InvalidOptions as error:
                raise CommandSyntaxError(str(error), "unsubscribe") from error

        return await self._change(caller.place, acts, left, unfollow)

    async def end_all(self, caller: Caller, channel_id: str) -> Sequence[SubscriptionChange]:
        """End every subscription of a channel, wherever the caller is.

        Posts that wait for it are dropped. Raises PermissionDenied and StoreError.
        """
        there = replace(caller, channel_id=channel_id)
        found = await self.subscriptions(channel_id)
        names = sorted({subscription.repository for subscription in found})
        done: Sequence[SubscriptionChange] = ()
        if names:
            done = await self.unsubscribe(there, names, SubscriptionOptions(), ALL)
        else:
            await self.acts.check.require(caller.actor, Right.SUBSCRIBE)
        if all(change.configured is None for change in done):
            # Also what was to be said about acts there, or to cards.
            now = self.acts.clock.now()

            def drop(transaction: Transaction) -> None:
                Subscriptions(transaction).lock(channel_id)
                _unfollow(transaction, channel_id, ALL, SubscriptionOptions())
                Outbox(transaction).drop_unsubscribed(channel_id, None, now)

            await self.acts.store.run(drop)
        return done

    async def _permitted(
        self, caller: Caller, action: Action, repositories: Sequence[RepositoryName]
    ) -> Sequence[AuditRecord]:
        """An act for each of the repositories."""
        acts = [self.acts.record(caller, action, repository) for repository in repositories]
        await self.acts.permit(acts[0], repositories[1:])
        return acts

    async def _change(
        self,
        channel_id: str,
        acts: Sequence[AuditRecord],
        after: After,
        follow: Callable[[Transaction, datetime], None],
    ) -> Sequence[SubscriptionChange]:
        """`follow`: changes the selection that the channel follows, in the last transaction.

        Before, its other repositories would be taken for new ones.
        """
        done: list[SubscriptionChange] = []
        for begin in range(0, len(acts), PART_SIZE):
            part = acts[begin : begin + PART_SIZE]
            is_last = begin + PART_SIZE >= len(acts)
            change = partial(self._change_part, follow=follow if is_last else None)
            done += await self.acts.store.run(change, channel_id, part, after)
        return done

    def _change_part(
        self,
        transaction: Transaction,
        channel_id: str,
        acts: Sequence[AuditRecord],
        after: After,
        follow: Callable[[Transaction, datetime], None] | None,
    ) -> Sequence[SubscriptionChange]:
        Subscriptions(transaction).lock(channel_id)
        found = Subscriptions(transaction).of_channel(channel_id)
        known = {
            (subscription.repository, subscription.source): subscription for subscription in found
        }
        done: list[SubscriptionChange] = []
        for act in acts:
            before = known.get((act.repository, SubscriptionSource.COMMAND))
            configured = known.get((act.repository, SubscriptionSource.CONFIGURATION))
            change = SubscriptionChange(act.repository, before, after(before, act), configured)
            if change.is_new:
                self._store(transaction, channel_id, change, act.at)
            elif before is not None and change.after is not None:
                moved = replace(before, through=change.after.through)
                if moved != before:
                    # Asked for by its own name, it stays when it leaves the selection.
                    Subscriptions(transaction).save(moved)
            words_before = words_of(before) if before is not None else ""
            words_after = words_of(change.after) if change.after is not None else ""
            setting = SettingChange(words_before, words_after)
            _audit(transaction, replace(act, setting=setting))
            done.append(change)
        _leave_out(transaction, channel_id, done)
        if follow is not None:
            follow(transaction, acts[0].at)
        return done

    def _store(
        self, transaction: Transaction, channel_id: str, change: SubscriptionChange, now: datetime
    ) -> None:
        """Waiting deliveries that nothing else matches go to a new digest time, or are dropped."""
        before = change.before
        after = change.after
        outbox = Outbox(transaction)
        if after is None:
            Subscriptions(transaction).delete(channel_id, change.repository)
            if change.configured is None:
                outbox.drop_unsubscribed(channel_id, change.repository, now)
            return
        Subscriptions(transaction).save(after)
        if before is None or change.configured is not None:
            return
        if (before.style, before.digest) != (after.style, after.digest):
            to = now
            if after.style is Style.DIGEST and after.digest is not None:
                to = self.next_digest(after.digest, now)
            outbox.move_digest(channel_id, change.repository, to, now)

    async def subscriptions(self, channel_id: str) -> Sequence[Subscription]:
        return await self.acts.store.read(
            lambda transaction: Subscriptions(transaction).of_channel(channel_id)
        )

    async def of_target(self, channel_id: str, target: str) -> Sequence[Subscription]:
        """Those by command to one repository, or through one selection, as a button names it."""
        return [
            subscription
            for subscription in await self.subscriptions(channel_id)
            if subscription.target == target and subscription.source is SubscriptionSource.COMMAND
        ]

    async def end_target(self, caller: Caller, target: str) -> Sequence[SubscriptionChange]:
        """End those of `of_target`, and nothing else; none if they have ended before.

        Raises PermissionDenied and StoreError.
        """
        found = await self.of_target(caller.place, target)
        if not found:
            await self.acts.check.require(caller.actor, Right.SUBSCRIBE)
            return ()
        names = [subscription.repository for subscription in found]
        acts = await self._permitted(caller, Action.UNSUBSCRIBE, names)

        def left(before: Subscription | None, _: AuditRecord) -> Subscription | None:
            return before if before is not None and before.target != target else None

        def unfollow(transaction: Transaction, _: datetime) -> None:
            for following in Followed(transaction).of_channel(caller.place):
                if f"@{name_in(following.selection)}" == target:
                    Followed(transaction).delete(following)

        return await self._change(caller.place, acts, left, unfollow)

    async def samples(
        self, repository: RepositoryName, branch: str | None
    ) -> Sequence[TopicSample]:
        """The subscriptions that match an event of each topic; the same decision as routing."""
        found = await self.acts.store.read(
            lambda transaction: Subscriptions(transaction).of_repository(repository)
        )
        return [TopicSample(topic.value, _reached(found, topic, branch)) for topic in Topic]

    async def default(self, channel_id: str) -> RepositoryName | None:
        """The repository meant in the channel where none is typed."""
        return await self.acts.store.read(
            lambda transaction: ChannelDefaults(transaction).of(channel_id)
        )

    async def change_default(
        self, repository: RepositoryName | None, caller: Caller
    ) -> DefaultChange:
        """Change or clear (None) it. Raises PermissionDenied."""
        before = await self.default(caller.place)
        about = repository or before
        if about is None:
            return DefaultChange(None, None)
        act = self.acts.record(caller, Action.DEFAULT, about)
        await self.acts.permit(replace(act, setting=SettingChange(after=repository or "")))

        def change(transaction: Transaction) -> DefaultChange:
            before = ChannelDefaults(transaction).of(caller.place)
            ChannelDefaults(transaction).set(caller.place, repository)
            setting = SettingChange(before or "", repository or "")
            _audit(transaction, replace(act, setting=setting))
            return DefaultChange(before, repository)

        return await self.acts.store.run(change)

    async def note_sharing(self, channel_id: str, *, is_shared: bool) -> None:
        """Tell every process that others read a channel now, or not any more.

        Each learns it within a second (`housekeeping.learn_sharing`). Raises StoreError.
        """

        def note(transaction: Transaction) -> None:
            ChannelSharings(transaction).add(channel_id, is_shared=is_shared)

        await self.acts.store.run(note)

    async def rename(self, old: str, new: str) -> None:
        """Move the data to the channel's new id, once nothing is being sent to the old one.

        Raises StoreError.
        """
        for _ in range(RENAME_ATTEMPTS):
            if await self.acts.store.run(self.rename_channel, old, new):
                # Settings that name the old id would restore it at the next start.
                extra = {"action": "channel_renamed", "channel": old, "new_channel": new}
                logger.warning("channel id changed", extra=extra)
                self.acts.wake()
                return
            await self.acts.clock.sleep(1)
        extra = {"action": "channel_not_renamed", "channel": old, "new_channel": new}
        logger.error("channel id not changed", extra=extra)


def end_subscriptions(
    transaction: Transaction,
    channel_id: str,
    only: Collection[RepositoryName],
    operator: Actor,
    now: datetime,
) -> Sequence[SubscriptionChange]:
    """End a channel's subscriptions by command as an operator, and drop its waiting posts.

    `only`: to these repositories; empty for all.
    """
    Subscriptions(transaction).lock(channel_id)
    found = Subscriptions(transaction).of_channel(channel_id)
    if only:
        found = [subscription for subscription in found if subscription.repository in only]
    configured = _by_repository(found, SubscriptionSource.CONFIGURATION)
    by_command = _by_repository(found, SubscriptionSource.COMMAND)
    done: list[SubscriptionChange] = []
    for name in sorted({*configured, *by_command}):
        before = by_command.get(name)
        done.append(SubscriptionChange(name, before, None, configured.get(name)))
        if before is None:
            continue
        Subscriptions(transaction).delete(channel_id, name)
        act = AuditRecord(
            now,
            operator,
            Action.UNSUBSCRIBE,
            Where(Origin.OPERATOR, channel_id),
            name,
            ActResult.DONE,
            setting=SettingChange(words_of(before), ""),
        )
        Audit(transaction).add(act)
        if name not in configured:
            Outbox(transaction).drop_unsubscribed(channel_id, name, now)
    _leave_out(transaction, channel_id, done)
    if not only:
        _unfollow(transaction, channel_id, ALL, SubscriptionOptions())
    if not only and not configured:
        # Also what was to be said about acts there, or to cards.
        Outbox(transaction).drop_unsubscribed(channel_id, None, now)
    return done


def _by_repository(
    found: Sequence[Subscription], source: SubscriptionSource
) -> Mapping[RepositoryName, Subscription]:
    return {
        subscription.repository: subscription
        for subscription in found
        if subscription.source is source
    }


def _leave_out(
    transaction: Transaction, channel_id: str, changes: Sequence[SubscriptionChange]
) -> None:
    """What was ended stays out of the selections that the channel follows; the rest doesn't."""
    ended = {change.repository for change in changes if change.after is None}
    others = {change.repository for change in changes} - ended
    for following in Followed(transaction).of_channel(channel_id):
        left_out = following.left_out.union(ended).difference(others)
        if left_out != following.left_out:
            Followed(transaction).save(replace(following, left_out=left_out))


def _unfollow(
    transaction: Transaction, channel_id: str, through: str, options: SubscriptionOptions
) -> None:
    """End or narrow a selection that the channel follows; raises InvalidOptions.

    Every selection is a part of `all`.
    """
    for following in Followed(transaction).of_channel(channel_id):
        if through not in {following.selection, ALL}:
            continue
        before = following.subscription(RepositoryName.none())
        left = removed(before, options)
        if left is None:
            Followed(transaction).delete(following)
        else:
            Followed(transaction).save(following.changed_to(left))


def _following(wanted: Subscription, selection: str, actor: Actor, now: datetime) -> Following:
    return Following(
        wanted.channel_id,
        selection,
        actor,
        now,
        topics=wanted.topics,
        branches=wanted.branches,
        except_logins=wanted.except_logins,
        style=wanted.style,
        digest=wanted.digest,
    )


def _audit(transaction: Transaction, act: AuditRecord) -> None:
    is_new = act.setting.before != act.setting.after
    result = ActResult.DONE if is_new else ActResult.UNCHANGED
    Audit(transaction).add(replace(act, result=result))


def _reached(
    found: Sequence[Subscription], topic: Topic, branch: str | None
) -> Sequence[Subscription]:
    if topic in {Topic.HEALTH, Topic.WEEKLY}:
        branch = None  # They concern all branches.
    by_channel = {
        subscription.channel_id: subscription
        for subscription in reversed(found)
        if subscription.wants(topic=topic, event_type="", branch=branch)
    }
    return [by_channel[channel_id] for channel_id in sorted(by_channel)]
