"""Where a pull request is: in a batch, waiting, or not in the queue."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind, is_merge
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.merge_queue.event_types import ENTER, LEAVE, MERGED, MERGED_BY_RULE
from bot.merge_queue.position import InBatch, InQueue, NotQueued, Place, QueuePosition, still_queued
from bot.merge_queue.queue import Checks, QueuedDetails, QueuedPullRequest, QueueMode, QueueStatus
from bot.queues.estimate import Estimate
from bot.queues.snapshot import Snapshot
from bot.verdicts.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of one pull request, its events oldest first."""

    number: int
    snapshot: Snapshot
    position: QueuePosition
    records: Sequence[EventRecord]
    kinds: Mapping[int, EventKind]
    seen: PullRequestRecord | None  #: its title and address, if known
    #: False when the event log can't be read now, so that `records` may lack events
    is_log_read: bool = True
    #: the login of the person whose turn it is, empty for nobody; None for the author
    asked: str | None = None
    checks: Checks | None = None  #: those of its batch, if the service names them
    #: what else the service says of a queued one, if it has that endpoint
    details: QueuedDetails = field(default_factory=QueuedDetails)
    verdict: Verdict | None = None  #: why it left, if it did
    estimate: Estimate | None = None  #: how long it still waits, by its queue's past

    @property
    def repository(self) -> RepositoryName:
        return self.snapshot.repository


def base_branch(records: Sequence[EventRecord]) -> str | None:
    """The base branch of a pull request, which only its events name."""
    return next((record.base_ref for record in reversed(records) if record.base_ref), None)


def find(
    number: int,
    status: QueueStatus,
    records: Sequence[EventRecord],
    of_branch: QueueStatus | None = None,
) -> QueuePosition:
    """Find a pull request in the live queue first, then in its events, oldest first.

    `of_branch`: the queue of its base branch alone, if known; only that can tell its place.
    A finished batch stays in the queue for a while after its pull requests have left.
    """
    queued = still_queued(number, status)
    if isinstance(queued, InQueue):
        return replace(queued, place=place_of(queued.pull_request, status, of_branch))
    if queued is not None:
        return queued
    entered = [index for index, record in enumerate(records) if record.type == ENTER]
    entry = records[entered[-1] :] if entered else records
    for record in reversed(entry):
        if record.type in {MERGED, MERGED_BY_RULE} or is_merge(record):
            return NotQueued(record, has_merged=True)
    for record in reversed(entry):
        if record.type == LEAVE:
            return NotQueued(record)
    return next(_finished(number, status), NotQueued())


def _finished(number: int, status: QueueStatus) -> Iterator[InBatch]:
    for batch in status.batches:
        for pull_request in batch.members:
            if pull_request.number == number:
                yield InBatch(pull_request, batch, status.count_ahead(batch))


def place_of(
    queued: QueuedPullRequest, status: QueueStatus, of_branch: QueueStatus | None = None
) -> Place | None:
    """The place of a waiting pull request in its own line; None if its line isn't known.

    The service lists those of all base branches together, and doesn't say which branch each is for.
    Of one branch, they wait in one line, or only for those that share a scope with them, or not for
    each other at all (https://docs.mergify.com/merge-queue/queue-modes/).
    """
    waiting = status.waiting_pull_requests
    if len(waiting) > 1:
        if of_branch is None:
            return None
        waiting = of_branch.waiting_pull_requests
    line = _line_of(queued, waiting, status.mode)
    numbers = [queued.number for queued in line]
    if queued.number not in numbers:
        return None
    return Place(numbers.index(queued.number) + 1, len(numbers))


def _line_of(
    queued: QueuedPullRequest, waiting: Sequence[QueuedPullRequest], mode: str | None
) -> Sequence[QueuedPullRequest]:
    """Those that wait in one line with it; empty if that can't be told."""
    if mode == QueueMode.SERIAL or len({frozenset(queued.scopes) for queued in waiting}) <= 1:
        return waiting if mode != QueueMode.ISOLATED else ()
    if mode == QueueMode.PARALLEL:
        return [other for other in waiting if _share_a_scope(other, queued)]
    return ()


def _share_a_scope(first: QueuedPullRequest, second: QueuedPullRequest) -> bool:
    if first.number == second.number or first.all_scopes or second.all_scopes:
        return True
    return not set(first.scopes).isdisjoint(second.scopes)
