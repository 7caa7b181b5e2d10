"""What concerns rows of many tables: deleting the old, and moving those of a renamed channel."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa

from bot.domain.audit import ActResult
from bot.domain.deliveries import DeliveryState, SubjectKind
from bot.domain.live_messages import LiveKind
from bot.store.channel_queues import ChannelQueues, queues_of
from bot.store.schema import MICROSECOND
from bot.store.statements import PRUNE_SLICE, Condition, ResultRow
from bot.store.tables import (
    PRESENT,
    UNSETTLED,
    alerts,
    audit,
    channels,
    deliveries,
    events,
    expiring_keys,
    freezes,
    group_acts,
    leases,
    live_messages,
    pauses,
    pull_requests,
    repositories,
    resume_watchers,
    subscriptions,
    threads,
)

REREAD_MARGIN = timedelta(days=1)
"""Events this little before their repository's watermark are never deleted: a walk reads them
again, and would post them without their rows."""


class Rule(NamedTuple):
    """Rows of `table` are deleted when `age` is before a given time and `condition` holds.

    `expires`: rows are useless after that time, so they are deleted sooner than others.
    """

    table: sa.Table
    age: sa.ColumnElement[datetime]
    condition: sa.ColumnElement[bool] = sa.true()
    expires: bool = False


_IS_READ_AGAIN = sa.exists().where(
    repositories.c.repository == events.c.repository,
    sa.type_coerce(repositories.c.watermark, sa.BigInteger) - REREAD_MARGIN // MICROSECOND
    <= sa.type_coerce(events.c.received_at, sa.BigInteger),
)

_EVENT_AWAITS_DELIVERY = sa.exists().where(
    deliveries.c.subject_kind == SubjectKind.EVENT,
    deliveries.c.repository == events.c.repository,
    deliveries.c.subject_id == events.c.event_id,
    UNSETTLED,
)

_PAUSE_IS_SHOWN = sa.exists().where(
    live_messages.c.kind == LiveKind.PAUSE,
    live_messages.c.repository == pauses.c.repository,
    live_messages.c.key == sa.cast(pauses.c.pause_id, sa.String),
)

_PAUSE_HAS_WATCHERS = sa.exists().where(resume_watchers.c.pause_id == pauses.c.pause_id)

_WATCHED_PAUSE_ENDED_AT = (
    sa.select(pauses.c.ended_at)
    .where(pauses.c.pause_id == resume_watchers.c.pause_id, pauses.c.end_notified)
    .scalar_subquery()
)

_GROUP_ACT_IS_REFERRED_TO = sa.or_(
    sa.exists().where(pauses.c.group_act_id == group_acts.c.group_act_id),
    sa.exists().where(
        live_messages.c.kind == LiveKind.GROUP,
        live_messages.c.key == sa.cast(group_acts.c.group_act_id, sa.String),
    ),
    sa.exists().where(
        deliveries.c.subject_kind == SubjectKind.GROUP,
        deliveries.c.subject_id == group_acts.c.group_act_id,
        UNSETTLED,
    ),
)

RULES = (
    Rule(deliveries, deliveries.c.settled_at),
    Rule(events, events.c.received_at, events.c.routed & ~_IS_READ_AGAIN & ~_EVENT_AWAITS_DELIVERY),
    Rule(pull_requests, pull_requests.c.seen_at),
    # A queue entry without events for this long is over.
    Rule(
        live_messages,
        live_messages.c.changed_at,
        sa.or_(
            live_messages.c.closed, live_messages.c.is_lost, live_messages.c.kind == LiveKind.ENTRY
        ),
    ),
    Rule(resume_watchers, _WATCHED_PAUSE_ENDED_AT),
    Rule(
        pauses,
        pauses.c.ended_at,
        pauses.c.end_notified
        & pauses.c.timer_due_at.is_(None)
        & ~_PAUSE_IS_SHOWN
        & ~_PAUSE_HAS_WATCHERS,
    ),
    Rule(group_acts, group_acts.c.at, ~_GROUP_ACT_IS_REFERRED_TO),
    Rule(freezes, freezes.c.over_at),
    Rule(threads, threads.c.last_at),
    Rule(alerts, alerts.c.ended_at),
    # Other acts are kept for ever.
    Rule(audit, audit.c.at, (audit.c.result == ActResult.REFUSED) & (audit.c.act_id == 0)),
    Rule(expiring_keys, expiring_keys.c.until, expires=True),
    Rule(leases, leases.c.expires_at, PRESENT, expires=True),
)
"""In this order: rows that refer to others are deleted first."""

_IS_BOARD = live_messages.c.kind == LiveKind.BOARD
_UNIQUE_IN_A_CHANNEL: tuple[tuple[sa.Table, tuple[str, ...], Condition], ...] = (
    (subscriptions, ("repository", "source"), sa.true()),
    (live_messages, ("kind", "repository"), _IS_BOARD),
    (live_messages, ("kind", "repository", "key"), ~_IS_BOARD),
    (deliveries, ("subject_kind", "repository", "subject_id"), sa.true()),
)
"""Rows of the new id win over the same rows of the old id."""

_NAME_A_CHANNEL = (subscriptions, live_messages, deliveries, group_acts)


class Upkeep(ChannelQueues):
    """Work on rows of many tables."""

    def prune(self, before: datetime, now: datetime | None = None) -> Mapping[str, int]:
        """Delete rows older than `before`, and expired rows; return how many, by table.

        At most PRUNE_SLICE rows of each table, oldest first.
        """
        pruned: dict[str, int] = {}
        for table, age, condition, expires in RULES:
            until = (now or before) if expires else before
            key = list(table.primary_key)
            old = sa.select(*key).where(condition, age < until).order_by(age).limit(PRUNE_SLICE)
            pruned[table.name] = self._remove(table, sa.tuple_(*key).in_(old))
        return pruned

    def rename_channel(self, old: str, new: str) -> bool:
        """Move the rows of a channel that got another id in Slack.

        Returns False, and changes nothing, while a post is being sent to `old`.
        """
        old_queues, new_queues = queues_of(old), queues_of(new)
        locked = self._lock_or_add(old_queues + new_queues)
        is_sending = deliveries.c.state == DeliveryState.SENDING
        of_old = deliveries.c.queue.in_(old_queues)
        if self._run(sa.select(sa.func.count()).where(of_old, is_sending)).scalar_one():
            return False
        for table, names, which in _UNIQUE_IN_A_CHANNEL:
            other = table.alias()
            same = sa.exists().where(
                other.c.channel_id == new, *(other.c[name] == table.c[name] for name in names)
            )
            self._remove(table, which, table.c.channel_id == old, same)
        for queue, new_queue in zip(old_queues, new_queues, strict=True):
            self._append_queue(locked[queue], locked[new_queue])
        self._update_heads(old_queues + new_queues)
        for table in _NAME_A_CHANNEL:
            self._change(table, table.c.channel_id == old, channel_id=new)
        self._rename_in_timers(old, new)
        return True

    def _rename_in_timers(self, old: str, new: str) -> None:
        timed = sa.select(pauses.c.pause_id, pauses.c.timer).where(pauses.c.timer.is_not(None))
        for pause_id, timer in self._run(timed).all():
            if timer.channel_id == old:
                moved = replace(timer, channel_id=new)
                self._change(pauses, pauses.c.pause_id == pause_id, timer=moved)

    def _append_queue(self, queue: ResultRow, to: ResultRow) -> None:
        """Append the deliveries of one queue to another, which keeps its own default."""
        sequence = deliveries.c.sequence + to.next_sequence
        self._change(
            deliveries, deliveries.c.queue == queue.queue, queue=to.queue, sequence=sequence
        )
        self._change(
            channels,
            channels.c.queue == to.queue,
            next_sequence=queue.next_sequence + to.next_sequence,
            default_repository=to.default_repository or queue.default_repository,
        )
        self._change(channels, channels.c.queue == queue.queue, default_repository=None)
