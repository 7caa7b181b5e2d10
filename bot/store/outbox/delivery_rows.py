"""Deliveries as rows, and the names of the channel queues they wait in."""

from bot.domain.deliveries import Delivery, DeliveryState, NewDelivery, Subject
from bot.store.statements import ResultRow
from bot.store.tables import deliveries

URGENT = "!"
"""Starts the name of a channel's urgent queue; no channel id starts with it."""

DIGEST = "~"
"""Starts the name of the queue that waits for a channel's digest; no channel id starts with it."""

COLUMNS = [column for column in deliveries.columns if column.name != "told_by"]
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


def digest_queue(channel_id: str) -> str:
    return f"{DIGEST}{channel_id}"


def queues_of(channel_id: str) -> list[str]:
    """All queues of a channel: the ordinary one, the urgent one, and the one for its digest."""
    return [channel_id, f"{URGENT}{channel_id}", digest_queue(channel_id)]


def _queue(channel_id: str, *, urgent: bool, digest: bool) -> str:
    if digest:
        return digest_queue(channel_id)
    return f"{URGENT}{channel_id}" if urgent else channel_id


def new_row(new: NewDelivery, queue: str, sequence: int) -> dict[str, object]:
    is_folded = new.told_by is not None
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
        "state": DeliveryState.FOLDED if is_folded else DeliveryState.PENDING,
        "settled_at": new.due_at if is_folded else None,
        "told_by": new.told_by,
        "kind": new.kind,
        "folded": new.folded,
        "card_id": new.card_id,
        "attempts": 0,
        "looks": 0,
        "failures": 0,
    }
