"""Posting: in order, looked for when in doubt, given up only for good reasons."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Concatenate, ParamSpec, TypeVar

import pytest
from sqlalchemy import Text, delete, literal, update
from sqlalchemy.exc import OperationalError
from typing_extensions import override

from bot.domain.classification import EventKind
from bot.domain.deliveries import (
    MAXIMUM_AGE,
    RECHECK_DELAYS,
    Delivery,
    DeliveryState,
    NewDelivery,
    Subject,
    SubjectKind,
)
from bot.domain.errors import PostInDoubt, PostPostponed, PostRefused, Refusal, StoreUnavailable
from bot.domain.event_records import EventRecord
from bot.domain.live_messages import LiveKind, LiveSubject
from bot.domain.message import Message, Thread
from bot.domain.pacing import WORKSPACE_PER_SECOND
from bot.domain.pause_records import PauseRecord
from bot.ports import Count, Measures, Time
from bot.store.event_logs import Events
from bot.store.outbox import Outbox
from bot.store.tables import events
from bot.store.transactions import Transaction
from bot.usecases.live_messages import open_live_messages
from bot.usecases.posting.post_deliveries import (
    CONCURRENT_CHANNELS,
    LARGEST_OUTCOMES,
    PostDeliveries,
)
from bot.usecases.posting.send import SUSPENDED_RETRY
from tests.support.clock import FakeClock
from tests.support.make import SITE, make_act, make_event_record, make_subject
from tests.support.poster import RecordingPoster
from tests.support.store import GivingUpStore, InMemoryDatabase, InMemoryStore
from tests.support.transactions import begin
from tests.support.waiting import until

P = ParamSpec("P")
T = TypeVar("T")

LOST = PostInDoubt("ServerDisconnectedError")


@dataclass
class Delays(Measures):
    """How late posts were."""

    seen: list[float] = field(default_factory=list)
    failed: float = 0

    @override
    def count(self, what: Count, *labels: str, by: float = 1) -> None:
        if what is Count.NOT_RENDERED:
            self.failed += by

    @override
    def time(self, what: Time, seconds: float) -> None:
        self.seen.append(seconds)


@dataclass
class Posting:
    """The outbox and Slack, with a clock that a test moves."""

    clock: FakeClock = field(default_factory=FakeClock)
    database: InMemoryDatabase = field(default_factory=InMemoryDatabase)
    poster: RecordingPoster = field(default_factory=RecordingPoster)
    holder: str = "one"
    wakes: list[float] = field(default_factory=list)
    delays: Delays = field(default_factory=Delays)

    def __post_init__(self) -> None:
        self.store = InMemoryStore(self.database)
        self.use_case = PostDeliveries(
            self.store,
            self.poster,
            self.clock,
            self.wake,
            self.holder,
            lambda: 1.0,
            measures=self.delays,
        )

    def wake(self, after: float = 0) -> None:
        self.wakes.append(after)

    async def add(
        self,
        *event_ids: int,
        channel_id: str = "C1",
        urgent: bool = False,
        kind: EventKind | None = None,
        root_id: int | None = None,
        digest_at: datetime | None = None,
    ) -> None:
        with begin(self.store) as transaction:
            transaction.events.add_new([_event(self, one) for one in event_ids])
            transaction.outbox.add(
                [
                    NewDelivery(
                        f"{channel_id}-{one}",
                        channel_id,
                        make_subject(one),
                        self.clock.now(),
                        urgent=urgent,
                        kind=kind,
                        root_id=root_id,
                        digest_at=digest_at,
                    )
                    for one in event_ids
                ]
            )

    async def run(self, seconds: float = 0, times: int = 1) -> None:
        for _ in range(times):
            self.clock.advance(seconds)
            await self.use_case.run()

    def delivery(self, event_id: int, channel_id: str = "C1") -> Delivery:
        return self.database.contents.deliveries[f"{channel_id}-{event_id}"]

    def shown(self, channel_id: str = "C1") -> list[int]:
        """The pull requests posted in the channel, numbered like their events."""
        return [int(text.split("#")[1].split()[0]) for text in self.poster.shown(channel_id)]


def _event(bot: Posting, event_id: int) -> EventRecord:
    return make_event_record(event_id=event_id, pull_request=event_id, received_at=bot.clock.now())


class ArrangedPoster(RecordingPoster):
    """Something happens before Slack answers a post."""

    first: Callable[[str], Awaitable[None]]

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> str:
        await self.first(channel_id)
        return await super().post(channel_id, message, delivery_id, thread)


async def test_a_stopping_process_finishes_only_its_current_post() -> None:
    """Whoever comes next posts the others at once, each once and in order."""
    poster = ArrangedPoster()
    bot = Posting(poster=poster)

    async def end(_: str) -> None:
        bot.use_case.begin_no_more()

    poster.first = end
    await bot.add(1, 2, 3)
    await bot.add(2, 4, channel_id="C2")

    await bot.run(times=3)

    assert (bot.shown("C1"), bot.shown("C2")) == ([1], [])
    assert bot.delivery(1).state is DeliveryState.DELIVERED
    assert (bot.delivery(2).state, bot.delivery(2).attempted_at) == (DeliveryState.PENDING, None)
    await bot.use_case.release()
    following = Posting(bot.clock, bot.database, poster, holder="two")
    await following.run()
    assert (bot.shown("C1"), bot.shown("C2")) == ([1, 2, 3], [2, 4])
    assert poster.called("find") == []


async def test_deliveries_held_for_a_digest_are_not_late() -> None:
    bot = Posting()
    await bot.add(1, digest_at=bot.clock.now() + timedelta(hours=9))
    await bot.add(2)
    await bot.run(5)
    await bot.run(9 * 3600)
    assert bot.shown() == [2, 1]
    assert bot.delays.seen == [5]


async def test_replies_go_to_their_thread_and_their_summary_to_the_channel() -> None:
    bot = Posting()
    name = LiveSubject(LiveKind.ENTRY, SITE, "1-1")
    root = await bot.poster.post("C1", Message("Queued #1"), "root")
    with begin(bot.store) as transaction:
        card_id = transaction.live_messages.add(name, "C1", now=bot.clock.now())
        assert card_id is not None
        transaction.live_messages.posted(card_id, root, 1)
    await bot.add(1, root_id=card_id, kind=EventKind.CHECKS_STARTED)
    await bot.add(2, root_id=card_id, kind=EventKind.FAILURE)
    await bot.run()
    assert [one.thread for one in bot.poster.history[1:]] == [
        Thread(root),
        Thread(root, broadcast=True),
    ]

    bot.poster.fail_next(PostInDoubt("lost"), after=True)
    await bot.add(3, root_id=card_id, kind=EventKind.CHECKS_STARTED)
    await bot.run()
    await bot.add(*range(4, 60), root_id=card_id, kind=EventKind.CHECKS_STARTED)
    await bot.add(60, root_id=card_id, kind=EventKind.MERGE)
    await bot.run(60, times=2)

    reply, summary = bot.poster.history[3:]
    assert summary.message.text.startswith("Catching up: 57 events")
    assert (reply.thread, summary.thread) == (Thread(root), None)


async def test_a_silent_leave_of_a_merged_pull_request_is_not_reported_as_a_failure() -> None:
    bot = Posting()
    leave = make_event_record("action.queue.leave", received_at=bot.clock.now())
    with begin(bot.store) as transaction:
        transaction.events.add_new([leave])
        judged = NewDelivery("d", "C1", make_subject(1), bot.clock.now(), kind=EventKind.OTHER)
        transaction.outbox.add([judged])

    await bot.run()

    (text,) = bot.poster.shown("C1")
    assert "Left the queue" not in text
    assert "merged by the queue" in text


async def test_posts_beyond_a_burst_wait_a_second_and_keep_their_order() -> None:
    bot = Posting()
    await bot.add(*range(1, 13))

    await bot.run()
    assert bot.shown() == [1, 2, 3, 4, 5]
    await bot.run(seconds=1, times=10)

    assert bot.shown() == list(range(1, 13))


async def test_a_lost_response_is_looked_up_and_not_posted_again() -> None:
    bot = Posting()
    await bot.add(1, 2)
    bot.poster.fail_next(LOST, after=True)

    await bot.run()
    assert bot.delivery(1).state is DeliveryState.IN_DOUBT
    assert bot.shown() == [1]
    await bot.run(RECHECK_DELAYS[0].total_seconds())

    assert bot.shown() == [1, 2]
    assert [call.method for call in bot.poster.calls] == ["post", "find", "post"]


async def test_a_rate_limited_lookup_waits_as_long_as_slack_asks() -> None:
    bot = Posting()
    await bot.add(1)
    bot.poster.fail_next(LOST, after=True)
    await bot.run()
    limited = PostPostponed("ratelimited", retry_after=60, workspace_wide=True)
    bot.poster.fail_next(limited, method="find")

    await bot.run(2)
    await bot.run(1, times=59)
    assert len(bot.poster.called("find")) == 1

    await bot.run(2)
    assert bot.delivery(1).state is DeliveryState.DELIVERED


async def test_a_post_in_doubt_in_a_lost_channel_is_handled_like_a_suspended_one() -> None:
    bot = Posting()
    await bot.add(1, 2)
    bot.poster.fail_next(LOST, after=True)
    await bot.run()
    gone = PostRefused("channel_not_found", Refusal.CHANNEL)
    for _ in range(5):
        bot.poster.fail_next(gone, method="find")

    await bot.run(seconds=1, times=600)

    assert len(bot.poster.called("find")) == 5
    assert bot.database.contents.suspended["C1"].code == "channel_not_found"
    await bot.run(SUSPENDED_RETRY.total_seconds())
    await bot.run()
    assert bot.shown() == [1, 2]
    assert bot.database.contents.suspended == {}


async def test_history_the_bot_cannot_read_delays_no_urgent_post() -> None:
    bot = Posting()
    await bot.add(1)
    bot.poster.fail_next(LOST, after=True)
    bot.poster.fail_next(PostRefused("not_in_channel", Refusal.CHANNEL), method="find")
    await bot.run()
    await bot.run(3)
    await bot.add(2, urgent=True)

    await bot.run(1)

    assert 2 in bot.shown()


async def test_a_post_deleted_before_its_lookup_is_posted_again() -> None:
    """Slack's history shows no difference; docs/reliability.md lists it."""
    bot = Posting()
    await bot.add(1)
    bot.poster.fail_next(LOST, after=True)
    await bot.run()
    bot.poster.deleted.add(bot.poster.history[0].ts)

    await bot.run(seconds=11, times=5)

    assert len(bot.poster.called("post")) == 2
    assert bot.shown() == [1]
    assert bot.delivery(1).state is DeliveryState.DELIVERED


