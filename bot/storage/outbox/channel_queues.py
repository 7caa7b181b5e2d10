"""The rows of `destinations`: one per channel queue, with its head and when that can be claimed.

A transaction locks the rows of the queues whose deliveries it changes, in the order of their
names, and calls `update_heads` before it ends.
"""

from collections.abc import Iterable

from sqlalchemy import ColumnElement, and_, case, func, select, update

from bot.domain.deliveries import DeliveryState
from bot.storage.outbox.delivery_rows import queues_of
from bot.storage.statements import ResultRow, Statements, slices
from bot.storage.tables import deliveries, destinations


def lock(statements: Statements, names: Iterable[str]) -> dict[str, ResultRow]:
    """Lock the rows of these queues, and return those that exist, by name."""
    rows = statements.by_keys(
        select(destinations).order_by(destinations.c.line).with_for_update(),
        destinations.c.line,
        names,
    )
    return {row.line: row for row in rows}


def lock_or_add(statements: Statements, names: Iterable[str]) -> dict[str, ResultRow]:
    wanted = sorted(set(names))
    locked = lock(statements, wanted)
    missing = [name for name in wanted if name not in locked]
    if missing:
        statements.run(
            statements.insert(destinations).on_conflict_do_nothing(index_elements=["line"]),
            [{"line": name, "next_sequence": 1, "head_sequence": 1} for name in missing],
        )
        locked |= lock(statements, missing)
    return locked


def unsettled(queue: str) -> ColumnElement[bool]:
    """The deliveries of a queue that are not settled, read from its head on, not from the start."""
    head = select(destinations.c.head_sequence).where(destinations.c.line == queue)
    return and_(
        deliveries.c.line == queue,
        deliveries.c.sequence >= head.scalar_subquery(),
        deliveries.c.settled_at.is_(None),
    )


def update_heads(statements: Statements, names: Iterable[str]) -> None:
    """Set the head of each locked queue to its first unsettled delivery."""
    first = (
        select(deliveries.c.sequence)
        .where(
            deliveries.c.line == destinations.c.line,
            deliveries.c.sequence >= destinations.c.head_sequence,
            deliveries.c.settled_at.is_(None),
        )
        .order_by(deliveries.c.sequence)
        .limit(1)
        .correlate(destinations)
    )
    # In a suspended channel the next try waits for `retry_at`.
    is_too_early = deliveries.c.due_at < destinations.c.retry_at
    claimable_at = case((is_too_early, destinations.c.retry_at), else_=deliveries.c.due_at)
    for some in slices(sorted(set(names))):
        statements.run(
            update(destinations)
            .where(destinations.c.line.in_(some))
            .values(
                head_sequence=func.coalesce(first.scalar_subquery(), destinations.c.next_sequence),
                claimable_at=first.with_only_columns(claimable_at).scalar_subquery(),
            )
        )


def update_waiting(
    statements: Statements, queue: str, *which: ColumnElement[bool], **values: object
) -> bool:
    """Change pending deliveries of a locked queue; whether there were any."""
    changed = statements.run(
        update(deliveries)
        .where(unsettled(queue), deliveries.c.state == DeliveryState.PENDING, *which)
        .values(values)
    )
    if changed.rowcount:
        update_heads(statements, [queue])
    return bool(changed.rowcount)


def set_suspension(statements: Statements, channel_id: str, **suspension: object) -> None:
    """Suspend all locked queues of a channel together, or end that."""
    queues = queues_of(channel_id)
    statements.run(update(destinations).where(destinations.c.line.in_(queues)).values(suspension))
    update_heads(statements, queues)
