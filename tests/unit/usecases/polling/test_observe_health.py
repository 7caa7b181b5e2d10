"""Alerts for channels subscribed to queue health, and their cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from bot.domain.errors import LeaseLost, MergeQueueUnavailable
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.queue import Pause
from bot.domain.queue_health import AlertKind
from bot.domain.subscriptions import Subscription
from tests.support.loops import Loop
from tests.support.make import CHANNEL, SITE, make_queued, make_status, make_subscription
from tests.support.reading import Reading
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

HEALTH = make_subscription("health")
LIMITS = {AlertKind.HEAD: 3600, AlertKind.DEPTH: 3, AlertKind.FAILURES: 2}
LEAVE, MERGED = "action.queue.leave", "action.queue.merged"


@dataclass
class Watch:
    """One process that polls one repository."""

    limits: Mapping[AlertKind, int] = field(default_factory=lambda: LIMITS)
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        self.clock, self.merge_queue = self.reading.clock, self.reading.merge_queue
        self.restart()

    @property
    def store(self) -> InMemoryStore:
        return self.reading.store

    def restart(self, holder: str = "one") -> None:
        self.loop = Loop(
            self.store, self.merge_queue, self.clock, (SITE,), holder, self.reading.wake
        ).with_queues(self.limits)

    async def on_answer(self, *subscriptions: Subscription) -> "Watch":
        for one in subscriptions or (HEALTH,):
            await self.reading.add(one)
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
        return [kind for kind, _ in self.reading.reported(channel_id) if kind.startswith("alert")]

    async def pause(self, *, known: bool = True) -> None:
        at = self.clock.now()
        self.merge_queue.pauses[SITE] = Pause(reason="x", paused_at=at)
        if known:
            with begin(self.store) as transaction:
                transaction.pauses.save(PauseRecord(SITE, at, "x", "x"))

    async def resume(self) -> None:
        self.merge_queue.pauses.clear()
        with begin(self.store) as transaction:
            for one in transaction.pauses.open([SITE]):
                ended = replace(one, ended_at=self.clock.now(), ending=PauseEnding.RESUMED)
                transaction.pauses.save(ended)


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


async def test_the_status_is_read_twice_a_minute() -> None:
    watch = await Watch().on_answer()
    await watch.read_again()
    before = watch.reads()
    for _ in range(60):
        await watch.read_again(6)
    assert watch.reads() - before == pytest.approx(12, abs=2)


async def test_a_process_that_lost_its_lease_reports_nothing() -> None:
    watch = await Watch().on_answer()
    await watch.read_again()
    watch.waits(1, 2, 3, 4)
    poll = watch.reading.begun(await watch.reading.lease())
    watch.clock.advance(120)
    with begin(watch.store) as transaction:
        transaction.leases.claim(
            ["poll"], holder="another", now=watch.clock.now(), lifetime=timedelta(minutes=1)
        )
    assert watch.loop.observe is not None
    with pytest.raises(LeaseLost):
        await watch.loop.observe.observe_health(poll)
    assert watch.reported() == []
    with begin(watch.store) as transaction:
        assert transaction.alerts.active(SITE) == []
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
        transaction.subscriptions.delete(CHANNEL, SITE)
    await watch.read_again()
    watch.waits()
    await watch.on_answer()
    await watch.read_again()
    assert watch.reported() == ["alert"]
    watch.waits(1, 2, 3, 4)
    await watch.read_again()
    assert watch.reported() == ["alert", "alert"]
