"""The subjects of threads, queue entries and bisections, and which events belong to each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import ClassVar, Self

from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind, is_merge
from bot.merge_queue import event_types
from bot.merge_queue.event_records import EventRecord, in_order
from bot.posts.delivery import ENDS_IN_QUEUE
from bot.posts.live_message import LiveKind

ASKED_TO_QUEUE = frozenset({event_types.QUEUE_COMMAND, event_types.REQUEUE_COMMAND})


ENTRY_TYPES = frozenset(
    {
        event_types.ENTER,
        event_types.LEAVE,
        event_types.MERGED,
        *ASKED_TO_QUEUE,
        event_types.DEQUEUE_COMMAND,
        event_types.CHECKS_START,
        event_types.CHECKS_END,
        event_types.CHECKS_NOT_STARTED,
        event_types.CONFLICT_DEFERRED,
    }
)
"""The events of a queue entry, from the request to its end."""


LAST = frozenset({event_types.LEAVE, event_types.MERGED})
"""The types of events that end an entry."""


DECISIVE = frozenset({event_types.ENTER, event_types.LEAVE, event_types.MERGED})
"""Read for every channel with threads, so that each thread shows its end."""


CLOSING = ENDS_IN_QUEUE | {EventKind.BISECTION_ENDED}


STATES = CLOSING | {
    EventKind.ENTER,
    EventKind.CHECKS_STARTED,
    EventKind.CHECKS_ENDED,
    EventKind.CHECKS_NOT_STARTED,
    EventKind.COMMAND,
    EventKind.BISECTION_STARTED,
}
"""The kinds of events that set the state of a queue entry or bisection."""


EARLIER = timedelta(minutes=2)
"""How much earlier than the first known event another of the same entry may appear."""


AFTERWARDS = timedelta(minutes=10)
"""How long after its end events may still belong to an entry."""


COMES_BACK = timedelta(hours=12)
"""How long after its end the thread of an entry continues with the pull request's next one."""


BEFORE_ENTER = timedelta(days=1)
"""How long a pull request may wait to enter after somebody asked for it."""


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """One pull request's time in the queue, from its first known event."""

    kind: ClassVar = LiveKind.ENTRY

    repository: RepositoryName
    key: str  #: identifies it within its repository
    pull_request: int
    session_id: str | None  #: the service's own id, None until an event has it
    began_at: datetime
    last_at: datetime
    entered: bool = False  #: its enter event is known
    ended_at: datetime | None = None  #: None while it lasts

    @classmethod
    def begun(cls, record: EventRecord) -> Self:
        """The queue entry that begins with this event."""
        number = record.pull_request or 0
        at = record.received_at
        key = f"{number}-{record.event_id}"
        return cls(record.repository, key, number, record.session_id, at, at).after(record)

    def after(self, record: EventRecord) -> Self:
        """The entry after another of its events."""
        at = record.received_at
        ended_at = self.ended_at
        # Not `replace`, which takes twice as long: it happens for every event.
        return type(self)(
            self.repository,
            self.key,
            self.pull_request,
            self.session_id or record.session_id,
            began_at=min(self.began_at, at),
            last_at=max(self.last_at, at),
            entered=self.entered or record.type == event_types.ENTER,
            ended_at=at if ended_at is None and record.type in LAST else ended_at,
        )

    @classmethod
    def of(cls, record: EventRecord, known: Sequence[Self]) -> Self | None:
        """The one of `known`, all of the same pull request, that the event belongs to."""
        latest_first = known
        if len(known) > 1:
            latest_first = sorted(known, key=lambda entry: entry.began_at, reverse=True)
        if record.session_id is not None:
            for entry in latest_first:
                if entry.session_id == record.session_id:
                    return entry
        for entry in latest_first:
            # The lookup above covers events and entries with a session.
            is_unsure = entry.session_id is None or record.session_id is None
            if is_unsure and entry.may_take(record):
                return entry
        return None

    def may_take(self, record: EventRecord) -> bool:
        at = record.received_at
        if self.ended_at is not None:
            return not _begins(record) and at - self.ended_at <= AFTERWARDS
        if record.type == event_types.ENTER:
            return not self.entered and at - self.began_at <= BEFORE_ENTER
        return at >= self.began_at - EARLIER


