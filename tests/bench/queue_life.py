"""A month of queue life: what merges when, why, and what the service would have said of it.

It is simulated and has truths of its own, which no estimate is told: busy hours with fewer free
runners, days on which everything is slow, storms of failing checks, pauses, freezes, people who
push ahead and people who take their pull requests out. The same seed gives the same month.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from random import Random
from statistics import median
from typing import NamedTuple

from tests.support.clock import NOON

FIRST_DAY = NOON.replace(hour=0) - timedelta(days=NOON.weekday())
"""A Monday. Minutes count from there."""

HOUR = 60.0
DAY = 24 * HOUR
WEEK = 7 * DAY

BUSY_HOURS = ((10, 12), (14, 17))
BUSY = 1.3
"""Checks take longer while many people wait for runners."""

SLOW = 1.7
"""On a slow day."""

FLAKY = 0.015
STORM = 0.35
"""The share of batches that fail although nothing in them is broken."""

BROKEN = 0.02
"""The share of pull requests that break something."""

URGENT = 0.04
TAKEN_OUT = 0.02
RUNS_REMEMBERED = 50

Happens = Callable[[float], None]
"""What happens at a minute."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How one repository works."""

    name: str
    a_day: float  #: pull requests on a working day
    batch: int  #: the most in one
    parallel: int  #: batches tested at once, each on top of those ahead
    checks: float  #: minutes, in the middle
    fills: float  #: minutes that a batch waits for more


HABITS = (
    Habits("busy", a_day=200, batch=5, parallel=3, checks=18, fills=3),
    Habits("usual", a_day=70, batch=3, parallel=2, checks=22, fills=5),
    Habits("quiet", a_day=14, batch=1, parallel=1, checks=25, fills=0),
)


class Period(NamedTuple):
    """From one minute to another."""

    begin: float
    end: float

    def has(self, minute: float) -> bool:
        return self.begin <= minute < self.end


@dataclass(eq=False, slots=True)
class Entry:
    """One pull request's time in the queue."""

    number: int
    entered: float
    is_broken: bool
    is_urgent: bool
    left: float | None = None
    has_merged: bool = False


