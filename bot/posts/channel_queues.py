"""Channel queues: their names, and the rows of `channel_queues` and `deliveries`.

A transaction that changes deliveries locks the rows of their queues, in the order of their names,
and calls `_update_heads` before it ends.
"""

from collections.abc import Iterable

from sqlalchemy import and_, bindparam, case, func, or_, select, update

from bot.posts.delivery import Delivery, DeliveryState, NewDelivery, Progress, Subject
from bot.posts.tables import UNSETTLED, channel_queues, deliveries
from bot.store.statements import Condition, Part, ResultRow, as_row, from_row

URGENT = "!"
"""Starts the name of a channel's urgent queue; no channel id starts with it."""

DIGEST = "~"
"""Starts the name of the queue that waits for a channel's digest; no channel id starts with it."""


def queues_of(channel_id: str) -> list[str]:
    """All queues of a channel: the ordinary one, the urgent one, and the one for its digest."""
    return [channel_id, f"{URGENT}{channel_id}", f"{DIGEST}{channel_id}"]


def queue_of(delivery: Delivery | NewDelivery) -> str:
    if isinstance(delivery, Delivery):
        waits_for_digest = delivery.waits_for_digest
    else:
        waits_for_digest = delivery.digest_at is not None
    if waits_for_digest:
        return f"{DIGEST}{delivery.channel_id}"
    if delivery.urgent:
        return f"{URGENT}{delivery.channel_id}"
    return delivery.channel_id


def delivery_of(row: ResultRow) -> Delivery:
    return from_row(
        Delivery,
        row,
        subject=Subject(row.subject_kind, row.repository, row.subject_id),
        progress=from_row(Progress, row),
        urgent=row.queue.startswith(URGENT),
        waits_for_digest=row.queue.startswith(DIGEST),
    )


def new_row(new: NewDelivery, queue: str, sequence: int) -> dict[str, object]:
    is_summarized = new.summarized_by is not None
    return as_row(
        deliveries,
        new,
        queue=queue,
        sequence=sequence,
        subject_kind=new.subject.kind,
        repository=new.subject.repository,
        subject_id=new.subject.subject_id,
        created_at=new.due_at,
        due_at=new.digest_at or new.due_at,
        state=DeliveryState.SUMMARIZED if is_summarized else DeliveryState.PENDING,
        settled_at=new.due_at if is_summarized else None,
    )


def unsettled(queue: str) -> Condition:
    """The unsettled deliveries of a queue, read from its head on."""
    head = (
        select(channel_queues.c.head_sequence)
        .where(channel_queues.c.queue == queue)
        .scalar_subquery()
    )
    return and_(deliveries.c.queue == queue, deliveries.c.sequence >= head, UNSETTLED)


def is_covered_by(delivery_id: str) -> Condition:
    """The delivery itself, and those that it summarizes."""
    return or_(deliveries.c.summarized_by == delivery_id, deliveries.c.delivery_id == delivery_id)


_FIRST = (
    select(deliveries.c.sequence)
    .where(
        deliveries.c.queue == channel_queues.c.queue,
        deliveries.c.sequence >= channel_queues.c.head_sequence,
        UNSETTLED,
    )
    .order_by(deliveries.c.sequence)
    .limit(1)
    .correlate(channel_queues)
)
# A suspended channel isn't retried before `retry_at`.
_CLAIMABLE_AT = case(
    (deliveries.c.due_at < channel_queues.c.retry_at, channel_queues.c.retry_at),
    else_=deliveries.c.due_at,
)
# Built once, because building a statement takes several times as long as running it.
_SET_HEADS = (
    update(channel_queues)
    .where(channel_queues.c.queue.in_(bindparam("queues", expanding=True)))
    .values(
        head_sequence=func.coalesce(_FIRST.scalar_subquery(), channel_queues.c.next_sequence),
        claimable_at=_FIRST.with_only_columns(_CLAIMABLE_AT).scalar_subquery(),
    )
)
SET_APPENDED = (
    update(channel_queues)
    .where(channel_queues.c.queue == bindparam("this"))
    .values(
        next_sequence=bindparam("following"),
        head_sequence=func.coalesce(_FIRST.scalar_subquery(), bindparam("following")),
        claimable_at=_FIRST.with_only_columns(_CLAIMABLE_AT).scalar_subquery(),
    )
)
_LOCKED = select(channel_queues).order_by(channel_queues.c.queue).with_for_update()


class ChannelQueues(Part):
    """Locking channel queues, and keeping their rows up to date."""

    def _lock(self, names: Iterable[str]) -> dict[str, ResultRow]:
        """Lock the rows of these queues, and return those that exist, by name."""
        rows = self._by_keys(_LOCKED, channel_queues.c.queue, names)
        return {row.queue: row for row in rows}

    def _lock_or_add(self, names: Iterable[str]) -> dict[str, ResultRow]:
        wanted = sorted(set(names))
        locked = self._lock(wanted)
        missing = [name for name in wanted if name not in locked]
        self._add_new(channel_queues, *({"queue": name} for name in missing))
        return locked | self._lock(missing)

    def _update_heads(self, names: Iterable[str]) -> None:
        """Set the head of each locked queue to its first unsettled delivery."""
        self._run(_SET_HEADS, {"queues": sorted(set(names))})

    def _update_waiting(self, queue: str, *which: Condition, **values: object) -> bool:
        """Change pending deliveries of a locked queue; False if there were none."""
        pending = deliveries.c.state == DeliveryState.PENDING
        changed = self._change(deliveries, unsettled(queue), pending, *which, **values)
        if changed:
            self._update_heads([queue])
        return changed > 0
