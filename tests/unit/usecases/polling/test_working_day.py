"""The loop polls as the simulated working day of the bench says it does."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from statistics import median

import pytest

from bot.boards.board import Board
from bot.boards.keeping import add_board
from bot.channels.rows import Subscriptions
from bot.feed.poll_repositories import PollRepositories
from bot.feed.polling import PollingInterval
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.queue import QueueStatus
from tests.bench.working_day import (
    MIDNIGHT,
    TICK_SECONDS,
    USUAL,
    WORK_BEGINS,
    Queue,
    following,
    working_day,
)
from tests.support.clock import FakeClock
from tests.support.loops import Loop
from tests.support.make import make_batch, make_event, make_status, make_subscription
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

SECONDS = 1800.0
FIRST = WORK_BEGINS + 2 * 3600
BUSY, BOARD, QUIET = (RepositoryName(f"acme/{name}") for name in ("busy", "board", "quiet"))


def part_of(queue: Queue) -> Queue:
    """Half an hour of a day, as if it began at midnight."""
    last = FIRST + SECONDS
    return Queue(
        events=[at - FIRST for at in queue.events if FIRST <= at < last],
        entered={at - FIRST for at in queue.entered},
        running=[(begun - FIRST, ended - FIRST) for begun, ended in queue.running],
        has_board=queue.has_board,
    )


async def test_the_loop_matches_the_simulations_requests_and_delays() -> None:
    day = working_day()
    day[2].has_board = False
    queues = dict(zip((BUSY, BOARD, QUIET), map(part_of, (day[2], day[9], day[90])), strict=True))
    clock = FakeClock(MIDNIGHT)
    store = InMemoryStore()
    service = FakeMergeQueue(queues, clock=clock)
    loop = Loop(store, service, clock, list(queues), interval=PollingInterval.around(USUAL))
    polls = loop.with_queues()
    with begin(store) as transaction:
        for name in queues:
            Subscriptions(transaction).save(make_subscription("enter", "merge", repository=name))
        add_board(transaction, Board("C0BOARD", BOARD, "alice", clock.now()))
    delays, requests = await _pass_time(polls, service, clock, queues)

    simulated = following([*queues.values()], seconds=SECONDS)
    assert requests == pytest.approx(simulated.requests, rel=0.05)
    assert len(delays) == pytest.approx(len(simulated.delays), abs=2)
    assert median(delays) == pytest.approx(median(simulated.delays) - 0.4, abs=0.5)


async def _pass_time(
    polls: PollRepositories,
    service: FakeMergeQueue,
    clock: FakeClock,
    queues: Mapping[RepositoryName, Queue],
) -> tuple[Sequence[float], int]:
    """From each event to the poll that reads it, in seconds, and all requests."""
    coming = sorted((at, name) for name, queue in queues.items() for at in queue.events)
    unread: list[tuple[float, RepositoryName]] = []
    delays: list[float] = []
    requests = 0
    for tick in range(int(SECONDS / TICK_SECONDS)):
        at = tick * TICK_SECONDS
        while coming and coming[0][0] <= at:
            moment, name = coming.pop(0)
            service.log(name, _event(moment, queues[name]))
            unread.append((moment, name))
        service.statuses.update({name: _status(queue, at) for name, queue in queues.items()})
        await polls.run()
        await polls.drain()
        requests += len(service.calls)
        polled = {call.repository for call in service.called("event_page")}
        service.calls.clear()
        delays += [at - moment for moment, name in unread if name in polled]
        unread = [event for event in unread if event[1] not in polled]
        clock.advance(TICK_SECONDS)
    return delays, requests


def _event(at: float, queue: Queue) -> EventRecord:
    number = round(at * 1000)
    type_ = "action.queue.enter" if at in queue.entered else "action.queue.merged"
    received_at = MIDNIGHT + timedelta(seconds=at)
    return make_event(number, type_, received_at=received_at, pull_request=number)


def _status(queue: Queue, at: float) -> QueueStatus:
    return make_status(make_batch()) if queue.is_running(at) else make_status()
