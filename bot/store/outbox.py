"""Deliveries: added in order, claimed from the head of each channel queue, settled once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby, islice, takewhile
from typing import Any

from sqlalchemy import and_, bindparam, case, func, or_, select, update

from bot.domain.classification import EventKind
from bot.domain.deliveries import (
    LATEST_DUE,
    UNSUBSCRIBED,
    Delivery,
    DeliveryState,
    LateMessages,
    NewDelivery,
    OutboxSummary,
    Subject,
    SuspendedChannel,
    following_id,
    is_due,
    is_person,
)
from bot.domain.errors import LeaseLost
from bot.domain.repository import RepositoryName
from bot.store.channel_queues import (
    DIGEST,
    UNSETTLED,
    URGENT,
    channels,
    deliveries,
    delivery_of,
    new_row,
    queue_of,
    queues_of,
    unsettled,
)
from bot.store.column_types import UtcTime
from bot.store.renamed_channels import RenamedChannels
from bot.store.statements import ResultRow
from bot.store.summaries import Summaries

_IS_DIGEST = channels.c.queue.like(f"{DIGEST}%")
_IS_SUSPENDED = channels.c.suspended_at.is_not(None)
_KIND_OF_HEAD = (
    # Not EXISTS, for which PostgreSQL would read all deliveries.
    select(deliveries.c.kind)
    .where(
        deliveries.c.queue == channels.c.queue,
        deliveries.c.sequence == channels.c.head_sequence,
    )
    .correlate(channels)
    .scalar_subquery()
)
_IS_URGENT = channels.c.queue.like(f"{URGENT}%")

# Built once, because building a statement takes longer than running it.
_CLAIMABLE = (
    select(channels)
    .where(
        or_(
            channels.c.claimable_at <= bindparam("now"),
            and_(channels.c.claimable_at > bindparam("latest_due"), ~_IS_DIGEST),
        )
    )
    .order_by(
        case((_IS_URGENT, 0), (_KIND_OF_HEAD == EventKind.FAILURE, 1), else_=2),
        channels.c.claimable_at,
        channels.c.queue,
    )
    .limit(bindparam("at_most"))
    .with_for_update(skip_locked=True)
)
_FIRST_OF_EACH = (
    select(deliveries)
    .join(channels)
    .where(
        channels.c.queue.in_(bindparam("queues", expanding=True)),
        deliveries.c.sequence >= channels.c.head_sequence,
        deliveries.c.sequence < channels.c.head_sequence + bindparam("at_most"),
        UNSETTLED,
    )
)
_SET_CLAIMED = (
    update(deliveries)
    .where(deliveries.c.delivery_id.in_(bindparam("ids", expanding=True)))
    .values(
        state=DeliveryState.SENDING,
        attempts=deliveries.c.attempts + 1,
        due_at=bindparam("until"),
        # The first of each queue is sent now; the others get their time when they are sent.
        attempted_at=case(
            (
                deliveries.c.delivery_id.in_(bindparam("firsts", expanding=True)),
                func.coalesce(deliveries.c.attempted_at, bindparam("now", type_=UtcTime())),
            ),
            else_=deliveries.c.attempted_at,
        ),
    )
)
_SET_FOLLOWING = (
    update(channels)
    .where(channels.c.queue == bindparam("queue_name"))
    .values(next_sequence=bindparam("following"))
)
_SET_OUTCOME = update(deliveries).where(
    deliveries.c.delivery_id == bindparam("claimed_id"),
    deliveries.c.attempts == bindparam("attempt"),
    deliveries.c.state == DeliveryState.SENDING,
)
"""Sets the columns given as parameters."""


class Outbox(Summaries, RenamedChannels):
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
        locked = self._lock_or_add([queue_of(each) for each in new])
        following = {queue: row.next_sequence for queue, row in locked.items()}
        rows = []
        for each in new:
            queue = queue_of(each)
            rows.append(new_row(each, queue, following[queue]))
            following[queue] += 1
        ids = set(self._run(self._adding(deliveries), rows).scalars())
        added = [row for row in rows if row["delivery_id"] in ids]
        if added:
            self._append(added)
        if len(added) == len(new):
            return len(added)
        return len(added) + self.add(self._with_taken_ids(new))

    def _with_taken_ids(self, new: Sequence[NewDelivery]) -> Sequence[NewDelivery]:
        """Give the next free ids to new deliveries whose ids belong to other subjects."""
        ids = [each.delivery_id for each in new]
        rows = self._by_keys(select(deliveries), deliveries.c.delivery_id, ids)
        subjects = {row.delivery_id: delivery_of(row).subject for row in rows}
        return [
            replace(each, delivery_id=following_id(each.delivery_id))
            for each in new
            if subjects.get(each.delivery_id, each.subject) != each.subject
        ]

    def _append(self, added: Sequence[Mapping[str, Any]]) -> None:
        """Update the rows of queues that were added to."""
        last: dict[str, int] = {}
        last_of_digest: dict[tuple[str, datetime], int] = {}
        for row in added:
            queue = row["queue"]
            last[queue] = row["sequence"]
            if queue.startswith(DIGEST):
                last_of_digest[queue, row["due_at"]] = row["sequence"]
        self._run(
            _SET_FOLLOWING,
            [{"queue_name": queue, "following": sequence + 1} for queue, sequence in last.items()],
        )
        for (queue, due_at), sequence in last_of_digest.items():
            self._bring_forward(queue, sequence, due_at)
        self._update_heads(last)

    def _bring_forward(self, queue: str, last: int, due_at: datetime) -> None:
        """Make everything before delivery `last` due with it, because order is kept."""
        columns = deliveries.c
        self._update_waiting(queue, columns.sequence < last, columns.due_at > due_at, due_at=due_at)

    def claim(
        self, *, now: datetime, claimed_until: datetime, channels: int, per_channel: int
    ) -> Sequence[Delivery]:
        """Claim due deliveries from the heads of `channels` queues, `per_channel` at most of each.

        The cost depends on the number claimed, not on the number waiting or settled.
        """
        if claimed_until <= now:
            raise ValueError("a claim ends after it begins")
        queues = self._lock_claimable(now, channels)
        if not queues:
            return []
        runs = [
            list(takewhile(lambda delivery: is_due(delivery, now), run))
            for run in self._heads(queues, per_channel)
        ]
        claimed = [delivery for run in runs for delivery in run]
        ids = [each.delivery_id for each in claimed]
        firsts = [run[0].delivery_id for run in runs if run]
        self._run(_SET_CLAIMED, {"ids": ids, "until": claimed_until, "firsts": firsts, "now": now})
        self._set_claimable(queues, claimed_until)
        return [
            replace(
                each, state=DeliveryState.SENDING, attempts=each.attempts + 1, due_at=claimed_until
            )
            for each in claimed
        ]

    def _lock_claimable(self, now: datetime, limit: int) -> Sequence[ResultRow]:
        """Lock queues: pauses, then failures, then the rest, each by waiting time.

        Queues locked by another transaction are skipped.
        """
        times = {"now": now, "latest_due": now + LATEST_DUE}
        return self._run(_CLAIMABLE, {**times, "at_most": limit}).all()

    def _heads(self, queues: Sequence[ResultRow], per_channel: int) -> list[Iterable[Delivery]]:
        """The first deliveries of each queue, in the order of the queues' names."""
        suspended = {row.queue for row in queues if row.suspended_at is not None}
        rows = self._run(
            _FIRST_OF_EACH, {"queues": [row.queue for row in queues], "at_most": per_channel}
        )
        waiting = sorted(map(delivery_of, rows), key=lambda one: (queue_of(one), one.sequence))
        return [
            list(islice(run, 1 if queue in suspended else per_channel))
            for queue, run in groupby(waiting, queue_of)
        ]

    def _set_claimable(self, queues: Sequence[ResultRow], at: datetime) -> None:
        """Set when queues whose heads were claimed can be claimed again."""
        names = [row.queue for row in queues]
        self._change(channels, channels.c.queue.in_(names), claimable_at=at)

    def attempt(self, delivery: Delivery, now: datetime) -> None:
        """Store that a claimed delivery is about to be sent. Raise LeaseLost unless it's ours."""
        if delivery.attempted_at is None and not self._update_claimed(delivery, attempted_at=now):
            raise LeaseLost(delivery.delivery_id)

    def record(self, outcomes: Sequence[Delivery]) -> None:
        """Store the outcomes of claimed deliveries; a post ends its channel's suspension.

        Raise LeaseLost, naming the delivery, when another process has claimed it since.
        `attempts` and `sequence` never change. An `attempted_at` of None keeps the stored time,
        unless the delivery is pending again. Outcomes stored before are skipped, so that a batch
        can be stored again after a lost commit.
        """
        if any(delivery.state is DeliveryState.SENDING for delivery in outcomes):
            raise ValueError("only the outcome of an attempt is recorded")
        # Lock all queues of each channel: this transaction may suspend the channel next, while
        # another one records the outcome of another queue of it.
        locked = self._lock([name for one in outcomes for name in queues_of(one.channel_id)])
        for one in outcomes:
            values = {
                "state": one.state,
                "due_at": one.due_at,
                "lookups": one.lookups,
                "message_ts": one.message_ts,
                "error": one.error,
                "settled_at": one.settled_at,
                "failures": one.failures,
            }
            if one.attempted_at is not None or one.state is DeliveryState.PENDING:
                values["attempted_at"] = one.attempted_at
            if not self._update_claimed(one, **values):
                self._require_recorded(one)
        self._update_heads(map(queue_of, outcomes))
        suspended = {row.queue for row in locked.values() if row.suspended_at is not None}
        posted = {one.channel_id for one in outcomes if one.state is DeliveryState.DELIVERED}
        for channel_id in posted:
            if suspended.intersection(queues_of(channel_id)):
                self.resume(channel_id)

    def _update_claimed(self, delivery: Delivery, **values: object) -> bool:
        """Store the outcome; False if the claim was no longer open."""
        claim = {"claimed_id": delivery.delivery_id, "attempt": delivery.attempts}
        return self._run(_SET_OUTCOME, values | claim).rowcount > 0

    def _require_recorded(self, delivery: Delivery) -> None:
        """Raise LeaseLost unless the last claim of the delivery was this one."""
        this = deliveries.c.delivery_id == delivery.delivery_id
        if self._run(select(deliveries.c.attempts).where(this)).scalar() != delivery.attempts:
            raise LeaseLost(delivery.delivery_id)

    def suspend(self, suspended: SuspendedChannel) -> None:
        """Suspend a channel: from `retry_at` on, one delivery at a time is tried."""
        self._lock_or_add(queues_of(suspended.channel_id))
        self._set_suspension(
            suspended.channel_id,
            suspended_code=suspended.code,
            suspended_at=suspended.suspended_at,
            retry_at=suspended.retry_at,
        )

    def resume(self, channel_id: str) -> None:
        """End the suspension of a channel whose queues are locked."""
        self._set_suspension(channel_id, suspended_code=None, suspended_at=None, retry_at=None)

    def _set_suspension(self, channel_id: str, **suspension: object) -> None:
        """Suspend all locked queues of a channel, or end their suspension."""
        queues = queues_of(channel_id)
        self._change(channels, channels.c.queue.in_(queues), **suspension)
        self._update_heads(queues)

    def move_digest(
        self, channel_id: str, repository: RepositoryName, to: datetime, now: datetime
    ) -> None:
        """Move the repository's deliveries that wait for the channel's digest to time `to`.

        They come sooner if deliveries behind them wait for a sooner digest.
        """
        queue = f"{DIGEST}{channel_id}"
        self._lock([queue])
        of_repository = deliveries.c.repository == repository
        if not self._update_waiting(queue, of_repository, deliveries.c.due_at > now, due_at=to):
            return
        due_at = deliveries.c.due_at
        last_of_each = select(due_at, func.max(deliveries.c.sequence)).where(unsettled(queue))
        for at, last in self._run(last_of_each.group_by(due_at)).all():
            self._bring_forward(queue, last, at)

    def drop_unsubscribed(self, channel_id: str, repository: RepositoryName, now: datetime) -> None:
        """Drop waiting deliveries to a channel that has unsubscribed from the repository.

        Those are its digest, and all deliveries while the channel is suspended.
        """
        for queue, row in self._lock(queues_of(channel_id)).items():
            if queue.startswith(DIGEST) or row.suspended_at is not None:
                self._update_waiting(
                    queue,
                    deliveries.c.repository == repository,
                    deliveries.c.attempted_at.is_(None),
                    state=DeliveryState.FAILED,
                    error=UNSUBSCRIBED,
                    settled_at=now,
                )

    def get(self, channel_id: str, subject: Subject) -> Delivery | None:
        row = self._run(
            select(deliveries).where(
                deliveries.c.subject_kind == subject.kind,
                deliveries.c.repository == subject.repository,
                deliveries.c.subject_id == subject.subject_id,
                deliveries.c.channel_id == channel_id,
            )
        ).first()
        return None if row is None else delivery_of(row)

    def in_doubt(self, limit: int) -> Sequence[Delivery]:
        """Deliveries in doubt, oldest first."""
        in_doubt = select(deliveries).where(UNSETTLED, deliveries.c.state == DeliveryState.IN_DOUBT)
        oldest = in_doubt.order_by(deliveries.c.created_at, deliveries.c.delivery_id)
        return [delivery_of(row) for row in self._run(oldest.limit(limit))]

    def late(self, failed_at: datetime) -> Sequence[LateMessages]:
        """What could not be posted at `failed_at`, by channel; not digests and direct messages."""
        is_late = and_(
            deliveries.c.created_at <= failed_at,
            or_(deliveries.c.settled_at.is_(None), deliveries.c.settled_at > failed_at),
            deliveries.c.state.not_in([DeliveryState.SUMMARIZED, DeliveryState.FAILED]),
        )
        counted = (
            select(
                deliveries.c.channel_id,
                func.min(deliveries.c.repository).label("repository"),
                func.sum(1 + deliveries.c.summarizes).label("count"),
            )
            .join(channels)
            .where(is_late, ~_IS_DIGEST, ~_IS_SUSPENDED)
            .group_by(deliveries.c.channel_id)
        )
        found = self._records(LateMessages, counted.order_by(deliveries.c.channel_id))
        return [one for one in found if not is_person(one.channel_id)]

    def summary(self) -> OutboxSummary:
        created_at = case((~_IS_SUSPENDED, deliveries.c.created_at))
        counted = self._run(
            select(deliveries.c.state, func.count(), func.min(created_at))
            .join_from(deliveries, channels)
            # Deliveries that wait for a digest aren't late.
            .where(UNSETTLED, ~_IS_DIGEST)
            .group_by(deliveries.c.state)
        ).all()
        counts = {state: count for state, count, _ in counted}
        suspended = self._run(
            select(channels).where(_IS_SUSPENDED).order_by(channels.c.queue)
        ).all()
        # A suspended channel without deliveries isn't a problem.
        waited_for = {row.queue for row in suspended if row.claimable_at is not None}
        return OutboxSummary(
            pending=counts.get(DeliveryState.PENDING, 0),
            sending=counts.get(DeliveryState.SENDING, 0),
            in_doubt=counts.get(DeliveryState.IN_DOUBT, 0),
            oldest_created_at=min((oldest for *_, oldest in counted if oldest), default=None),
            suspended=[
                SuspendedChannel(row.queue, row.suspended_code, row.suspended_at, row.retry_at)
                for row in suspended
                if row.queue[0] not in {URGENT, DIGEST}
                and not waited_for.isdisjoint(queues_of(row.queue))
            ],
        )
