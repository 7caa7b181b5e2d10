"""What polls read of queues: pauses that only the service reports, and alerts about health."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from bot.boards.board import Board
from bot.boards.keeping import add_board
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Subscription
from bot.doctor.diagnosis import QueueVerdict
from bot.feed.poll_repositories import POLLING_LEASE
from bot.feed.polling import UNWATCHED_INTERVALS
from bot.health.alert import AlertKind
from bot.health.cause import CauseWatch
from bot.health.rows import Alerts
from bot.kernel.actor import Actor
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.event_types import PAUSE_CREATE
from bot.merge_queue.queue import Pause, QueueStatus
from bot.pauses.history import know_pause
from bot.pauses.pause import PauseEnd, PauseLine, PauseRecord
from bot.pauses.rows import Pauses
from bot.posts.delivery import SubjectKind
from bot.posts.live_message import LiveKind
from bot.store.coordination import Leases
from bot.store.errors import LeaseLost
from tests.support.clock import NOON
from tests.support.loops import Loop
from tests.support.make import (
    CHANNEL,
    SITE,
    make_batch,
    make_event,
    make_queued,
    make_status,
    make_subscription,
)
from tests.support.merge_queue import Call
from tests.support.reading import Reading
from tests.support.store import InMemoryStore
from tests.support.transactions import begin
from tests.support.waiting import until

HEALTH = make_subscription("health")
LIMITS = {AlertKind.HEAD: 3600, AlertKind.DEPTH: 3, AlertKind.FAILURES: 2}
LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"


@dataclass
class Watch:
    """One process that polls one repository, or those given."""

    limits: Mapping[AlertKind, int] = field(default_factory=lambda: LIMITS)
    repositories: Sequence[RepositoryName] = (SITE,)

    def __post_init__(self) -> None:
        self.reading = Reading()
        self.clock = self.reading.clock
        self.merge_queue = self.reading.merge_queue
        self.merge_queue.repositories = self.repositories
        self.start_over()

    @property
    def store(self) -> InMemoryStore:
        return self.reading.store

    async def on_answer(self, *subscriptions: Subscription) -> "Watch":
        for subscription in subscriptions or (HEALTH,):
            await self.reading.add(subscription)
        return self

    async def read_again(self, seconds: float = 60) -> None:
        self.clock.advance(seconds)
        await self.loop.run()
        await self.loop.drain()

    def reads(self) -> int:
        return len(self.merge_queue.called("status"))

    def waits(self, *numbers: int) -> None:
        """These are queued now, and nothing else."""
        queued = [make_queued(number, queued_at=self.clock.now()) for number in numbers]
        self.merge_queue.statuses[SITE] = make_status(waiting=queued)

    def reported(self, channel_id: str = CHANNEL) -> list[str]:
        """The alerts of the channel, their ends and the causes named in their threads."""
        contents = self.store.database.contents
        alerts = {
            message.message_id
            for message in contents.live_messages.values()
            if message.subject.kind is LiveKind.ALERT
        }
        kinds = []
        for kind, subject_id in self.reading.reported(channel_id):
            if kind == SubjectKind.LIVE_MESSAGE and subject_id in alerts:
                kinds.append("alert")
            elif kind.startswith("alert"):
                kinds.append(kind)
        return kinds

    def shown(self) -> QueueVerdict | None:
        """The cause that the only active alert shows."""
        with begin(self.store) as transaction:
            (alert,) = Alerts(transaction).active(SITE)
        return alert.cause.verdict if alert.cause is not None else None

    def start_over(self) -> None:
        """Another process takes over."""
        self.loop = Loop(
            self.store, self.merge_queue, self.clock, self.repositories, wake=self.reading.wake
        ).with_queues(self.limits)

    async def pause(self, *, known: bool = True) -> None:
        at = self.clock.now()
        self.merge_queue.pauses[SITE] = Pause(reason="x", paused_at=at)
        if known:
            with begin(self.store) as transaction:
                Pauses(transaction).save(PauseRecord(SITE, PauseLine(at, "x", "x")))

    async def resume(self) -> None:
        self.merge_queue.pauses.clear()
        with begin(self.store) as transaction:
            for one in Pauses(transaction).open([SITE]):
                ended = replace(one, end=PauseEnd(self.clock.now()))
                Pauses(transaction).save_ended(ended)


@pytest.mark.parametrize(
    ("limits", "topic"), [(LIMITS, "enter"), ({}, "health")], ids=["without the topic", "all off"]
)
async def test_without_the_topic_or_thresholds_there_are_no_alerts_and_no_costs(
    limits: Mapping[AlertKind, int], topic: str
) -> None:
    watch = await Watch(limits).on_answer(make_subscription(topic))
    watch.waits(41)
    await watch.read_again(7200)
    before = watch.reads()
    for _ in range(7):
        await watch.read_again(10)
    # Once, when the log has calmed down.
    assert watch.reads() <= before + 1
    assert watch.reported() == []


async def test_a_process_that_lost_its_lease_reports_nothing() -> None:
    watch = await Watch().on_answer()
    await watch.read_again()
    watch.waits(1, 2, 3, 4)
    lease = watch.loop.lease.current
    assert lease is not None
    poll = watch.reading.begun(lease)
    watch.clock.advance(120)
    with begin(watch.store) as transaction:
        Leases(transaction).claim(
            "poll", holder="another", now=watch.clock.now(), lifetime=timedelta(minutes=1)
        )
    assert watch.loop.observe is not None
    with pytest.raises(LeaseLost):
        await watch.loop.observe.observe_health(poll, CauseWatch())
    assert watch.reported() == []
    with begin(watch.store) as transaction:
        assert Alerts(transaction).active(SITE) == []
    await watch.read_again(61)
    assert watch.reported() == ["alert"]


@pytest.mark.parametrize("known", [True, False], ids=["known", "to the service alone"])
async def test_a_paused_queue_raises_no_alert_and_pauses_are_not_counted(*, known: bool) -> None:
    watch = await Watch().on_answer()
    watch.waits(41)
    await watch.pause(known=known)
    await watch.read_again(7200)
    assert watch.reported() == []
    await watch.resume()
    await watch.read_again(3500)
    assert watch.reported() == []
    await watch.read_again(200)
    assert watch.reported() == ["alert"]


async def test_pausing_does_not_end_an_active_alert() -> None:
    watch = await Watch().on_answer()
    watch.waits(41)
    await watch.read_again(3700)
    await watch.pause()
    await watch.read_again()
    watch.waits()
    await watch.read_again()
    assert watch.reported() == ["alert"]
    await watch.resume()
    await watch.read_again()
    assert watch.reported() == ["alert", "alert_over"]


async def test_every_subscribed_channel_is_notified_whatever_its_branches_and_style() -> None:
    narrow = make_subscription("health", channel_id="C2", branches=frozenset({"release/*"}))
    watch = await Watch().on_answer(HEALTH, narrow, make_subscription("enter", channel_id="C3"))
    watch.waits(1, 2, 3, 4)
    await watch.read_again()
    assert [watch.reported(each) for each in (CHANNEL, "C2", "C3")] == [["alert"], ["alert"], []]


async def test_an_unavailable_service_is_asked_again_later() -> None:
    watch = await Watch().on_answer()
    await watch.read_again()
    watch.waits(1, 2, 3, 4)
    watch.merge_queue.fail_next(MergeQueueUnavailable("down"), method="status")
    await watch.read_again()
    watch.merge_queue.fail_next(MergeQueueUnavailable("down"), method="current_pause")
    await watch.read_again()
    assert watch.reported() == []
    await watch.read_again()
    assert watch.reported() == ["alert"]


async def test_alerts_start_over_after_a_time_without_subscribers() -> None:
    watch = await Watch().on_answer()
    watch.waits(1, 2, 3, 4)
    await watch.read_again()
    with begin(watch.store) as transaction:
        Subscriptions(transaction).delete(CHANNEL, SITE)
    await watch.read_again()
    watch.waits()
    await watch.on_answer()
    await watch.read_again()
    assert watch.reported() == ["alert"]
    watch.waits(1, 2, 3, 4)
    await watch.read_again()
    assert watch.reported() == ["alert", "alert"]


def held(since: datetime) -> QueueStatus:
    """A queue whose only pull request waits for another one."""
    queued = make_queued(41, queued_at=since)
    return make_status(waiting=[queued.model_copy(update={"depends_on_pull_requests": (39,)})])


def starved(since: datetime) -> QueueStatus:
    """Two batches without a result: runners."""
    batches = [
        make_batch(make_queued(number, queued_at=since), name=f"B{number}", checks=(0, 5))
        for number in (41, 42)
    ]
    return make_status(*(batch.model_copy(update={"started_at": since}) for batch in batches))


async def test_an_alert_follows_the_cause_and_its_thread_names_each_cause_once() -> None:
    watch = await Watch({AlertKind.HEAD: 3600}).on_answer()
    await watch.read_again()
    since = watch.clock.now()
    watch.merge_queue.statuses[SITE] = held(since)
    await watch.read_again(3700)
    assert watch.reported() == ["alert"]
    assert watch.shown() == QueueVerdict.HELD

    watch.merge_queue.statuses[SITE] = starved(since)
    await watch.read_again(130)
    assert watch.shown() == QueueVerdict.HELD
    await watch.read_again(130)
    assert watch.shown() == QueueVerdict.START_LATE
    assert watch.reported() == ["alert", "alert_cause"]

    for status in (held, starved, held, starved):
        watch.merge_queue.statuses[SITE] = status(since)
        await watch.read_again(130)
    assert watch.shown() == QueueVerdict.START_LATE
    watch.merge_queue.statuses[SITE] = held(since)
    for _ in range(3):
        await watch.read_again(130)
    assert watch.shown() == QueueVerdict.HELD
    assert watch.reported() == ["alert", "alert_cause"]


async def test_another_process_follows_the_cause_that_an_alert_shows() -> None:
    watch = await Watch({AlertKind.CAUSE: 600}).on_answer()
    await watch.read_again()
    watch.merge_queue.statuses[SITE] = held(watch.clock.now())
    await watch.read_again(3700)
    for _ in range(6):
        await watch.read_again(130)
    assert watch.reported() == ["alert"]
    watch.start_over()
    for _ in range(3):
        await watch.read_again(130)
    assert watch.shown() == QueueVerdict.HELD
    assert watch.reported() == ["alert"]


async def test_a_cause_that_lasts_begins_an_alert_which_no_threshold_repeats() -> None:
    watch = await Watch({AlertKind.HEAD: 6000, AlertKind.CAUSE: 600}).on_answer()
    await watch.read_again()
    watch.merge_queue.statuses[SITE] = held(watch.clock.now())
    await watch.read_again(3700)
    for _ in range(4):
        await watch.read_again(130)
    assert watch.reported() == []
    for _ in range(2):
        await watch.read_again(130)
    assert watch.reported() == ["alert"]
    await watch.read_again(3000)
    assert watch.reported() == ["alert"]

    watch.waits()
    for _ in range(2):
        await watch.read_again(130)
    assert watch.reported() == ["alert", "alert_over"]


async def test_examining_a_queue_makes_one_request_a_minute_at_most() -> None:
    watch = await Watch({AlertKind.HEAD: 3600}).on_answer()
    await watch.read_again()
    watch.merge_queue.statuses[SITE] = held(watch.clock.now())
    await watch.read_again(3700)
    assert watch.reported() == ["alert"]
    watch.merge_queue.calls.clear()
    for _ in range(40):
        await watch.read_again(15)
    made = Counter(call.method for call in watch.merge_queue.calls)
    assert set(made) <= {"event_page", "status", "current_pause", "rules"}
    assert made["status"] == made["current_pause"]
    assert 1 <= made["rules"] <= 10
    watch.merge_queue.calls.clear()
    watch.merge_queue.statuses[SITE] = starved(watch.clock.now() - timedelta(hours=2))
    for _ in range(40):
        await watch.read_again(15)
    made = Counter(call.method for call in watch.merge_queue.calls)
    assert set(made) <= {"event_page", "status", "current_pause", "queued_details"}
    assert made["status"] == made["current_pause"]
    assert 1 <= made["queued_details"] <= 10


INTERVAL = 10


@asynccontextmanager
async def slow_lookups(watch: Watch, seconds: float) -> AsyncIterator[None]:
    """A poll whose lookups of pauses take so long; they are answered at the end of the block."""
    asked = asyncio.Event()
    may_answer = asyncio.Event()

    async def hold(call: Call) -> None:
        if call.method == "current_pause":
            asked.set()
            await may_answer.wait()

    watch.merge_queue.before_answer = hold
    await watch.loop.run()
    await until(asked.is_set, "the first lookup")
    watch.clock.advance(seconds)
    yield
    may_answer.set()
    await watch.loop.drain()


async def test_a_clock_set_back_delays_no_queue() -> None:
    repositories = tuple(RepositoryName(f"acme/r{number:02}") for number in range(20))
    watch = Watch(repositories=repositories)

    def looked_up() -> set[str | None]:
        found = {call.repository for call in watch.merge_queue.called("current_pause")}
        watch.merge_queue.calls.clear()
        return found

    async with slow_lookups(watch, -3600):
        pass
    assert looked_up() == {*repositories}

    for _ in range(UNWATCHED_INTERVALS + 1):
        await watch.read_again(INTERVAL)
    assert looked_up() == {*repositories}


async def test_a_pause_that_ended_during_a_read_keeps_its_own_end() -> None:
    watch = Watch()
    paused = PauseRecord(SITE, PauseLine(NOON, "night", "night"))
    with begin(watch.store) as transaction:
        paused = replace(paused, pause_id=Pauses(transaction).save(paused))
    ended = replace(paused, end=PauseEnd(NOON, Actor("U0BOB", "bob")))
    async with slow_lookups(watch, 60):
        with begin(watch.store) as transaction:
            ended = Pauses(transaction).save_ended(ended)

    with begin(watch.store) as transaction:
        assert Pauses(transaction).of(SITE, NOON) == [ended]


async def test_a_pause_without_a_time_is_one_pause_across_reads() -> None:
    watch = Watch()
    began = watch.clock.now()
    for _ in range(3):
        undated = Pause(reason="migration", paused_at=watch.clock.now(), is_dated=False)
        watch.merge_queue.pauses[SITE] = undated
        await watch.read_again(0)
        known = await know_pause(watch.store, SITE, undated)
        assert known is not None
        assert known.line.paused_at == began
        watch.clock.advance(6 * INTERVAL)

    with begin(watch.store) as transaction:
        (record,) = Pauses(transaction).of(SITE, began - timedelta(days=1))
    assert record.is_open


async def test_one_poll_reads_a_queue_once_for_every_use() -> None:
    """A pause in force, a board, alerts about its health and the titles of what entered."""
    watch = await Watch().on_answer(make_subscription("enter", "health"))
    with begin(watch.store) as transaction:
        add_board(transaction, Board("C0BOARD", SITE, "alice", watch.clock.now()))
    await watch.pause(known=False)
    await watch.read_again(0)
    watch.merge_queue.calls.clear()
    watch.merge_queue.log(SITE, make_event(received_at=watch.clock.now()))

    await watch.read_again(INTERVAL)

    # The log again, for the batches that the new pause stopped.
    asked = Counter(call.method for call in watch.merge_queue.calls)
    assert asked == {"event_page": 2, "status": 1, "current_pause": 1}


async def told_of_an_unread_pause(*, attempts: int) -> Watch:
    """The log tells of a pause, and the service can't be asked for it so many times."""
    watch = Watch()
    await watch.read_again(0)
    await watch.pause(known=False)
    event = make_event(9, PAUSE_CREATE, received_at=watch.clock.now(), metadata={"reason": "x"})
    watch.merge_queue.log(SITE, event)
    for _ in range(attempts):
        watch.merge_queue.fail_next(MergeQueueUnavailable("away"), method="current_pause")
    return watch


async def test_a_pause_that_could_not_be_read_is_read_by_the_next_process() -> None:
    watch = await told_of_an_unread_pause(attempts=2)
    await watch.read_again(INTERVAL)
    assert watch.reading.pauses() == []

    watch.start_over()
    await watch.read_again(INTERVAL)

    assert [pause.line.reason for pause in watch.reading.pauses()] == ["x"]


async def test_a_pause_that_could_not_be_read_is_read_again_after_the_lease_ran_out() -> None:
    watch = await told_of_an_unread_pause(attempts=1)

    watch.merge_queue.calls.clear()

    async def slowly(call: Call) -> None:
        is_asked_again = bool(watch.merge_queue.called("current_pause"))
        if call.method == "current_pause" and is_asked_again:
            # It answers once the lease is over, so what was read can't be stored.
            watch.clock.advance(2 * POLLING_LEASE.total_seconds())
            watch.merge_queue.before_answer = None

    watch.merge_queue.before_answer = slowly
    await watch.read_again(INTERVAL)
    assert watch.reading.pauses() == []

    await watch.read_again(INTERVAL)

    assert [pause.line.reason for pause in watch.reading.pauses()] == ["x"]
