"""Posting: in order, looked for when in doubt, given up only for good reasons."""

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Text, delete, literal, update
from sqlalchemy.exc import OperationalError

from bot.acts.rows import Audit
from bot.blocks.message import Message, Thread
from bot.kernel.pacing import WORKSPACE_PER_SECOND
from bot.log.classification import EventKind
from bot.log.rows import Events
from bot.log.tables import events
from bot.pauses.pause import PauseEnd
from bot.pauses.rows import Pauses
from bot.posts.delivery import (
    MAXIMUM_AGE,
    RECHECK_DELAYS,
    Delivery,
    DeliveryState,
    NewDelivery,
    Subject,
    SubjectKind,
)
from bot.posts.enqueueing import open_live_messages
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.posts.posting import CONCURRENT_CHANNELS, CONCURRENT_OUTCOMES
from bot.posts.send import SUSPENDED_RETRY
from bot.runtime.scheduler import Job
from bot.slack.errors import PostInDoubt, PostPostponed, PostRefused, Refusal
from bot.store.errors import StoreUnavailable
from tests.support.make import SITE, make_act, make_event_record, make_known_pause, make_subject
from tests.support.metrics import KeptTimes, counted
from tests.support.poster import RecordingPoster
from tests.support.posting import Posting
from tests.support.transactions import begin
from tests.support.waiting import until

LOST = PostInDoubt("ServerDisconnectedError")
GONE = PostRefused("channel_not_found", Refusal.CHANNEL)
RECHECK = RECHECK_DELAYS[0].total_seconds()
PARKED = SUSPENDED_RETRY.total_seconds()


@pytest.fixture
def bot() -> Posting:
    return Posting()


async def in_doubt(bot: Posting, *event_ids: int, is_posted: bool = True) -> None:
    """The answer to the first of these posts was lost."""
    bot.add(*event_ids)
    bot.poster.fail_next(LOST, after=is_posted)
    await bot.run()
    assert bot.delivery(event_ids[0]).progress.state is DeliveryState.IN_DOUBT


def stays_unclear(bot: Posting, phrase: str, *, blocks_only: bool = False) -> None:
    """Slack answers posts that contain it with `internal_error` and does not post them."""

    async def fail(_: str, message: Message | None) -> None:
        if message is not None and phrase in message.text and (message.blocks or not blocks_only):
            bot.poster.fail_next(PostInDoubt("internal_error"))

    bot.poster.meanwhile = fail


def logged(caplog: pytest.LogCaptureFixture) -> set[tuple[object, str]]:
    return {(vars(record).get("action"), record.levelname) for record in caplog.records}


async def test_a_stopping_process_finishes_only_its_current_post(bot: Posting) -> None:
    """Whoever comes next posts the others at once, each once and in order."""

    async def end(*_: object) -> None:
        bot.use_case.begin_no_more()

    bot.poster.meanwhile = end
    bot.add(1, 2, 3)
    bot.add(2, 4, channel_id="C2")

    await bot.run(times=3)

    assert (bot.shown("C1"), bot.shown("C2")) == ([1], [])
    assert bot.delivery(1).progress.state is DeliveryState.DELIVERED
    assert (bot.delivery(2).progress.state, bot.delivery(2).progress.attempted_at) == (
        DeliveryState.PENDING,
        None,
    )
    await bot.use_case.release()
    following = Posting(bot.clock, bot.database, bot.poster, holder="two")
    await following.run()
    assert (bot.shown("C1"), bot.shown("C2")) == ([1, 2, 3], [2, 4])
    assert bot.poster.called("find") == []


async def test_deliveries_held_for_a_digest_are_not_late(bot: Posting) -> None:
    bot.add(1, digest_at=bot.clock.now() + timedelta(hours=9))
    bot.add(2)
    bot.metrics.event_to_post = delays = KeptTimes()
    await bot.run(5)
    await bot.run(9 * 3600)
    assert bot.shown() == [2, 1]
    assert delays.seconds == [5]


async def test_an_event_of_a_service_whose_clock_is_ahead_counts_as_posted_at_once(
    bot: Posting,
) -> None:
    now = bot.clock.now()
    with begin(bot.store) as transaction:
        ahead = now + timedelta(seconds=3)
        Events(transaction).add_new([make_event_record(event_id=1, received_at=ahead)])
        Outbox(transaction).add([NewDelivery("1", "C1", make_subject(1), now)])
    bot.metrics.event_to_post = delays = KeptTimes()
    await bot.run()
    assert delays.seconds == [0]


