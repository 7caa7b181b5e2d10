"""What the settings change for channels: configured subscriptions, and selections they follow.

A new repository is greeted once in the channels that get it by `all`, `@group` or `owner/*`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from bot.acts.permission import RULE
from bot.acts.posting import post_act
from bot.acts.record import Action, ActResult, AuditRecord, PartOfGroup, SettingChange, Where
from bot.acts.rows import Audit
from bot.channels.rows import Followed, Subscriptions
from bot.channels.subscription import Following, Subscription, SubscriptionSource, words_of
from bot.kernel.actor import Actor, Origin
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.groups import Groups, name_in
from bot.kernel.repository import RepositoryName
from bot.posts.outbox import Outbox
from bot.store.transaction import Transaction
from bot.store.transactions import Store

CHANNELS_RULE = Actor(f"{RULE}channels", "MQBOT_CHANNELS")
"""Acts in the audit for repositories that come and go by a selection in that setting."""

AT_ONCE = 500
"""Subscriptions changed in one transaction, so that it is over in a fraction of a second."""


def take_configuration(
    transaction: Transaction,
    now: datetime,
    subscriptions: Sequence[Subscription],
    repositories: Sequence[RepositoryName] = (),
) -> None:
    """Replace configured subscriptions; drop waiting deliveries of those that are gone.

    A repository that joined a selection, or left it and is still among the `repositories`, is
    announced in the channels that the setting subscribes to that selection.
    """
    before = Subscriptions(transaction).configured()
    followed = {_selection(subscription) for subscription in before if subscription.through}
    had = {(subscription.channel_id, subscription.repository) for subscription in before}
    removed = Subscriptions(transaction).replace_configured(subscriptions)
    still_followed = {_selection(subscription) for subscription in subscriptions}
    changed: list[AuditRecord] = []
    for subscription in subscriptions:
        is_new = (subscription.channel_id, subscription.repository) not in had
        has_joined = is_new and _selection(subscription) in followed
        if has_joined and not _is_typed(transaction, subscription):
            changed.append(_act_of_change(Action.SUBSCRIBE, CHANNELS_RULE, now, None, subscription))
    for subscription in removed:
        name = subscription.repository
        here = Subscriptions(transaction).of_channel(subscription.channel_id)
        if any(other.repository == name for other in here):
            continue
        Outbox(transaction).drop_unsubscribed(subscription.channel_id, name, now)
        if name in repositories and _selection(subscription) in still_followed:
            changed.append(
                _act_of_change(Action.UNSUBSCRIBE, CHANNELS_RULE, now, subscription, None)
            )
    _record(transaction, changed)


def _selection(subscription: Subscription) -> tuple[str, str | None]:
    """The channel, and the selection through which it has the subscription."""
    return subscription.channel_id, subscription.through


def _is_typed(transaction: Transaction, configured: Subscription) -> bool:
    """Whether a command subscribed the channel to the repository already."""
    of_it = Subscriptions(transaction).of_repository(configured.repository)
    return any(
        subscription.channel_id == configured.channel_id
        and subscription.source is SubscriptionSource.COMMAND
        for subscription in of_it
    )


class FollowSelections:
    """Gives channels the repositories that joined what they follow, and ends those that left it.

    What was subscribed or unsubscribed by a repository's own name stays so, and everything stays of
    a group that the settings don't name any more. Several processes may do it at once. Raises
    StoreError; what is done stays.
    """

    def __init__(self, store: Store, clock: Clock, configured: Configured) -> None:
        self._store = store
        self._clock = clock
        self._configured = configured
        self._seen: Mapping[str, Sequence[Following]] = {}

    async def take_over(self) -> None:
        """Do so for all channels, once the settings are new."""
        found = await self._store.read(lambda transaction: Followed(transaction).by_channel())
        for channel_id in found:
            await self._follow(channel_id, ends=True)
        self._seen = found

    async def catch_up(self) -> None:
        """Add what joined, in channels that changed what they follow since it was looked at.

        They may have been answered by a process that didn't have the new settings yet.
        """
        found = await self._store.read(lambda transaction: Followed(transaction).by_channel())
        for channel_id, followed in found.items():
            if followed != self._seen.get(channel_id):
                await self._follow(channel_id, ends=False)
        self._seen = found

    async def _follow(self, channel_id: str, *, ends: bool) -> None:
        groups = self._configured.groups
        is_more = True
        while is_more:
            now = self._clock.now()
            is_more = await self._store.run(_follow, channel_id, now, groups, ends=ends)


def _follow(
    transaction: Transaction, channel_id: str, now: datetime, groups: Groups, *, ends: bool
) -> bool:
    """Do it for one channel; return whether there is more to do.

    `ends`: also end what left.
    """
    Subscriptions(transaction).lock(channel_id)
    here = Subscriptions(transaction).of_channel(channel_id)
    typed = {
        subscription.repository: subscription
        for subscription in here
        if subscription.source is SubscriptionSource.COMMAND
    }
    configured = {
        subscription.repository for subscription in here if subscription.repository not in typed
    }
    members = _members(Followed(transaction).of_channel(channel_id), groups)
    wanted = _wanted(members)
    joined = [subscription for name, subscription in wanted.items() if name not in typed]
    left = [
        typed[name]
        for name in groups.repositories.names
        if ends and name in typed and _has_left(typed[name], members)
    ]
    changed: list[AuditRecord] = []
    for new in joined[:AT_ONCE]:
        Subscriptions(transaction).save(new)
        act = _act_of_change(Action.SUBSCRIBE, _actor(new, members), now, None, new)
        if new.repository in configured:
            Audit(transaction).add(act)
        else:
            changed.append(act)
    for old in left[:AT_ONCE]:
        other = wanted.get(old.repository)
        if other is not None:
            Subscriptions(transaction).save(other)
        else:
            Subscriptions(transaction).delete(channel_id, old.repository)
            if not _is_configured(here, old.repository):
                Outbox(transaction).drop_unsubscribed(channel_id, old.repository, now)
        changed.append(_act_of_change(Action.UNSUBSCRIBE, _actor(old, members), now, old, other))
    _record(transaction, changed)
    return max(len(joined), len(left)) > AT_ONCE


class _Selected(NamedTuple):
    """What a channel follows, and the repositories that belong to it now."""

    following: Following
    names: Sequence[RepositoryName]


_Members = Mapping[str, _Selected]
"""What a channel follows, by selection."""


def _members(followed: Sequence[Following], groups: Groups) -> _Members:
    """Without groups that the settings don't name any more."""
    found: dict[str, _Selected] = {}
    for following in followed:
        group = groups.known(name_in(following.selection))
        if group is not None:
            found[following.selection] = _Selected(following, group.repositories)
    return found


