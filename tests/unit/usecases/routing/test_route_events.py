"""Which channels get which events, and which action an event belongs to."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.acts.record import Action, ActResult, AuditRecord, Circumstance, Previous
from bot.channels.subscription import Style
from bot.kernel.actor import Actor, Origin
from bot.log.types import FREEZE_UPDATE
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.queue import Pause
from bot.pauses.readings import PauseReading
from bot.pauses.settling import succeed
from bot.posts.delivery import Delivery
from bot.posts.live_message import LiveKind
from bot.posts.outbox import Outbox
from bot.runtime.renderers import RENDERERS
from tests.support.acting import Acting
from tests.support.clock import NOON
from tests.support.make import CHANNEL, SITE, make_act, make_queued, make_status, make_subscription
from tests.support.reading import Reading
from tests.support.transactions import begin

SIGNED = "CI runners are down (by alice via Slack)"
LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"
CREATE = "queue.pause.create"
DELETE = "queue.pause.delete"
NOT_SENT = Circumstance.NOT_SENT
NOT_CARRIED_OUT = Circumstance.NOT_CARRIED_OUT


def checked(bot: Reading, *numbers: int, batch: str | None = "b1") -> None:
    """The checks of a batch pass, with an event for each of its pull requests."""
    for number in numbers:
        bot.tell(
            "action.queue.checks_end",
            number=number,
            aborted=False,
            batch_id=batch,
            speculative_check_pull_request={"pull_request_numbers": list(numbers)},
        )


def merges(bot: Reading, *numbers: int, batch: str | None = "b1") -> list[EventRecord]:
    found = []
    for number in numbers:
        bot.tell(LEAVE, number=number, merged=True, dequeue_code="PR_MERGED", batch_id=batch)
        found.append(bot.tell(MERGED, number=number))
    return found


async def claimed(bot: Reading) -> Sequence[Delivery]:
    until = bot.clock.now() + timedelta(seconds=1)
    with begin(bot.store) as transaction:
        return Outbox(transaction).claim(
            now=bot.clock.now(), claimed_until=until, at_most=10, per_channel=100
        )


async def posts(bot: Reading, channel_id: str = "C1") -> list[tuple[int, int]]:
    """What there is to post: the event of each, and how many others it tells."""
    found = await claimed(bot)
    return [
        (delivery.subject.subject_id, delivery.summarizes)
        for delivery in found
        if delivery.channel_id == channel_id
    ]


@pytest.mark.parametrize(("batch", "posted"), [("b1", [(2, 1)]), (None, [(2, 0), (4, 0)])])
async def test_without_events_of_checks_only_leaves_can_name_the_batch(
    batch: str | None, posted: list[tuple[int, int]]
) -> None:
    bot = await Reading().start("merge")
    merges(bot, 41, 42, batch=batch)
    await bot.poll()
    assert await posts(bot) == posted


async def test_the_first_merge_of_a_batch_waits_for_the_others() -> None:
    bot = await Reading().start("enter", "merge")
    checked(bot, 41, 42)
    (first,) = merges(bot, 41)
    bot.tell(LEAVE, number=42, merged=True, dequeue_code="PR_MERGED", batch_id="b1")
    behind = bot.tell(number=50)
    await bot.poll()
    assert await posts(bot) == []

    bot.tell(MERGED, number=42)
    await bot.poll()

    assert await posts(bot) == [(first.event_id, 1), (behind.event_id, 0)]


async def test_a_batch_does_not_wait_long_and_later_merges_are_posted_separately() -> None:
    bot = await Reading().start("merge")
    checked(bot, 41, 42)
    (first,) = merges(bot, 41)
    await bot.poll()
    assert await posts(bot) == []
    bot.clock.advance(6)
    await bot.poll()
    assert await posts(bot) == [(first.event_id, 0)]

    (second,) = merges(bot, 42)
    await bot.poll()

    assert (second.event_id, 0) in await posts(bot)


async def test_a_pull_request_that_left_is_not_waited_for() -> None:
    bot = await Reading().start("merge")
    checked(bot, 41, 42, 43)
    bot.tell(LEAVE, number=43, merged=False, dequeue_code="PR_MANUALLY_DEQUEUED", batch_id="b1")
    first, _ = merges(bot, 41, 42)
    await bot.poll()
    assert await posts(bot) == [(first.event_id, 1)]


async def test_a_channel_that_excludes_an_author_gets_the_rest_of_the_batch() -> None:
    bot = await Reading().start("merge")
    await bot.subscribe("enter", channel_id="C3")
    await bot.add(make_subscription("merge", channel_id="C2", except_logins=frozenset({"robot"})))
    bot.merge_queue.statuses[SITE] = make_status(
        waiting=[make_queued(41, author="robot"), make_queued(42), make_queued(43)]
    )
    bot.tell(number=41)
    await bot.poll()
    checked(bot, 41, 42, 43)
    first, second, _ = merges(bot, 41, 42, 43)
    await bot.poll()
    assert await posts(bot, "C1") == [(first.event_id, 2)]
    bot.clock.advance(2)
    assert await posts(bot, "C2") == [(second.event_id, 1)]


async def test_a_merge_shows_in_its_thread_or_in_one_post() -> None:
    bot = Reading()
    await bot.start("health")
    await bot.add(make_subscription("merge", channel_id="C2", style=Style.THREAD))
    await bot.add(make_subscription("enter", "merge", channel_id="C3", style=Style.THREAD))
    for number in (41, 42):
        bot.tell(number=number)
    checked(bot, 41, 42)
    first, second = merges(bot, 41, 42)
    await bot.poll()

    found = await claimed(bot)
    reported = [
        (delivery.channel_id, delivery.subject.kind.value, delivery.summarizes)
        for delivery in found
    ]
    assert reported == [
        ("C2", "event", 1),
        ("C3", "live_message", 0),
        ("C3", "live_message", 0),
        ("C3", "event", 0),
        ("C3", "event", 0),
    ]
    assert first.event_id != second.event_id


async def test_a_leave_without_a_code_is_classified_by_earlier_events() -> None:
    bot = await Reading().start("failure")
    await bot.subscribe("dequeue", channel_id="C2")
    bot.tell("command.dequeue", author={"login": "bob"})
    await bot.poll()
    removed = bot.tell(LEAVE, merged=False)
    bot.tell("action.queue.checks_end", number=42, aborted=True, abort_code="PULL_REQUEST_UPDATED")
    pushed = bot.tell(LEAVE, number=42, merged=False)
    failed = bot.tell(LEAVE, number=43, merged=False)
    await bot.poll()

    assert bot.reported("C1") == [("event", failed.event_id)]
    assert bot.reported("C2") == [("event", removed.event_id), ("event", pushed.event_id)]


def in_force(log: Reading) -> Pause:
    """The service shows a pause from now on."""
    pause = Pause(reason=SIGNED, paused_at=log.clock.now())
    log.merge_queue.pauses[SITE] = pause
    return pause


async def test_an_action_by_the_bot_is_reported_once_when_the_event_comes_first() -> None:
    """The act is still under way: its event, and all behind it, wait for its end."""
    log = await Reading().start("pause", "enter")
    bot = Acting(clock=log.clock, store=log.store)
    act = make_act(result=ActResult.STARTED, at=log.clock.now(), paused_at=None)
    async with bot.acts.locked(act), bot.acts.begun(act) as begun:
        pause = in_force(log)
        log.tell(CREATE, number=None, reason=SIGNED)
        behind = log.tell()
        await log.poll()
        assert log.reported("C1") == []
        reading = PauseReading(pause, log.clock.now())
        await succeed(bot.acts, begun.record, reading, begun.revision)
    await log.poll()

    assert [kind for kind, _ in log.reported("C1")] == ["event", "live_message"]
    assert ("event", behind.event_id) in log.reported("C1")
    assert [kind for kind, _ in log.reported(CHANNEL)] == ["live_message"]
    assert len(log.pauses()) == 1


async def test_the_retry_of_a_timer_is_reported_as_its_own_when_the_event_comes_first() -> None:
    """It adds no record before it succeeds, so its event waits as long as it is under way."""
    log = await Reading().start("pause")
    bot = Acting(clock=log.clock, store=log.store)
    refused = make_act(Action.RESUME, ActResult.STARTED, at=log.clock.now(), paused_at=None)
    await log.record(refused, replace(refused, result=ActResult.REFUSED, act_id=1))
    log.clock.advance(600)
    retry = replace(refused, at=log.clock.now(), act_id=1)
    async with bot.acts.locked(retry), bot.acts.begun(retry) as begun:
        log.tell(DELETE, number=None, deleted_by={"name": "mqbot"})
        await log.poll()
        assert log.reported("C1") == []
        reading = PauseReading(None, log.clock.now())
        await succeed(bot.acts, begun.record, reading, begun.revision)
    await log.poll()

    assert _done(log).actor == refused.actor


async def test_a_timer_is_credited_with_its_retry_whose_answer_was_lost() -> None:
    """Its first request wasn't sent, and a retry adds no record before it succeeds."""
    log = await Reading().start("pause")
    in_force(log)
    log.tell(CREATE, number=None, reason=SIGNED)
    await log.poll()
    unsent = make_act(
        Action.RESUME, ActResult.STARTED, at=log.clock.now(), origin=Origin.TIMER, paused_at=None
    )
    unsent = replace(unsent, previous=Previous(SIGNED, log.clock.now()))
    first = len(log.store.database.contents.audit) + 1
    ended = replace(unsent, result=ActResult.FAILED, act_id=first).under(NOT_SENT)
    await log.record(unsent, ended)

    log.merge_queue.pauses.clear()
    log.tell(DELETE, number=None, seconds=30, deleted_by={"name": "mqbot"})
    await log.poll()

    (pause,) = log.pauses()
    assert pause.ended_by == unsent.actor


