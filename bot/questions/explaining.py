"""Find out where a pull request is, what it waits for, or why it left."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.log.classification import kinds
from bot.log.preceding import with_preceding_events
from bot.log.rows import Events, PullRequests
from bot.log.sources import Sources, answer_or
from bot.merge_queue.event_records import EventRecord, PullRequestRecord, in_order
from bot.merge_queue.position import InBatch, InQueue, NotQueued, QueuePosition
from bot.merge_queue.queue import BatchStatusCode, Checks, QueuedDetails, QueueStatus
from bot.merge_queue.window import LONGEST_LOOKBACK
from bot.queues.estimate import Estimate
from bot.queues.outlook import estimate, is_foreseeable, read_past
from bot.queues.picture import picture
from bot.queues.position import Explanation, base_branch, find
from bot.queues.reading import read_queue
from bot.queues.snapshot import Snapshot
from bot.removals.addressing import person_to_ask
from bot.removals.removed_here import with_removals_here
from bot.storms.judging import verdict_on
from bot.verdicts.verdict import Verdict

RUNNING = BatchStatusCode.RUNNING
EVENTS_READ = 50
"""Of its last queue entries; a pull request that was queued more often has the log."""


async def explain_pull_request(
    repository: RepositoryName, number: int, sources: Sources
) -> Explanation:
    """Explain one pull request; raises MergeQueueError.

    An unreadable log doesn't hide the queue, which may accept another credential. It is an error
    only if nothing else knows the pull request.
    """
    snapshot, logged, details = await asyncio.gather(
        read_queue(repository, sources),
        _logged(repository, number, sources),
        answer_or(QueuedDetails(), sources.service.queued_details(repository, number)),
    )
    is_log_read = not isinstance(logged, MergeQueueError)
    read = await _with_stored(repository, number, logged, sources)
    around = await sources.store.read(with_removals_here, repository, read, read)
    records = [with_preceding_events(record, around) for record in read]
    position = find(number, snapshot.status, records)
    of_branch: QueueStatus | None = None
    if isinstance(position, InQueue) and len(snapshot.status.waiting_pull_requests) > 1:
        of_branch = await _queue_of_branch(repository, records, sources)
        position = find(number, snapshot.status, records, of_branch)
    if isinstance(logged, MergeQueueError) and position == NotQueued() and not records:
        raise logged
    seen = await _seen(number, snapshot, position, sources)
    checks: Checks | None = details.mergeability_check
    is_running = isinstance(position, InBatch) and position.batch.status.code == RUNNING
    if checks is None and is_running:
        checks = await _listed_checks(repository, number, sources)
    asked: str | None = None
    if seen is not None and records:
        asked = await sources.store.read(person_to_ask, seen.author, records, records[-1])
    verdict = await _why_it_left(snapshot, position, records, sources)
    return Explanation(
        number,
        snapshot,
        position,
        records,
        kinds(read),
        seen,
        is_log_read,
        asked,
        checks,
        details,
        verdict,
        await _estimate(snapshot, position, of_branch, records, sources),
    )


async def _estimate(
    snapshot: Snapshot,
    position: QueuePosition,
    of_branch: QueueStatus | None,
    records: Sequence[EventRecord],
    sources: Sources,
) -> Estimate | None:
    """How long it still waits, by the past of its line."""
    base = base_branch(records)
    own_freezes = tuple(freeze for freeze in snapshot.freezes if freeze.concerns(base))
    shown = picture(replace(snapshot, freezes=own_freezes))
    if isinstance(position, NotQueued) or not is_foreseeable(shown):
        return None
    own = position.pull_request
    line = snapshot.status if of_branch is None else of_branch
    numbers = [queued.number for queued in line.queued]
    if own.obstacle is not None or own.number not in numbers:
        return None
    branch = base if of_branch is not None else snapshot.branch
    at = snapshot.read_at
    stored = await sources.store.read(read_past, snapshot.repository, at)
    past = stored.of_branch(branch)
    return estimate(past, shown, numbers.index(own.number), own.queued_at, at)


async def _seen(
    number: int, snapshot: Snapshot, position: QueuePosition, sources: Sources
) -> PullRequestRecord | None:
    """Its title and address, as the live queue has them, or as they were last seen."""
    repository = snapshot.repository
    if isinstance(position, NotQueued):
        found = await sources.store.read(
            lambda transaction: PullRequests(transaction).get(repository, [number])
        )
        return found.get(number)
    queued = position.pull_request
    return PullRequestRecord(
        repository, number, queued.title, queued.url, queued.author.login, snapshot.read_at
    )


async def _why_it_left(
    snapshot: Snapshot,
    position: QueuePosition,
    records: Sequence[EventRecord],
    sources: Sources,
) -> Verdict | None:
    """Why it left; None if it is queued or merged, or nobody knows that it left."""
    if not isinstance(position, NotQueued) or position.end is None or position.has_merged:
        return None
    is_paused = snapshot.pause is not None if snapshot.is_pause_known else None
    judged = partial(verdict_on, own=records, is_paused=is_paused, freezes=snapshot.freezes)
    return await sources.store.read(judged, position.end)


async def _queue_of_branch(
    repository: RepositoryName, records: Sequence[EventRecord], sources: Sources
) -> QueueStatus | None:
    """The queue of its base branch; None if that is unknown."""
    branch = base_branch(records)
    if branch is None:
        return None
    return await answer_or(None, sources.service.status(repository, branch))


async def _listed_checks(
    repository: RepositoryName, number: int, sources: Sources
) -> Checks | None:
    """Its checks in the deprecated listing, which a service may not offer any more."""
    queues = await answer_or([], sources.service.queues(repository))
    listed = chain.from_iterable(queue.pull_requests for queue in queues)
    found = (queued.speculative_check_pull_request for queued in listed if queued.number == number)
    return next(filter(None, found), None)


async def _logged(
    repository: RepositoryName, number: int, sources: Sources
) -> Sequence[EventRecord] | MergeQueueError:
    window = await sources.window(repository, LONGEST_LOOKBACK)
    try:
        page = await sources.service.event_page(
            repository, window, pull_request=number, per_page=EVENTS_READ
        )
    except MergeQueueError as error:
        return error
    return page.events


async def _with_stored(
    repository: RepositoryName,
    number: int,
    logged: Sequence[EventRecord] | MergeQueueError,
    sources: Sources,
) -> Sequence[EventRecord]:
    """The events in the log, if it could be read, and those stored, oldest first.

    Not every type is in the store, but what is there needs no log.
    """
    since = sources.clock.now() - LONGEST_LOOKBACK
    stored = await sources.store.read(
        lambda transaction: Events(transaction).of_pull_requests(
            repository, [number], since=since, limit=EVENTS_READ
        )
    )
    known = {record.event_id: record for record in stored}
    if not isinstance(logged, MergeQueueError):
        known |= {record.event_id: record for record in logged}
    return in_order([*known.values()])