def _wanted(members: _Members) -> Mapping[RepositoryName, Subscription]:
    """The subscription to each repository; of two selections, the one asked for last counts."""
    wanted: dict[RepositoryName, Subscription] = {}
    for following, names in members.values():
        for name in names:
            if name not in following.left_out:
                wanted[name] = following.subscription(name)
    return wanted


def _has_left(subscription: Subscription, members: _Members) -> bool:
    if subscription.through is None or subscription.through not in members:
        return False
    return subscription.repository not in members[subscription.through].names


def _is_configured(here: Sequence[Subscription], repository: RepositoryName) -> bool:
    return any(
        subscription.repository == repository
        and subscription.source is SubscriptionSource.CONFIGURATION
        for subscription in here
    )


def _actor(subscription: Subscription, members: _Members) -> Actor:
    return members[subscription.through or ""].following.actor


def _act_of_change(
    action: Action,
    actor: Actor,
    now: datetime,
    before: Subscription | None,
    after: Subscription | None,
) -> AuditRecord:
    about = before or after
    if about is None:
        raise ValueError("a change needs a subscription before or after it")
    words_before = words_of(before) if before is not None else ""
    words_after = words_of(after) if after is not None else ""
    return AuditRecord(
        now,
        actor,
        action,
        Where(Origin.RULE, about.channel_id),
        about.repository,
        ActResult.DONE,
        group=PartOfGroup(name_in(about.through or "")),
        setting=SettingChange(words_before, words_after),
    )


def _record(transaction: Transaction, acts: Sequence[AuditRecord]) -> None:
    """Store them; one post announces those of a channel that belong together."""
    first: dict[tuple[str | None, str | None, Action], AuditRecord] = {}
    for act in acts:
        record_id = Audit(transaction).add(act)
        kind = (act.where.channel_id, act.group.name, act.action)
        first.setdefault(kind, replace(act, record_id=record_id))
    for act in first.values():
        post_act(transaction, act, [act.where.channel_id or ""])
