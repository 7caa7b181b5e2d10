"""What is posted late says what is true by then, or is not said at all."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.channels.rows import Subscriptions
from bot.feed.rows import QueueEntries
from bot.feed.threads import QueueEntry
from bot.health.alert import Alert, AlertKind
from bot.health.outage import Outage
from bot.health.outage_rows import Outages
from bot.health.rows import Alerts
from bot.kernel.actor import Actor
from bot.kernel.configured import Policy
from bot.log.classification import EventKind
from bot.log.rows import Events
from bot.merge_queue.event_types import MERGED
from bot.pauses.by_rule import PauseRules
from bot.pauses.ending import due_lease
from bot.pauses.pause import PauseEnd, PauseLine, PauseRecord
from bot.pauses.reminding import RemindOfPauses
from bot.pauses.rows import Pauses
from bot.posts.delivery import NewDelivery, Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent, open_live_messages
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.posts.send import SUSPENDED_RETRY
from bot.slack.errors import PostPostponed
from bot.store.transaction import Transaction
from tests.support.acting import Acting
from tests.support.make import SITE, make_event_record, make_known_pause, make_subscription
from tests.support.posting import Posting
from tests.support.transactions import begin

ALICE = "U1"
HALF_HOUR = timedelta(minutes=30)


class Channels(Posting):
    """One that hears of pauses, and the pauser's own; Slack can be away."""

    def __init__(self) -> None:
        super().__init__()
        acting = Acting(
            self.clock, self.store, policy=Policy([PauseRules(first_reminder=HALF_HOUR)])
        )
        self.reminders = RemindOfPauses(acting.merge_queue, acting.acts)

    async def passes(self, time: timedelta) -> None:
        """With whatever the bot does by itself meanwhile."""
        self.clock.advance(time.total_seconds())
        await self.reminders.run(due_lease("one"))
        await self.use_case.run()

    def pause(self) -> None:
        now = self.clock.now()
        with begin(self.store) as transaction:
            Subscriptions(transaction).save(make_subscription("pause", channel_id="C1"))
            by = Actor(ALICE, "alice")
            Pauses(transaction).save(
                PauseRecord(SITE, PauseLine(now, "CI is down", "CI is down", by=by))
            )

    def tell(self, transaction: Transaction, kind: SubjectKind, number: int) -> None:
        subject = Subject(kind, SITE, number)
        now = self.clock.now()
        Outbox(transaction).add([NewDelivery(f"{kind}", "C1", subject, now, urgent=True)])


@pytest.fixture
def bot() -> Channels:
    return Channels()


async def test_an_unreachable_channel_is_reminded_of_a_pause_once(bot: Channels) -> None:
    bot.pause()
    bot.poster.closed["C1"] = "not_in_channel"
    for hours in (0.5, 1, 2, 4):
        await bot.passes(timedelta(hours=hours))
    assert len(bot.poster.shown(ALICE)) == 1
    assert len(bot.database.contents.deliveries) == 2

    del bot.poster.closed["C1"]
    for _ in range(4):
        await bot.passes(SUSPENDED_RETRY)

    (reported,) = bot.poster.shown("C1")
    assert "after 7 h" in reported


async def test_the_pauser_gets_a_reminder_even_if_the_channel_got_one(bot: Channels) -> None:
    bot.pause()
    bot.poster.closed[ALICE] = "messages_tab_disabled"
    await bot.passes(HALF_HOUR)
    await bot.passes(2 * HALF_HOUR)

    del bot.poster.closed[ALICE]
    await bot.passes(SUSPENDED_RETRY)

    assert [len(bot.poster.shown(one)) for one in (ALICE, "C1")] == [1, 1]


