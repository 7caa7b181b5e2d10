"""From events to the bisections of batches, whose threads tell of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.domain.bisections import (
    BISECTION_TYPES,
    LONGEST_BISECTION,
    Bisection,
    bisected_on,
    bisection_of,
    new_bisection,
)
from bot.domain.cards import CardKind, CardName
from bot.domain.event_records import EventRecord
from bot.usecases.routing.route_threads import RouteThreads, Thread


def bisection_card(bisection: Bisection) -> CardName:
    """The name of the cards of a bisection."""
    return CardName(CardKind.BISECTION, bisection.repository, bisection.key)


@dataclass(slots=True)
class RouteBisections:
    """The bisections of one slice of events, in the order of the events."""

    threads: RouteThreads
    _known: dict[str, Bisection] = field(default_factory=dict)
    _changed: set[str] = field(default_factory=set)
    _threads: dict[str, Thread] = field(default_factory=dict)

    def load(self, records: Sequence[EventRecord]) -> None:
        """Read the bisections that the events may belong to."""
        found = [one.received_at for one in records if _is_of_a_bisection(one)]
        if found:
            since = min(found) - LONGEST_BISECTION
            known = self.threads.transaction.bisections
            for one in known.since(self.threads.repository, since):
                self._known[one.key] = one

    def place(self, record: EventRecord) -> Thread | None:
        """The thread of the bisection that the event belongs to, which it begins if it is first."""
        if not _is_of_a_bisection(record):
            return None
        found = bisection_of(record, self._known.values())
        if found is None:
            bisection = new_bisection(record)
            thread = self.threads.begin(bisection_card(bisection))
        else:
            bisection = bisected_on(found, record)
            thread = self._threads.get(bisection.key) or self.threads.go_on(
                bisection_card(bisection)
            )
            self.threads.change(thread, is_over=bisection.ended_at is not None)
        self._known[bisection.key] = bisection
        self._threads[bisection.key] = thread
        self._changed.add(bisection.key)
        return thread

    def finish(self) -> None:
        """Keep what the bisections have come to."""
        changed = [self._known[key] for key in sorted(self._changed)]
        self.threads.transaction.bisections.save(changed)


def _is_of_a_bisection(record: EventRecord) -> bool:
    return record.type in BISECTION_TYPES
