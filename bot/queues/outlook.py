"""Read a queue's past, and estimate how long pull requests still wait in it now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.freezes.freeze import Freeze
from bot.freezes.rows import Freezes
from bot.kernel.bounded import Bounded
from bot.kernel.repository import RepositoryName
from bot.log.queue_entries import Leave, PastEntry, entries_of_leaves, past_entries, tells_all
from bot.log.rows import Events
from bot.log.sources import Sources
from bot.merge_queue.event_types import ENTER, LEAVE, MERGED
from bot.merge_queue.queue import BatchStatusCode
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.queues.estimate import NO_OUTLOOK, Estimate, Outlook, Past, Period, past_of
from bot.queues.picture import Picture, picture
from bot.queues.snapshot import ReadQueue, Snapshot
from bot.store.transaction import Transaction

LEARNED_FROM = timedelta(days=5)

ENDS_READ = 160
"""How many ends are read, merges and others, the newest: a busy queue's last half day."""

KNOWN_MOST = 100
"""Queues whose last days are remembered, with up to ENDS_READ entries each."""

HOLDING = frozenset({BatchStatusCode.FROZEN, BatchStatusCode.WAITING_SCHEDULE})
"""Batches that wait for something other than their checks and the batches ahead."""


@dataclass(frozen=True, slots=True)
class LastDays:
    """What is stored of the last days of a queue, all its branches together.

    Read from the store, never from the service: at most LEARNED_FROM back and ENDS_READ ends, and
    empty for a queue whose ends nobody follows. `ForeseeQueue` remembers one for each queue. The
    pauses and freezes are read again for each answer, the entries once a pull request has left.
    """

    entries: Sequence[PastEntry]
    pauses: Sequence[PauseRecord]  #: that lasted while one of these was queued
    freezes: Sequence[Freeze]  #: that began, and lasted while one of these was queued
    newest: Sequence[Leave]  #: the last leave, if any, after which the entries were read

    def of_branch(self, branch: str | None) -> Past:
        """The past of the queue of that branch, or of the only one.

        A freeze that held only some pull requests, or those of another branch, held none of it.
        """
        branches = {entry.branch for entry in self.entries}
        own = next(iter(branches)) if branch is None and len(branches) == 1 else branch
        stopped = [Period(pause.since, pause.ended_at) for pause in self.pauses]
        stopped += [
            Period(freeze.begins_at, freeze.over_at or freeze.ends_at)
            for freeze in self.freezes
            if freeze.begins_at is not None and freeze.holds(own)
        ]
        return past_of(self.entries, stopped, branch)


def read_past(
    transaction: Transaction,
    repository: RepositoryName,
    at: datetime,
    known: LastDays | None = None,
) -> LastDays:
    """The last days of the queue, from a bounded number of rows.

    Its events need not all be stored: of a queue whose ends nobody follows, nothing is known.
    `known`: what was read before; its entries count until a pull request leaves.
    """
    since = at - LEARNED_FROM
    events = Events(transaction)
    newest = events.leaves(repository, since, at, limit=1)
    if known is not None and newest and newest == known.newest:
        entries = known.entries
    else:
        entries = _read_entries(events, repository, since, at)
    # What ended before the first of them was queued held none of them.
    first = min((entry.entered_at for entry in entries), default=at)
    begin = max(first, since)
    pauses = Pauses(transaction).recent(repository, begin)
    freezes = Freezes(transaction).recent(repository, begin)
    begun = [freeze for freeze in freezes if freeze.begins_at is not None and freeze.begins_at < at]
    return LastDays(entries, pauses, begun, newest)


def _read_entries(
    events: Events, repository: RepositoryName, since: datetime, at: datetime
) -> list[PastEntry]:
    """The queue entries that ended last."""
    leaves = events.leaves(repository, since, at, limit=ENDS_READ)
    if leaves and all(tells_all(leave) for leave in leaves):
        # A merge and an enter would say the same again.
        return entries_of_leaves(leaves)
    ends = [
        *events.between(repository, LEAVE, since, at, limit=ENDS_READ),
        *events.between(repository, MERGED, since, at, limit=ENDS_READ),
    ]
    if any(end.details.queued_at is None for end in ends):
        ends += events.between(repository, ENTER, since, at, limit=ENDS_READ)
    return past_entries(ends)


@dataclass(frozen=True, slots=True)
class ForeseeQueue:
    """How long pull requests still wait in a queue, by its own past."""

    sources: Sources
    #: the last days of the queues that somebody looked at last
    known: Bounded[RepositoryName, LastDays] = field(default_factory=lambda: Bounded(KNOWN_MOST))

    async def of(self, snapshot: Snapshot) -> Outlook:
        """What the queue's past says of it. Raises StoreError."""
        shown = picture(snapshot)
        if not is_foreseeable(shown):
            return NO_OUTLOOK
        repository = snapshot.repository
        known = self.known.get(repository)
        stored = await self.sources.store.read(read_past, repository, snapshot.read_at, known)
        self.known[repository] = stored
        return outlook(stored.of_branch(snapshot.branch), shown, snapshot.read_at)

    async def of_all(self, read: Iterable[ReadQueue]) -> Mapping[RepositoryName, Outlook]:
        """The same of each queue that could be read. Raises StoreError."""
        return {
            queue.repository: await self.of(queue) for queue in read if isinstance(queue, Snapshot)
        }


def outlook(past: Past, picture: Picture, at: datetime) -> Outlook:
    """When the next one merges, and one that would be added now."""
    if not is_foreseeable(picture):
        return NO_OUTLOOK
    next_merge: Estimate | None = None
    if picture.first_queued_at is not None:
        next_merge = estimate(past, picture, 0, picture.first_queued_at, at)
    return Outlook(next_merge, estimate(past, picture, picture.queued, at, at))


def estimate(
    past: Past, picture: Picture, ahead: int, queued_at: datetime, at: datetime
) -> Estimate | None:
    """The estimate for one pull request; None if a freeze begins before it would merge."""
    found = past.estimate(ahead, queued_at, at)
    if found is None:
        return None
    freeze = picture.next_freeze
    begins_at = freeze.begins_at if freeze is not None else None
    return found if begins_at is None or at + found.remaining < begins_at else None


def is_foreseeable(picture: Picture) -> bool:
    """Whether those that were queued earlier are ahead, and nothing but the queue holds them."""
    is_held = picture.pause is not None or bool(picture.freezes)
    is_made_to_wait = any(batch.code in HOLDING for batch in picture.batches)
    return picture.is_one_line and not (is_held or is_made_to_wait or picture.unreadable)