@pytest.mark.parametrize(("seconds", "is_ours"), [(1, True), (90, False)])
async def test_an_interrupted_removal_is_posted_as_the_persons_if_it_left_right_then(
    seconds: float, *, is_ours: bool
) -> None:
    log = await Reading().start("dequeue")
    started = make_act(Action.REMOVE, ActResult.STARTED, at=log.clock.now(), paused_at=None)
    await log.record(replace(started, pull_request=41))
    leaves = [
        log.tell(LEAVE, number, seconds=seconds, merged=False, dequeue_code="PR_MANUALLY_DEQUEUED")
        for number in (41, 42)
    ]
    await log.poll()

    assert log.reported("C1") == [("event", leave.event_id) for leave in leaves]
    assert log.reported(CHANNEL) == ([("act", _done(log).record_id)] if is_ours else [])


async def test_an_action_already_logged_is_not_stored_twice_at_its_end() -> None:
    """The process was only slow: its response comes after the log showed the action."""
    log = await Reading().start("pause")
    bot = Acting(clock=log.clock, store=log.store)
    act = make_act(result=ActResult.STARTED, at=log.clock.now(), paused_at=None)
    async with bot.acts.begun(act) as begun:
        pause = in_force(log)
        log.tell(CREATE, number=None, reason=SIGNED)
        await log.poll()

    reading = PauseReading(pause, log.clock.now())
    reported = await succeed(bot.acts, begun.record, reading, begun.revision)

    assert _done(log).outcome.detail == "known from the event log"
    assert reported.act.record_id == _done(log).record_id
    assert sorted([*log.reported("C1"), *log.reported(CHANNEL)]) == [
        ("live_message", 1),
        ("live_message", 2),
    ]
    assert len(log.pauses()) == 1


