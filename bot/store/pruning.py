"""Which rows are deleted when they are old."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    String,
    Table,
    and_,
    cast,
    delete,
    exists,
    or_,
    select,
    true,
    tuple_,
    type_coerce,
)

from bot.domain.audit import ActResult
from bot.domain.deliveries import SubjectKind
from bot.domain.live_messages import LiveKind
from bot.store.alerts import alerts
from bot.store.audit import audit
from bot.store.channel_queues import UNSETTLED, deliveries
from bot.store.column_types import MICROSECOND
from bot.store.events import events, pull_requests
from bot.store.expiring_keys import expiring_keys
from bot.store.freezes import freezes
from bot.store.group_acts import group_acts
from bot.store.leases import PRESENT, leases
from bot.store.live_messages import live_messages
from bot.store.pauses import pauses, resume_watchers
from bot.store.repositories import repositories
from bot.store.statements import PRUNE_SLICE
from bot.store.threads import threads

REREAD_MARGIN = timedelta(days=1)
"""Events no older than this before their repository's watermark are never deleted.

A walk starts a little before the watermark and reads them again. Without their rows they would be
posted again. The overlap of walks must stay below this.
"""


@dataclass(frozen=True)
class Rule:
    """Rows of `table` are deleted when `age` is before a given time and `condition` holds.

    `expires`: rows are useless after that time, so they are deleted sooner than others.
    """

    table: Table
    age: ColumnElement[datetime]
    condition: ColumnElement[bool] = true()  # noqa: RUF009  # an expression, which never changes
    expires: bool = False


def prune(connection: Connection, before: datetime, now: datetime) -> Mapping[str, int]:
    """Delete at most PRUNE_SLICE rows of each table, oldest first; return how many, by table.

    Deletes rows older than `before`, and expired rows.
    """
    return {
        rule.table.name: _delete(connection, rule, now if rule.expires else before)
        for rule in RULES
    }


def _delete(connection: Connection, rule: Rule, before: datetime) -> int:
    key = list(rule.table.primary_key)
    old = select(*key).where(rule.condition, rule.age < before)
    old = old.order_by(rule.age).limit(PRUNE_SLICE)
    return connection.execute(delete(rule.table).where(tuple_(*key).in_(old))).rowcount


_IS_READ_AGAIN = exists().where(
    repositories.c.repository == events.c.repository,
    type_coerce(repositories.c.watermark, BigInteger) - REREAD_MARGIN // MICROSECOND
    <= type_coerce(events.c.received_at, BigInteger),
)

_EVENT_AWAITS_DELIVERY = exists().where(
    deliveries.c.subject_kind == SubjectKind.EVENT,
    deliveries.c.repository == events.c.repository,
    deliveries.c.subject_id == events.c.event_id,
    UNSETTLED,
)

_PAUSE_IS_SHOWN = exists().where(
    live_messages.c.kind == LiveKind.PAUSE,
    live_messages.c.repository == pauses.c.repository,
    live_messages.c.key == cast(pauses.c.pause_id, String),
)

_PAUSE_HAS_WATCHERS = exists().where(resume_watchers.c.pause_id == pauses.c.pause_id)

_WATCHED_PAUSE_ENDED_AT = (
    select(pauses.c.ended_at)
    .where(pauses.c.pause_id == resume_watchers.c.pause_id, pauses.c.end_notified)
    .scalar_subquery()
)

_GROUP_ACT_IS_REFERRED_TO = or_(
    exists().where(pauses.c.group_act_id == group_acts.c.group_act_id),
    exists().where(
        live_messages.c.kind == LiveKind.GROUP,
        live_messages.c.key == cast(group_acts.c.group_act_id, String),
    ),
    exists().where(
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
        or_(
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
    Rule(audit, audit.c.at, and_(audit.c.result == ActResult.REFUSED, audit.c.act_id == 0)),
    Rule(expiring_keys, expiring_keys.c.until, expires=True),
    Rule(leases, leases.c.expires_at, PRESENT, expires=True),
)
"""In this order: rows that refer to others are deleted first."""
