"""Channel queues: their names, their deliveries as rows, and the rows of `channels`.

A row of `channels` is one channel queue, with its head and when that can be claimed.

A transaction locks the rows of the queues whose deliveries it changes, in the order of their
names, and calls `update_heads` before it ends.
"""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import ColumnElement, and_, bindparam, case, func, select, update

from bot.domain.deliveries import Delivery, DeliveryState, NewDelivery, Subject
from bot.store.statements import Part, ResultRow, slices
from bot.store.tables import channels, deliveries

URGENT = "!"
"""Starts the name of a channel's urgent queue; no channel id starts with it."""

DIGEST = "~"
"""Starts the name of the queue that waits for a channel's digest; no channel id starts with it."""

COLUMNS = [column for column in deliveries.columns if column.name != "summarized_by"]
"""The columns that `delivery_of` reads."""


def delivery_of(row: ResultRow) -> Delivery:
    values = row._asdict()
    subject = Subject(
        values.pop("subject_kind"), values.pop("repository"), values.pop("subject_id")
    )
    queue = values.pop("line")
    return Delivery(
        subject=subject, urgent=queue.startswith(URGENT), digest=queue.startswith(DIGEST), **values
    )


def queue_of(delivery: Delivery) -> str:
    return _queue(delivery.channel_id, urgent=delivery.urgent, digest=delivery.digest)


def queue_for(new: NewDelivery) -> str:
    return _queue(new.channel_id, urgent=new.urgent, digest=new.digest_at is not None)


def queues_of(channel_id: str) -> list[str]:
    """All queues of a channel: the ordinary one, the urgent one, and the one for its digest."""
    return [channel_id, f"{URGENT}{channel_id}", f"{DIGEST}{channel_id}"]


def _queue(channel_id: str, *, urgent: bool, digest: bool) -> str:
    if digest:
        return f"{DIGEST}{channel_id}"
    return f"{URGENT}{channel_id}" if urgent else channel_id


def new_row(new: NewDelivery, queue: str, sequence: int) -> dict[str, object]:
    is_summarized = new.summarized_by is not None
    return {
        "delivery_id": new.delivery_id,
        "channel_id": new.channel_id,
        "line": queue,
        "sequence": sequence,
        "subject_kind": new.subject.kind,
        "repository": new.subject.repository,
        "subject_id": new.subject.subject_id,
        "created_at": new.due_at,
        "due_at": new.digest_at or new.due_at,
        "state": DeliveryState.SUMMARIZED if is_summarized else DeliveryState.PENDING,
        "settled_at": new.due_at if is_summarized else None,
        "summarized_by": new.summarized_by,
        "kind": new.kind,
        "summarizes": new.summarizes,
        "root_id": new.root_id,
        "attempts": 0,
        "looks": 0,
        "failures": 0,
    }


_IN_ORDER = select(channels).order_by(channels.c.line).with_for_update()

_FIRST = (
    select(deliveries.c.sequence)
    .where(
        deliveries.c.line == channels.c.line,
        deliveries.c.sequence >= channels.c.head_sequence,
        deliveries.c.settled_at.is_(None),
    )
    .order_by(deliveries.c.sequence)
    .limit(1)
    .correlate(channels)
)
# In a suspended channel the next try waits for `retry_at`.
_CLAIMABLE_AT = case(
    (deliveries.c.due_at < channels.c.retry_at, channels.c.retry_at),
    else_=deliveries.c.due_at,
)
_SET_HEADS = (
    update(channels)
    .where(channels.c.line.in_(bindparam("queues", expanding=True)))
    .values(
        head_sequence=func.coalesce(_FIRST.scalar_subquery(), channels.c.next_sequence),
        claimable_at=_FIRST.with_only_columns(_CLAIMABLE_AT).scalar_subquery(),
    )
)


def unsettled(queue: str) -> ColumnElement[bool]:
    """The deliveries of a queue that are not settled, read from its head on, not from the start."""
    head = select(channels.c.head_sequence).where(channels.c.line == queue)
    return and_(
        deliveries.c.line == queue,
        deliveries.c.sequence >= head.scalar_subquery(),
        deliveries.c.settled_at.is_(None),
    )


class ChannelQueues(Part):
    """Locking channel queues, and keeping their rows up to date."""

    def _lock(self, names: Iterable[str]) -> dict[str, ResultRow]:
        """Lock the rows of these queues, and return those that exist, by name."""
        rows = self._statements.by_keys(_IN_ORDER, channels.c.line, names)
        return {row.line: row for row in rows}

    def _lock_or_add(self, names: Iterable[str]) -> dict[str, ResultRow]:
        wanted = sorted(set(names))
        locked = self._lock(wanted)
        missing = [name for name in wanted if name not in locked]
        if missing:
            self._statements.run(
                self._statements.insert(channels).on_conflict_do_nothing(index_elements=["line"]),
                [{"line": name} for name in missing],
            )
            locked |= self._lock(missing)
        return locked

    def _update_heads(self, names: Iterable[str]) -> None:
        """Set the head of each locked queue to its first unsettled delivery."""
        for some in slices(sorted(set(names))):
            self._statements.run(_SET_HEADS, {"queues": some})

    def _update_waiting(self, queue: str, *which: ColumnElement[bool], **values: object) -> bool:
        """Change pending deliveries of a locked queue; whether there were any."""
        changed = self._statements.run(
            update(deliveries)
            .where(unsettled(queue), deliveries.c.state == DeliveryState.PENDING, *which)
            .values(values)
        )
        if changed.rowcount:
            self._update_heads([queue])
        return bool(changed.rowcount)

    def _set_claimable(self, names: Iterable[str], at: datetime) -> None:
        """Say when queues whose first deliveries were claimed can be claimed again."""
        self._statements.run(
            update(channels).where(channels.c.line.in_(names)).values(claimable_at=at)
        )

    def _set_suspension(self, channel_id: str, **suspension: object) -> None:
        """Suspend all locked queues of a channel together, or end that."""
        queues = queues_of(channel_id)
        self._statements.run(update(channels).where(channels.c.line.in_(queues)).values(suspension))
        self._update_heads(queues)
