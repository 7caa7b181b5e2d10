"""The event log of one repository: compact, kept newest to oldest, with an index per filter."""

import heapq
import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from sys import intern
from typing import NamedTuple, TypeVar

from bot.sandbox.merge_queue.simulation.moments import Moment

Name = TypeVar("Name")
Key = tuple[Moment, int]
"""Where an event stands in the log: when it was received, then its id."""

_NO_PULL_REQUEST = -1


@dataclass(frozen=True, slots=True)
class Event:
    """One record of the log (API document, Event)."""

    id: int
    received_at: Moment
    trigger: str
    pull_request: int | None
    base_ref: str | None
    type: str
    metadata: Mapping[str, object]

    @property
    def key(self) -> Key:
        return (self.received_at, self.id)


@dataclass(frozen=True, slots=True)
class Selection:
    """The filters of one reading. Both ends of the time window are included."""

    received_from: Moment
    received_to: Moment
    types: tuple[str, ...] = ()
    pull_request: int | None = None
    base_ref: str | None = None


class _Bounds(NamedTuple):
    """A part of an index."""

    low: int  #: the first
    high: int  #: the one behind the last


class EventLog:
    """Keeps at most `limit` events, forgetting the oldest.

    Metadata is held as JSON bytes and the other columns in arrays, so that 100,000 events take
    tens of megabytes. An event received late is put where its time belongs.
    """

    def __init__(self, limit: int = 100_000) -> None:
        self._limit = limit
        # A row keeps its number for ever; columns hold the rows from `_first_row` on.
        self._first_row = 0
        self._ids = array("q")
        self._received = array("q")
        self._pulls = array("q")
        self._types: list[str] = []
        self._triggers: list[str] = []
        self._base_refs: list[str | None] = []
        self._metadata: list[bytes] = []
        # Every index holds row numbers in the order of the log, oldest first.
        self._order = array("q")
        self._by_pull: dict[int, array[int]] = {}
        self._by_type: dict[str, array[int]] = {}
        self._by_base: dict[str | None, array[int]] = {}
        self._by_type_and_base: dict[tuple[str, str | None], array[int]] = {}

    def __len__(self) -> int:
        return len(self._order)

    def append(self, event: Event) -> None:
        """Add an event whose id is higher than all others."""
        metadata = json.dumps(event.metadata, separators=(",", ":")).encode()
        self._add(event, metadata)
        # Cutting costs a pass over the indexes, so it is done once for each twentieth.
        if len(self._order) > self._limit + max(self._limit // 20, 1):
            self._forget_oldest()

    def _add(self, event: Event, metadata: bytes) -> None:
        row = self._first_row + len(self._ids)
        kind = intern(event.type)
        base_ref = None if event.base_ref is None else intern(event.base_ref)
        pull = _NO_PULL_REQUEST if event.pull_request is None else event.pull_request
        self._ids.append(event.id)
        self._received.append(event.received_at)
        self._pulls.append(pull)
        self._types.append(kind)
        self._triggers.append(intern(event.trigger))
        self._base_refs.append(base_ref)
        self._metadata.append(metadata)
        self._place(self._order, row)
        if event.pull_request is not None:
            self._place(self._by_pull.setdefault(pull, array("q")), row)
        self._place(self._by_type.setdefault(kind, array("q")), row)
        self._place(self._by_base.setdefault(base_ref, array("q")), row)
        self._place(self._by_type_and_base.setdefault((kind, base_ref), array("q")), row)

    def _place(self, index: "array[int]", row: int) -> None:
        key = self._key(row)
        if not index or self._key(index[-1]) < key:
            index.append(row)
        else:
            index.insert(bisect_left(index, key, key=self._key), row)

    def _forget_oldest(self) -> None:
        cut = self._key(self._order[-self._limit])
        self._order = self._order[-self._limit :]
        self._cut(self._by_pull, cut)
        self._cut(self._by_type, cut)
        self._cut(self._by_base, cut)
        self._cut(self._by_type_and_base, cut)
        # A late arrival may be forgotten before older rows: columns are cut up to the first
        # row that is still in use.
        dead = min(self._order) - self._first_row
        self._first_row += dead
        for column in (self._ids, self._received, self._pulls):
            del column[:dead]
        for texts in (self._types, self._triggers, self._base_refs, self._metadata):
            del texts[:dead]

    def _cut(self, indexes: "dict[Name, array[int]]", cut: Key) -> None:
        for name, index in list(indexes.items()):
            if self._key(index[0]) < cut:
                del index[: bisect_left(index, cut, key=self._key)]
                if not index:
                    del indexes[name]

    def _key(self, row: int) -> Key:
        place = row - self._first_row
        return (self._received[place], self._ids[place])

    def _received_at(self, row: int) -> Moment:
        return self._received[row - self._first_row]

    def _event(self, row: int) -> Event:
        place = row - self._first_row
        pull = self._pulls[place]
        return Event(
            id=self._ids[place],
            received_at=self._received[place],
            trigger=self._triggers[place],
            pull_request=None if pull == _NO_PULL_REQUEST else pull,
            base_ref=self._base_refs[place],
            type=self._types[place],
            metadata=json.loads(self._metadata[place]),
        )

    def _indexes(self, selection: Selection) -> "list[array[int]]":
        if selection.pull_request is not None:
            found = [self._by_pull.get(selection.pull_request)]
        elif selection.base_ref is not None and selection.types:
            pairs = [(kind, selection.base_ref) for kind in selection.types]
            found = [self._by_type_and_base.get(pair) for pair in pairs]
        elif selection.base_ref is not None:
            found = [self._by_base.get(selection.base_ref)]
        elif selection.types:
            found = [self._by_type.get(kind) for kind in selection.types]
        else:
            found = [self._order]
        return [index for index in found if index is not None]

    def _matches(self, selection: Selection) -> Callable[[int], bool]:
        # Only the index of a pull request leaves filters to apply, and it is short.
        if selection.pull_request is None:
            return lambda _row: True
        first = self._first_row
        types = selection.types
        base_ref = selection.base_ref
        return lambda row: (
            (not types or self._types[row - first] in types)
            and base_ref in (None, self._base_refs[row - first])
        )

    def _bounds(self, index: "array[int]", selection: Selection) -> _Bounds:
        low = bisect_left(index, selection.received_from, key=self._received_at)
        high = bisect_right(index, selection.received_to, key=self._received_at)
        return _Bounds(low, high)

    def _newer(self, index: "array[int]", selection: Selection, after: Key | None) -> Iterator[int]:
        low, high = self._bounds(index, selection)
        if after is not None:
            low = max(low, bisect_right(index, after, key=self._key))
        return (index[position] for position in range(low, high))

    def _older(
        self,
        index: "array[int]",
        selection: Selection,
        before: Key | None,
    ) -> Iterator[int]:
        low, high = self._bounds(index, selection)
        if before is not None:
            high = min(high, bisect_left(index, before, key=self._key))
        return (index[position] for position in range(high - 1, low - 1, -1))

    def newest_first(self, selection: Selection, before: Key | None = None) -> Iterator[Event]:
        """Yield what is selected, newest first, below `before`; lazily, one bisection an index."""
        walks = [self._older(index, selection, before) for index in self._indexes(selection)]
        return self._read(heapq.merge(*walks, key=self._key, reverse=True), selection)

    def oldest_first(self, selection: Selection, after: Key | None = None) -> Iterator[Event]:
        """Yield what is selected, oldest first, above `after`."""
        walks = [self._newer(index, selection, after) for index in self._indexes(selection)]
        return self._read(heapq.merge(*walks, key=self._key), selection)

    def _read(self, rows: Iterator[int], selection: Selection) -> Iterator[Event]:
        matches = self._matches(selection)
        return (self._event(row) for row in rows if matches(row))

    def count(self, selection: Selection) -> int:
        """Count what is selected; by bisection unless one pull request is asked for."""
        matches = self._matches(selection)
        total = 0
        for index in self._indexes(selection):
            low, high = self._bounds(index, selection)
            if selection.pull_request is None:
                total += high - low
            else:
                total += sum(matches(row) for row in index[low:high])
        return total

    def base_refs(self, start_at: Moment, end_at: Moment) -> list[str]:
        """List the base branches with events received in the window, sorted."""
        window = Selection(start_at, end_at)
        touched = []
        for base_ref, index in self._by_base.items():
            low, high = self._bounds(index, window)
            if base_ref is not None and low < high:
                touched.append(base_ref)
        return sorted(touched)
