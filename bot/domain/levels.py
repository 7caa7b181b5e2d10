"""How many messages each level of a subscription makes, counted from one hour of a log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.classification import EventKind, kinds, topic_of
from bot.domain.event_records import EventRecord
from bot.domain.event_types import BISECTION_START, ENTER, LEAVE, MERGED, PAUSE_CREATE
from bot.domain.subscriptions import LEVELS, Level

HOUR = timedelta(hours=1)

COUNTED_TYPES = frozenset({ENTER, LEAVE, MERGED, PAUSE_CREATE, BISECTION_START})
"""The types that make messages, and merges, which show that a leave was no failure."""

_MAKES_MESSAGE = frozenset(
    {EventKind.ENTER, EventKind.FAILURE, EventKind.PAUSE, EventKind.BISECTION_STARTED}
)
"""Other events edit these messages or are replies in their threads."""


@dataclass(frozen=True, slots=True)
class LevelPreview:
    """How many messages a channel would have had in the hour until `until`, by level."""

    until: datetime
    messages: Mapping[Level, int]


def preview(records: Sequence[EventRecord]) -> LevelPreview | None:
    """Count in the latest hour with events; None if there are none.

    `records` are oldest first.
    """
    if not records:
        return None
    until = records[-1].received_at
    hour = [one for one in records if one.received_at > until - HOUR]
    made = [kind for kind in kinds(hour, records).values() if kind in _MAKES_MESSAGE]
    return LevelPreview(
        until,
        {level: sum(topic_of(kind) in topics for kind in made) for level, topics in LEVELS.items()},
    )
