"""A working day of a hundred repositories, simulated: when events are posted, and what it costs.

The times and the decisions are those of `bot.feed.polling`; nothing is read or posted. A day
begins at midnight; people work from nine to seven.
"""

import heapq
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from statistics import quantiles

from bot.feed.polling import (
    DEPTH_INTERVALS,
    PollingInterval,
    QueueInterest,
    RequestBudget,
    queue_due,
)
from tests.support.clock import NOON

DAY = 24 * 3600.0
WORK_BEGINS = 9 * 3600.0
WORK_ENDS = 19 * 3600.0
MIDNIGHT = NOON.replace(hour=0)

REPOSITORIES = 100
BOARDS = 10
PAUSES = 3
PAUSE_SECONDS = 3 * 3600.0
PULL_REQUESTS = 1500
"""A day; the busiest repository has a fifth of them, the tenth one a fiftieth."""

LARGEST_BATCH = 5
FILLING_SECONDS = 30.0
CHECKS_SECONDS = 12 * 60.0
"""Of a batch, in the middle: a tenth take twice as long."""

ANSWER_SECONDS = 0.1
POST_SECONDS = 0.3
"""From the response with an event to its post: the title, the commit, one call to Slack."""

TICK_SECONDS = 0.25
USUAL = timedelta(seconds=10)


@dataclass
class Queue:
    """One repository's day: its events in order, and when its batches run."""

    events: list[float] = field(default_factory=list)
    entered: set[float] = field(default_factory=set)
    running: list[tuple[float, float]] = field(default_factory=list)
    paused: tuple[float, float] | None = None
    has_board: bool = False

    def is_running(self, at: float) -> bool:
        place = bisect_right(self.running, (at, DAY))
        return place > 0 and self.running[place - 1][1] > at

    def is_paused(self, at: float) -> bool:
        return self.paused is not None and self.paused[0] <= at < self.paused[1]


@dataclass
class Outcome:
    """Seconds from each event to its post, and all requests by when they were made."""

    delays: list[float] = field(default_factory=list)
    logs: int = 0
    others: int = 0

    @property
    def requests(self) -> int:
        return self.logs + self.others

    def delay(self, percent: int) -> float:
        return quantiles(self.delays, n=100)[percent - 1]


def working_day(seed: int = 1) -> Sequence[Queue]:
    chance = Random(seed)
    shares = [1 / rank for rank in range(1, REPOSITORIES + 1)]
    queues = []
    for share in shares:
        count = round(PULL_REQUESTS * share / sum(shares))
        arrivals = sorted(_arrival(chance) for _ in range(count))
        queues.append(_merge_all(arrivals, chance))
    for number, queue in enumerate(queues):
        queue.has_board = number < BOARDS
    for number in range(PAUSES):
        begins = WORK_BEGINS + 3600 * (1 + 2 * number)
        queues[20 + number].paused = begins, begins + PAUSE_SECONDS
    return queues


def _arrival(chance: Random) -> float:
    """An arrival time; 19 out of 20 are in working hours."""
    if chance.random() < 0.05:
        return chance.uniform(0, DAY)
    return chance.triangular(WORK_BEGINS, WORK_ENDS)


def _merge_all(arrivals: Sequence[float], chance: Random) -> Queue:
    """One batch after the other, each of those that wait when it begins."""
    queue = Queue()
    waiting = list(arrivals)
    free_at = 0.0
    while waiting:
        begun = max(free_at, waiting[0] + FILLING_SECONDS)
        batch = [one for one in waiting if one <= begun][:LARGEST_BATCH]
        waiting = waiting[len(batch) :]
        free_at = begun + CHECKS_SECONDS * chance.lognormvariate(0, 0.55)
        queue.running.append((begun, free_at))
        queue.entered.update(batch)
        queue.events += batch
        # Each leaves the queue and is merged.
        queue.events += [free_at + 0.5 * place for place in range(2 * len(batch))]
    queue.events = sorted(event for event in queue.events if event < DAY)
    return queue


