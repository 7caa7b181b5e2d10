"""What is told ahead of the ordinary posts: pauses, alerts, outages."""

import uuid
from collections.abc import Iterable
from datetime import datetime

from bot.domain.deliveries import NewDelivery, Subject
from bot.ports import Transaction


async def tell_urgently(
    transaction: Transaction,
    subject: Subject,
    addresses: Iterable[str],
    due_at: datetime,
    kind: str | None = None,
) -> int:
    """Add a delivery to the urgent line of each channel or person; how many were not told yet.

    `kind` is what a summary counts it as.
    """
    return await transaction.outbox.add(
        [
            NewDelivery(uuid.uuid4().hex, address, subject, due_at, urgent=True, kind=kind)
            for address in sorted(set(addresses))
        ]
    )
