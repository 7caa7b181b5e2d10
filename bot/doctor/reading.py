"""Read the facts about a queue: a bounded number of stored rows, however long its history is."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from bot.doctor.facts import Log
from bot.freezes.rows import Freezes
from bot.kernel.repository import RepositoryName
from bot.log.rows import Events, Positions
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

READ_OF_EACH: Mapping[str, int] = {
    ENTER: 50,
    CHECKS_START: 100,
    CHECKS_NOT_STARTED: 20,
    CHECKS_END: 150,
    LEAVE: 100,
    MERGED: 100,
}
"""How many events of each type are read, the newest of the last day."""


def read_log(transaction: Transaction, repository: RepositoryName, at: datetime) -> Log:
    """The stored events of the last day, and how far the log has been read."""
    events = Events(transaction)
    positions = Positions(transaction)
    since = at - READ_BACK
    by_type = {
        type_: events.between(repository, type_, since, at, limit=limit)[::-1]
        for type_, limit in READ_OF_EACH.items()
    }
    origin = positions.origin(repository)
    last = positions.polls([repository]).get(repository)
    return Log(
        by_type,
        # A database written by hand may name none.
        frozenset(last.polled_types or ()) if last is not None else frozenset(),
        last.polled_at if last is not None else None,
        max(origin, since) if origin is not None else None,
    )


def released_at(
    transaction: Transaction, repository: RepositoryName, at: datetime
) -> datetime | None:
    """When the last pause or freeze of the last day ended."""
    since = at - READ_BACK
    pauses = Pauses(transaction).recent(repository, since)
    freezes = Freezes(transaction).recent(repository, since)
    ends = [pause.ended_at for pause in pauses]
    ends += [freeze.over_at for freeze in freezes if freeze.lasted is not None]
    return max((end for end in ends if end is not None), default=None)
