"""Equal verdicts on one pull request, which one message counts instead of repeating it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.log.classification import EventKind
from bot.log.preceding import is_aborted, is_put_back
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import CHECKS_END, CHECKS_NOT_STARTED, ENTER, LEAVE

COUNTED_KINDS = frozenset(
    {
        EventKind.ENTER,
        EventKind.FAILURE,
        EventKind.DEQUEUE,
        EventKind.CHECKS_ENDED,
        EventKind.CHECKS_NOT_STARTED,
    }
)
"""The kinds of events that say how it went with one pull request, and why.

Entering the queue is one in threads, whose first messages say what is true now.
"""

EQUAL_TYPES = frozenset({ENTER, LEAVE, CHECKS_END, CHECKS_NOT_STARTED})
"""The types of those events. Each is compared with others of its type only."""

COUNTED_WITHIN = timedelta(hours=1)
"""An edit notifies nobody, so an equal verdict that comes later than this is news again."""

LONGEST_COUNT = timedelta(days=1)
"""One message counts for this long at most, so that it is never far up in its channel."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often, from one event on, the verdict on a pull request was the same."""

    first_at: datetime
    latest: EventRecord  #: the last event with that verdict
    count: int  #: at least 1


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What people read of an event besides times and links; its code says more than its reason."""

    kind: EventKind
    code: str | None
    reason: str | None
    checks: tuple[str | None, ...]
    by: str | None


def has_verdict(record: EventRecord, kind: EventKind) -> bool:
    """Whether the event may be counted with others; checks that just ended decide nothing."""
    if record.pull_request is None or record.type not in EQUAL_TYPES:
        return False
    if kind is EventKind.CHECKS_ENDED:
        return is_put_back(record) or is_aborted(record)
    return kind in COUNTED_KINDS


def in_a_row(
    records: Sequence[EventRecord], kinds: Mapping[int, EventKind]
) -> list[Sequence[EventRecord]]:
    """The complete events of one pull request, oldest first, split where the verdict changes.

    Each event is in one row, with those of its type that are next to it and have its verdict.
    `kinds`: of the events, by id.
    """
    found: list[Sequence[EventRecord]] = []
    for type_ in dict.fromkeys(record.type for record in records):
        row: list[EventRecord] = []
        last: _Verdict | None = None
        for record in records:
            if record.type != type_:
                continue
            verdict = _verdict_key(record, kinds[record.event_id])
            if row and (verdict != last or _is_news(row[-1], record)):
                found.append(row)
                row = []
            row.append(record)
            last = verdict
        found.append(row)
    return found


def _is_news(earlier: EventRecord, later: EventRecord) -> bool:
    return later.received_at - earlier.received_at > COUNTED_WITHIN


def _verdict_key(record: EventRecord, kind: EventKind) -> _Verdict:
    details = record.details
    asked_by = details.trigger if details.trigger.startswith("@") else details.actor
    return _Verdict(
        kind,
        details.code,
        details.reason if details.code is None else None,
        tuple(check.name for check in details.checks),
        asked_by if kind is EventKind.DEQUEUE else None,
    )


def counted_from(first: EventRecord, row: Sequence[EventRecord]) -> Repeats:
    """What a message about `first` counts of the events in a row with its verdict."""
    order = (first.received_at, first.event_id)
    until = first.received_at + LONGEST_COUNT
    counted = [
        record
        for record in row
        if (record.received_at, record.event_id) >= order and record.received_at <= until
    ]
    return Repeats(first.received_at, counted[-1], len(counted))
