"""Deliveries as rows: their columns, and the changes an outcome makes."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, update

from bot.domain.deliveries import Delivery, DeliveryState, NewDelivery, Subject
from bot.storage.destinations import Destination
from bot.storage.statements import ResultRow
from bot.storage.tables import deliveries

FIELDS = (
    deliveries.c.delivery_id,
    deliveries.c.channel_id,
    deliveries.c.subject_kind,
    deliveries.c.repository,
    deliveries.c.subject_id,
    deliveries.c.sequence,
    deliveries.c.created_at,
    deliveries.c.due_at,
    deliveries.c.state,
    deliveries.c.attempts,
    deliveries.c.attempted_at,
    deliveries.c.looks,
    deliveries.c.message_ts,
    deliveries.c.error,
    deliveries.c.settled_at,
)

RECORD_OUTCOME = (
    update(deliveries)
    .where(
        deliveries.c.delivery_id == bindparam("of_delivery"),
        deliveries.c.attempts == bindparam("of_attempt"),
        deliveries.c.state == DeliveryState.SENDING,
    )
    .values(
        {
            name: bindparam(name)
            for name in (
                "state",
                "due_at",
                "attempted_at",
                "looks",
                "message_ts",
                "error",
                "settled_at",
            )
        }
    )
)


def numbered(
    added: Sequence[NewDelivery], locked: Mapping[str, Destination]
) -> list[dict[str, Any]]:
    """Rows with the numbers that follow; one left out later leaves a gap, which is harmless."""
    following = {channel_id: each.next_sequence for channel_id, each in locked.items()}
    rows: list[dict[str, Any]] = []
    for new in added:
        rows.append(
            {
                "delivery_id": new.delivery_id,
                "channel_id": new.channel_id,
                "sequence": following[new.channel_id],
                "subject_kind": new.subject.kind,
                "repository": new.subject.repository,
                "subject_id": new.subject.subject_id,
                "created_at": new.due_at,
                "due_at": new.due_at,
                "state": DeliveryState.PENDING,
                "attempts": 0,
                "looks": 0,
            }
        )
        following[new.channel_id] += 1
    return rows


def outcome_values(delivery: Delivery, stored: Delivery) -> dict[str, object]:
    attempted_at = delivery.attempted_at
    if attempted_at is None and delivery.state is not DeliveryState.PENDING:
        attempted_at = stored.attempted_at
    return {
        "of_delivery": delivery.delivery_id,
        "of_attempt": delivery.attempts,
        "state": delivery.state,
        "due_at": delivery.due_at,
        "attempted_at": attempted_at,
        "looks": delivery.looks,
        "message_ts": delivery.message_ts,
        "error": delivery.error,
        "settled_at": delivery.settled_at,
    }


def delivery_of(row: ResultRow) -> Delivery:
    delivery_id, channel_id, kind, repository, subject_id, *rest = row
    return Delivery(delivery_id, channel_id, Subject(kind, repository, subject_id), *rest)
