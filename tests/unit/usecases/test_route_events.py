"""Who hears about what, and which act an event of the log is told as."""

from datetime import timedelta

import pytest

from bot.domain.audit import Action, ActResult, AuditRecord
from bot.domain.errors import MergeQueueUnavailable
from bot.domain.pause_records import Who
from bot.domain.pauses import IN_PROGRESS, Paused
from tests.support.acting import Acting
from tests.support.clock import NOON
from tests.support.make import (
    ALICE,
    CHANNEL,
    SITE,
    make_act,
    make_queued,
    make_status,
    make_subscription,
)
from tests.support.reading import Reading

SIGNED = "CI runners are down (by alice via Slack)"
LEAVE, MERGED = "action.queue.leave", "action.queue.merged"
CREATE, DELETE = "queue.pause.create", "queue.pause.delete"


async def test_each_channel_hears_what_it_asked_for_in_order() -> None:
    bot = await Reading().start("enter", "merge")
    await bot.subscribe("failure", channel_id="C2")
    await bot.subscribe("dequeue", channel_id="C3")
    entered = bot.tell()
    failed = bot.tell(LEAVE, number=42, merged=False, dequeue_code="CHECKS_FAILED")
    removed = bot.tell(LEAVE, number=43, merged=False, dequeue_code="PR_MANUALLY_DEQUEUED")
    left = bot.tell(LEAVE, number=41, merged=True, dequeue_code="PR_MERGED")
    merged = bot.tell(MERGED)
    await bot.poll()

    assert bot.told("C1") == [("event", entered.id), ("event", merged.id)]
    assert bot.told("C2") == [("event", failed.id)]
    assert bot.told("C3") == [("event", removed.id)]
    assert left.id not in {one for name in ("C1", "C2", "C3") for _, one in bot.told(name)}


async def test_a_leave_without_a_code_is_judged_by_what_came_before_it() -> None:
    bot = await Reading().start("failure")
    await bot.subscribe("dequeue", channel_id="C2")
    bot.tell("command.dequeue", author={"login": "bob"})
    await bot.poll()
    removed = bot.tell(LEAVE, merged=False)
    bot.tell("action.queue.checks_end", number=42, aborted=True, abort_code="PULL_REQUEST_UPDATED")
    pushed = bot.tell(LEAVE, number=42, merged=False)
    failed = bot.tell(LEAVE, number=43, merged=False)
    await bot.poll()

    assert bot.told("C1") == [("event", failed.id)]
    assert bot.told("C2") == [("event", removed.id), ("event", pushed.id)]


async def test_a_branch_and_excepted_authors_narrow_what_is_heard() -> None:
    bot = await Reading().start("enter")
    await bot.add(make_subscription("enter", channel_id="C2", branches=frozenset({"release/*"})))
    await bot.add(make_subscription("enter", channel_id="C3", except_logins=frozenset({"robot"})))
    bot.merge_queue.statuses[SITE] = make_status(
        waiting=[make_queued(41, author="robot"), make_queued(42)]
    )
    by_robot, by_ana = bot.tell(number=41), bot.tell(number=42)
    await bot.poll()

    assert bot.told("C1") == [("event", by_robot.id), ("event", by_ana.id)]
    assert bot.told("C2") == []
    assert bot.told("C3") == [("event", by_ana.id)]


async def test_a_channel_with_two_subscriptions_hears_once() -> None:
    bot = await Reading().start("enter")
    await bot.add(make_subscription("action.queue.enter", "merge", channel_id="C1"))
    event = bot.tell()
    await bot.poll()

    assert bot.told("C1") == [("event", event.id)]


async def test_an_event_that_nobody_asked_for_is_settled_without_a_word() -> None:
    bot = await Reading().start("enter")
    bot.tell(CREATE, number=None, reason="by hand")
    await bot.poll()

    assert bot.told("C1") == []
    assert all(bot.store.database.contents.routed.values())


async def test_a_pause_made_elsewhere_has_a_card_that_names_who_made_it() -> None:
    bot = await Reading().start("pause")
    event = bot.tell(CREATE, number=None, reason="by hand", created_by={"name": "carol"})
    await bot.poll()

    assert bot.told("C1") == [("card", 1)]
    (pause,) = bot.pauses()
    assert (pause.reason, pause.by, pause.event_id) == ("by hand", Who("carol"), event.id)
    assert not pause.is_exact


async def test_an_act_through_the_bot_is_told_once_when_its_answer_comes_first() -> None:
    log = await Reading().start("pause")
    bot = Acting(clock=log.clock, store=log.store)
    outcome = await bot.pause()
    assert isinstance(outcome, Paused)
    log.tell(CREATE, number=None, reason=SIGNED)
    await log.poll()

    assert sorted([*log.told("C1"), *log.told(CHANNEL)]) == [("card", 1), ("card", 2)]
    (pause,) = log.pauses()
    assert (pause.paused_at, pause.is_exact) == (outcome.told.act.paused_at, True)
    assert pause.by == Who("alice", ALICE.user_id)


