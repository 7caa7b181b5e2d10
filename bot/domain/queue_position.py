"""Where a pull request is: in a batch, waiting, or not in the queue."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bot.domain.classification import EventKind, is_merge
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import ENTER, LEAVE, MERGED
from bot.domain.queue import (
    BatchStatusCode,
    Checks,
    QueuedDetails,
    QueuedPullRequest,
    QueueStatus,
    SubBatch,
)
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class InBatch:
    """In `batch`, or its smallest piece under bisection; `ahead` batches come before it."""

    pull_request: QueuedPullRequest
    batch: SubBatch
    ahead: int


@dataclass(frozen=True, slots=True)
class InQueue:
    """Not in a batch yet: at `place`, counted from 1, of `length` waiting."""

    pull_request: QueuedPullRequest
    place: int
    length: int


@dataclass(frozen=True, slots=True)
class NotQueued:
    """Not in the queue.

    `end`: the event that says how it left, merged or not; None without one.
    """

    end: EventRecord | None = None
    has_merged: bool = False


QueuePosition = InBatch | InQueue | NotQueued


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of one pull request, its events oldest first.

    `seen`: its title and address, if known.
    `checks`: those of its batch, if the service names them.
    `details`: what else the service says of a queued one, if it has that endpoint.
    `whole_log`: False when the event log can't be read now, so that `records` may lack events.
    """

    number: int
    snapshot: Snapshot
    position: QueuePosition
    records: Sequence[EventRecord]
    kinds: Mapping[int, EventKind]
    seen: PullRequestRecord | None
    whole_log: bool = True
    checks: Checks | None = None
    details: QueuedDetails = field(default_factory=QueuedDetails)

    @property
    def repository(self) -> RepositoryName:
        return self.snapshot.repository


def find(number: int, status: QueueStatus, records: Sequence[EventRecord]) -> QueuePosition:
    """Find a pull request in the live queue first, then in its events, oldest first.

    A finished batch stays in the queue for a while after its pull requests have left.
    """
    queued = still_queued(number, status)
    if queued is not None:
        return queued
    entered = [index for index, record in enumerate(records) if record.type == ENTER]
    entry = records[entered[-1] :] if entered else records
    for record in reversed(entry):
        if record.type == MERGED or is_merge(record):
            return NotQueued(record, has_merged=True)
    for record in reversed(entry):
        if record.type == LEAVE:
            return NotQueued(record)
    return next(_places(number, status), NotQueued())


def still_queued(number: int, status: QueueStatus) -> InBatch | InQueue | None:
    """Where it is in the queue; None if it is only in a finished batch, or nowhere."""
    over = {BatchStatusCode.FAILED, BatchStatusCode.MERGED}
    for place in _places(number, status):
        if not (isinstance(place, InBatch) and place.batch.status.code in over):
            return place
    return None


def _places(number: int, status: QueueStatus) -> Iterator[InBatch | InQueue]:
    for ahead, batch in enumerate(status.batches):
        # The first piece that contains it, because pieces are tested on top of each other.
        pieces = [*batch.sub_batches, batch]
        smallest = (one for one in pieces if number in {each.number for each in one.pull_requests})
        for one in batch.pull_requests:
            if one.number == number:
                yield InBatch(one, next(smallest, batch), ahead)
    for place, one in enumerate(status.waiting_pull_requests, 1):
        if one.number == number:
            yield InQueue(one, place, len(status.waiting_pull_requests))
