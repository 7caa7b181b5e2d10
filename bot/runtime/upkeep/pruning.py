"""What concerns rows of many tables: deleting the old, and moving those of a renamed channel."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa

from bot.acts.tables import IS_REFUSAL, audit, group_acts, revisions, unanswered
from bot.boards.tables import IS_OPEN_BOARD, board_states, boards
from bot.channels.tables import channel_defaults, followed, subscriptions
from bot.desk.tables import questions
from bot.feed.tables import bisections, queue_entries
from bot.freezes.tables import freezes, window_occurrences
from bot.health.tables import (
    ALERT_LASTS,
    alert_causes,
    alerts,
    failures_in_a_row,
    outages,
    slack_outages,
)
from bot.kernel.repository import RepositoryName
from bot.log.tables import events, pull_requests, repositories
from bot.pauses.tables import IN_FORCE, pause_ends, pause_lines, pauses, resume_watchers
from bot.people.tables import muted_pull_requests, people
from bot.posts.channel_queues import queues_of
from bot.posts.delivery import DeliveryState, SubjectKind
from bot.posts.live_message import LiveKind
from bot.posts.tables import UNSETTLED, channel_queues, deliveries, live_messages
from bot.runtime.upkeep.doubled_rows import DoubledRows
from bot.store.schema import MICROSECOND
from bot.store.statements import KEYS_AT_ONCE, PRUNE_SLICE, ResultRow
from bot.store.tables import (
    bot_logins,
    channel_sharings,
    clock_jumps,
    handled_requests,
    leases,
    paces,
    pending_restarts,
    process_connections,
    service_features,
    slack_limits,
    write_checks,
)
from bot.store.transaction import Transaction
from bot.storms.tables import storms

REREAD_MARGIN = timedelta(days=1)
"""Events this little before their repository's watermark are never deleted: a walk reads them
again, and would post them without their rows."""


class Rule(NamedTuple):
    """Rows of `table` are deleted when `age` is before a given time and `condition` holds."""

    table: sa.Table
    age: sa.ColumnElement[datetime]
    condition: sa.ColumnElement[bool] = sa.true()
    expires: bool = False  #: rows are useless after that time, so they are deleted sooner
    unmanaged: sa.ColumnElement[RepositoryName] | None = None
    """Only rows of repositories that aren't configured any more; which one a row is of.

    What was open there never ends by itself.
    """


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

_BOARD_IS_SHOWN = sa.exists().where(
    live_messages.c.kind == LiveKind.BOARD,
    live_messages.c.repository == boards.c.repository,
    live_messages.c.key == sa.cast(boards.c.board_id, sa.String),
)

_PAUSE_HAS_WATCHERS = sa.exists().where(resume_watchers.c.pause_id == pauses.c.pause_id)

_PAUSE_HAS_LINES = sa.exists().where(pause_lines.c.pause_id == pauses.c.pause_id)

_PAUSE_HAS_ENDS = sa.exists().where(pause_ends.c.pause_id == pauses.c.pause_id)

_END_AWAITS_DELIVERY = sa.exists().where(
    deliveries.c.subject_kind.in_(
        [
            SubjectKind.PAUSE_END,
            SubjectKind.STILL_PAUSED,
            SubjectKind.RESUMED,
            SubjectKind.GROUP_RESUMED,
        ]
    ),
    deliveries.c.subject_id == pause_ends.c.end_id,
    UNSETTLED,
)

_PAUSE_OF_LINE_ENDED_AT = (
    sa.select(pauses.c.ended_at)
    .where(pauses.c.pause_id == pause_lines.c.pause_id, pauses.c.end_notified)
    .scalar_subquery()
)

_PAUSE_OF_LINE = sa.select(pauses.c.repository).where(
    pauses.c.pause_id == pause_lines.c.pause_id, IN_FORCE
)

_CAUSE_IS_OF_AN_ACTIVE_ALERT = sa.exists().where(
    alerts.c.alert_id == alert_causes.c.alert_id, ALERT_LASTS
)

_WATCHED_PAUSE_ENDED_AT = (
    sa.select(pauses.c.ended_at)
    .where(pauses.c.pause_id == resume_watchers.c.pause_id, pauses.c.end_notified)
    .scalar_subquery()
)

_GROUP_ACT_IS_REFERRED_TO = sa.or_(
    sa.exists().where(pauses.c.group_act_id == group_acts.c.group_act_id),
    sa.exists().where(freezes.c.group_act_id == group_acts.c.group_act_id),
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

LEASES_OF_ACTS = leases.c.name.like("act:%")
"""Locks of acts. One of a group act has a name of its own, which never comes back."""


_WATCHED_PAUSE = sa.select(pauses.c.repository, pauses.c.paused_at).where(
    pauses.c.pause_id == resume_watchers.c.pause_id, IN_FORCE
)
_WATCHED_REPOSITORY = _WATCHED_PAUSE.with_only_columns(pauses.c.repository).scalar_subquery()
_WATCHED_SINCE = _WATCHED_PAUSE.with_only_columns(pauses.c.paused_at).scalar_subquery()

MAYBE_NEVER_CLOSED = (
    LiveKind.ENTRY,
    LiveKind.BISECTION,
    LiveKind.REPEATED,
    LiveKind.STORM,
    LiveKind.CHANGES,
    LiveKind.ALERT,
)
"""Maybe nothing ever closes them; they are over once they haven't changed for long."""