async def test_replies_go_to_their_thread_and_their_summary_to_the_channel(bot: Posting) -> None:
    root = (await bot.poster.post("C1", Message("Queued #1"), "root")).ts
    card_id = bot.add_root(root)
    bot.add(1, root_id=card_id, kind=EventKind.CHECKS_STARTED)
    bot.add(2, root_id=card_id, kind=EventKind.FAILURE)
    await bot.run()
    threads = [post.thread for post in bot.poster.history[1:]]
    assert threads == [Thread(root), Thread(root, broadcast=True)]

    bot.poster.fail_next(PostInDoubt("lost"), after=True)
    bot.add(3, root_id=card_id, kind=EventKind.CHECKS_STARTED)
    await bot.run()
    bot.add(*range(4, 60), root_id=card_id, kind=EventKind.CHECKS_STARTED)
    bot.add(60, root_id=card_id, kind=EventKind.MERGE)
    await bot.run(60, times=2)

    reply, summary = bot.poster.history[3:]
    assert summary.message.text.startswith("Catching up: 57 events")
    assert (reply.thread, summary.thread) == (Thread(root), None)


async def test_a_silent_leave_of_a_merged_pull_request_is_no_failure(bot: Posting) -> None:
    leave = make_event_record("action.queue.leave", received_at=bot.clock.now())
    with begin(bot.store) as transaction:
        Events(transaction).add_new([leave])
        judged = NewDelivery("d", "C1", make_subject(1), bot.clock.now(), kind=EventKind.OTHER)
        Outbox(transaction).add([judged])

    await bot.run()

    (text,) = bot.poster.shown("C1")
    assert "Left the queue" not in text
    assert "merged by the queue" in text


async def test_a_post_in_progress_is_not_repeated_when_the_clock_jumps(bot: Posting) -> None:
    """Its claim has ended by then, as after a night of sleep, and no history shows it yet."""
    asked = asyncio.Event()
    answers = asyncio.Event()

    async def wait(*_: object) -> None:
        asked.set()
        await answers.wait()

    bot.poster.meanwhile = wait
    bot.add(7)
    job = Job("post deliveries", bot.use_case.run)
    job.wake()
    await asked.wait()
    bot.clock.advance(31)
    for _ in range(5):
        job.wake()
        await asyncio.sleep(0)
        bot.clock.advance(1)
    answers.set()
    await job.drain()
    await bot.run(1, times=10)

    assert bot.methods == ["post"]
    assert bot.delivery(7).progress.state is DeliveryState.DELIVERED


async def test_a_rate_limited_lookup_waits_as_long_as_slack_asks(bot: Posting) -> None:
    await in_doubt(bot, 1)
    limited = PostPostponed("ratelimited", retry_after=60, workspace_wide=True)
    bot.poster.fail_next(limited, method="find")

    await bot.run(2)
    await bot.run(1, times=59)
    assert len(bot.poster.called("find")) == 1

    await bot.run(2)
    assert bot.delivery(1).progress.state is DeliveryState.DELIVERED


async def test_a_post_in_doubt_in_a_lost_channel_waits_like_any_other(bot: Posting) -> None:
    await in_doubt(bot, 1, 2)
    for _ in range(5):
        bot.poster.fail_next(GONE, method="find")

    await bot.run(seconds=1, times=600)

    assert len(bot.poster.called("find")) == 5
    assert bot.database.contents.suspended["C1"].code == "channel_not_found"
    await bot.run(PARKED)
    await bot.run()
    assert bot.shown() == [1, 2]
    assert bot.database.contents.suspended == {}


async def test_history_the_bot_cannot_read_delays_no_urgent_post(bot: Posting) -> None:
    await in_doubt(bot, 1)
    bot.poster.fail_next(PostRefused("not_in_channel", Refusal.CHANNEL), method="find")
    await bot.run(3)
    bot.add(2, urgent=True)

    await bot.run(1)

    assert 2 in bot.shown()


async def test_a_post_deleted_before_its_lookup_is_posted_again(bot: Posting) -> None:
    """Slack's history shows no difference; docs/reliability.md lists it."""
    await in_doubt(bot, 1)
    bot.poster.deleted.add(bot.poster.history[0].ts)

    await bot.run(seconds=11, times=5)

    assert bot.methods.count("post") == 2
    assert bot.shown() == [1]
    assert bot.delivery(1).progress.state is DeliveryState.DELIVERED