async def test_a_post_in_doubt_in_a_lost_channel_blocks_nothing_forever() -> None:
    bot = Posting()
    await bot.add(1, 2)
    bot.poster.fail_next(LOST)
    await bot.run()
    bot.poster.closed["C1"] = "channel_not_found"
    for hours in (0, 100, 69):
        gone = PostRefused("channel_not_found", Refusal.CHANNEL)
        bot.poster.fail_next(gone, method="find")
        await bot.run(3600 * hours + 1)

    await bot.run(SUSPENDED_RETRY.total_seconds() + 1)

    states = [bot.delivery(one).state for one in (1, 2)]
    assert states == [DeliveryState.FAILED, DeliveryState.FAILED]


@dataclass
class UnclearPoster(RecordingPoster):
    """Slack answers posts that contain a phrase with `internal_error` and does not post them.

    With `blocks_only` it takes their text without blocks.
    """

    phrase: str = "#1 "
    blocks_only: bool = False

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> str:
        if self.phrase in message.text and (message.blocks or not self.blocks_only):
            self.fail_next(PostInDoubt("internal_error"))
        return await super().post(channel_id, message, delivery_id, thread)


async def run_for(bot: Posting, length: timedelta) -> None:
    """Every second of some minutes, or every hour of some days."""
    end = bot.clock.now() + length
    step = timedelta(seconds=1) if length < timedelta(hours=1) else timedelta(hours=1)
    while (left := end - bot.clock.now()) > timedelta():
        await bot.run(min(step, left).total_seconds())


