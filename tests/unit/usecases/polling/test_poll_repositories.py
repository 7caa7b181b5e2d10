"""Which repository is polled when, and by whom."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from bot.feed.outage_observation import observation
from bot.feed.poll_repositories import MANY
from bot.feed.poll_state import STORED_EVERY
from bot.feed.polling import PollingInterval
from bot.feed.requested_types import STAMPED_APART
from bot.kernel.metrics import UNSCRAPED, Metrics
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import POLL_REQUESTS, poll_requests
from bot.log.rows import Positions
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.errors import EventTypesRefused, MergeQueueUnavailable
from bot.merge_queue.http import KEPT_FOR_PEOPLE, REQUESTS_AT_ONCE
from tests.support.clock import FakeClock
from tests.support.desk import Desk, World
from tests.support.loops import TEN_SECONDS, Loop, fixed
from tests.support.make import API, CHANNEL, SITE
from tests.support.merge_queue import Call, FakeMergeQueue
from tests.support.metrics import KeptTimes
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.transactions import begin
from tests.support.waiting import until

INTERVAL = 10


@dataclass
class Machine:
    """One process of several that may share a database."""

    holder: str = "one"
    clock: FakeClock = field(default_factory=FakeClock)
    database: InMemoryDatabase = field(default_factory=InMemoryDatabase)
    repositories: Sequence[RepositoryName] = (SITE, API)
    metrics: Metrics = UNSCRAPED
    interval: PollingInterval = field(default_factory=lambda: fixed(TEN_SECONDS))

    def __post_init__(self) -> None:
        self.store = InMemoryStore(self.database)
        self.held: dict[str | None, asyncio.Event] = {}
        self.waiting = 0
        self.merge_queue = FakeMergeQueue(
            self.repositories, clock=self.clock, before_answer=self._wait_if_held
        )
        self.use_case = Loop(
            self.store,
            self.merge_queue,
            self.clock,
            self.repositories,
            self.holder,
            interval=self.interval,
            metrics=self.metrics,
        ).only_logs()

    async def _wait_if_held(self, call: Call) -> None:
        if call.repository in self.held:
            self.waiting += 1
            await self.held[call.repository].wait()
            self.waiting -= 1

    async def tick(self, seconds: float = 0) -> None:
        self.clock.advance(seconds)
        await self.use_case.run()
        await self.use_case.drain()

    def polled(self) -> list[str | None]:
        """The repositories whose new events were asked for, rather than all their freezes."""
        asked = self.merge_queue.called("event_page")
        found = [call.repository for call in asked if call.types != FREEZE_TYPES]
        self.merge_queue.calls.clear()
        return found


async def test_every_repository_is_polled_once_an_interval_and_little_else_is_done() -> None:
    machine = Machine()

    await machine.tick()
    assert sorted(map(str, machine.polled())) == [API, SITE]
    before = machine.store.transactions
    for _ in range(INTERVAL - 1):
        await machine.tick(1)
    assert machine.polled() == []
    assert machine.store.transactions == before + 1
    await machine.tick(1)
    assert sorted(map(str, machine.polled())) == [API, SITE]


async def test_a_type_that_the_service_refuses_once_is_left_out_for_every_repository() -> None:
    """One refused request for a process, not one for each repository."""
    machine = Machine()
    refused = EventTypesRefused(422, "Input should be 'action.queue.leave'")
    refused.types = frozenset({"queue.pause.update"})
    await machine.tick()
    machine.polled()
    machine.merge_queue.script(SITE, refused)
    await machine.tick(INTERVAL)
    machine.merge_queue.calls.clear()
    await machine.tick(INTERVAL)
    asked = machine.merge_queue.called("event_page")
    assert {call.repository for call in asked} == {SITE, API}
    assert all("queue.pause.update" not in call.types for call in asked)
    assert all("queue.pause.create" in call.types for call in asked)


async def test_a_slow_repository_delays_no_other_and_is_never_polled_twice_at_once() -> None:
    machine = Machine()
    machine.held[SITE] = asyncio.Event()
    for _ in range(3):
        await machine.use_case.run()
        await until(lambda: not machine.use_case.schedules[API].running, "API is polled")
        machine.clock.advance(INTERVAL)

    assert machine.polled() == [API] * 3
    machine.held[SITE].set()
    await machine.use_case.drain()
    assert machine.polled() == [SITE]


async def test_a_failing_repository_backs_off_until_it_recovers_and_the_others_do_not() -> None:
    machine = Machine()
    await machine.tick()
    machine.polled()
    for _ in range(60):
        machine.merge_queue.pages[SITE].clear()
        machine.merge_queue.script(SITE, MergeQueueUnavailable("down"))
        await machine.tick(INTERVAL)

    polled = machine.polled()
    assert polled.count(API) == 60
    assert 6 <= polled.count(SITE) <= 12
    machine.merge_queue.pages[SITE].clear()
    await machine.tick(300)
    machine.polled()
    await machine.tick(INTERVAL)
    assert SITE in machine.polled()


async def test_the_services_requested_wait_is_kept() -> None:
    machine = Machine()
    await machine.tick()
    machine.merge_queue.script(SITE, MergeQueueUnavailable("429", status=429, retry_after=90))
    await machine.tick(INTERVAL)
    machine.polled()

    await machine.tick(89)
    assert SITE not in machine.polled()
    await machine.tick(INTERVAL)
    assert SITE in machine.polled()


async def test_a_repository_limited_often_is_polled_soon_after_a_failure() -> None:
    machine = Machine()
    await machine.tick()
    limited = MergeQueueUnavailable("429", status=429, retry_after=2)
    for error in [*10 * [limited], MergeQueueUnavailable("down")]:
        machine.merge_queue.script(SITE, error)
        await machine.tick(INTERVAL)
    machine.merge_queue.assert_all_used()
    machine.polled()

    await machine.tick(INTERVAL)

    assert SITE in machine.polled()


async def test_a_machine_that_hung_does_not_overwrite_others_polls() -> None:
    one = Machine()
    other = Machine("other", one.clock, one.database)
    await one.tick()
    await other.tick(600)
    polled_at = one.clock.now()
    await other.tick(INTERVAL)

    await one.tick()

    with begin(one.store) as transaction:
        last = Positions(transaction).polls([SITE])
    assert last[SITE].polled_at == polled_at


async def test_polls_leave_capacity_for_peoples_requests_and_count_as_late_until_sent() -> None:
    names = [RepositoryName(f"acme/r{number}") for number in range(2 * POLL_REQUESTS)]
    metrics = Metrics()
    lateness = KeptTimes()
    metrics.poll_lateness = lateness
    machine = Machine(repositories=names, metrics=metrics)
    machine.held = {name: asyncio.Event() for name in names}
    await machine.use_case.run()
    await until(lambda: machine.waiting == POLL_REQUESTS, "as many pages as may be")
    for _ in range(20):
        await asyncio.sleep(0)
    assert machine.waiting == POLL_REQUESTS < REQUESTS_AT_ONCE

    machine.clock.advance(3)
    for held in machine.held.values():
        held.set()
    await machine.use_case.drain()
    assert lateness.seconds == [0] * POLL_REQUESTS + [3] * POLL_REQUESTS


async def test_a_stopping_process_leaves_waiting_polls_to_others() -> None:
    names = tuple(RepositoryName(f"acme/r{number}") for number in range(3 * POLL_REQUESTS))
    machine = Machine(repositories=names)
    machine.held = {name: asyncio.Event() for name in names}
    await machine.use_case.run()
    await until(lambda: machine.waiting == POLL_REQUESTS, "polls under way")
    machine.use_case.begin_no_more()
    for let_go in machine.held.values():
        let_go.set()
    await machine.use_case.drain()

    assert len(machine.polled()) == POLL_REQUESTS
    await machine.use_case.release()
    other = Machine("two", machine.clock, machine.database, names)
    await other.tick()
    assert len(other.polled()) == len(names)


async def test_thousands_due_together_do_not_stay_in_step() -> None:
    names = [RepositoryName(f"acme/r{number}") for number in range(MANY + 1)]
    machine = Machine(repositories=names)
    await machine.tick()
    machine.polled()
    for _ in range(INTERVAL):
        await machine.tick(1)
        # Not all of them at once, and each once an interval at the latest.
        assert len(machine.polled()) < MANY // 2
    for _ in range(INTERVAL):
        await machine.tick(1)
    assert {str(name) for name in machine.polled()} == set(names)


async def test_each_tick_polls_a_limited_number_and_the_longest_due_first() -> None:
    names = [RepositoryName(f"acme/r{number}") for number in range(21)]
    machine = Machine(repositories=names)
    machine.use_case.most_a_tick = 20
    await machine.tick()
    assert len(machine.polled()) == 20
    await machine.tick(0.25)
    assert str(names[-1]) in machine.polled()


async def test_a_rarely_polled_quiet_repository_is_not_stale() -> None:
    machine = Machine(interval=PollingInterval.around(TEN_SECONDS, timedelta(seconds=60)))
    for _ in range(900):
        await machine.tick(4)
    machine.polled()
    while not machine.polled():
        await machine.tick(4)
    machine.clock.advance(59)
    assert machine.use_case.freshness().stale == 0
    assert machine.use_case.freshness().oldest == timedelta(seconds=59)
    machine.clock.advance(60)
    assert machine.use_case.freshness().is_stale


async def test_a_failing_quiet_repository_is_unread_since_one_interval_earlier() -> None:
    machine = Machine(interval=PollingInterval.around(TEN_SECONDS), repositories=(SITE,))
    for _ in range(200):
        await machine.tick(60)
    machine.merge_queue.fail_next(MergeQueueUnavailable("down"))
    await machine.tick(60)

    failed_at = machine.clock.now()
    assert observation(machine.use_case).unread_since == {SITE: failed_at - TEN_SECONDS}
    machine.clock.advance(50)
    assert machine.use_case.freshness().stale == 0
    machine.clock.advance(1)
    assert machine.use_case.freshness().stale == 1


async def test_a_clock_set_back_delays_no_repository() -> None:
    machine = Machine()
    await machine.tick()
    machine.held[SITE] = asyncio.Event()
    machine.clock.advance(INTERVAL)
    await machine.use_case.run()
    await until(lambda: machine.waiting, "a poll under way")
    machine.polled()

    machine.clock.advance(-3600)
    machine.held.pop(SITE).set()
    await machine.use_case.drain()
    await machine.tick()
    await machine.tick(INTERVAL)

    polled = machine.polled()
    # The one under way, and each at least once since.
    assert polled.count(SITE) >= 2
    assert polled.count(API) == 1
    assert machine.use_case.freshness().stale == 0


async def test_a_log_that_hits_a_bug_is_logged_not_met_every_tick_and_does_not_count_as_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    machine = Machine(repositories=(SITE,))
    await machine.tick()
    read_at = machine.clock.now()
    machine.polled()
    for number in range(1, 11):
        machine.merge_queue.fail_next(ValueError("a defect"), method="event_page")
        await machine.tick(INTERVAL - 0.25)
        await machine.tick(0.25)
        assert machine.polled() == [SITE]
        # Another test of this process may have set the level of our loggers.
        errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
        assert [vars(error)["action"] for error in errors] == ["poll_defect"] * number

    assert observation(machine.use_case).unread_since == {SITE: read_at}
    assert observation(machine.use_case).read == {}
    await machine.tick(INTERVAL)
    assert observation(machine.use_case).read == {SITE: machine.clock.now()}


async def test_a_log_that_was_never_read_is_unread_since_it_was_assigned() -> None:
    machine = Machine(repositories=(SITE,))
    taken_on = machine.clock.now()
    for _ in range(10):
        machine.merge_queue.fail_next(MergeQueueUnavailable("down"))
        await machine.tick(INTERVAL)

    assert observation(machine.use_case).unread_since == {
        SITE: taken_on + timedelta(seconds=INTERVAL)
    }


async def test_a_channel_added_at_a_restart_gets_no_earlier_events() -> None:
    """As one that is added to the configuration: nobody had asked for what it hears."""
    world = World()
    before = Desk(world, "before")
    await before.subscribe(CHANNEL, topics=("pause",))
    for number in range(30):
        world.log("action.queue.enter", number)
        await before.turns(6, seconds=10)
    after = Desk(world, "after")
    world.clock.advance(60)
    await after.subscribe("C0NEW", topics=("enter", "pause"))
    world.log("action.queue.enter", 100)
    await after.turns(30)

    reported = world.shown("C0NEW")
    assert reported[-1].startswith("Queued #100")
    # From the time that was stored last on, by clocks that may be apart.
    assert len(reported) <= 2 + (STAMPED_APART + STORED_EVERY) / timedelta(minutes=1)


async def test_events_unread_before_a_restart_go_to_earlier_subscribers() -> None:
    world = World()
    before = Desk(world, "before")
    await before.subscribe(CHANNEL, topics=("enter",))
    await before.turns(20)
    for number in range(20):
        world.clock.advance(60)
        world.log("action.queue.enter", number)
    after = Desk(world, "after")
    await after.subscribe("C0NEW", topics=("enter", "merge"))
    await after.turns(60)

    assert len(world.shown(CHANNEL)) == len(world.shown("C0NEW")) == 20


def test_polls_leave_capacity_for_people_with_any_setting() -> None:
    assert poll_requests(REQUESTS_AT_ONCE) == POLL_REQUESTS
    assert all(requests - poll_requests(requests) > KEPT_FOR_PEOPLE for requests in range(8, 129))
