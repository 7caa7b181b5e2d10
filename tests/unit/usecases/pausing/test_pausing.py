"""Pausing and resuming at a person's request: effects, posts and records."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.audit import Action, ActResult, AuditRecord, Origin
from bot.domain.deliveries import SubjectKind
from bot.domain.errors import (
    CredentialRefused,
    InvalidReason,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    PermissionDenied,
)
from bot.domain.notices import Notice
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.pauses import AlreadyPaused, NotPaused, OtherPause, Paused, Resumed
from bot.ports import ChannelAccess
from bot.usecases.asking.home import home_state
from bot.usecases.asking.queues import read_queue
from bot.usecases.asking.sources import Sources
from bot.usecases.leases import JobLease
from bot.usecases.pausing.timers import ResumeByTimer
from tests.support.acting import Acting
from tests.support.clock import NOON
from tests.support.directories import make_person
from tests.support.make import (
    ALICE,
    API,
    BOB,
    CHANNEL,
    SITE,
    make_status,
    make_subscription,
    make_timer,
)
from tests.support.transactions import begin

HOUR = timedelta(hours=1)
SIGNED = "CI runners are down (by alice via Slack)"


async def test_a_pause_is_made_recorded_and_posted() -> None:
    bot = Acting()
    await bot.subscribe(make_subscription("pause", channel_id="C2"))
    await bot.subscribe(make_subscription("merge", channel_id="C3"))

    outcome = await bot.pause("  CI runners are down ")

    assert isinstance(outcome, Paused)
    assert outcome.previous is None
    assert outcome.change.posted_here
    assert bot.merge_queue.pauses[SITE].reason == SIGNED
    started, done = await bot.audit()
    assert (started.result, done.result) == (ActResult.STARTED, ActResult.DONE)
    assert done.act_id == started.record_id
    assert (done.reason, done.stored_reason) == ("CI runners are down", SIGNED)
    assert done.paused_at == bot.merge_queue.pauses[SITE].paused_at
    assert bot.notified_channels() == [CHANNEL, "C2"]
    assert {one.subject.kind for one in bot.deliveries()} == {SubjectKind.LIVE_MESSAGE}
    assert bot.wakes == 1


async def test_a_second_pause_shows_the_first_pauser_and_changes_nothing() -> None:
    bot = Acting()
    await bot.pause()

    outcome = await bot.pause(" deploying ", BOB)

    assert isinstance(outcome, AlreadyPaused)
    assert outcome.known.by is not None
    assert (outcome.known.by.name, outcome.known.reason) == ("alice", "CI runners are down")
    assert outcome.reason == "deploying"
    assert len(bot.merge_queue.called("pause")) == 1
    assert len(bot.deliveries()) == 1
    assert ActResult.DONE not in (await bot.results())[2:]


async def test_a_pause_made_elsewhere_has_the_services_reason_and_no_person() -> None:
    bot = Acting()
    bot.paused_elsewhere("by hand", at=NOON)

    outcome = await bot.pause()

    assert isinstance(outcome, AlreadyPaused)
    assert (outcome.known.by, outcome.known.reason) == (None, "by hand")


async def test_the_next_pause_recognises_our_own_interrupted_pause() -> None:
    """A process was killed after the service had paused, before the bot had stored the answer."""
    bot = Acting()
    with begin(bot.store) as transaction:
        asked = AuditRecord(
            at=bot.clock.now(),
            actor=ALICE,
            action=Action.PAUSE,
            origin=Origin.COMMAND,
            repository=SITE,
            result=ActResult.STARTED,
            channel_id=CHANNEL,
            reason="CI runners are down",
            stored_reason=SIGNED,
        )
        started = transaction.audit.add(asked)
    bot.paused_elsewhere(SIGNED, at=bot.clock.now())

    outcome = await bot.pause("deploying", BOB)

    assert isinstance(outcome, AlreadyPaused)
    assert outcome.known.by == Who("alice", ALICE.user_id)
    done = next(one for one in await bot.audit() if one.result is ActResult.DONE)
    assert (done.act_id, done.paused_at) == (started, bot.merge_queue.pauses[SITE].paused_at)
    assert bot.notified_channels() == [CHANNEL]


async def test_a_pause_is_replaced_only_if_it_is_the_one_shown() -> None:
    bot = Acting()
    first = await bot.pause()
    assert isinstance(first, Paused)

    outcome = await bot.pause("deploying", BOB, replacing=first.change.act.paused_at)

    assert isinstance(outcome, Paused)
    assert outcome.previous is not None
    assert outcome.previous.reason == "CI runners are down"
    assert bot.merge_queue.pauses[SITE].reason == "deploying (by bob via Slack)"
    done = (await bot.audit())[-1]
    assert (done.previous_reason, done.previous_paused_at) == (
        "CI runners are down",
        first.change.act.paused_at,
    )


async def test_a_stale_replace_changes_nothing() -> None:
    bot = Acting()
    await bot.pause()

    outcome = await bot.pause("deploying", BOB, replacing=NOON - timedelta(hours=1))

    assert isinstance(outcome, AlreadyPaused)
    assert bot.merge_queue.pauses[SITE].reason == SIGNED


async def test_two_people_who_pause_at_once_do_not_overwrite_each_other() -> None:
    bot = Acting()

    outcomes = await asyncio.gather(bot.pause("one"), bot.pause("two", BOB))

    assert [type(outcome) for outcome in outcomes] == [Paused, AlreadyPaused]
    assert len(bot.merge_queue.called("pause")) == 1


@pytest.mark.parametrize("reason", ["", "   ", "x" * 256])
async def test_a_bad_reason_is_refused_before_calling_the_service(reason: str) -> None:
    bot = Acting()

    with pytest.raises(InvalidReason):
        await bot.pause(reason)

    assert bot.merge_queue.calls == []
    assert await bot.audit() == []


@pytest.mark.parametrize("action", [Action.PAUSE, Action.RESUME])
async def test_a_person_without_the_right_is_refused_and_recorded(action: Action) -> None:
    bot = Acting()
    bot.people.others[BOB.user_id] = make_person(BOB.user_id, is_guest=True)

    with pytest.raises(PermissionDenied):
        await (bot.pause("down", BOB) if action is Action.PAUSE else bot.resume(BOB))

    (refused,) = await bot.audit()
    assert (refused.result, refused.action, refused.actor) == (ActResult.REFUSED, action, BOB)
    assert refused.detail
    assert bot.merge_queue.calls == []


async def test_a_service_failure_records_a_start_and_a_failure() -> None:
    bot = Acting()
    bot.merge_queue.fail_next(MergeQueueUnavailable("no answer"), method="pause", after=True)

    with pytest.raises(MergeQueueUnavailable):
        await bot.pause()

    started, failed = await bot.audit()
    assert (started.result, failed.result) == (ActResult.STARTED, ActResult.FAILED)
    assert failed.act_id == started.record_id
    assert "no answer" in (failed.detail or "")
    assert bot.deliveries() == []


async def test_a_service_refusal_is_recorded_as_a_refusal() -> None:
    bot = Acting()
    bot.merge_queue.fail_next(CredentialRefused(403, "no"), method="pause")

    with pytest.raises(CredentialRefused):
        await bot.pause()

    assert await bot.results() == ["started", "refused"]


async def test_an_unreadable_service_starts_nothing() -> None:
    bot = Acting()
    bot.merge_queue.fail_next(MergeQueueUnavailable("down"), method="current_pause")

    with pytest.raises(MergeQueueUnavailable):
        await bot.pause()

    assert "started" not in await bot.results()


@pytest.mark.parametrize("access", [one for one in ChannelAccess if one is not ChannelAccess.OPEN])
async def test_if_the_bot_cannot_post_the_actor_gets_a_private_reply(access: ChannelAccess) -> None:
    bot = Acting()
    bot.channels.others[CHANNEL] = access

    outcome = await bot.pause()

    assert isinstance(outcome, Paused)
    assert not outcome.change.posted_here
    assert bot.notified_channels() == []


async def test_without_a_channel_only_subscribed_channels_are_notified() -> None:
    bot = Acting()
    await bot.subscribe(make_subscription("pause", channel_id="C2"))

    outcome = await bot.pause(channel_id=None)

    assert isinstance(outcome, Paused)
    assert not outcome.change.posted_here
    assert bot.notified_channels() == ["C2"]


async def test_a_resume_is_recorded_and_shows_the_length_of_the_pause() -> None:
    bot = Acting()
    paused = await bot.pause()
    assert isinstance(paused, Paused)
    bot.clock.advance(3600)

    outcome = await bot.resume(BOB)

    assert isinstance(outcome, Resumed)
    assert outcome.previous.reason == "CI runners are down"
    assert SITE not in bot.merge_queue.pauses
    done = (await bot.audit())[-1]
    assert (done.action, done.result) == (Action.RESUME, ActResult.DONE)
    assert (done.previous_reason, done.previous_paused_at) == (
        "CI runners are down",
        paused.change.act.paused_at,
    )
    assert bot.notified_channels() == [CHANNEL, CHANNEL, ALICE.user_id]


async def test_people_can_turn_off_notices_of_changes_to_their_pause() -> None:
    bot = Acting()
    with begin(bot.store) as transaction:
        transaction.notices.choose(ALICE.user_id, {Notice.REPLACED: False})
    await bot.pause()
    await bot.resume(BOB)

    assert bot.notified_channels() == [CHANNEL, CHANNEL]


async def test_a_second_resume_shows_who_resumed() -> None:
    bot = Acting()
    await bot.pause()
    await bot.resume()

    outcome = await bot.resume(BOB)
    assert isinstance(outcome, NotPaused)
    assert outcome.ended is not None
    assert outcome.ended.ended_by == Who("alice", ALICE.user_id)
    assert outcome.ended.ended_at == bot.clock.now() - timedelta(seconds=1)
    assert len(bot.merge_queue.called("resume")) == 1


async def test_a_404_is_not_reported_as_not_paused_while_the_status_says_paused() -> None:
    bot = Acting()
    bot.merge_queue.statuses[SITE] = make_status(paused=True)

    with pytest.raises(MergeQueueProtocolError):
        await bot.resume(BOB)

    assert bot.deliveries() == []


async def test_a_stale_button_resumes_nothing_and_shows_the_pause_in_force() -> None:
    bot = Acting()
    first = await bot.pause()
    assert isinstance(first, Paused)
    await bot.resume()
    await bot.pause("deploying", BOB)

    outcome = await bot.resume(expected=first.change.act.paused_at)

    assert isinstance(outcome, OtherPause)
    assert outcome.known.reason == "deploying"
    assert SITE in bot.merge_queue.pauses


async def test_the_button_of_the_pause_in_force_resumes_the_queue() -> None:
    bot = Acting()
    paused = await bot.pause()
    assert isinstance(paused, Paused)

    assert isinstance(await bot.resume(expected=paused.change.act.paused_at), Resumed)


async def test_a_failed_resume_is_recorded() -> None:
    bot = Acting()
    await bot.pause()
    bot.merge_queue.fail_next(MergeQueueUnavailable("no answer"), method="resume")

    with pytest.raises(MergeQueueUnavailable):
        await bot.resume()

    assert (await bot.results())[2:] == ["started", "failed"]
    assert len(bot.deliveries()) == 1


async def test_the_status_names_the_person_who_paused() -> None:
    bot = Acting()
    await bot.pause()
    sources = Sources(bot.merge_queue, bot.store, bot.clock)

    snapshot = await read_queue(SITE, sources, "main")

    assert snapshot.pause is not None
    assert snapshot.pause.by is not None
    assert snapshot.pause.by.name == "alice"
    assert (snapshot.status, snapshot.branch) == (make_status(), "main")
    assert bot.merge_queue.called("status")[0].branch == "main"


async def test_an_unreadable_queue_is_never_shown_as_an_empty_one() -> None:
    bot = Acting()
    sources = Sources(bot.merge_queue, bot.store, bot.clock)
    for method in ("status", "current_pause"):
        bot.merge_queue.fail_next(MergeQueueUnavailable("down"), method=method)
        with pytest.raises(MergeQueueUnavailable):
            await read_queue(SITE, sources)


async def test_home_shows_readable_queues_and_names_the_others() -> None:
    bot = Acting()
    sources = Sources(bot.merge_queue, bot.store, bot.clock)

    state = await home_state([SITE, API], sources)

    assert state.queues[0] == API
    assert [getattr(one, "repository", one) for one in state.queues] == [API, SITE]


async def test_the_services_responses_are_recorded() -> None:
    bot = Acting()
    await bot.pause()
    await bot.resume()
    bot.merge_queue.fail_next(CredentialRefused(403, "admins only"), method="pause")
    with pytest.raises(CredentialRefused):
        await bot.pause()

    answers = [(one.result, one.answer) for one in await bot.audit()]
    assert answers == [
        (ActResult.STARTED, None),
        (ActResult.DONE, "200"),
        (ActResult.STARTED, None),
        (ActResult.DONE, "204"),
        (ActResult.STARTED, None),
        (ActResult.REFUSED, "403 forbidden: admins only"),
    ]


async def test_a_timer_whose_pause_ended_is_not_checked_again() -> None:
    bot = Acting()
    timer = make_timer(resumes_at=NOON + HOUR)
    bot.clock.advance(HOUR.total_seconds())
    now = bot.clock.now()
    over = PauseRecord(
        SITE, NOON, "night", "night", timer=timer, ended_at=now, ending=PauseEnding.RESUMED
    )
    with begin(bot.store) as transaction:
        over = replace(over, pause_id=transaction.pauses.save(over))
        assert transaction.pauses.due(now, 10) == [over]
    by_timer = ResumeByTimer(bot.resuming, bot.store, bot.clock, lambda: 0.5)

    assert isinstance(await by_timer.run(over, JobLease("timers", "one", HOUR)), NotPaused)

    with begin(bot.store) as transaction:
        assert transaction.pauses.due(now + HOUR, 10) == []
