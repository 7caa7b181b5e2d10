"""What is posted late says what is true by then, or is not said at all."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.configured import Policy
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind
from bot.domain.errors import PostPostponed
from bot.domain.outages import Outage
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.queue_health import Alert, AlertKind
from bot.store.transactions import Transaction
from bot.usecases.check_permission import CheckPermission
from bot.usecases.live_messages import enqueue_urgent
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.reminders import RemindOfPauses
from bot.usecases.pausing.timers import timers_lease
from bot.usecases.posting.post_deliveries import PostDeliveries
from bot.usecases.posting.send import SUSPENDED_RETRY
from tests.support.clock import FakeClock
from tests.support.directories import FakeChannels, FakePeople
from tests.support.make import SITE, make_configured, make_subscription
from tests.support.merge_queue import FakeMergeQueue
from tests.support.poster import RecordingPoster
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.transactions import begin

ALICE = "U1"
HALF_HOUR = timedelta(minutes=30)


class Channels:
    """One that hears of pauses, and the pauser's own; Slack can be away."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.database = InMemoryDatabase()
        self.store = InMemoryStore(self.database)
        self.poster = RecordingPoster()
        self.posts = PostDeliveries(
            self.store, self.poster, self.clock, lambda _=0.0: None, "one", lambda: 1.0
        )
        configured = make_configured(policy=Policy(first_reminder=HALF_HOUR))
        check = CheckPermission(FakePeople(), configured)
        acts = ActLog(self.store, self.clock, FakeChannels(), check, lambda _=0.0: None)
        self.reminders = RemindOfPauses(FakeMergeQueue(clock=self.clock), acts)

    async def passes(self, time: timedelta) -> None:
        """With whatever the bot does by itself meanwhile."""
        self.clock.advance(time.total_seconds())
        await self.reminders.run(timers_lease("one"))
        await self.posts.run()

    async def pause(self) -> None:
        now = self.clock.now()
        with begin(self.store) as transaction:
            transaction.subscriptions.save(make_subscription("pause", channel_id="C1"))
            by = Who("alice", ALICE)
            transaction.pauses.save(PauseRecord(SITE, now, "CI is down", "CI is down", by=by))

    def tell(self, transaction: Transaction, *reported: tuple[SubjectKind, int]) -> None:
        now = self.clock.now()
        transaction.outbox.add(
            [
                NewDelivery(f"{kind}", "C1", Subject(kind, SITE, number), now, urgent=True)
                for kind, number in reported
            ]
        )


async def test_an_unreachable_channel_is_reminded_of_a_pause_once() -> None:
    bot = Channels()
    await bot.pause()
    bot.poster.closed["C1"] = "not_in_channel"
    for hours in (0.5, 1, 2, 4):
        await bot.passes(timedelta(hours=hours))
    assert len(bot.poster.shown(ALICE)) == 1
    assert len(bot.database.contents.deliveries) == 2

    del bot.poster.closed["C1"]
    for _ in range(4):
        await bot.passes(SUSPENDED_RETRY)

    (reported,) = bot.poster.shown("C1")
    assert "for 7 h" in reported


async def test_the_pauser_gets_a_reminder_even_if_the_channel_got_one() -> None:
    bot = Channels()
    await bot.pause()
    bot.poster.closed[ALICE] = "messages_tab_disabled"
    await bot.passes(HALF_HOUR)
    await bot.passes(2 * HALF_HOUR)

    del bot.poster.closed[ALICE]
    await bot.passes(SUSPENDED_RETRY)

    assert [len(bot.poster.shown(one)) for one in (ALICE, "C1")] == [1, 1]


@pytest.mark.parametrize("is_over", [True, False])
async def test_an_outage_that_ended_before_its_report_shows_only_the_end(*, is_over: bool) -> None:
    bot = Channels()
    bot.poster.fail_next(PostPostponed("not_connected"))
    since = bot.clock.now()
    with begin(bot.store) as transaction:
        number = transaction.outages.add(Outage((SITE,), since, notified_at=since))
        bot.tell(transaction, (SubjectKind.OUTAGE, number))
    await bot.passes(timedelta())
    assert bot.poster.shown("C1") == []

    if is_over:
        with begin(bot.store) as transaction:
            ended = Outage(
                (SITE,), since, notified_at=since, ended_at=bot.clock.now(), alert_id=number
            )
            assert transaction.outages.save(ended)
            bot.tell(transaction, (SubjectKind.OUTAGE_OVER, number))
    await bot.passes(timedelta(minutes=5))

    (reported,) = bot.poster.shown("C1")
    assert ("can be read again" if is_over else "can't be read") in reported


@pytest.mark.parametrize("is_over", [True, False])
async def test_an_alert_that_ended_before_its_report_shows_only_the_end(*, is_over: bool) -> None:
    bot = Channels()
    bot.poster.fail_next(PostPostponed("not_connected"))
    now = bot.clock.now()
    with begin(bot.store) as transaction:
        number = transaction.alerts.begin(Alert(SITE, AlertKind.DEPTH, 12, 10, now))
        assert number is not None
        bot.tell(transaction, (SubjectKind.ALERT, number))
    await bot.passes(timedelta())

    if is_over:
        with begin(bot.store) as transaction:
            assert transaction.alerts.end(number, bot.clock.now())
            bot.tell(transaction, (SubjectKind.ALERT_OVER, number))
    await bot.passes(timedelta(minutes=5))

    (reported,) = bot.poster.shown("C1")
    assert ("Alert over" if is_over else "12 pull requests are in the queue") in reported


@pytest.mark.parametrize("is_paused_again", [True, False])
async def test_a_watcher_learns_that_the_queue_is_paused_again(*, is_paused_again: bool) -> None:
    bot = Channels()
    now = bot.clock.now()
    resumed = PauseRecord(
        SITE, now, "CI is down", "CI is down", ended_at=now, ended_by=Who("bob", "U2")
    )
    with begin(bot.store) as transaction:
        pause_id = transaction.pauses.save(replace(resumed, ending=PauseEnding.RESUMED))
        subject = Subject(SubjectKind.RESUMED, SITE, pause_id)
        enqueue_urgent(transaction, subject, [ALICE], now, identity="1")
    if is_paused_again:
        bot.clock.advance(60)
        await bot.pause()
    await bot.posts.run()

    (reported,) = bot.poster.shown(ALICE)
    assert "resumed by bob" in reported
    assert ("it is paused again" in reported) is is_paused_again