RULES = (
    Rule(deliveries, deliveries.c.settled_at),
    Rule(events, events.c.received_at, events.c.routed & ~_IS_READ_AGAIN & ~_EVENT_AWAITS_DELIVERY),
    Rule(pull_requests, pull_requests.c.seen_at),
    Rule(
        live_messages,
        live_messages.c.changed_at,
        sa.or_(
            live_messages.c.closed,
            live_messages.c.is_lost,
            live_messages.c.kind.in_(MAYBE_NEVER_CLOSED),
        ),
    ),
    Rule(live_messages, live_messages.c.changed_at, unmanaged=live_messages.c.repository),
    Rule(boards, boards.c.ended_at, ~_BOARD_IS_SHOWN),
    Rule(boards, boards.c.made_at, IS_OPEN_BOARD & ~_BOARD_IS_SHOWN, unmanaged=boards.c.repository),
    Rule(resume_watchers, _WATCHED_PAUSE_ENDED_AT),
    Rule(resume_watchers, _WATCHED_SINCE, unmanaged=_WATCHED_REPOSITORY),
    Rule(pause_lines, _PAUSE_OF_LINE_ENDED_AT),
    Rule(pause_lines, pause_lines.c.paused_at, unmanaged=_PAUSE_OF_LINE.scalar_subquery()),
    Rule(pause_ends, pause_ends.c.ended_at, ~_END_AWAITS_DELIVERY),
    Rule(
        pauses,
        pauses.c.ended_at,
        pauses.c.end_notified
        & pauses.c.timer_due_at.is_(None)
        & ~_PAUSE_IS_SHOWN
        & ~_PAUSE_HAS_WATCHERS
        & ~_PAUSE_HAS_LINES
        & ~_PAUSE_HAS_ENDS,
    ),
    Rule(
        pauses,
        pauses.c.paused_at,
        IN_FORCE & ~_PAUSE_IS_SHOWN & ~_PAUSE_HAS_WATCHERS & ~_PAUSE_HAS_LINES & ~_PAUSE_HAS_ENDS,
        unmanaged=pauses.c.repository,
    ),
    Rule(group_acts, group_acts.c.at, ~_GROUP_ACT_IS_REFERRED_TO),
    Rule(freezes, freezes.c.over_at),
    # Nobody can say when a freeze with unreadable times is over.
    Rule(freezes, freezes.c.set_at, freezes.c.begins_at.is_(None)),
    Rule(freezes, freezes.c.set_at, unmanaged=freezes.c.repository),
    Rule(window_occurrences, window_occurrences.c.ends_at),
    Rule(queue_entries, queue_entries.c.last_at),
    Rule(bisections, bisections.c.last_at),
    Rule(storms, storms.c.last_at),
    Rule(alerts, alerts.c.ended_at),
    Rule(alerts, alerts.c.began_at, ALERT_LASTS, unmanaged=alerts.c.repository),
    Rule(alert_causes, alert_causes.c.found_at, ~_CAUSE_IS_OF_AN_ACTIVE_ALERT),
    Rule(outages, outages.c.ended_at),
    Rule(slack_outages, slack_outages.c.ended_at),
    # Other acts are kept for ever.
    Rule(audit, audit.c.at, IS_REFUSAL),
    Rule(unanswered, unanswered.c.asked_at),
    Rule(handled_requests, handled_requests.c.until, expires=True),
    Rule(muted_pull_requests, muted_pull_requests.c.until, expires=True),
    Rule(questions, questions.c.until, expires=True),
    Rule(slack_limits, slack_limits.c.until, expires=True),
    Rule(paces, paces.c.free_at, expires=True),
    Rule(channel_sharings, channel_sharings.c.until, expires=True),
    Rule(process_connections, process_connections.c.until, expires=True),
    Rule(pending_restarts, pending_restarts.c.until, expires=True),
    Rule(clock_jumps, clock_jumps.c.at),
    Rule(leases, leases.c.expires_at, LEASES_OF_ACTS),
)
"""In this order: rows that refer to others are deleted first."""

KEPT: Mapping[sa.Table, str] = {
    channel_queues: "three for each channel",
    channel_defaults: "one for each channel",
    people: "one for each person who linked a login or chose notices",
    repositories: "one for each repository that was ever configured",
    failures_in_a_row: "one for each repository",
    revisions: "one for each repository",
    board_states: "one for each repository",
    subscriptions: "until somebody unsubscribes",
    followed: "until somebody unsubscribes",
    bot_logins: "replaced at each start and change of the settings",
    service_features: "one for each feature",
    write_checks: "one row, overwritten",
}
"""Tables that don't grow with time, and why."""