async def test_the_head_of_a_thread_calls_a_removal_through_the_bot_no_failure() -> None:
    log = await Reading().start("health")
    await log.add(make_subscription("enter", "failure", channel_id="C2", style=Style.THREAD))
    log.tell(number=41)
    await log.poll()
    act = make_act(Action.REMOVE, at=log.clock.now(), paused_at=None)
    await log.record(replace(act, pull_request=41))
    log.tell(LEAVE, number=41, merged=False)
    await log.poll()

    (head,) = log.store.database.contents.live_messages.values()
    with begin(log.store) as transaction:
        message = RENDERERS.render(transaction, [head.subject]).messages[head.subject]
    assert "Removed from the queue" in message.text
    assert message.colour is None


async def begun_pause(log: Reading) -> None:
    """A channel with threads has the card of a pause, which counts what arrives during it."""
    await log.start("health")
    await log.add(make_subscription("enter", "pause", channel_id="C2", style=Style.THREAD))
    in_force(log)
    log.tell(CREATE, number=None, reason=SIGNED)
    await log.poll()
    assert log.reported("C2") == [("live_message", 1), ("adopted", 1)]


def running_again(log: Reading) -> None:
    del log.merge_queue.pauses[SITE]
    log.merge_queue.statuses[SITE] = make_status(paused=False)


def entries_posted(log: Reading) -> list[int]:
    """The pull requests whose thread has begun, in order."""
    contents = log.store.database.contents
    shown = [message for message in contents.live_messages.values() if message.channel_id == "C2"]
    keys = [message.subject.key for message in shown if message.subject.kind is LiveKind.ENTRY]
    return [int(key.partition("-")[0]) for key in keys]


