"""Deliveries that wait for a digest: when they are due, and when they are dropped."""

from datetime import datetime

from sqlalchemy import func, select

from bot.domain.deliveries import NOT_HEARD, DeliveryState
from bot.domain.repository import RepositoryName
from bot.store.outbox.channel_queues import (
    DIGEST,
    lock,
    queues_of,
    unsettled,
    update_waiting,
)
from bot.store.statements import Statements
from bot.store.tables import deliveries


def bring_forward(statements: Statements, queue: str, last: int, due_at: datetime) -> None:
    """Make what is in front of delivery `last` due with it: it would keep that one waiting."""
    update_waiting(
        statements,
        queue,
        deliveries.c.sequence < last,
        deliveries.c.due_at > due_at,
        due_at=due_at,
    )


def move_digest(
    statements: Statements,
    channel_id: str,
    repository: RepositoryName,
    to: datetime,
    now: datetime,
) -> None:
    queue = f"{DIGEST}{channel_id}"
    lock(statements, [queue])
    is_moved = update_waiting(
        statements,
        queue,
        deliveries.c.repository == repository,
        deliveries.c.due_at > now,
        due_at=to,
    )
    if not is_moved:
        return
    times = statements.run(
        select(deliveries.c.due_at, func.max(deliveries.c.sequence))
        .where(unsettled(queue))
        .group_by(deliveries.c.due_at)
    )
    for due_at, last in times.all():
        bring_forward(statements, queue, last, due_at)


def drop_unheard(
    statements: Statements, channel_id: str, repository: RepositoryName, now: datetime
) -> None:
    for queue, row in lock(statements, queues_of(channel_id)).items():
        if queue.startswith(DIGEST) or row.parked_at is not None:
            update_waiting(
                statements,
                queue,
                deliveries.c.repository == repository,
                deliveries.c.attempted_at.is_(None),
                state=DeliveryState.FAILED,
                error=NOT_HEARD,
                settled_at=now,
            )
