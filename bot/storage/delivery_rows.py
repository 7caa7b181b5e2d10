"""Deliveries as rows: their columns, and the changes an outcome makes."""

from sqlalchemy import bindparam, update

from bot.domain.deliveries import Delivery, DeliveryState, NewDelivery, Subject
from bot.storage.destinations import DIGEST, URGENT
from bot.storage.prepared import Prepared
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
    deliveries.c.failures,
    deliveries.c.line,
    deliveries.c.kind,
    deliveries.c.folded,
    deliveries.c.card_id,
)


def line_of(channel_id: str, *, urgent: bool, digest: bool = False) -> str:
    """The name of a channel's ordinary line, of its urgent one, or of the one for its digest."""
    if digest:
        return f"{DIGEST}{channel_id}"
    return f"{URGENT}{channel_id}" if urgent else channel_id


def line_for(new: NewDelivery) -> str:
    return line_of(new.channel_id, urgent=new.urgent, digest=new.digest_at is not None)


def line_with(delivery: Delivery) -> str:
    return line_of(delivery.channel_id, urgent=delivery.urgent, digest=delivery.digest)


def is_digest(line: str) -> bool:
    return line.startswith(DIGEST)


def is_urgent(line: str) -> bool:
    return line.startswith(URGENT)


RECORD_OUTCOME = Prepared(
    lambda _: (
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
                    "failures",
                )
            }
        )
    )
)


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
        "failures": delivery.failures,
    }


def delivery_of(row: ResultRow) -> Delivery:
    values = row._asdict()
    kind, repository = values.pop("subject_kind"), values.pop("repository")
    subject = Subject(kind, repository, values.pop("subject_id"))
    line = values.pop("line")
    return Delivery(subject=subject, urgent=is_urgent(line), digest=is_digest(line), **values)
