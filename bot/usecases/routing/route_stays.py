"""From events to the stays of pull requests in the queue, whose threads tell of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.cards import CardKind, CardName
from bot.domain.classification import EventKind, kinds
from bot.domain.event_records import EventRecord
from bot.domain.event_types import PAUSE_DELETE
from bot.domain.stays import (
    ENDS,
    STAY_TYPES,
    Stay,
    events_of,
    gone_on,
    new_stay,
    state_of,
    stay_of,
    tells_state,
)
from bot.domain.surroundings import LONGEST_STAY, is_stopped_by_pause
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
    _waiting: list[Stay] = field(default_factory=list)

    def load(self, records: Sequence[EventRecord]) -> None:
        """Read the stays that the events may belong to, and those that a pause kept waiting."""
        resumed = [one.received_at for one in records if one.type == PAUSE_DELETE]
        if resumed:
            self._load_waiting(max(resumed))
        numbers = {one.pull_request for one in records if one.pull_request is not None}
        if not numbers:
            return
        since = min(one.received_at for one in records) - LONGEST_STAY
        known = self.threads.transaction.stays
        for stay in known.of(self.threads.repository, numbers, since):
            self._stays.setdefault(stay.pull_request, []).append(stay)

    def _load_waiting(self, resumed_at: datetime) -> None:
        """Those that wait in the queue: their cards say that it is paused."""
        transaction, repository = self.threads.transaction, self.threads.repository
        lasting = transaction.stays.lasting(repository, resumed_at - LONGEST_STAY)
        if not lasting:
            return
        numbers = {one.pull_request for one in lasting}
        since = min(one.began_at for one in lasting)
        records = transaction.events.of_pull_requests(repository, numbers, since=since)
        for stay in lasting:
            found = events_of(stay, records)
            kind_of = kinds(found)
            state = state_of(found, kind_of)
            if state is not None and (
                kind_of[state.event_id] is EventKind.ENTER or is_stopped_by_pause(state)
            ):
                self._waiting.append(stay)

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

    def finish(self) -> None:
        """Keep what the stays have come to, and tell those that waited that the queue resumed."""
        for stay in self._waiting:
            self.threads.change(self._thread_of(stay), is_over=False)
        changed = [self._changed[key] for key in sorted(self._changed)]
        self.threads.transaction.stays.save(changed)
