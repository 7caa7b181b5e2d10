"""Which bisection of a batch an event belongs to, and what it has come to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.event_records import EventRecord
from bot.domain.event_types import BISECTION_END, BISECTION_START
from bot.domain.repository import RepositoryName

BISECTION_TYPES = frozenset({BISECTION_START, BISECTION_END})

LONGEST_BISECTION = timedelta(days=1)
"""How long ago the last event of a bisection may be when the next of it comes."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """The search for what broke a batch, from its first split to its end.

    `key` names it within its repository. `batch_id` is None where no event tells it.
    `pull_requests` are those of the whole batch; a further split may name fewer of them.
    `latest_event_id` is the event that says how it is now. `ended_at` is None while it goes on.
    """

    repository: RepositoryName
    key: str
    batch_id: str | None
    pull_requests: frozenset[int]
    last_at: datetime
    latest_event_id: int
    ended_at: datetime | None = None


def bisection_of(record: EventRecord, known: Iterable[Bisection]) -> Bisection | None:
    """The one of `known`, all of the record's repository, that the event belongs to."""
    batch_id, numbers = record.details.batch, frozenset(record.details.pull_requests)
    for one in sorted(known, key=lambda one: one.last_at, reverse=True):
        if None not in {one.batch_id, batch_id}:
            if one.batch_id == batch_id:
                return one
        elif one.ended_at is None and numbers <= one.pull_requests:
            return one
    return None


def new_bisection(record: EventRecord) -> Bisection:
    """The bisection that the event is the first to tell of."""
    begun = Bisection(
        record.repository,
        str(record.event_id),
        record.details.batch,
        frozenset(record.details.pull_requests),
        record.received_at,
        record.event_id,
    )
    return bisected_on(begun, record)


def bisected_on(bisection: Bisection, record: EventRecord) -> Bisection:
    """After one more of its events; once it has ended, its end is what counts."""
    ends = record.type == BISECTION_END
    is_latest = record.received_at >= bisection.last_at
    tells = ends or (is_latest and bisection.ended_at is None)
    return replace(
        bisection,
        batch_id=bisection.batch_id or record.details.batch,
        last_at=max(bisection.last_at, record.received_at),
        latest_event_id=record.event_id if tells else bisection.latest_event_id,
        ended_at=record.received_at if ends else bisection.ended_at,
    )
