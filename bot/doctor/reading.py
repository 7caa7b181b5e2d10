"""Read the facts about a queue: a bounded number of stored rows, however long its history is."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from bot.doctor.case import says_merged
from bot.doctor.facts import Log
from bot.doctor.past import ENOUGH
from bot.doctor.rules.limits import IN_A_ROW
from bot.freezes.rows import Freezes
from bot.kernel.repository import RepositoryName
from bot.log.preceding import is_put_back
from bot.log.queue_entries import tells_all
from bot.log.rows import Events, Positions
from bot.merge_queue.event_records import EventRecord, in_order
from bot.merge_queue.event_types import (
    CHECKS_END,
    CHECKS_NOT_STARTED,
    CHECKS_START,
    ENTER,
    LEAVE,
    MERGED,
)
from bot.pauses.rows import Pauses
from bot.store.transaction import Transaction

READ_BACK = timedelta(days=1)

READ_FIRST = 60
"""Starts and ends of checks that are read, the newest, of a queue without large batches."""

ENOUGH_RUNS = 2 * ENOUGH
"""Batches that came to a result among these; with fewer, READ_OF_EACH are read."""

READ_OF_EACH: Mapping[str, int] = {
    CHECKS_START: 100,
    CHECKS_NOT_STARTED: 20,
    CHECKS_END: 150,
    LEAVE: 100,
    MERGED: 100,
}
"""How many events of each type are read at most, the newest of the last day."""

ENTERS_READ = 50
"""The newest of the last day, where checks start over."""

READ_OF_HEAD = 20
"""How many events of the head are read to find its enter, which names its branch."""


def read_recent_log(
    transaction: Transaction, repository: RepositoryName, at: datetime, head: int | None = None
) -> Log:
    """The stored events of the last day, and how far the log has been read.

    `head`: the pull request whose enter is read. Others say something about the queue only where
    checks start over: what was queued again then.
    """
    events = Events(transaction)
    positions = Positions(transaction)
    since = at - READ_BACK

    def newest(type_: str, limit: int) -> Sequence[EventRecord]:
        return events.between(repository, type_, since, at, limit=limit)[::-1]

    by_type: dict[str, Sequence[EventRecord]] = {}
    for type_ in (CHECKS_START, CHECKS_END):
        first = newest(type_, READ_FIRST)
        is_enough = len(first) < READ_FIRST or _runs(first) >= ENOUGH_RUNS
        by_type[type_] = first if is_enough else newest(type_, READ_OF_EACH[type_])
    for type_ in (CHECKS_NOT_STARTED, LEAVE):
        by_type[type_] = newest(type_, READ_OF_EACH[type_])
    leaves = by_type[LEAVE]
    if not leaves or not all(tells_all(leave) for leave in leaves):
        by_type[MERGED] = newest(MERGED, READ_OF_EACH[MERGED])
    enters: list[EventRecord] = []
    if head is not None:
        of_head = events.of_pull_requests(repository, [head], since=since, limit=READ_OF_HEAD)
        enters += [event for event in of_head if event.type == ENTER]
    if _start_over(by_type):
        known = {enter.event_id for enter in enters}
        newest_enters = newest(ENTER, ENTERS_READ)
        enters += [enter for enter in newest_enters if enter.event_id not in known]
    if enters:
        by_type[ENTER] = in_order(enters)
    origin = positions.origin(repository)
    last = positions.polls([repository]).get(repository)
    return Log(
        by_type,
        # A database written by hand may name none.
        frozenset(last.polled_types or ()) if last is not None else frozenset(),
        last.polled_at if last is not None else None,
        max(origin, since) if origin is not None else None,
    )


def _start_over(by_type: Mapping[str, Sequence[EventRecord]]) -> bool:
    """Whether checks have started over so often since the last merge that a cause is looked for."""
    merges = [*by_type.get(MERGED, ()), *filter(says_merged, by_type[LEAVE])]
    merged_at = max((merge.received_at for merge in merges), default=None)
    restarts = [
        end
        for end in by_type[CHECKS_END]
        if is_put_back(end) and (merged_at is None or end.received_at > merged_at)
    ]
    return len(restarts) >= IN_A_ROW


def _runs(events: Sequence[EventRecord]) -> int:
    """How many batches began or ended, without those whose checks start over."""
    of_runs = [event for event in events if not is_put_back(event)]
    return len({event.details.batch or event.event_id for event in of_runs})


def read_releases(
    transaction: Transaction, repository: RepositoryName, at: datetime, branch: str | None
) -> Sequence[datetime]:
    """When the pauses of the last day, and freezes that may have held that branch, ended.

    Oldest first. `branch`: None for an unknown one.
    """
    since = at - READ_BACK
    pauses = Pauses(transaction).recent(repository, since)
    freezes = Freezes(transaction).recent(repository, since)
    ends = [pause.ended_at for pause in pauses]
    ends += [
        freeze.over_at
        for freeze in freezes
        if freeze.lasted is not None and freeze.concerns(branch)
    ]
    return sorted(end for end in ends if end is not None)
