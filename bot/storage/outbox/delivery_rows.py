"""Deliveries as rows: their columns, and the changes an outcome makes."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, bindparam, func, update

from bot.domain.deliveries import Delivery, DeliveryState, NewDelivery, Subject
from bot.domain.errors import LeaseLost
from bot.storage.column_types import UtcTime
from bot.storage.outbox.destinations import DIGEST, URGENT, Destination
from bot.storage.statements import Prepared, ResultRow
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


def lines_of(channel_id: str) -> list[str]:
    """All lines of a channel."""
    lines = [line_of(channel_id, urgent=urgent) for urgent in (False, True)]
    return [*lines, line_of(channel_id, urgent=False, digest=True)]


def line_for(new: NewDelivery) -> str:
    return line_of(new.channel_id, urgent=new.urgent, digest=new.digest_at is not None)


def line_with(delivery: Delivery) -> str:
    return line_of(delivery.channel_id, urgent=delivery.urgent, digest=delivery.digest)


def ended_lines(
    settled: Sequence[Delivery], locked: Mapping[str, Destination]
) -> dict[str, Destination]:
    """The lines of which these are all that there is, as they are afterwards."""
    by_line = {line_with(one): one for one in settled}
    of_several = [line_with(one) for one in settled if by_line[line_with(one)] is not one]
    for line in of_several:
        by_line.pop(line, None)
    return {
        line: locked[line].without_head()
        for line, one in by_line.items()
        if line in locked and locked[line].holds_only(one)
    }


def is_digest(line: str) -> bool:
    return line.startswith(DIGEST)


def is_urgent(line: str) -> bool:
    return line.startswith(URGENT)


def _recording(attempted_at: ColumnElement[datetime]) -> Prepared:
    return Prepared(
        lambda _: (
            update(deliveries)
            .where(
                deliveries.c.delivery_id == bindparam("of_delivery"),
                deliveries.c.attempts == bindparam("of_attempt"),
                deliveries.c.state == DeliveryState.SENDING,
            )
            .values(
                {
                    "attempted_at": attempted_at,
                    **{
                        name: bindparam(name)
                        for name in (
                            "state",
                            "due_at",
                            "looks",
                            "message_ts",
                            "error",
                            "settled_at",
                            "failures",
                        )
                    },
                }
            )
        )
    )


_ATTEMPTED_AT = bindparam("attempted_at", type_=UtcTime())

RECORD_PENDING = _recording(_ATTEMPTED_AT)
RECORD_ATTEMPTED = _recording(func.coalesce(_ATTEMPTED_AT, deliveries.c.attempted_at))
"""The time of the attempt stays what it was, unless another is given."""


def outcome_values(delivery: Delivery) -> dict[str, object]:
    """What both statements take."""
    return {
        "of_delivery": delivery.delivery_id,
        "of_attempt": delivery.attempts,
        "state": delivery.state,
        "due_at": delivery.due_at,
        "attempted_at": delivery.attempted_at,
        "looks": delivery.looks,
        "message_ts": delivery.message_ts,
        "error": delivery.error,
        "settled_at": delivery.settled_at,
        "failures": delivery.failures,
    }


def require_recorded(delivery: Delivery, stored: Delivery | None) -> None:
    """Raise LeaseLost unless the claim that was closed before was this one."""
    if stored is None or stored.attempts != delivery.attempts:
        raise LeaseLost(delivery.delivery_id)


def delivery_of(row: ResultRow) -> Delivery:
    values = row._asdict()
    kind, repository = values.pop("subject_kind"), values.pop("repository")
    subject = Subject(kind, repository, values.pop("subject_id"))
    line = values.pop("line")
    return Delivery(subject=subject, urgent=is_urgent(line), digest=is_digest(line), **values)
