"""What channels subscribed to queue health are told, and what it costs to know it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from bot.domain.deliveries import SubjectKind
from bot.domain.errors import LeaseLost, MergeQueueUnavailable
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.queue import Pause
from bot.domain.queue_health import AlertKind
from bot.domain.subscriptions import Subscription
from bot.usecases.polling.poll_state import Poll
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

    async def hear(self, *subscriptions: Subscription) -> "Watch":
        for one in subscriptions or (HEALTH,):
            await self.reading.add(one)
        return self

    async def look(self, seconds: float = 60) -> None:
        self.clock.advance(seconds)
        await self.loop.run()
        await self.loop.drain()

    def looks(self) -> int:
        return len(self.merge_queue.called("status"))

    def waits(self, *numbers: int) -> None:
        """These are queued now, and nothing else."""
        queued = [make_queued(number, queued_at=self.clock.now()) for number in numbers]
        self.merge_queue.statuses[SITE] = make_status(waiting=queued)

    def told(self, channel_id: str = CHANNEL) -> list[str]:
        return [kind for kind, _ in self.reading.told(channel_id) if kind.startswith("alert")]

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
                ended = replace(one, ended_at=self.clock.now(), ending=PauseEnding.LIFTED)
                transaction.pauses.save(ended)


async def test_a_head_that_waits_too_long_is_told_once_and_so_is_its_end() -> None:
    watch = await Watch().hear()
    watch.waits(41)
    await watch.look()
    assert watch.told() == []
    for _ in range(3):
        await watch.look(3600)
    assert watch.told() == ["alert"]
    watch.waits(42)
    for _ in range(3):
        await watch.look()
    assert watch.told() == ["alert", "alert_over"]
    assert watch.reading.wakes == 2


async def test_who_does_not_ask_for_health_hears_nothing_and_costs_nothing() -> None:
    watch = await Watch().hear(make_subscription("enter", "failure"))
    watch.waits(41)
    await watch.look(7200)
    before = watch.looks()
    for _ in range(7):
        await watch.look(10)
    # Once, when the log has calmed down.
    assert watch.looks() <= before + 1
    assert watch.told() == []


async def test_with_every_alert_switched_off_no_more_is_read() -> None:
    watch = await Watch({}).hear()
    await watch.look()
    before = watch.looks()
    for _ in range(7):
        await watch.look(10)
    assert watch.looks() <= before + 1


async def test_the_status_is_read_twice_a_minute() -> None:
    watch = await Watch().hear()
    await watch.look()
    before = watch.looks()
    for _ in range(60):
        await watch.look(6)
    assert watch.looks() - before == pytest.approx(12, abs=2)


async def test_what_is_known_of_alerts_outlives_the_process() -> None:
    watch = await Watch().hear()
    watch.waits(1, 2, 3, 4)
    await watch.look()
    watch.restart()
    await watch.look()
    assert watch.told() == ["alert"]
    watch.restart()
    watch.waits(1, 2)
    await watch.look()
    assert watch.told() == ["alert", "alert_over"]


async def test_a_process_that_lost_its_lease_tells_nothing() -> None:
    watch = await Watch().hear()
    await watch.look()
    watch.waits(1, 2, 3, 4)
    poll = Poll(await watch.reading.lease(), watch.reading.state, watch.reading.queue())
    watch.clock.advance(120)
    with begin(watch.store) as transaction:
        transaction.leases.claim(
            ["poll"], holder="another", now=watch.clock.now(), lifetime=timedelta(minutes=1)
        )
    assert watch.loop.observe is not None
    with pytest.raises(LeaseLost):
        await watch.loop.observe.health.run(poll)
    assert watch.told() == []
    with begin(watch.store) as transaction:
        assert transaction.alerts.active(SITE) == []
    await watch.look(61)
    assert watch.told() == ["alert"]


@pytest.mark.parametrize("known", [True, False], ids=["known", "to the service alone"])
async def test_a_paused_queue_is_not_complained_about_and_pauses_are_not_counted(
    *, known: bool
) -> None:
    watch = await Watch().hear()
    watch.waits(41)
    await watch.pause(known=known)
    await watch.look(7200)
    assert watch.told() == []
    await watch.resume()
    await watch.look(3500)
    assert watch.told() == []
    await watch.look(200)
    assert watch.told() == ["alert"]


async def test_an_alert_that_lasts_is_not_over_because_somebody_pauses() -> None:
    watch = await Watch().hear()
    watch.waits(41)
    await watch.look(3700)
    await watch.pause()
    await watch.look()
    watch.waits()
    await watch.look()
    assert watch.told() == ["alert"]
    await watch.resume()
    await watch.look()
    assert watch.told() == ["alert", "alert_over"]


async def test_failures_in_a_row_are_those_that_the_event_log_told_of() -> None:
    watch = await Watch().hear()
    await watch.look()
    for number in (41, 42):
        watch.reading.tell(LEAVE, number, merged=False, dequeue_code="CHECKS_FAILED")
    watch.reading.tell(LEAVE, 43, merged=False, dequeue_code="PR_MANUALLY_DEQUEUED")
    await watch.look()
    assert watch.told() == ["alert"]
    watch.reading.tell(MERGED, 44)
    await watch.look()
    await watch.look()
    assert watch.told() == ["alert", "alert_over"]
    assert [kind for kind, _ in watch.reading.told(CHANNEL)] == watch.told()


async def test_every_channel_that_asked_is_told_whatever_its_branches_and_style() -> None:
    narrow = make_subscription("health", channel_id="C2", branches=frozenset({"release/*"}))
    watch = await Watch().hear(HEALTH, narrow, make_subscription("enter", channel_id="C3"))
    watch.waits(1, 2, 3, 4)
    await watch.look()
    assert [watch.told(each) for each in (CHANNEL, "C2", "C3")] == [["alert"], ["alert"], []]


async def test_a_service_that_does_not_answer_is_asked_again_later() -> None:
    watch = await Watch().hear()
    await watch.look()
    watch.waits(1, 2, 3, 4)
    watch.merge_queue.fail_next(MergeQueueUnavailable("down"), method="status")
    await watch.look()
    watch.merge_queue.fail_next(MergeQueueUnavailable("down"), method="current_pause")
    await watch.look()
    assert watch.told() == []
    await watch.look()
    assert watch.told() == ["alert"]


async def test_what_nobody_heard_of_for_a_while_begins_anew() -> None:
    watch = await Watch().hear()
    watch.waits(1, 2, 3, 4)
    await watch.look()
    with begin(watch.store) as transaction:
        transaction.subscriptions.delete(CHANNEL, SITE)
    await watch.look()
    watch.waits()
    await watch.hear()
    await watch.look()
    assert watch.told() == ["alert"]
    watch.waits(1, 2, 3, 4)
    await watch.look()
    assert watch.told() == ["alert", "alert"]


async def test_the_delivery_waits_for_nothing_in_the_urgent_line() -> None:
    watch = await Watch().hear()
    watch.waits(1, 2, 3, 4)
    await watch.look()
    (delivery,) = watch.store.database.contents.deliveries.values()
    assert delivery.urgent
    assert delivery.subject.kind is SubjectKind.ALERT


async def test_a_clock_that_is_set_back_keeps_nobody_from_hearing() -> None:
    watch = await Watch().hear()
    await watch.look()
    watch.waits(1, 2, 3, 4)
    await watch.look(-7200)
    await watch.look()
    assert watch.told() == ["alert"]