_UNIQUE_IN_A_CHANNEL: tuple[tuple[sa.Table, tuple[str, ...]], ...] = (
    (subscriptions, ("repository", "source")),
    (followed, ("selection",)),
    (channel_defaults, ()),
    (live_messages, ("kind", "repository", "key")),
    (deliveries, ("subject_kind", "repository", "subject_id")),
)
"""Rows of the new id win over the same rows of the old id."""

_NAME_A_CHANNEL = (
    subscriptions,
    followed,
    channel_defaults,
    live_messages,
    boards,
    deliveries,
    group_acts,
)


class Upkeep(DoubledRows):
    """Work on rows of many tables."""

    def prune(
        self,
        before: datetime,
        now: datetime | None = None,
        managed: Collection[RepositoryName] | None = None,
    ) -> Mapping[str, int]:
        """Delete rows older than `before`, and expired rows; return how many, by table.

        At most PRUNE_SLICE rows for each rule, oldest first. Without the names of the `managed`
        repositories, what is open stays.
        """
        pruned = dict.fromkeys((rule.table.name for rule in RULES), 0)
        for rule in RULES:
            is_old = rule.condition & (rule.age < ((now or before) if rule.expires else before))
            if rule.unmanaged is not None:
                if managed is None:
                    continue
                named = sa.select(rule.unmanaged).select_from(rule.table).where(is_old).distinct()
                gone = sorted(set(self._run(named).scalars()).difference(managed))[:KEYS_AT_ONCE]
                is_old &= rule.unmanaged.in_(gone)
            key = list(rule.table.primary_key)
            old = sa.select(*key).where(is_old).order_by(rule.age).limit(PRUNE_SLICE)
            pruned[rule.table.name] += self._remove(rule.table, sa.tuple_(*key).in_(old))
        return pruned

    def contents(self) -> Mapping[str, int]:
        """What a start says that it found: a wrong or new database shows in it."""
        counted = {
            "subscriptions": sa.select(sa.func.count()).select_from(subscriptions),
            "pauses_in_force": sa.select(sa.func.count()).select_from(pauses).where(IN_FORCE),
            "repositories_read": sa.select(sa.func.count(repositories.c.origin)),
            "posts_waiting": sa.select(sa.func.count()).select_from(deliveries).where(UNSETTLED),
        }
        return {name: int(self._run(rows).scalar_one()) for name, rows in counted.items()}

    def rename_channel(self, old: str, new: str) -> bool:
        """Move the rows of a channel that got another id in Slack.

        Returns False, and changes nothing, while a post is being sent to `old`.
        """
        old_queues = queues_of(old)
        new_queues = queues_of(new)
        locked = self._lock_or_add(old_queues + new_queues)
        is_sending = deliveries.c.state == DeliveryState.SENDING
        of_old = deliveries.c.queue.in_(old_queues)
        if self._run(sa.select(sa.func.count()).where(of_old, is_sending)).scalar_one():
            return False
        for table, names in _UNIQUE_IN_A_CHANNEL:
            other = table.alias()
            same = sa.exists().where(
                other.c.channel_id == new, *(other.c[name] == table.c[name] for name in names)
            )
            self._remove(table, table.c.channel_id == old, same)
        self._remove_double_boards(old, new)
        for queue, new_queue in zip(old_queues, new_queues, strict=True):
            self._append_queue(locked[queue], locked[new_queue])
        self._update_heads(old_queues + new_queues)
        for table in _NAME_A_CHANNEL:
            self._change(table, table.c.channel_id == old, channel_id=new)
        self._rename_in_timers(old, new)
        return True

    def _remove_double_boards(self, old: str, new: str) -> None:
        other = boards.alias()
        double = sa.exists().where(
            other.c.channel_id == new,
            other.c.repository == boards.c.repository,
            other.c.ended_at.is_(None),
        )
        doubled = boards.c.channel_id == old, IS_OPEN_BOARD, double
        self._remove_shown(boards.c.board_id, LiveKind.BOARD, *doubled)

    def _rename_in_timers(self, old: str, new: str) -> None:
        timed = sa.select(pauses.c.pause_id, pauses.c.timer).where(pauses.c.timer.is_not(None))
        for pause_id, timer in self._run(timed).all():
            if timer.channel_id == old:
                moved = replace(timer, channel_id=new)
                self._change(pauses, pauses.c.pause_id == pause_id, timer=moved)

    def _append_queue(self, queue: ResultRow, to: ResultRow) -> None:
        """Append the deliveries of one queue to another."""
        sequence = deliveries.c.sequence + to.next_sequence
        self._change(
            deliveries, deliveries.c.queue == queue.queue, queue=to.queue, sequence=sequence
        )
        self._change(
            channel_queues,
            channel_queues.c.queue == to.queue,
            next_sequence=queue.next_sequence + to.next_sequence,
        )


def rename_channel(transaction: Transaction, old: str, new: str) -> bool:
    """Move the rows of a channel to its new id; False while something is being sent there."""
    return Upkeep(transaction).rename_channel(old, new)
