"""The event log: small, in order, and read without walking through all of it."""

import gc
import sys
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from types import FunctionType, ModuleType

from typing_extensions import override

from bot.sandbox.merge_queue.controls import Controls
from bot.sandbox.merge_queue.simulation.event_log import Event, EventLog, Selection

EVERYTHING = Selection(-(2**62), 2**62)
FULL = 20_000
BUDGET = 40 * 2**20


def an_event(number: int, at: int | None = None, kind: str = "action.queue.enter") -> Event:
    return Event(number, number if at is None else at, "t", number % 50, "main", kind, {})


def bytes_held(root: object) -> int:
    """Add up the sizes of all objects that can be reached, each once; classes are not counted."""
    seen: set[int] = set()
    reached, total = [root], 0
    while reached:
        one = reached.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        reached += gc.get_referents(one)
    return total


def test_the_state_and_its_events_fit_in_the_budget() -> None:
    controls = Controls(
        repositories={"acme/site": "busy"},
        real_time=False,
        start_at=datetime(2026, 3, 2, tzinfo=UTC),
    )
    controls.advance(7_200)
    sample = controls.events("acme/site")
    log = controls.repository("acme/site").log
    last = sample[-1]
    for extra in range(FULL - len(log)):
        like = sample[extra % len(sample)]
        # Numbers go on growing, as they do in a repository, so that its index grows too.
        number = None if like.pull_request is None else 10_000 + extra // 10
        at = last.received_at + 1_000_000 * (extra + 1)
        log.append(
            replace(like, id=last.id + extra + 1, received_at=at, pull_request=number),
        )
    assert len(log) == FULL
    assert 4 * 2**20 < bytes_held(controls.service) < BUDGET


class CountingLog(EventLog):
    """Counts how often the place of a row is looked at."""

    looks = 0

    @override
    def _key(self, row: int) -> tuple[int, int]:
        self.looks += 1
        return super()._key(row)

    @override
    def _received_at(self, row: int) -> int:
        self.looks += 1
        return super()._received_at(row)


def looks_for_a_page(size: int) -> int:
    log = CountingLog(limit=size)
    for number in range(1, size + 1):
        log.append(an_event(number, kind=f"action.{number % 3}"))
    log.looks = 0
    middle = (size // 2, size // 2)
    two_types = Selection(1, size, types=("action.0", "action.1"))
    assert len(list(islice(log.newest_first(two_types, middle), 10))) == 10
    assert log.count(two_types) > size / 2
    return log.looks


def test_reading_a_page_does_not_scan_the_whole_log() -> None:
    small, large = looks_for_a_page(1_000), looks_for_a_page(32_000)
    assert large - small < 100
    assert large < 300


def test_the_oldest_events_are_forgotten_beyond_the_limit() -> None:
    log = EventLog(limit=100)
    for number in range(1, 1_001):
        log.append(an_event(number, kind=f"action.{number}"))
        assert len(log) <= 106
    kept = [event.id for event in log.oldest_first(EVERYTHING)]
    assert kept == list(range(kept[0], 1_001))
    assert len(kept) >= 100
    assert log.count(Selection(0, 2_000, types=("action.5",))) == 0
    assert log.count(Selection(0, 2_000, types=("action.1000",))) == 1
    of_one = Selection(0, 2_000, pull_request=0)
    assert [event.id for event in log.newest_first(of_one)] == [
        number for number in reversed(kept) if number % 50 == 0
    ]


def test_a_late_event_is_sorted_by_its_time_and_forgotten_in_turn() -> None:
    log = EventLog(limit=10)
    for number in (10, 20, 30):
        log.append(an_event(number))
    log.append(an_event(40, at=15))
    assert [event.id for event in log.oldest_first(EVERYTHING)] == [10, 40, 20, 30]
    for number in range(50, 70):
        log.append(an_event(number))
        log.append(an_event(number + 100, at=1))
    ids = [event.id for event in log.oldest_first(EVERYTHING)]
    assert 40 not in ids
    assert ids[-5:] == [65, 66, 67, 68, 69]