async def test_a_post_that_stays_unclear_is_dropped_after_a_week(
    bot: Posting, caplog: pytest.LogCaptureFixture
) -> None:
    stays_unclear(bot, "#1\n")
    bot.add(1)
    await bot.run(3600, times=MAXIMUM_AGE // timedelta(hours=1) - 1)
    assert not bot.delivery(1).progress.state.is_settled
    bot.add(2)

    await bot.run(600, times=15)

    assert bot.delivery(1).progress.state is DeliveryState.FAILED
    assert bot.delivery(1).progress.error == "internal_error"
    assert bot.shown() == [2]
    assert ("given_up", "ERROR") in logged(caplog)


def open_card(bot: Posting) -> None:
    """A live message of a pause, which is to be posted."""
    with begin(bot.store) as transaction:
        pause_id = Pauses(transaction).save(make_known_pause())
        name = LiveSubject(LiveKind.PAUSE, SITE, str(pause_id))
        open_live_messages(transaction, name, ["C2"], bot.clock.now(), identity="1")


@pytest.mark.parametrize("lacks_buttons", [False, True])
async def test_a_card_without_its_buttons_is_edited_later(
    bot: Posting, *, lacks_buttons: bool
) -> None:
    bot.poster.lacks_buttons = lacks_buttons
    open_card(bot)
    await bot.run()
    assert bot.poster.history
    with begin(bot.store) as transaction:
        assert bool(LiveMessages(transaction).due(bot.clock.now(), 10)) is lacks_buttons


async def test_blocks_that_stay_unclear_are_replaced_by_plain_text(
    bot: Posting, caplog: pytest.LogCaptureFixture
) -> None:
    """A card gets them later."""
    stays_unclear(bot, "", blocks_only=True)
    bot.add(1)
    open_card(bot)

    await bot.run(1, times=300)

    assert [post.message.blocks for post in bot.poster.history] == [(), ()]
    assert ("plain_text", "ERROR") in logged(caplog)
    with begin(bot.store) as transaction:
        assert LiveMessages(transaction).due(bot.clock.now(), 10)


async def test_a_post_that_slack_refuses_slowly_and_repeatedly_is_made_once(bot: Posting) -> None:
    """Its thread is gone, its blocks are refused, and each answer takes as long as one may."""
    bot.poster.blocks_refused = True
    bot.add(1, root_id=bot.add_root("1784548799.000001"))
    poster = RecordingPoster(history=bot.poster.history)
    other = Posting(bot.clock, bot.database, poster, "other")

    async def others_work(*_: object) -> None:
        bot.clock.advance(10)
        await other.run(times=3)

    bot.poster.meanwhile = others_work
    await bot.run()
    await other.run(60, times=2)

    assert bot.shown() == [1]


async def test_what_cannot_be_posted_fails_and_delays_nothing(bot: Posting) -> None:
    """Slack takes the first one in no form; of the second, the subject is gone."""
    bot.add(1, 2, 3)
    bot.poster.fail_next(PostRefused("invalid_blocks", Refusal.MESSAGE))
    bot.poster.fail_next(PostRefused("no_text", Refusal.MESSAGE))
    bot.database.execute(delete(events).where(events.c.event_id == 2))

    await bot.run()

    assert [
        (bot.delivery(number).progress.state, bot.delivery(number).progress.error)
        for number in (1, 2)
    ] == [
        (DeliveryState.FAILED, "no_text"),
        (DeliveryState.FAILED, "subject_missing"),
    ]
    assert bot.shown() == [3]


async def test_that_an_end_counts_no_more_is_not_said_of_a_pause_that_is_over(
    bot: Posting,
) -> None:
    now = bot.clock.now()
    over = replace(make_known_pause(), end=PauseEnd(at=now))
    with begin(bot.store) as transaction:
        pause_id = Pauses(transaction).save(over)
        subject = Subject(SubjectKind.END_VOID, SITE, pause_id)
        Outbox(transaction).add([NewDelivery("void", "U0BOB", subject, now, urgent=True)])

    await bot.run()

    assert bot.database.contents.deliveries["void"].progress.error == "nothing_to_say"


@pytest.mark.parametrize("refusal", [Refusal.THREAD, Refusal.EDIT])
async def test_a_refusal_that_is_not_the_channels_suspends_nothing(
    bot: Posting, refusal: Refusal
) -> None:
    bot.add(1, 2)
    bot.poster.fail_next(PostRefused("restricted_action_thread_locked", refusal))

    await bot.run()

    assert bot.delivery(1).progress.state is DeliveryState.FAILED
    assert bot.shown() == [2]


async def test_a_history_that_slack_refuses_to_show_blocks_its_channel_for_minutes_only(
    bot: Posting,
) -> None:
    """Nobody knows the code, and asking again brings no other answer."""
    bot.add(1, 2)
    bot.poster.fail_next(PostInDoubt("http_500"))
    await bot.run()
    began = bot.clock.now()
    for _ in range(20):
        refused = PostRefused("made_up_next_year", Refusal.MESSAGE)
        bot.poster.fail_next(refused, method="find")
        bot.clock.advance(60)
        await bot.run()
        if bot.delivery(1).progress.state is DeliveryState.FAILED:
            break

    assert bot.clock.now() - began <= timedelta(minutes=12)
    assert bot.shown() == [2]


async def test_a_delivery_that_cannot_be_rendered_becomes_plain_text(
    bot: Posting, caplog: pytest.LogCaptureFixture
) -> None:
    bot.add(1, 2, 3)
    bot.add(4, channel_id="C2")
    broken = literal('{"queued_at":"not a time"}', Text())
    bot.database.execute(update(events).where(events.c.event_id == 2).values(details=broken))

    await bot.run()

    assert bot.shown("C2") == [4]
    first, plain, third = (
        subscription.message
        for subscription in bot.poster.history
        if subscription.channel_id == "C1"
    )
    assert "#1\n" in first.text
    assert "#3\n" in third.text
    assert (plain.text.split(":")[0], plain.blocks) == (SITE, ())
    assert bot.delivery(2).progress.state is DeliveryState.DELIVERED
    assert counted(bot.metrics.not_rendered) == {(): 1}
    assert ("not_rendered", "ERROR") in logged(caplog)


async def test_a_database_failure_while_rendering_turns_nothing_into_plain_text(
    bot: Posting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("SELECT", {}, sqlite3.OperationalError("disk I/O error"))

    bot.add(1, 2)
    with monkeypatch.context() as failing:
        failing.setattr(Events, "get", fail)
        with pytest.raises(StoreUnavailable):
            await bot.run()
    assert bot.poster.calls == []

    await bot.run()

    assert bot.shown() == [1, 2]
    assert all(post.message.blocks for post in bot.poster.history)


async def test_late_outcomes_of_posts_and_looks_are_stored(bot: Posting) -> None:
    """Each takes longer than any lease and claim lasts."""
    await in_doubt(bot, 1, 2)

    async def take_long(*_: object) -> None:
        bot.clock.advance(120)

    bot.poster.meanwhile = take_long
    await bot.run(RECHECK)
    assert bot.delivery(1).progress.state is DeliveryState.DELIVERED
    await bot.run()
    assert bot.delivery(2).progress.state is DeliveryState.DELIVERED

    assert bot.shown() == [1, 2]
    assert bot.methods == ["post", "find", "post"]


async def test_slow_transactions_do_not_stop_posts(bot: Posting) -> None:
    """Whoever wants one waits longer than anything may be sent after its claim."""

    async def take_long() -> None:
        bot.clock.advance(60)

    bot.add(1, 2)
    bot.store.meanwhile = take_long

    await bot.run(times=2)

    assert bot.shown() == [1, 2]
    assert bot.methods == ["post", "post"]


async def test_slow_claims_take_fewer_deliveries_until_posts_are_made(
    bot: Posting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To claim and to read takes a second for each delivery."""
    bot.add(*range(1, 11))
    claim = Outbox.claim

    def take_long(outbox: Outbox, **how: Any) -> Sequence[Delivery]:
        claimed = claim(outbox, **how)
        bot.clock.advance(len(claimed))
        return claimed

    monkeypatch.setattr(Outbox, "claim", take_long)

    await bot.run()
    assert bot.shown() == []
    await bot.run(1, times=20)
    assert bot.shown() == list(range(1, 11))


async def test_a_run_ends_after_its_posts_even_if_no_outcome_can_be_stored(bot: Posting) -> None:
    """What is posted to C2 is answered when it is let go; by then C1 has had its answer."""
    let_go = asyncio.Event()

    async def arrange(channel_id: str, _: object) -> None:
        if channel_id == "C1":
            bot.store.unavailable = "locked"
        else:
            await let_go.wait()

    bot.poster.meanwhile = arrange
    bot.add(1, channel_id="C1")
    bot.add(2, channel_id="C2")

    run = asyncio.create_task(bot.use_case.run())
    await until(lambda: bot.store.unavailable, "a post whose outcome cannot be stored")
    await asyncio.wait({run}, timeout=0.05)
    bot.store.unavailable = None
    let_go.set()
    with pytest.raises(StoreUnavailable):
        await run

    assert bot.delivery(1, "C1").progress.state is DeliveryState.SENDING
    assert bot.delivery(2, "C2").progress.state is DeliveryState.DELIVERED


async def test_a_failure_skips_the_rate_limit_but_overtakes_nothing(bot: Posting) -> None:
    bot.add(*range(1, 6))
    bot.add(6, kind=EventKind.FAILURE)
    bot.add(7)

    await bot.run()

    reported = [number for number in range(1, 8) if bot.delivery(number).progress.state.is_settled]
    assert reported == [1, 2, 3, 4, 5, 6]


async def test_the_next_run_is_immediate_only_when_more_may_wait(bot: Posting) -> None:
    bot.add(1, 2)
    await bot.run()
    assert bot.wakes == []

    bot.add(3, channel_id="C2")
    bot.poster.fail_next(LOST)
    await bot.run(1)
    bot.wakes.clear()
    # What was in doubt held back what stands behind it.
    await bot.run(60)
    assert bot.wakes == [0]


async def test_the_next_run_is_immediate_after_a_full_claim(bot: Posting) -> None:
    bot.add_to_many(CONCURRENT_CHANNELS + 1)
    await bot.run(times=2)
    assert bot.wakes == [0, 1 / WORKSPACE_PER_SECOND]
    bot.wakes.clear()
    await bot.run(seconds=1)
    assert bot.wakes == []


async def test_a_lease_outlasts_a_claim_and_is_not_renewed_with_each_post(bot: Posting) -> None:
    await bot.run()
    ends = []
    for number in range(12):
        bot.add(number)
        await bot.run(1)
        lease = bot.database.contents.leases["post"]
        ends.append((lease.expires_at - bot.clock.now()).total_seconds())
    assert ends == [29, 28, 27, 26, 25, 30] * 2


async def test_posts_to_many_channels_keep_to_the_budget_a_pause_first(bot: Posting) -> None:
    bot.add_to_many(120)
    await bot.run(seconds=1, times=5)
    assert 50 <= len(bot.poster.called("post")) <= 50 + 5 * 5

    with begin(bot.store) as transaction:
        subject = Subject(SubjectKind.ACT, SITE, Audit(transaction).add(make_act()))
        new = NewDelivery("paused", "C119", subject, bot.clock.now(), urgent=True)
        Outbox(transaction).add([new])
    await bot.run(seconds=1, times=1)
    assert bot.poster.history[-5].delivery_id == "paused"

    await bot.run(seconds=1, times=20)
    assert len(bot.poster.history) == 121


@pytest.mark.parametrize("is_ending", [False, True])
async def test_storing_outcomes_leaves_connections_free_and_does_not_delay_the_stop(
    bot: Posting, *, is_ending: bool
) -> None:
    """The database does not answer those that store outcomes, until it is let go: then it fails."""
    asked = list[None]()
    let_go = asyncio.Event()

    async def wait_and_fail() -> None:
        if bot.poster.calls:
            asked.append(None)
            await let_go.wait()
            raise StoreUnavailable("timeout")

    bot.store.meanwhile = wait_and_fail
    bot.add_to_many(10)

    run = asyncio.create_task(bot.use_case.run())
    await until(lambda: len(bot.poster.calls) == 10, "ten posts")
    await until(lambda: len(asked) == CONCURRENT_OUTCOMES, "outcomes that are being stored")
    if is_ending:
        bot.use_case.begin_no_more()
    let_go.set()
    with pytest.raises(StoreUnavailable):
        await run

    # At the end of the process, those that wait do not ask a database that did not answer.
    assert len(asked) == (CONCURRENT_OUTCOMES if is_ending else 10)