async def test_an_act_through_the_bot_is_told_once_when_the_event_comes_first() -> None:
    """The act is still under way: its event, and all behind it, wait for its end."""
    log = await Reading().start("pause", "enter")
    bot = Acting(clock=log.clock, store=log.store)
    started = await bot.acts.start(
        make_act(result=ActResult.STARTED, at=log.clock.now(), paused_at=None)
    )
    log.tell(CREATE, number=None, reason=SIGNED)
    behind = log.tell()
    await log.poll()
    assert log.told("C1") == []

    await bot.acts.succeed(started)
    await log.poll()

    assert [kind for kind, _ in log.told("C1")] == ["event", "card"]
    assert ("event", behind.id) in log.told("C1")
    assert [kind for kind, _ in log.told(CHANNEL)] == ["card"]
    assert len(log.pauses()) == 1


async def test_an_act_that_a_crash_cut_short_is_told_as_the_persons_act() -> None:
    log = await Reading().start("pause")
    started = make_act(result=ActResult.STARTED, at=log.clock.now(), paused_at=None)
    await log.record(started)
    event = log.tell(CREATE, number=None, reason=SIGNED)
    await log.poll()
    assert log.told("C1") == []
    log.clock.advance(IN_PROGRESS.total_seconds())

    await log.poll()
    await log.poll()

    done = _done(log)
    assert (done.actor, done.act_id, done.paused_at) == (ALICE, 1, event.received_at)
    assert sorted([*log.told("C1"), *log.told(CHANNEL)]) == [("card", 1), ("card", 2)]
    (pause,) = log.pauses()
    assert (pause.by, pause.reason) == (Who("alice", ALICE.user_id), done.reason)


async def test_an_act_whose_answer_was_lost_is_told_as_the_persons_act() -> None:
    log = await Reading().start("pause")
    bot = Acting(clock=log.clock, store=log.store)
    bot.merge_queue.fail_next(MergeQueueUnavailable("no answer"), method="pause", after=True)
    with pytest.raises(MergeQueueUnavailable):
        await bot.pause()
    log.tell(CREATE, number=None, reason=SIGNED)

    await log.poll()

    assert _done(log).detail == "known from the event log"
    assert sorted([*log.told("C1"), *log.told(CHANNEL)]) == [("card", 1), ("card", 2)]


async def test_the_end_of_an_act_that_the_log_told_first_is_not_stored_twice() -> None:
    """The process was only slow: its answer comes after the log has told of the act."""
    log = await Reading().start("pause")
    bot = Acting(clock=log.clock, store=log.store)
    started = await bot.acts.start(
        make_act(result=ActResult.STARTED, at=log.clock.now(), paused_at=None)
    )
    log.tell(CREATE, number=None, reason=SIGNED)
    log.clock.advance(IN_PROGRESS.total_seconds())
    await log.poll()

    told = await bot.acts.succeed(started)

    assert told.act.record_id == _done(log).record_id
    assert sorted([*log.told("C1"), *log.told(CHANNEL)]) == [("card", 1), ("card", 2)]
    assert len(log.pauses()) == 1


async def test_somebody_elses_unpause_is_not_told_under_the_name_of_who_came_too_late() -> None:
    log = await Reading().start("pause")
    await log.record(
        make_act(Action.UNPAUSE, ActResult.STARTED, at=log.clock.now()),
        make_act(Action.UNPAUSE, ActResult.UNCHANGED, at=log.clock.now(), act_id=1),
    )
    event = log.tell(DELETE, number=None, deleted_by={"name": "bob"})
    await log.poll()

    assert log.told("C1") == [("event", event.id)]


async def test_a_pause_and_its_end_through_the_bot_are_two_posts() -> None:
    log = await Reading().start("pause")
    bot = Acting(clock=log.clock, store=log.store)
    await bot.pause()
    log.tell(CREATE, number=None, reason=SIGNED)
    log.clock.advance(600)
    await bot.unpause()
    log.tell(DELETE, number=None)
    await log.poll()

    assert [kind for kind, _ in log.told("C1")] == ["card", "pause_end"]
    assert [kind for kind, _ in log.told(CHANNEL)] == ["card", "pause_end"]


async def test_an_old_act_is_not_taken_for_a_new_pause_with_the_same_reason() -> None:
    log = await Reading().start("pause")
    await log.record(make_act(at=NOON - timedelta(hours=3)))
    log.tell(CREATE, number=None, reason=SIGNED)
    await log.poll()

    assert log.told("C1") == [("card", 1)]
    (pause,) = log.pauses()
    assert (pause.by, pause.reason) == (None, SIGNED)


def _done(log: Reading) -> AuditRecord:
    (done,) = [
        record
        for record in log.store.database.contents.audit.values()
        if record.result is ActResult.DONE
    ]
    return done
