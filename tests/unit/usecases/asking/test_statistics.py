"""Counting a queue's merges and failures from its log; each week's post is added once."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count as numbers
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.channels.rows import Subscriptions
from bot.channels.subscription import DIGEST_AT, Subscription
from bot.kernel.cron import DigestTime
from bot.log.position import LastPoll, first_position
from bot.log.rows import Events, Positions
from bot.log.sources import Sources
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.questions import reading_statistics
from bot.questions.posting_weekly import PostWeekly
from bot.questions.reading_statistics import (
    COUNT_PAGES,
    LEAVE_TYPES,
    PAGES_OF_EACH,
    STATISTICS_TYPES,
    read_statistics,
    read_week,
)
from bot.questions.statistics import QueueStatistics
from bot.questions.weekly_figures import WeekComparison
from tests.support.clock import NOON, FakeClock
from tests.support.make import (
    API,
    SITE,
    make_configured,
    make_event,
    make_event_record,
    make_subscription,
)
from tests.support.merge_queue import Call, FakeMergeQueue
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

TOKYO = ZoneInfo("Asia/Tokyo")
ENTER = "action.queue.enter"
LEAVE = "action.queue.leave"
CHECKS_END = "action.queue.checks_end"
MERGED = "action.queue.merged"


class World:
    """A service with a log, and a person in Tokyo who asks for statistics."""

    def __init__(self) -> None:
        self.service = FakeMergeQueue()
        self.ids = numbers(1)
        self.sources = Sources(self.service, InMemoryStore(), FakeClock())

    def tell(
        self, type_: str, ago: timedelta, number: int = 41, branch: str = "main", **reported: Any
    ) -> None:
        event = make_event(
            next(self.ids),
            type_,
            received_at=NOON - ago,
            pull_request=number,
            base_ref=branch,
            metadata=reported or None,
        )
        self.service.log(SITE, event)

    def merge(self, ago: timedelta, number: int = 41, branch: str = "main") -> None:
        queued_at = (NOON - ago - timedelta(hours=1)).isoformat()
        code = "PR_MERGED"
        self.tell(LEAVE, ago, number, branch, merged=True, dequeue_code=code, queued_at=queued_at)
        self.tell(MERGED, ago, number, branch, queued_at=queued_at)

    async def ask(self, back: float = 7, branch: str | None = None) -> QueueStatistics:
        return await read_statistics(SITE, days(back), branch, TOKYO, self.sources)

    @property
    def pages(self) -> list[Call]:
        return self.service.called("event_page")


@pytest.fixture
def world() -> World:
    return World()


def days(count: float) -> timedelta:
    return timedelta(days=count)


def every(gap: timedelta, back: timedelta) -> Iterator[timedelta]:
    ago = gap
    while ago < back:
        yield ago
        ago += gap


async def test_the_whole_range_is_counted_in_the_askers_days(world: World) -> None:
    for number, ago in enumerate(every(timedelta(hours=12), days(9)), 1):
        world.merge(ago, number)
    found = await world.ask()
    assert found.span.zone == TOKYO
    assert [tally.merged for tally in found.tallies] == [2, 2, 2, 2, 2, 2, 1]
    assert found.time_in_queue is not None
    assert found.time_in_queue.median == timedelta(hours=1)
    assert not found.cut


async def test_more_than_the_ends_of_a_log_is_read_only_when_needed(world: World) -> None:
    world.merge(days(1))
    await world.ask()
    assert {call.types for call in world.pages} == {tuple(sorted(LEAVE_TYPES))}

    world = World()
    world.tell(ENTER, days(1) + timedelta(minutes=30))
    world.tell(LEAVE, days(1))
    world.tell(MERGED, days(1) - timedelta(seconds=1))
    world.tell(LEAVE, days(1), 42)
    found = await world.ask()
    assert world.pages[-1].types == tuple(sorted(STATISTICS_TYPES))
    assert (found.merged, found.failed) == (1, 1)
    assert found.time_in_queue is not None
    assert found.time_in_queue.median == timedelta(minutes=30, seconds=1)


async def test_a_log_that_is_too_long_is_counted_from_a_later_day(world: World) -> None:
    world.service.page_size = 10
    for number, ago in enumerate(every(timedelta(minutes=10), days(7)), 1):
        world.merge(ago, number)
    found = await world.ask()
    assert found.cut
    assert len(world.pages) <= COUNT_PAGES
    assert found.span.start > NOON - days(3)
    whole = (NOON - found.span.start) // timedelta(minutes=10)
    assert found.merged == whole
    assert found.merges_a_day == pytest.approx(144, rel=0.02)


@pytest.mark.parametrize("most_pages", [PAGES_OF_EACH, COUNT_PAGES])
async def test_after_a_quiet_time_no_more_pages_are_read_either(
    world: World, most_pages: int
) -> None:
    world.service.page_size = 10
    for number, ago in enumerate(every(timedelta(minutes=30), days(22)), 1):
        world.merge(days(8) + ago, number)
    found = await read_statistics(SITE, days(30), None, TOKYO, world.sources, most_pages=most_pages)
    assert found.cut
    assert len(world.pages) <= most_pages
    assert found.span.start < NOON - days(7)
    if most_pages == COUNT_PAGES:
        assert found.merged > 48


async def test_a_quiet_log_is_read_in_few_requests(world: World) -> None:
    await world.ask(90)
    assert len(world.pages) <= 10


async def test_an_unreadable_log_is_not_an_empty_one(world: World) -> None:
    world.merge(days(1))
    world.service.fail_next(MergeQueueUnavailable("maintenance"))
    with pytest.raises(MergeQueueUnavailable) as raised:
        await world.ask()
    assert raised.value.repository == SITE


HOUR = 3600
ONE = make_subscription("weekly", channel_id="C1")
"""In UTC, on a clock that begins on Monday at noon."""


class Weeks:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = InMemoryStore()
        self.woken = 0
        self.reads_the_log = True
        self.subscribe(ONE)
        self.subscribe(make_subscription("health", channel_id="C2"))
        self.restart()

    def restart(self) -> None:
        self.use_case = PostWeekly(self.store, self.clock, self.wake, make_configured())

    def subscribe(self, one: Subscription) -> None:
        with begin(self.store) as transaction:
            Subscriptions(transaction).save(one)

    def wake(self, after: float = 0) -> None:
        del after
        self.woken += 1

    async def after(self, hours: float) -> list[tuple[str, str]]:
        """The deliveries once so much time has passed."""
        self.clock.advance(hours * HOUR)
        if self.reads_the_log:
            with begin(self.store) as transaction:
                Positions(transaction).save(first_position(SITE, NOON))
                Positions(transaction).save_polls({SITE: LastPoll(self.clock.now())})
        await self.use_case.run()
        found = self.store.database.contents.deliveries.values()
        return [
            (subscription.channel_id, subscription.subject.kind.value) for subscription in found
        ]


WEEKLY = ("C1", "weekly")


async def test_a_week_is_added_once_by_any_process() -> None:
    world = Weeks()
    assert await world.after(0) == [WEEKLY]
    assert await world.after(0.02) == [WEEKLY]
    assert world.woken == 1
    world.restart()
    assert await world.after(1) == [WEEKLY]
    assert await world.after(7 * 24 - 5) == [WEEKLY]
    assert await world.after(2) == [WEEKLY, WEEKLY]


async def test_a_week_that_ended_long_ago_or_before_the_subscription_is_not_added() -> None:
    world = Weeks()
    assert await world.after(10) == []
    world = Weeks()
    world.subscribe(replace(ONE, created_at=NOON - timedelta(hours=1)))
    assert await world.after(0) == []


async def test_a_week_waits_until_the_log_is_read_to_its_end() -> None:
    """After a downtime, or while the service doesn't answer, its last events aren't known yet."""
    world = Weeks()
    world.clock.advance(-4 * HOUR)
    assert await world.after(0) == []
    world.reads_the_log = False
    assert await world.after(4) == []
    world.reads_the_log = True
    assert await world.after(0) == [WEEKLY]


async def test_the_zone_decides_when_and_a_change_of_it_adds_no_second_post() -> None:
    world = Weeks()
    world.subscribe(replace(ONE, digest=DigestTime(DIGEST_AT, "America/New_York")))
    assert await world.after(0) == []
    assert await world.after(2) == [WEEKLY]
    world.subscribe(replace(ONE, digest=DigestTime(DIGEST_AT, "Europe/Paris")))
    assert await world.after(1) == [WEEKLY]


async def test_a_repository_that_is_not_configured_any_more_has_no_post() -> None:
    world = Weeks()
    world.use_case.configured.groups = make_configured(API).groups
    assert await world.after(0) == []


def of_two_weeks(*agos: float) -> WeekComparison:
    """The week up to noon, after leaves so many days ago."""
    store = InMemoryStore()
    leaves = [
        make_event_record(
            LEAVE, event_id=number, received_at=NOON - days(ago), pull_request=number, merged=False
        )
        for number, ago in enumerate(agos, 1)
    ]
    with begin(store) as transaction:
        Events(transaction).add_new(leaves)
        return read_week(transaction, SITE, NOON)


@pytest.mark.parametrize(
    ("agos", "now", "before"),
    [
        ((), 0, None),
        ((1, 8), 1, None),
        ((1, 8, 15), 1, 1),
        ((1, 20), 1, 0),
        ((1, 40), 1, None),
    ],
)
def test_the_week_before_is_known_only_if_something_older_is(
    agos: tuple[float, ...], now: int, before: int | None
) -> None:
    week = of_two_weeks(*agos)
    assert week.removals.now.count == now
    assert (week.before is None) == (before is None)
    if week.removals.before is not None:
        assert week.removals.before.count == before


@pytest.mark.parametrize(("most", "attempts", "is_before_known"), [(29, 2, True), (20, 2, False)])
def test_of_more_than_can_be_read_only_what_is_known_in_full_is_compared(
    monkeypatch: pytest.MonkeyPatch, most: int, attempts: float, *, is_before_known: bool
) -> None:
    """Two runs of checks for the merge of each day: of those, the latest are read."""
    monkeypatch.setattr(reading_statistics, "MOST_STORED", most)
    week = of_two_runs_for_each_merge()
    assert week.now.attempts == attempts
    assert (week.before is not None) == is_before_known
    assert week.before is None or week.before.attempts == attempts


def test_a_week_too_long_to_be_read_begins_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_statistics, "MOST_STORED", 6)
    week = of_two_runs_for_each_merge()
    assert (week.now.merged, week.now.attempts) == (3, 2)
    assert week.removals.start > NOON - days(4)


def of_two_runs_for_each_merge() -> WeekComparison:
    store = InMemoryStore()
    events = []
    for number in range(14):
        left_at = NOON - days(number + 0.5)
        for place, type_ in enumerate((CHECKS_END, CHECKS_END, MERGED)):
            event = make_event_record(
                type_,
                event_id=3 * number + place + 1,
                pull_request=number + 1,
                received_at=left_at - timedelta(minutes=2 - place),
                queued_at=left_at - timedelta(hours=1),
            )
            events.append(event)
    older = make_event_record(LEAVE, event_id=999, received_at=NOON - days(20), merged=False)
    with begin(store) as transaction:
        Events(transaction).add_new([*events, older])
        return read_week(transaction, SITE, NOON)
