"""Deliveries: added in order, claimed from the head of each channel queue, settled once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count, groupby, islice, takewhile
from typing import Any

from sqlalchemy import and_, bindparam, case, func, or_, select, update

from bot.kernel.metrics import OutboxSummary, SuspendedChannel
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.posts.channel_queues import (
    DIGEST,
    SET_APPENDED,
    URGENT,
    delivery_of,
    new_row,
    queue_of,
    queues_of,
    unsettled,
)
from bot.posts.delivery import (
    LATEST_DUE,
    UNSUBSCRIBED,
    Delivery,
    DeliveryState,
    LateMessages,
    NewDelivery,
    Subject,
    SubjectKind,
    following_id,
    is_due,
    sending,
)
from bot.posts.summaries import Summaries
from bot.posts.tables import UNSETTLED, channel_queues, deliveries
from bot.slack.person import is_for_person
from bot.store.errors import LeaseLost
from bot.store.schema import UtcTime
from bot.store.statements import Condition, as_row
from bot.store.transaction import Transaction

_COLUMNS = deliveries.c
_IS_DIGEST = channel_queues.c.queue.like(f"{DIGEST}%")
_IS_SUSPENDED = channel_queues.c.suspended_at.is_not(None)
_KIND_OF_HEAD = (
    # Not EXISTS, for which PostgreSQL would read all deliveries.
    select(_COLUMNS.kind)
    .where(
        _COLUMNS.queue == channel_queues.c.queue,
        _COLUMNS.sequence == channel_queues.c.head_sequence,
    )
    .correlate(channel_queues)
    .scalar_subquery()
)
# Built once, because building a statement takes several times as long as running it.
_CLAIMABLE = (
    select(channel_queues)
    .where(
        or_(
            channel_queues.c.claimable_at <= bindparam("now"),
            and_(channel_queues.c.claimable_at > bindparam("latest_due"), ~_IS_DIGEST),
        )
    )
    .order_by(
        case(
            (channel_queues.c.queue.like(f"{URGENT}%"), 0),
            (_KIND_OF_HEAD == EventKind.FAILURE, 1),
            else_=2,
        ),
        channel_queues.c.claimable_at,
        channel_queues.c.queue,
    )
    .limit(bindparam("at_most"))
    .with_for_update(skip_locked=True)
)
_FIRST_OF_EACH = (
    select(deliveries)
    .join(channel_queues)
    .where(
        channel_queues.c.queue.in_(bindparam("queues", expanding=True)),
        _COLUMNS.sequence >= channel_queues.c.head_sequence,
        _COLUMNS.sequence < channel_queues.c.head_sequence + bindparam("at_most"),
        UNSETTLED,
    )
)
_IS_FIRST = _COLUMNS.delivery_id.in_(bindparam("firsts", expanding=True))
_SET_CLAIMED = (
    update(deliveries)
    .where(_COLUMNS.delivery_id.in_(bindparam("ids", expanding=True)))
    .values(
        state=DeliveryState.SENDING,
        attempts=_COLUMNS.attempts + 1,
        due_at=bindparam("until"),
        process=bindparam("process"),
        # The first of each queue is sent now; the others get their time when they are sent.
        attempted_at=case(
            (_IS_FIRST, func.coalesce(_COLUMNS.attempted_at, bindparam("now", type_=UtcTime))),
            else_=_COLUMNS.attempted_at,
        ),
    )
)
_SET_OUTCOME = update(deliveries).where(
    _COLUMNS.delivery_id == bindparam("claimed_id"),
    _COLUMNS.attempts == bindparam("attempt"),
    _COLUMNS.state == DeliveryState.SENDING,
)
"""Sets the columns given as parameters."""

_ABOUT_EVENTS = select(deliveries).where(
    _COLUMNS.subject_kind == SubjectKind.EVENT,
    _COLUMNS.repository == bindparam("repository"),
    _COLUMNS.channel_id == bindparam("channel_id"),
)

_SUSPENSION = ("suspended_code", "suspended_at", "retry_at")
_OUTCOME = ("state", "due_at", "lookups", "message_ts", "error", "settled_at", "failures")
"""What an attempt may change; `attempts` and `sequence` never change."""


class Outbox(Summaries):
    """Deliveries in channel queues (`channel_queues`).

    A delivery is claimed, sent, looked up in Slack's history if in doubt, and settled. Each claim
    counts as an attempt, so the number of attempts identifies the claim.
    """

    def add(self, new: Sequence[NewDelivery]) -> int:
        """Append in the given order; return how many were new.

        `created_at` is the given `due_at`, also for a digest.
        """
        if not new:
            return 0
        locked = self._lock_or_add(queue_of(delivery) for delivery in new)
        following = {queue: count(row.next_sequence) for queue, row in locked.items()}
        rows: list[dict[str, object]] = []
        for delivery in new:
            queue = queue_of(delivery)
            rows.append(new_row(delivery, queue, next(following[queue])))
        ids = set(self._add_new(deliveries, *rows))
        if ids:
            self._append([row for row in rows if row["delivery_id"] in ids])
        if len(ids) == len(new):
            return len(ids)
        return len(ids) + self.add(self._with_taken_ids(new))

    def _with_taken_ids(self, new: Sequence[NewDelivery]) -> Sequence[NewDelivery]:
        """Give the next free ids to new deliveries whose ids belong to other subjects."""
        ids = [delivery.delivery_id for delivery in new]
        rows = self._by_keys(select(deliveries), _COLUMNS.delivery_id, ids)
        subjects = {row.delivery_id: delivery_of(row).subject for row in rows}
        renamed: list[NewDelivery] = []
        for delivery in new:
            stored = subjects.get(delivery.delivery_id)
            if stored is not None and stored != delivery.subject:
                free_id = following_id(delivery.delivery_id)
                renamed.append(replace(delivery, delivery_id=free_id))
        return renamed

    def _append(self, added: Sequence[Mapping[str, Any]]) -> None:
        last_of_digest = {(row["queue"], row["due_at"]): row["sequence"] for row in added}
        for (queue, due_at), sequence in last_of_digest.items():
            if queue.startswith(DIGEST):
                self._bring_forward(queue, sequence, due_at)
        following = {row["queue"]: row["sequence"] + 1 for row in added}
        rows = [{"this": queue, "following": following[queue]} for queue in sorted(following)]
        self._run(SET_APPENDED, rows)

    def _bring_forward(self, queue: str, last: int, due_at: datetime) -> None:
        """Make everything before delivery `last` due with it, because order is kept."""
        is_later = _COLUMNS.sequence < last, _COLUMNS.due_at > due_at
        self._update_waiting(queue, *is_later, due_at=due_at)

    def claim(
        self,
        *,
        now: datetime,
        claimed_until: datetime,
        at_most: int,
        per_channel: int,
        process: str | None = None,
    ) -> Sequence[Delivery]:
        """Claim due deliveries from the heads of `at_most` queues, `per_channel` at most of each.

        `process`: the one that claims them, for an operator who asks who posted.

        Pauses come first, then failures, then the rest, each by waiting time. Queues locked by
        another transaction are skipped. The cost depends on the number claimed only.
        """
        if claimed_until <= now:
            raise ValueError("a claim ends after it begins")
        times = {"now": now, "latest_due": now + LATEST_DUE, "at_most": at_most}
        queues = self._run(_CLAIMABLE, times).all()
        if not queues:
            return []
        names = [row.queue for row in queues]
        most = {row.queue: per_channel if row.suspended_at is None else 1 for row in queues}
        rows = self._run(_FIRST_OF_EACH, {"queues": names, "at_most": per_channel})
        waiting = [delivery_of(row) for row in rows]
        waiting.sort(key=lambda delivery: (queue_of(delivery), delivery.sequence))
        claimed: list[Delivery] = []
        firsts: list[str] = []
        for queue, run in groupby(waiting, queue_of):
            head = islice(run, most[queue])
            due = list(takewhile(lambda delivery: is_due(delivery, now), head))
            firsts += [delivery.delivery_id for delivery in due[:1]]
            claimed += due
        ids = [delivery.delivery_id for delivery in claimed]
        claim = {"until": claimed_until, "now": now, "process": process}
        self._run(_SET_CLAIMED, {"ids": ids, "firsts": firsts, **claim})
        self._change(channel_queues, channel_queues.c.queue.in_(names), claimable_at=claimed_until)
        return [sending(delivery, claimed_until, process) for delivery in claimed]

    def attempt(self, delivery: Delivery, now: datetime) -> None:
        """Store that a claimed delivery is about to be sent. Raise LeaseLost unless it's ours."""
        if delivery.progress.attempted_at is not None:
            return
        if not self._update_claimed(delivery, attempted_at=now):
            raise LeaseLost(delivery.delivery_id)

    def record(self, outcomes: Sequence[Delivery]) -> None:
        """Store the outcomes of claimed deliveries; a post ends its channel's suspension.

        Raise LeaseLost, naming the delivery, when another process has claimed it since.
        An `attempted_at` of None keeps the stored time, unless the delivery is pending again.
        Outcomes stored before are skipped, so that a batch can be stored again after a lost commit.
        """
        if any(delivery.progress.state is DeliveryState.SENDING for delivery in outcomes):
            raise ValueError("only the outcome of an attempt is recorded")
        # Lock all queues of each channel: this transaction may suspend the channel next, while
        # another one records the outcome of another queue of it.
        names = [name for outcome in outcomes for name in queues_of(outcome.channel_id)]
        locked = self._lock(names)
        for outcome in outcomes:
            self._record(outcome)
        self._update_heads(map(queue_of, outcomes))
        suspended = {row.queue for row in locked.values() if row.suspended_at is not None}
        posted = {
            outcome.channel_id
            for outcome in outcomes
            if outcome.progress.state is DeliveryState.DELIVERED
        }
        for channel_id in posted:
            if suspended.intersection(queues_of(channel_id)):
                self.resume(channel_id)

    def _record(self, outcome: Delivery) -> None:
        progress = outcome.progress
        values = {name: getattr(progress, name) for name in _OUTCOME}
        if progress.attempted_at is not None or progress.state is DeliveryState.PENDING:
            values["attempted_at"] = progress.attempted_at
        if self._update_claimed(outcome, **values):
            return
        is_recorded = self._attempts(outcome) == progress.attempts
        if not is_recorded:
            raise LeaseLost(outcome.delivery_id)

    def _update_claimed(self, delivery: Delivery, **values: object) -> bool:
        """Change it; False if the claim was no longer open."""
        claim = {"claimed_id": delivery.delivery_id, "attempt": delivery.progress.attempts}
        return self._run(_SET_OUTCOME, values | claim).rowcount > 0

    def _attempts(self, delivery: Delivery) -> object:
        this = _COLUMNS.delivery_id == delivery.delivery_id
        return self._run(select(_COLUMNS.attempts).where(this)).scalar()

    def suspend(self, suspended: SuspendedChannel) -> None:
        """Suspend a channel: from `retry_at` on, one delivery at a time is tried."""
        self._lock_or_add(queues_of(suspended.channel_id))
        suspension = as_row(channel_queues, suspended, suspended_code=suspended.code)
        self._set_suspension(suspended.channel_id, suspension)

    def resume(self, channel_id: str) -> None:
        self._set_suspension(channel_id, dict.fromkeys(_SUSPENSION))

    def _set_suspension(self, channel_id: str, suspension: Mapping[str, object]) -> None:
        queues = queues_of(channel_id)
        self._change(channel_queues, channel_queues.c.queue.in_(queues), **suspension)
        self._update_heads(queues)

    def move_digest(
        self, channel_id: str, repository: RepositoryName, to: datetime, now: datetime
    ) -> None:
        """Move the repository's deliveries that wait for the channel's digest to time `to`.

        They come sooner if deliveries behind them wait for a sooner digest.
        """
        queue = f"{DIGEST}{channel_id}"
        self._lock([queue])
        is_later = _COLUMNS.repository == repository, _COLUMNS.due_at > now
        if self._update_waiting(queue, *is_later, due_at=to):
            lasts = select(_COLUMNS.due_at, func.max(_COLUMNS.sequence)).where(unsettled(queue))
            for at, last in self._run(lasts.group_by(_COLUMNS.due_at)).all():
                self._bring_forward(queue, last, at)

    def drop_unsubscribed(
        self, channel_id: str, repository: RepositoryName | None, now: datetime
    ) -> None:
        """Drop waiting deliveries to a channel that has unsubscribed from the repository.

        Those are its digest, and all deliveries while the channel is suspended.
        `repository`: None for all that the channel may still wait for.
        """
        untried: list[Condition] = [_COLUMNS.attempted_at.is_(None)]
        if repository is not None:
            untried.append(_COLUMNS.repository == repository)
        dropped = {"state": DeliveryState.FAILED, "error": UNSUBSCRIBED, "settled_at": now}
        for queue, row in self._lock(queues_of(channel_id)).items():
            if queue.startswith(DIGEST) or row.suspended_at is not None:
                self._update_waiting(queue, *untried, **dropped)

    def lock_queues(self, channel_ids: Iterable[str]) -> None:
        """Let nobody else store what became of deliveries to these channels meanwhile."""
        self._lock([name for channel_id in channel_ids for name in queues_of(channel_id)])

    def get(self, channel_id: str, subject: Subject) -> Delivery | None:
        this = select(deliveries).where(
            _COLUMNS.subject_kind == subject.kind,
            _COLUMNS.repository == subject.repository,
            _COLUMNS.subject_id == subject.subject_id,
            _COLUMNS.channel_id == channel_id,
        )
        return next(map(delivery_of, self._run(this)), None)

    def of_events(
        self, channel_id: str, repository: RepositoryName, event_ids: Collection[int]
    ) -> Sequence[Delivery]:
        """The deliveries about these events to one channel or person."""
        where = {"repository": repository, "channel_id": channel_id}
        rows = self._by_keys(_ABOUT_EVENTS, _COLUMNS.subject_id, event_ids, **where)
        return [delivery_of(row) for row in rows]

    def addressees(self, subject: Subject) -> Sequence[str]:
        """The channels and people that have, or get, a delivery of the subject."""
        these = select(_COLUMNS.channel_id).where(
            _COLUMNS.subject_kind == subject.kind,
            _COLUMNS.repository == subject.repository,
            _COLUMNS.subject_id == subject.subject_id,
        )
        return sorted(self._run(these).scalars())

    def at(self, channel_id: str, message_ts: str) -> Delivery | None:
        """The one that is that message of Slack's."""
        of_channel = _COLUMNS.channel_id == channel_id
        this = select(deliveries).where(_COLUMNS.message_ts == message_ts, of_channel)
        return next(map(delivery_of, self._run(this)), None)

    def people_at(self, message_ts: str) -> Sequence[str]:
        """The people who have a direct message of this time, whose own channels aren't stored."""
        these = select(_COLUMNS.channel_id).where(_COLUMNS.message_ts == message_ts)
        addresses = self._run(these.distinct()).scalars()
        return [address for address in addresses if is_for_person(address)]

    def by_id(self, delivery_id: str) -> Delivery | None:
        this = select(deliveries).where(_COLUMNS.delivery_id == delivery_id)
        return next(map(delivery_of, self._run(this)), None)

    def summary_of(self, delivery: Delivery) -> Delivery | None:
        """The summary that covers the delivery, if one does."""
        this = _COLUMNS.delivery_id == delivery.delivery_id
        summarized_by = select(_COLUMNS.summarized_by).where(this)
        summary_id = self._run(summarized_by).scalar_one_or_none()
        return self.by_id(summary_id) if summary_id is not None else None

    def about(
        self, kind: SubjectKind, repository: RepositoryName, ids: Collection[int]
    ) -> Sequence[Delivery]:
        """The deliveries of these subjects to any channel or person, in the order of adding."""
        of_kind = select(deliveries).where(
            _COLUMNS.subject_kind == kind, _COLUMNS.repository == repository
        )
        rows = self._by_keys(of_kind, _COLUMNS.subject_id, ids)
        found = [delivery_of(row) for row in rows]
        return sorted(found, key=lambda delivery: (delivery.created_at, delivery.channel_id))

    def in_doubt(self, limit: int) -> Sequence[Delivery]:
        in_doubt = select(deliveries).where(UNSETTLED, _COLUMNS.state == DeliveryState.IN_DOUBT)
        oldest = in_doubt.order_by(_COLUMNS.created_at, _COLUMNS.delivery_id).limit(limit)
        return [delivery_of(row) for row in self._run(oldest)]

    def late(self, failed_at: datetime) -> Sequence[LateMessages]:
        """What could not be posted at `failed_at`, by channel; not digests and direct messages."""
        is_late = and_(
            _COLUMNS.created_at <= failed_at,
            or_(UNSETTLED, _COLUMNS.settled_at > failed_at),
            _COLUMNS.state.not_in([DeliveryState.SUMMARIZED, DeliveryState.FAILED]),
        )
        counted = (
            select(
                _COLUMNS.channel_id,
                func.min(_COLUMNS.repository).label("repository"),
                func.sum(1 + _COLUMNS.summarizes).label("count"),
            )
            .join(channel_queues)
            .where(is_late, ~_IS_DIGEST, ~_IS_SUSPENDED)
            .group_by(_COLUMNS.channel_id)
        )
        found = self._records(LateMessages, counted.order_by(_COLUMNS.channel_id))
        return [channel for channel in found if not is_for_person(channel.channel_id)]

    def summary(self) -> OutboxSummary:
        created_at = case((~_IS_SUSPENDED, _COLUMNS.created_at))
        counted = self._run(
            select(_COLUMNS.state, func.count(), func.min(created_at))
            .join_from(deliveries, channel_queues)
            # Deliveries that wait for a digest aren't late.
            .where(UNSETTLED, ~_IS_DIGEST)
            .group_by(_COLUMNS.state)
        ).all()
        counts = {state: count for state, count, _ in counted}
        oldest = [created_at for *_, created_at in counted if created_at]
        code = channel_queues.c.suspended_code.label("code")
        # A suspended channel without deliveries isn't a problem.
        suspended = (
            select(
                _COLUMNS.channel_id, code, channel_queues.c.suspended_at, channel_queues.c.retry_at
            )
            .join_from(deliveries, channel_queues)
            .where(UNSETTLED, _IS_SUSPENDED)
            .order_by(_COLUMNS.channel_id)
        )
        return OutboxSummary(
            pending=counts.get(DeliveryState.PENDING, 0),
            sending=counts.get(DeliveryState.SENDING, 0),
            in_doubt=counts.get(DeliveryState.IN_DOUBT, 0),
            oldest_created_at=min(oldest, default=None),
            suspended=self._records(SuspendedChannel, suspended.distinct()),
        )


def put_in_doubt(transaction: Transaction) -> None:
    """Look for every unsettled delivery in Slack's history before it is sent.

    In a restored database: it may have been posted since the copy was made.
    """
    attempted_at = func.coalesce(deliveries.c.attempted_at, deliveries.c.created_at)
    transaction.connection.execute(
        update(deliveries)
        .where(UNSETTLED)
        .values(state=DeliveryState.IN_DOUBT, attempted_at=attempted_at)
    )