async def test_what_arrives_after_a_pause_has_its_post_though_both_are_read_at_once() -> None:
    log = Reading()
    await begun_pause(log)
    log.tell(number=41)
    await log.poll()
    log.tell(number=42)
    log.tell(DELETE, number=None, deleted_by={"name": "bob"}, seconds=60)
    log.tell(number=43)
    running_again(log)
    await log.poll()

    assert entries_posted(log) == [43]
    (pause,) = log.pauses()
    # No reading of the queue has seen them: the record of the pause counts them all the same.
    assert pause.queue.waited == {41, 42}


async def test_what_arrives_after_a_pause_has_its_post_though_no_reading_shows_the_end() -> None:
    log = Reading()
    await begun_pause(log)
    log.tell(DELETE, number=None, deleted_by={"name": "bob"})
    await log.poll()
    log.tell(number=43)
    await log.poll()

    (pause,) = log.pauses()
    assert pause.is_open
    assert entries_posted(log) == [43]


async def test_what_arrives_in_the_next_pause_of_the_same_record_is_counted() -> None:
    log = Reading()
    await begun_pause(log)
    log.tell(DELETE, number=None, deleted_by={"name": "bob"})
    log.tell(number=42)
    log.tell(CREATE, number=None, reason="Still down", seconds=60)
    log.merge_queue.pauses[SITE] = Pause(reason="Still down", paused_at=log.clock.now())
    log.tell(number=43)
    await log.poll()

    assert entries_posted(log) == [42]


async def test_another_persons_resume_is_not_posted_under_a_later_name() -> None:
    log = await Reading().start("pause")
    await log.record(
        make_act(Action.RESUME, ActResult.STARTED, at=log.clock.now()),
        make_act(Action.RESUME, ActResult.UNCHANGED, at=log.clock.now(), act_id=1),
    )
    event = log.tell(DELETE, number=None, deleted_by={"name": "bob"})
    await log.poll()

    assert log.reported("C1") == [("event", event.event_id)]


@pytest.mark.parametrize(("found", "is_theirs"), [(NOT_SENT, False), (NOT_CARRIED_OUT, True)])
@pytest.mark.parametrize(
    ("action", "type_", "told"),
    [
        (Action.CHANGE_FREEZE, FREEZE_UPDATE, {}),
        (Action.REMOVE, LEAVE, {"merged": False, "dequeue_code": "PR_MANUALLY_DEQUEUED"}),
        # The bot has a personal access token, so the log doesn't say whether it was the bot.
        (Action.RESUME, DELETE, {"deleted_by": {"name": "ci-user", "type": "user"}}),
    ],
    ids=["freeze", "removal", "personal token"],
)
async def test_what_somebody_else_did_is_not_credited_to_a_request_that_was_not_sent(
    action: Action, type_: str, told: dict[str, Any], found: Circumstance, *, is_theirs: bool
) -> None:
    log = await Reading().start("pause", "freeze", "dequeue")
    in_force(log)
    log.tell(CREATE, number=None, reason=SIGNED)
    await log.poll()
    before = len(log.store.database.contents.audit)
    started = make_act(action, ActResult.STARTED, at=log.clock.now(), paused_at=None)
    started = replace(started, pull_request=41 if type_ == LEAVE else None)
    started = replace(started, previous=Previous(SIGNED, log.clock.now()))
    ended = replace(started, result=ActResult.FAILED, act_id=before + 1).under(found)
    await log.record(started, ended)

    log.merge_queue.pauses.clear()
    number = 41 if type_ == LEAVE else None
    log.tell(type_, number, seconds=30, **told)
    await log.poll()

    records = list(log.store.database.contents.audit.values())[before:]
    done = [record for record in records if record.act_id and record.result is ActResult.DONE]
    assert bool(done) is is_theirs


async def test_an_old_action_does_not_match_a_new_pause_with_the_same_reason() -> None:
    log = await Reading().start("pause")
    await log.record(make_act(at=NOON - timedelta(hours=3)))
    in_force(log)
    log.tell(CREATE, number=None, reason=SIGNED)
    await log.poll()

    assert log.reported("C1") == [("live_message", 1), ("adopted", 1)]
    (pause,) = log.pauses()
    # Only the signature says who made it, which gives nobody a right.
    assert (pause.line.by, pause.line.reason) == (Actor("", "alice"), "CI runners are down")


def _done(log: Reading) -> AuditRecord:
    (done,) = [
        record
        for record in log.store.database.contents.audit.values()
        if record.result is ActResult.DONE
    ]
    return done
