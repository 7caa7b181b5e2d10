"""From events to the stays of pull requests in the queue, whose threads tell of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.domain.cards import CardKind, CardName
from bot.domain.classification import EventKind
from bot.domain.event_records import EventRecord
from bot.domain.stays import ENDS, STAY_TYPES, Stay, gone_on, new_stay, stay_of, tells_state
from bot.domain.surroundings import LONGEST_STAY
from bot.usecases.routing.route_threads import RouteThreads, Thread


def stay_card(stay: Stay) -> CardName:
    """The name of the cards of a stay."""
    return CardName(CardKind.STAY, stay.repository, stay.key)


@dataclass(slots=True)
class RouteStays:
    """The stays of one slice of events, in the order of the events."""

    threads: RouteThreads
    _stays: dict[int, list[Stay]] = field(default_factory=dict)
    _changed: dict[str, Stay] = field(default_factory=dict)
    _threads: dict[str, Thread] = field(default_factory=dict)

    async def load(self, records: Sequence[EventRecord]) -> None:
        """Read the stays that the events may belong to."""
        numbers = {one.pull_request for one in records if one.pull_request is not None}
        if not numbers:
            return
        since = min(one.received_at for one in records) - LONGEST_STAY
        known = self.threads.transaction.stays
        for stay in await known.of(self.threads.repository, numbers, since):
            self._stays.setdefault(stay.pull_request, []).append(stay)

    def place(self, record: EventRecord, kind: EventKind) -> Thread | None:
        """The thread of the stay that the event belongs to, which it begins if it is its first."""
        if record.pull_request is None or record.type not in STAY_TYPES:
            return None
        known = self._stays.setdefault(record.pull_request, [])
        found = stay_of(record, known)
        if found is None:
            stay = new_stay(record)
            thread = self._threads[stay.key] = self.threads.begin(stay_card(stay))
        else:
            stay = gone_on(found, record)
            thread = self._thread_of(stay)
            known.remove(found)
            if tells_state(record, kind):
                self.threads.change(thread, is_over=kind in ENDS)
        known.append(stay)
        self._changed[stay.key] = stay
        return thread

    def _thread_of(self, stay: Stay) -> Thread:
        thread = self._threads.get(stay.key)
        if thread is None:
            thread = self._threads[stay.key] = self.threads.go_on(stay_card(stay))
        return thread

    async def finish(self) -> None:
        """Keep what the stays have come to."""
        changed = [self._changed[key] for key in sorted(self._changed)]
        await self.threads.transaction.stays.save(changed)