@pytest.mark.parametrize("is_over", [True, False])
async def test_what_ended_before_its_report_shows_its_end(bot: Channels, *, is_over: bool) -> None:
    """An outage and an alert."""
    for _ in range(2):
        bot.poster.fail_next(PostPostponed("not_connected"))
    now = bot.clock.now()
    with begin(bot.store) as transaction:
        outage = Outages(transaction).add(Outage((SITE,), now, notified_at=now))
        alert = Alerts(transaction).begin(Alert(SITE, AlertKind.DEPTH, 12, 10, now))
        assert alert is not None
        bot.tell(transaction, SubjectKind.OUTAGE, outage)
        shown = LiveSubject(LiveKind.ALERT, SITE, str(alert))
        open_live_messages(transaction, shown, ["C1"], now, identity="alert")
    await bot.passes(timedelta())
    assert bot.poster.shown("C1") == []

    if is_over:
        now = bot.clock.now()
        with begin(bot.store) as transaction:
            ended = Outage((SITE,), now, notified_at=now, ended_at=now, outage_id=outage)
            assert Outages(transaction).save(ended)
            assert Alerts(transaction).end(alert, now)
            LiveMessages(transaction).mark(shown, due_at=now, closed=True)
            bot.tell(transaction, SubjectKind.OUTAGE_OVER, outage)
            bot.tell(transaction, SubjectKind.ALERT_OVER, alert)
    for _ in range(2):
        await bot.passes(timedelta(minutes=5))

    of_outage, of_alert = bot.poster.shown("C1")
    assert ("can be read again" if is_over else "can't be read") in of_outage
    assert (
        "the queue is short again" if is_over else "12 pull requests are in the queue"
    ) in of_alert


@pytest.mark.parametrize("is_paused_again", [True, False])
async def test_a_watcher_learns_that_the_queue_is_paused_again(
    bot: Channels, *, is_paused_again: bool
) -> None:
    now = bot.clock.now()
    resumed = replace(make_known_pause(), end=PauseEnd(now, Actor("U2", "bob")))
    with begin(bot.store) as transaction:
        pause_id = Pauses(transaction).save(make_known_pause())
        ended = Pauses(transaction).save_ended(replace(resumed, pause_id=pause_id))
        subject = Subject(SubjectKind.RESUMED, SITE, ended.end_number)
        enqueue_urgent(transaction, subject, [ALICE], now, identity="1")
    if is_paused_again:
        bot.clock.advance(60)
        bot.pause()
    await bot.run()

    (reported,) = bot.poster.shown(ALICE)
    assert "bob resumed acme/site" in reported
    assert ("It is paused again" in reported) is is_paused_again


def happened(bot: Channels, count: int, ago: timedelta) -> None:
    """So many merges, one a second, of which the bot learns now."""
    now = bot.clock.now()
    merges = [
        make_event_record(
            MERGED, event_id=n, pull_request=n, received_at=now - ago + timedelta(seconds=n)
        )
        for n in range(count)
    ]
    deliveries = [
        NewDelivery(f"{n}", "C1", Subject(SubjectKind.EVENT, SITE, n), now, kind=EventKind.MERGE)
        for n in range(count)
    ]
    with begin(bot.store) as transaction:
        Events(transaction).add_new(merges)
        Outbox(transaction).add(deliveries)


@pytest.mark.parametrize(
    ("ago", "is_late"), [(timedelta(hours=5), True), (timedelta(minutes=5), False)]
)
async def test_what_happened_while_the_bot_was_down_says_when(
    bot: Channels, ago: timedelta, *, is_late: bool
) -> None:
    happened(bot, 1, ago)
    await bot.passes(timedelta())
    (shown,) = bot.poster.shown("C1")
    assert ("Happened" in shown) is is_late
    assert ("2026-07-20 07:00 UTC" in shown) is is_late


async def test_a_summary_after_a_downtime_counts_from_the_first_event(bot: Channels) -> None:
    happened(bot, 40, timedelta(hours=5))
    await bot.passes(timedelta())
    (shown,) = bot.poster.shown("C1")
    assert "Catching up: 40 events since 2026-07-20 07:00 UTC" in shown


async def test_a_summary_of_threads_counts_from_the_first_event_too(bot: Channels) -> None:
    now = bot.clock.now()
    entered = make_event_record(event_id=500, received_at=now - timedelta(hours=5))
    entry = QueueEntry.begun(entered)
    subject = LiveSubject(LiveKind.ENTRY, SITE, entry.key)
    with begin(bot.store) as transaction:
        Events(transaction).add_new([entered])
        QueueEntries(transaction).save([entry])
        open_live_messages(transaction, subject, ["C1"], now, identity=entry.key)
    happened(bot, 40, timedelta(hours=1))
    await bot.passes(timedelta())
    (shown,) = bot.poster.shown("C1")
    assert "Catching up: 41 events since 2026-07-20 07:00 UTC" in shown