@dataclass(eq=False, slots=True)
class Run:
    """A batch whose checks run, or have passed."""

    members: list[Entry]
    begun: float
    ends: float
    has_passed: bool = False
    is_current: bool = True  #: False once it was stopped


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody asks when a pull request merges."""

    at: float
    entry: Entry
    ahead: int
    by_service: float | None  #: how many minutes the service says; None while it says nothing


@dataclass(slots=True)
class Life:
    """What happened."""

    habits: Habits
    entries: list[Entry] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    pauses: Sequence[Period] = ()
    freezes: Sequence[Period] = ()
    end: float = 0

    def is_held(self, minute: float) -> bool:
        return any(period.has(minute) for period in (*self.pauses, *self.freezes))


def moment(minute: float) -> datetime:
    return FIRST_DAY + timedelta(minutes=minute)


def month(habits: Habits, *, days: int = 28, seed: int = 1) -> Life:
    """The life of one repository."""
    return _Simulation(habits, days, Random(f"{habits.name} {seed}")).run()


def _time_passes(_: float) -> None:
    """A batch that waited for more begins without them."""


class _Simulation:
    """What happens, in order of time; after each, the batches begin that can."""

    def __init__(self, habits: Habits, days: int, chance: Random) -> None:
        self.chance = chance
        self.habits = habits
        self.life = Life(habits, end=days * DAY)
        self.storms = [*self._some(days / 9, 2 * HOUR, 5 * HOUR)]
        self.life.pauses = [*self._some(days / 7, 0.4 * HOUR, 3 * HOUR)]
        fridays = [Period(day * DAY + 18 * HOUR, (day + 3) * DAY + 8 * HOUR) for day in (11, 25)]
        release = [Period(16 * DAY + 13 * HOUR, 16 * DAY + 16 * HOUR)]
        self.life.freezes = [period for period in fridays + release if period.begin < days * DAY]
        self.slow_days = frozenset(self.chance.sample(range(days), max(1, days // 7)))
        self.waiting: list[Entry] = []
        self.runs: list[Run] = []
        self.lengths: list[float] = []
        self.events: list[tuple[float, int, Happens]] = []
        self.order = count()
        self.numbers = count(1)
        self.is_paused = False
        self.is_frozen = False

    def run(self) -> Life:
        for minute in self._arrivals():
            self._at(minute, self._arrive)
        for pause in self.life.pauses:
            self._at(pause.begin, self._pause)
            self._at(pause.end, self._resume)
        for freeze in self.life.freezes:
            self._at(freeze.begin, self._freeze)
            self._at(freeze.end, self._thaw)
        while self.events:
            minute, _, happens = heapq.heappop(self.events)
            happens(minute)
            self._start_batches(minute)
        return self.life

    def _some(self, number: float, shortest: float, longest: float) -> Iterator[Period]:
        """Periods within working hours, at most one a day."""
        days = round(self.life.end / DAY)
        working = [day for day in range(days) if day % 7 < 5]
        for day in sorted(self.chance.sample(working, round(number))):
            begin = day * DAY + self.chance.uniform(9, 17) * HOUR
            yield Period(begin, begin + self.chance.uniform(shortest, longest))

    def _arrivals(self) -> Iterator[float]:
        for day in range(round(self.life.end / DAY)):
            is_weekend = day % 7 >= 5
            expected = self.habits.a_day * (0.06 if is_weekend else self.chance.uniform(0.6, 1.3))
            for _ in range(round(expected)):
                if self.chance.random() < 0.08:
                    hour = self.chance.uniform(0, 24)
                else:
                    hour = self.chance.triangular(8, 20, self.chance.choice((11, 16)))
                yield day * DAY + hour * HOUR

    def _at(self, minute: float, happens: Happens) -> None:
        heapq.heappush(self.events, (minute, next(self.order), happens))

    def _arrive(self, at: float, again: int | None = None) -> None:
        number = next(self.numbers) if again is None else again
        is_broken = again is None and self.chance.random() < BROKEN
        entry = Entry(number, at, is_broken, self.chance.random() < URGENT)
        self.life.entries.append(entry)
        if entry.is_urgent:
            self.waiting.insert(0, entry)
        else:
            self.waiting.append(entry)
        self._at(at + 0.2, partial(self._ask, entry))
        self._at(at + self.chance.expovariate(1 / self.habits.checks), partial(self._ask, entry))
        self._at(at + self.habits.fills, _time_passes)
        if self.chance.random() < TAKEN_OUT:
            self._at(
                at + self.chance.expovariate(1 / self.habits.checks), partial(self._take_out, entry)
            )

    def _ask(self, entry: Entry, at: float) -> None:
        if entry.left is not None:
            return
        line = [member for run in self.runs for member in run.members] + self.waiting
        self.life.asked.append(Asked(at, entry, line.index(entry), self._foretell(at, entry)))

    def _foretell(self, at: float, entry: Entry) -> float | None:
        """What a good service says: it knows its batches, and expects no failure."""
        if self.is_paused or self.is_frozen:
            return None
        usual = median(self.lengths[-RUNS_REMEMBERED:] or [self.habits.checks])
        ends: list[float] = []
        for run in self.runs:
            own = at if run.has_passed else max(run.begun + usual, at + 1)
            ends.append(max([own, *ends[-1:]]))
            if entry in run.members:
                return ends[-1] - at
        free = [at] * (self.habits.parallel - len(self.runs)) + ends
        heapq.heapify(free)
        last = max(ends, default=at)
        for _ in range(self.waiting.index(entry) // self.habits.batch + 1):
            last = max(heapq.heappop(free) + usual, last)
            heapq.heappush(free, last)
        return last - at

    def _take_out(self, entry: Entry, at: float) -> None:
        if entry.left is not None:
            return
        self._leave(at, entry)
        if entry in self.waiting:
            self.waiting.remove(entry)
            return
        place = next(place for place, run in enumerate(self.runs) if entry in run.members)
        self.runs[place].members.remove(entry)
        self._restart(at, place)

    def _pause(self, _: float) -> None:
        self.is_paused = True
        stopped = [member for run in self.runs for member in run.members]
        for run in self.runs:
            run.is_current = False
        self.runs = []
        self.waiting = stopped + self.waiting

    def _resume(self, _: float) -> None:
        self.is_paused = False

    def _freeze(self, _: float) -> None:
        self.is_frozen = True

    def _thaw(self, at: float) -> None:
        self.is_frozen = False
        self._merge_passed(at)

    def _start_batches(self, at: float) -> None:
        size = self.habits.batch
        while not self.is_paused and self.waiting and len(self.runs) < self.habits.parallel:
            oldest = min(entry.entered for entry in self.waiting)
            if len(self.waiting) < size and at - oldest < self.habits.fills:
                return
            members = self.waiting[:size]
            del self.waiting[:size]
            self.runs.append(self._begin(at, members))

    def _begin(self, at: float, members: list[Entry]) -> Run:
        hour = at % DAY / HOUR
        length = self.habits.checks * self.chance.lognormvariate(0, 0.25)
        if any(begin <= hour < end for begin, end in BUSY_HOURS):
            length *= BUSY
        if int(at // DAY) in self.slow_days:
            length *= SLOW
        run = Run(members, at, at + length)
        self._at(run.ends, partial(self._finish, run))
        return run

    def _finish(self, run: Run, at: float) -> None:
        if not run.is_current:
            return
        self.lengths.append(at - run.begun)
        flaky = STORM if any(storm.has(at) for storm in self.storms) else FLAKY
        is_unlucky = self.chance.random() < flaky
        if not is_unlucky and not any(entry.is_broken for entry in run.members):
            run.has_passed = True
            self._merge_passed(at)
            return
        run.is_current = False
        place = self.runs.index(run)
        if len(run.members) > 1:
            middle = (len(run.members) + 1) // 2
            halves = [run.members[:middle], run.members[middle:]]
            self.runs[place : place + 1] = [self._begin(at, half) for half in halves]
            self._restart(at, place + 2)
            return
        (failed,) = run.members
        del self.runs[place]
        self._restart(at, place)
        self._leave(at, failed)
        if self.chance.random() < 0.7:
            away = self.chance.uniform(2, 6) * HOUR if failed.is_broken else 30
            self._at(at + away, partial(self._arrive, again=failed.number))

    def _restart(self, at: float, place: int) -> None:
        """What is built on something that is gone starts over."""
        behind = self.runs[place:]
        for run in behind:
            run.is_current = False
        begun = [self._begin(at, run.members) for run in behind if run.members]
        self.runs[place:] = begun

    def _merge_passed(self, at: float) -> None:
        while self.runs and self.runs[0].has_passed and not self.is_frozen:
            for number, entry in enumerate(self.runs.pop(0).members):
                entry.has_merged = True
                self._leave(at + number / 30, entry)

    def _leave(self, at: float, entry: Entry) -> None:
        entry.left = at