async def test_a_post_that_stays_unclear_is_dropped_after_a_week(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bot = Posting(poster=UnclearPoster())
    await bot.add(1)
    await run_for(bot, MAXIMUM_AGE - timedelta(minutes=1))
    assert not bot.delivery(1).state.is_settled
    await bot.add(2)

    await run_for(bot, timedelta(minutes=11))

    assert (bot.delivery(1).state, bot.delivery(1).error) == (
        DeliveryState.FAILED,
        "internal_error",
    )
    assert bot.shown() == [2]
    logged = {(vars(one).get("action"), one.levelname) for one in caplog.records}
    assert ("given_up", "ERROR") in logged


async def test_blocks_that_stay_unclear_are_replaced_by_plain_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bot = Posting(poster=UnclearPoster(blocks_only=True))
    await bot.add(1, 2)

    await run_for(bot, timedelta(minutes=5))

    assert bot.shown() == [1, 2]
    assert [bool(one.message.blocks) for one in bot.poster.history] == [False, True]
    logged = {(vars(one).get("action"), one.levelname) for one in caplog.records}
    assert ("plain_text", "ERROR") in logged


async def test_a_card_posted_as_plain_text_gets_its_blocks_later() -> None:
    bot = Posting(poster=UnclearPoster(phrase="", blocks_only=True))
    with begin(bot.store) as transaction:
        pause_id = transaction.pauses.save(
            PauseRecord(SITE, bot.clock.now(), "CI is down", "CI is down")
        )
        name = LiveSubject(LiveKind.PAUSE, SITE, str(pause_id))
        open_live_messages(transaction, name, ["C1"], bot.clock.now(), identity="1")

    await run_for(bot, timedelta(minutes=5))

    assert len(bot.poster.history) == 1
    with begin(bot.store) as transaction:
        assert transaction.live_messages.due(bot.clock.now(), 10)


async def test_a_post_that_slack_refuses_slowly_and_repeatedly_is_made_once() -> None:
    """Its thread is gone, its blocks are refused, and each answer takes as long as one may."""
    late = ArrangedPoster(blocks_refused=True)
    one = Posting(poster=late)
    other = Posting(one.clock, one.database, RecordingPoster(history=late.history), "other")
    with begin(one.store) as transaction:
        card_id = transaction.live_messages.add(
            LiveSubject(LiveKind.ENTRY, SITE, "1"), "C1", now=one.clock.now()
        )
        assert card_id is not None
        transaction.live_messages.posted(card_id, "1784548799.000001", 1)
    await one.add(1, root_id=card_id)

    async def others_work(_: str) -> None:
        one.clock.advance(10)
        await other.run(times=3)

    late.first = others_work
    await one.run()
    await other.run(60, times=2)

    assert one.shown() == [1]


async def test_an_unacceptable_message_fails_and_delays_nothing() -> None:
    bot = Posting()
    await bot.add(1, 2)
    bot.poster.fail_next(PostRefused("invalid_blocks", Refusal.MESSAGE))
    bot.poster.fail_next(PostRefused("no_text", Refusal.MESSAGE))

    await bot.run()

    assert (bot.delivery(1).state, bot.delivery(1).error) == (DeliveryState.FAILED, "no_text")
    assert bot.shown() == [2]


async def test_a_delivery_without_its_subject_fails_and_the_next_is_posted() -> None:
    bot = Posting()
    await bot.add(1, 2)
    bot.database.execute(delete(events).where(events.c.event_id == 1))

    await bot.run()

    assert bot.delivery(1).state is DeliveryState.FAILED
    assert bot.shown() == [2]


async def test_a_delivery_that_cannot_be_rendered_becomes_plain_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bot = Posting()
    await bot.add(1, 2, 3)
    await bot.add(4, channel_id="C2")
    broken = literal('{"queued_at":"not a time"}', Text())
    bot.database.execute(update(events).where(events.c.event_id == 2).values(details=broken))

    await bot.run()

    assert bot.shown("C2") == [4]
    first, plain, third = (one.message for one in bot.poster.history if one.channel_id == "C1")
    assert "#1 " in first.text
    assert "#3 " in third.text
    assert (plain.text.split(":")[0], plain.blocks) == (SITE, ())
    assert bot.delivery(2).state is DeliveryState.DELIVERED
    assert bot.delays.failed == 1
    logged = {(vars(one).get("action"), one.levelname) for one in caplog.records}
    assert ("not_rendered", "ERROR") in logged


async def test_a_database_failure_while_rendering_turns_nothing_into_plain_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("SELECT", {}, sqlite3.OperationalError("disk I/O error"))

    bot = Posting()
    await bot.add(1, 2)
    with monkeypatch.context() as failing:
        failing.setattr(Events, "get", fail)
        with pytest.raises(StoreUnavailable):
            await bot.run()
    assert bot.poster.calls == []

    await bot.run()

    assert bot.shown() == [1, 2]
    assert all(one.message.blocks for one in bot.poster.history)


async def test_a_claim_repeated_after_a_database_error_is_posted_once() -> None:
    bot = Posting()
    await bot.add(1, 2)
    store = GivingUpStore(bot.database)
    bot.use_case = PostDeliveries(store, bot.poster, bot.clock, bot.wake, "one", lambda: 1.0)

    await bot.run(seconds=1, times=3)

    assert bot.shown() == [1, 2]
    assert len(bot.poster.calls) == 2


class _SlowPoster(RecordingPoster):
    """Its posts and looks take longer than any lease and claim last."""

    def __init__(self, bot: Posting) -> None:
        super().__init__()
        vars(self).update(vars(bot.poster))
        self.clock = bot.clock

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> str:
        ts = await super().post(channel_id, message, delivery_id, thread)
        self.clock.advance(120)
        return ts

    @override
    async def find(
        self,
        channel_id: str,
        delivery_id: str,
        since: datetime,
        thread_ts: str | None = None,
        until: datetime | None = None,
    ) -> str | None:
        found = await super().find(channel_id, delivery_id, since, thread_ts, until)
        if until is None:
            self.clock.advance(120)
        return found


def slow_posting(bot: Posting) -> None:
    bot.use_case = PostDeliveries(
        bot.store, _SlowPoster(bot), bot.clock, bot.wake, bot.holder, lambda: 1.0
    )


async def test_a_late_outcome_of_a_post_is_stored() -> None:
    bot = Posting()
    await bot.add(1, 2)
    slow_posting(bot)

    await bot.run()
    assert bot.delivery(1).state is DeliveryState.DELIVERED
    await bot.run()

    assert bot.shown() == [1, 2]
    assert [call.method for call in bot.poster.calls] == ["post", "post"]


async def test_lookups_slower_than_their_claim_settle_at_the_first() -> None:
    bot = Posting()
    await bot.add(1)
    bot.poster.fail_next(LOST, after=True)
    await bot.run()
    slow_posting(bot)

    await bot.run(RECHECK_DELAYS[0].total_seconds())

    assert bot.delivery(1).state is DeliveryState.DELIVERED
    assert bot.shown() == [1]


class _BusyStore(InMemoryStore):
    """Whoever wants a transaction waits longer than anything may be sent after its claim."""

    def __init__(self, database: InMemoryDatabase, clock: FakeClock) -> None:
        super().__init__(database)
        self.clock = clock

    @override
    async def run(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        self.clock.advance(60)
        return await super().run(body, *args, **kwargs)


async def test_slow_transactions_do_not_stop_posts() -> None:
    bot = Posting()
    await bot.add(1, 2)
    busy = _BusyStore(bot.database, bot.clock)
    bot.use_case = PostDeliveries(busy, bot.poster, bot.clock, bot.wake, "one", lambda: 1.0)

    await bot.run()
    await bot.run()

    assert bot.shown() == [1, 2]
    assert [call.method for call in bot.poster.calls] == ["post", "post"]


async def test_slow_claims_take_fewer_deliveries_until_posts_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To claim and to read takes a second for each delivery."""
    bot = Posting()
    await bot.add(*range(1, 11))
    claim = Outbox.claim

    def take_long(outbox: Outbox, **how: Any) -> Sequence[Delivery]:
        claimed = claim(outbox, **how)
        bot.clock.advance(len(claimed))
        return claimed

    monkeypatch.setattr(Outbox, "claim", take_long)

    await bot.run()
    assert bot.shown() == []
    for _ in range(20):
        bot.clock.advance(1)
        await bot.run()
    assert bot.shown() == list(range(1, 11))


async def test_a_run_ends_after_its_posts_even_if_an_outcome_cannot_be_stored() -> None:
    """What is posted to C2 is answered when it is let go; by then C1 has had its answer."""
    poster, let_go = ArrangedPoster(), asyncio.Event()
    bot = Posting(poster=poster)

    async def arrange(channel_id: str) -> None:
        if channel_id == "C1":
            bot.store.unavailable = "locked"
        else:
            await let_go.wait()

    poster.first = arrange
    await bot.add(1, channel_id="C1")
    await bot.add(2, channel_id="C2")

    run = asyncio.create_task(bot.use_case.run())
    await until(lambda: bot.store.unavailable, "a post whose outcome cannot be stored")
    await asyncio.wait({run}, timeout=0.05)
    bot.store.unavailable = None
    let_go.set()
    with pytest.raises(StoreUnavailable):
        await run

    assert bot.delivery(1, "C1").state is DeliveryState.SENDING
    assert bot.delivery(2, "C2").state is DeliveryState.DELIVERED


async def test_a_failure_skips_the_rate_limit_but_overtakes_nothing() -> None:
    bot = Posting()
    await bot.add(*range(1, 6))
    await bot.add(6, kind=EventKind.FAILURE)
    await bot.add(7)

    await bot.run()

    reported = [number for number in range(1, 8) if bot.delivery(number).state.is_settled]
    assert reported == [1, 2, 3, 4, 5, 6]


async def test_the_next_run_is_immediate_only_when_more_may_wait() -> None:
    bot = Posting()
    await bot.add(1, 2)
    await bot.run()
    assert bot.wakes == []

    await bot.add(3, channel_id="C2")
    bot.poster.fail_next(LOST)
    await bot.run(1)
    bot.wakes.clear()
    # What was in doubt held back what stands behind it.
    await bot.run(60)
    assert bot.wakes == [0]


async def test_the_next_run_is_immediate_after_a_full_claim() -> None:
    bot = Posting()
    for number in range(CONCURRENT_CHANNELS + 1):
        await bot.add(number + 1, channel_id=f"C{number}")
    await bot.run()
    assert bot.wakes == [0]
    bot.wakes.clear()
    await bot.run()
    assert bot.wakes == [1 / WORKSPACE_PER_SECOND]
    bot.wakes.clear()
    await bot.run(seconds=1)
    assert bot.wakes == []


def _lease_ends(bot: Posting) -> float:
    """In seconds from now."""
    return (bot.database.contents.leases["post"].expires_at - bot.clock.now()).total_seconds()


async def test_a_lease_outlasts_the_posts_of_a_claim_and_is_not_renewed_with_each() -> None:
    bot = Posting()
    await bot.run()
    ends = []
    for number in range(12):
        await bot.add(number)
        await bot.run(1)
        ends.append(_lease_ends(bot))
    assert ends == [29, 28, 27, 26, 25, 30] * 2


async def test_a_lease_taken_by_another_process_is_not_treated_as_ours() -> None:
    one = Posting()
    another = Posting(clock=one.clock, database=one.database, holder="another")
    await one.run()
    one.clock.advance(31)
    await another.run()
    await one.add(1)
    await one.run(1)
    assert one.use_case.lease.held is None
    assert one.shown() == []
    await another.run()
    assert another.shown() == [1]


async def test_posts_to_many_channels_keep_to_the_budget_and_a_pause_goes_first() -> None:
    bot = Posting()
    channels = [f"C{number}" for number in range(300)]
    for number, channel_id in enumerate(channels):
        await bot.add(number + 1, channel_id=channel_id)
    await bot.run(seconds=1, times=5)
    assert 50 <= len(bot.poster.called("post")) <= 50 + 5 * 5

    act = make_act()
    with begin(bot.store) as transaction:
        record_id = transaction.audit.add(act)
        subject = Subject(SubjectKind.ACT, SITE, record_id)
        new = NewDelivery("paused", "C299", subject, bot.clock.now(), urgent=True)
        transaction.outbox.add([new])
    await bot.run(seconds=1, times=1)
    assert bot.poster.history[-5].delivery_id == "paused"

    await bot.run(seconds=1, times=60)
    assert len(bot.poster.history) == 301


class _CrowdedStore(InMemoryStore):
    """Its database does not answer those that store outcomes, until it is let go: then it fails."""

    def __init__(self, database: InMemoryDatabase, poster: RecordingPoster) -> None:
        super().__init__(database)
        self._poster = poster
        self.waiting = self.asked = 0
        self.let_go = asyncio.Event()

    @override
    async def run(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._poster.calls:
            self.waiting += 1
            self.asked += 1
            await self.let_go.wait()
            self.waiting -= 1
            raise StoreUnavailable("timeout")
        return await super().run(body, *args, **kwargs)


@pytest.mark.parametrize("is_ending", [False, True])
async def test_storing_outcomes_leaves_connections_free_and_does_not_delay_the_stop(
    *, is_ending: bool
) -> None:
    bot = Posting()
    for number in range(10):
        await bot.add(number + 1, channel_id=f"C{number}")
    store = _CrowdedStore(bot.database, bot.poster)
    bot.use_case = PostDeliveries(store, bot.poster, bot.clock, bot.wake, "one", lambda: 1.0)

    run = asyncio.create_task(bot.use_case.run())
    await until(lambda: len(bot.poster.calls) == 10, "ten posts")
    await until(lambda: store.waiting == LARGEST_OUTCOMES, "outcomes that are being stored")
    if is_ending:
        bot.use_case.begin_no_more()
    store.let_go.set()
    with pytest.raises(StoreUnavailable):
        await run

    # At the end of the process, those that wait do not ask a database that did not answer.
    assert store.asked == (LARGEST_OUTCOMES if is_ending else 10)