def entry_before(record: EventRecord, known: Sequence[QueueEntry]) -> QueueEntry | None:
    """The one of `known`, all of the record's pull request, that its new entry follows soon."""
    if not _begins(record):
        return None
    latest = max(known, key=lambda entry: entry.last_at, default=None)
    if latest is None or latest.ended_at is None:
        return None
    return latest if record.received_at - latest.ended_at <= COMES_BACK else None


def events_of(entry: QueueEntry, records: Iterable[EventRecord]) -> list[EventRecord]:
    """The events of the entry, oldest first."""
    found: list[EventRecord] = []
    for record in in_order([record for record in records if _may_be_of(entry, record)]):
        is_over = any(each.type in LAST for each in found)
        if is_over and record.session_id is None and _begins(record):
            break
        found.append(record)
    return found


def _begins(record: EventRecord) -> bool:
    return record.type == event_types.ENTER or record.type in ASKED_TO_QUEUE


def _may_be_of(entry: QueueEntry, record: EventRecord) -> bool:
    """Whether the event may belong to it; one with a session belongs to an entry with one."""
    if record.pull_request != entry.pull_request or record.type not in ENTRY_TYPES:
        return False
    if record.session_id is not None:
        return record.session_id == entry.session_id
    until = entry.ended_at + AFTERWARDS if entry.ended_at is not None else None
    return record.received_at >= entry.began_at and (until is None or record.received_at <= until)


def state_of(records: Sequence[EventRecord], kinds: dict[int, EventKind]) -> EventRecord | None:
    """The event, of an entry's events oldest first, with its current state; an end comes first.

    A leave that says it merged is the end until the `action.queue.merged` arrives.
    """
    telling = [record for record in records if kinds.get(record.event_id) in STATES]
    ends = [record for record in telling if kinds[record.event_id] in ENDS_IN_QUEUE]
    merging = [record for record in records if is_merge(record)]
    other = [record for record in telling if kinds[record.event_id] is not EventKind.COMMAND]
    for found in (ends, merging, other, telling):
        if found:
            return found[-1]
    return None


BISECTION_TYPES = frozenset({event_types.BISECTION_START, event_types.BISECTION_END})


LONGEST_BISECTION = timedelta(days=1)
"""How long ago the last event of a bisection may be when the next of it comes."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """The search for the pull request that broke a batch, from the first split to the end."""

    kind: ClassVar = LiveKind.BISECTION

    repository: RepositoryName
    key: str  #: identifies it within its repository
    batch_id: str | None  #: None if no event has it
    pull_requests: frozenset[int]  #: those of the whole batch; a further split may name fewer
    last_at: datetime
    latest_event_id: int  #: the event with its current state
    ended_at: datetime | None = None  #: None while it lasts

    @classmethod
    def begun(cls, record: EventRecord) -> Self:
        """The bisection that begins with this event."""
        batch_id = record.details.batch
        numbers = frozenset(record.details.pull_requests)
        event_id = record.event_id
        at = record.received_at
        begun = cls(record.repository, str(event_id), batch_id, numbers, at, event_id)
        return begun.after(record)

    def after(self, record: EventRecord) -> Self:
        """The bisection after another of its events; nothing changes its state after its end."""
        ends = record.type == event_types.BISECTION_END
        updates = ends or (record.received_at >= self.last_at and self.ended_at is None)
        return replace(
            self,
            batch_id=self.batch_id or record.details.batch,
            last_at=max(self.last_at, record.received_at),
            latest_event_id=record.event_id if updates else self.latest_event_id,
            ended_at=record.received_at if ends else self.ended_at,
        )

    @classmethod
    def of(cls, record: EventRecord, known: Iterable[Self]) -> Self | None:
        """The one of `known`, all of the same repository, that the event belongs to."""
        batch_id = record.details.batch
        numbers = frozenset(record.details.pull_requests)
        for bisection in sorted(known, key=lambda bisection: bisection.last_at, reverse=True):
            if bisection.batch_id is not None and batch_id is not None:
                is_same = bisection.batch_id == batch_id
            else:
                is_same = bisection.ended_at is None and numbers <= bisection.pull_requests
            if is_same:
                return bisection
        return None