def fixed(queues: Sequence[Queue], *, only_logs: bool = False) -> Outcome:
    """Each log every ten seconds.

    Unless `only_logs`, with the lookups that the bot made before its polling followed the queue:
    of pauses every ten seconds where one is known and every minute elsewhere, for boards every ten.
    """
    outcome = Outcome()
    usual = USUAL.total_seconds()
    for number, queue in enumerate(queues):
        offset = usual * number / len(queues)
        polls = int(DAY / usual)
        outcome.logs += polls
        for event in queue.events:
            seen = offset + usual * -(-(event - offset) // usual)
            outcome.delays.append(seen + ANSWER_SECONDS + POST_SECONDS - event)
        titles = {(event - offset) // usual for event in queue.entered}
        if only_logs:
            continue
        paused = queue.paused[1] - queue.paused[0] if queue.paused is not None else 0.0
        outcome.others += len(titles)
        outcome.others += round((DAY - paused) / (6 * usual) + paused / usual + paused / 60)
        if queue.has_board:
            # Status, pause, and once a minute the freezes.
            outcome.others += 2 * polls + int(DAY / 60)
    return outcome


@dataclass
class _Followed:
    queue: Queue
    next_event: int = 0
    active_at: float = 0.0
    read_at: float | None = None
    depth_at: float = 0.0
    freezes_at: float = 0.0
    is_running: bool = False


def following(queues: Sequence[Queue], *, seconds: float = DAY) -> Outcome:
    """Polling like the bot: depending on each queue's activity."""
    interval = PollingInterval.around(USUAL)
    outcome = Outcome()
    budget = RequestBudget(interval.usual)
    repositories = [_Followed(queue) for queue in queues]
    due = [(number * 0.1, number) for number in range(len(queues))]
    while due[0][0] < seconds:
        at, number = due[0]
        # The tick that finds it due, in the middle.
        at += TICK_SECONDS / 2
        one = repositories[number]
        before = outcome.requests
        _poll(one, at, interval, outcome)
        budget.spend(outcome.requests - before, len(queues), _date(at))
        wait = interval.wait(
            timedelta(seconds=at - one.active_at),
            is_running=one.is_running,
            may_hurry=budget.has_some(len(queues)),
        )
        if one.queue.is_paused(at):
            wait = min(wait, interval.usual)
        heapq.heapreplace(due, (at + wait.total_seconds(), number))
    return outcome


def _poll(one: _Followed, at: float, interval: PollingInterval, outcome: Outcome) -> None:
    outcome.logs += 1
    served_at = at + ANSWER_SECONDS
    has_entered = has_moved = False
    while one.next_event < len(one.queue.events) and one.queue.events[one.next_event] <= at:
        event = one.queue.events[one.next_event]
        outcome.delays.append(served_at + POST_SECONDS - event)
        has_entered |= event in one.queue.entered
        has_moved = True
        one.next_event += 1
    if has_moved:
        one.active_at = at
    is_paused = one.queue.is_paused(at)
    interest = QueueInterest(pause=is_paused, boards=int(one.queue.has_board))
    is_due = queue_due(
        interest,
        interval.usual,
        _date(at),
        read_at=None if one.read_at is None else _date(one.read_at),
        active_at=_date(one.active_at),
    )
    has_depth = is_paused and at >= one.depth_at
    if has_entered or (is_due and (has_depth or not is_paused)):
        outcome.others += 1
        one.is_running = one.queue.is_running(at)
        one.depth_at = at + DEPTH_INTERVALS * interval.usual.total_seconds()
    if is_due:
        outcome.others += 1
        one.read_at = at
        if one.queue.has_board and at >= one.freezes_at:
            outcome.others += 1
            one.freezes_at = at + 60


def _date(at: float) -> datetime:
    return MIDNIGHT + timedelta(seconds=at)
