"""Each week's post is added once for each subscribed channel, by whichever process comes first."""

from dataclasses import replace
from datetime import timedelta

from bot.domain.subscriptions import DIGEST_AT, DigestTime, Subscription
from bot.usecases.weekly_statistics import PostWeekly
from tests.support.clock import NOON, FakeClock
from tests.support.make import API, make_configured, make_subscription
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

HOUR = 3600
ONE = make_subscription("weekly", channel_id="C1")
"""In UTC, on a clock that begins on Monday at noon."""


class World:
    def __init__(self) -> None:
        self.clock, self.store, self.woken = FakeClock(), InMemoryStore(), 0
        self.subscribe(ONE)
        self.subscribe(make_subscription("health", channel_id="C2"))
        self.restart()

    def restart(self) -> None:
        self.use_case = PostWeekly(self.store, self.clock, self.wake, make_configured())

    def subscribe(self, one: Subscription) -> None:
        with begin(self.store) as transaction:
            transaction.subscriptions.save(one)

    def wake(self, after: float = 0) -> None:
        del after
        self.woken += 1

    async def after(self, hours: float) -> list[tuple[str, str]]:
        """The deliveries once so much time has passed."""
        self.clock.advance(hours * HOUR)
        await self.use_case.run()
        found = self.store.database.contents.deliveries.values()
        return [(one.channel_id, one.subject.kind.value) for one in found]


WEEKLY = ("C1", "weekly")


async def test_a_week_is_added_once_by_any_process() -> None:
    world = World()
    assert await world.after(0) == [WEEKLY]
    assert await world.after(0.02) == [WEEKLY]
    assert world.woken == 1
    world.restart()
    assert await world.after(1) == [WEEKLY]
    assert await world.after(7 * 24 - 5) == [WEEKLY]
    assert await world.after(2) == [WEEKLY, WEEKLY]


async def test_a_week_that_ended_long_ago_or_before_the_subscription_is_not_added() -> None:
    world = World()
    assert await world.after(10) == []
    world = World()
    world.subscribe(replace(ONE, created_at=NOON - timedelta(hours=1)))
    assert await world.after(0) == []


async def test_the_zone_decides_when_and_a_change_of_it_adds_no_second_post() -> None:
    world = World()
    world.subscribe(replace(ONE, digest=DigestTime(DIGEST_AT, "America/New_York")))
    assert await world.after(0) == []
    assert await world.after(2) == [WEEKLY]
    world.subscribe(replace(ONE, digest=DigestTime(DIGEST_AT, "Europe/Paris")))
    assert await world.after(1) == [WEEKLY]


async def test_a_repository_that_is_not_configured_any_more_has_no_post() -> None:
    world = World()
    world.use_case.configured.groups = make_configured(API).groups
    assert await world.after(0) == []
