"""All that channels are told of in threads: stays in the queue, and bisections of batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from bot.domain.bisections import BISECTION_TYPES
from bot.domain.classification import EventKind
from bot.domain.event_records import EventRecord
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.routing.route_bisections import RouteBisections
from bot.usecases.routing.route_stays import RouteStays
from bot.usecases.routing.route_threads import RouteThreads, Thread


@dataclass(frozen=True, slots=True)
class Threaded:
    """The threads of one slice of events, in the order of the events."""

    threads: RouteThreads
    stays: RouteStays
    bisections: RouteBisections

    @classmethod
    def load(
        cls,
        transaction: Transaction,
        repository: RepositoryName,
        records: Sequence[EventRecord],
        *,
        is_backlog: bool,
    ) -> Self:
        """With what is known of all that the events may belong to."""
        threads = RouteThreads(transaction, repository, is_backlog)
        loaded = cls(threads, RouteStays(threads), RouteBisections(threads))
        loaded.stays.load(records)
        loaded.bisections.load(records)
        return loaded

    def place(self, record: EventRecord, kind: EventKind) -> Thread | None:
        """That of what the event belongs to; None for what no thread tells of."""
        if record.type in BISECTION_TYPES:
            return self.bisections.place(record)
        return self.stays.place(record, kind)

    def finish(self, now: datetime) -> None:
        """Keep what it all has come to, and have the cards edited that say something else."""
        self.stays.finish()
        self.bisections.finish()
        self.threads.finish(now)
