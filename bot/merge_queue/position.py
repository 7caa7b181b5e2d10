"""Where a pull request stands in a queue."""

from dataclasses import dataclass

from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.queue import Batch, QueuedPullRequest, QueueStatus


@dataclass(frozen=True, slots=True)
class InBatch:
    """In `batch`, which may be a piece of a batch under bisection."""

    pull_request: QueuedPullRequest
    batch: Batch
    ahead: int  #: how many batches have to merge before its own


@dataclass(frozen=True, slots=True)
class Place:
    """At `number`, counted from 1, of the `length` waiting in one line."""

    number: int
    length: int


@dataclass(frozen=True, slots=True)
class InQueue:
    """Not in a batch yet."""

    pull_request: QueuedPullRequest
    place: Place | None = None  #: its place in its own line, if that is known


@dataclass(frozen=True, slots=True)
class NotQueued:
    """Not in the queue, as far as that could be read."""

    #: the event that says how it left, merged or not; None without one
    end: EventRecord | None = None
    has_merged: bool = False


QueuePosition = InBatch | InQueue | NotQueued


def still_queued(number: int, status: QueueStatus) -> InBatch | InQueue | None:
    """Where it is in the queue; None if it is only in a finished batch, or nowhere."""
    for batch in status.batches:
        part = batch.smallest_parts().get(number)
        if part is not None:
            own = [queued for queued in part.pull_requests if queued.number == number]
            return InBatch(own[0], part, status.count_ahead(batch))
    for waiting in status.waiting_pull_requests:
        if waiting.number == number:
            return InQueue(waiting)
    return None
