"""The event log as received: events, pages, and what could not be read (API document, Event)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    JsonValue,
    SerializeAsAny,
    ValidationInfo,
    field_validator,
)

from bot.domain.event_metadata import EventMetadata, Metadata
from bot.domain.event_reading import read_metadata
from bot.domain.event_types import (
    EVENT_TYPES,
    HOST_ACTIONS,
    LIVE_EVENT_TYPES,
    is_known_event_type,
)
from bot.domain.resource import Later, Moment, Number, Resource

__all__ = [
    "EVENT_TYPES",
    "HOST_ACTIONS",
    "LIVE_EVENT_TYPES",
    "EventPage",
    "QueueEvent",
    "UnreadableEvent",
    "is_known_event_type",
]


def _absent_as_blank(value: Any) -> Any:  # noqa: ANN401 - anything the service may send
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_absent_as_blank)]


class QueueEvent(Resource):
    """One record of the event log.

    `id` is unique within the service and grows. `trigger` is the service's own words for what
    caused the event; "" when not told. `pull_request` and `base_ref` are None for events that
    concern the whole repository. `outcome` (later services) is `success`, `failure`, `pending`
    or `neutral`.
    """

    id: Number
    received_at: Moment
    trigger: Text = ""
    repository: Text = ""
    pull_request: Number | None = None
    base_ref: str | None = None
    type: str
    outcome: Later[str | None] = None
    metadata: SerializeAsAny[EventMetadata] = Field(
        default_factory=lambda read: read_metadata(read.get("type"), None)
    )

    @field_validator("metadata", mode="plain")
    @classmethod
    def _read_metadata(cls, sent: Any, known: ValidationInfo) -> Metadata:  # noqa: ANN401 - anything the service may send
        if isinstance(sent, Metadata):
            return sent
        return read_metadata(known.data.get("type"), sent)

    @property
    def raw_metadata(self) -> JsonValue:
        """The metadata as sent, when not all of it could be read; else None."""
        return self.metadata.raw


@dataclass(frozen=True, slots=True)
class UnreadableEvent:
    """An event that lacks what every event has, kept as sent in `raw`.

    `problem` names the fields at fault; it quotes nothing of what was sent. `event_id` is None
    when it could not be read.
    """

    problem: str
    raw: JsonValue
    event_id: int | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """One page of the log, in the service's own order.

    `next_cursor` is None on the last page. `served_at` is the service's clock when it answered
    (the `Date` header), None when it did not tell. `previous_cursor` is None on the first page,
    and wherever the service tells no way back.
    """

    events: tuple[QueueEvent, ...]
    next_cursor: str | None = None
    served_at: datetime | None = None
    unreadable: tuple[UnreadableEvent, ...] = ()
    previous_cursor: str | None = None
