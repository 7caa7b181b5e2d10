"""Pausing and resuming at a person's request: effects, posts and records."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.audit import Action, ActResult, AuditRecord, Origin
from bot.domain.errors import CredentialRefused, MergeQueueProtocolError, MergeQueueUnavailable
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.pauses import AlreadyPaused, NotPaused
from bot.usecases.pausing.group_work import GroupWork
from bot.usecases.pausing.timers import ExpirePauses, timers_lease
from tests.support.acting import Acting
from tests.support.clock import NOON
from tests.support.make import ALICE, BOB, CHANNEL, SITE, make_status, make_timer
from tests.support.transactions import begin

HOUR = timedelta(hours=1)
SIGNED = "CI runners are down (by alice via Slack)"


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


async def test_an_unreadable_service_starts_nothing() -> None:
    bot = Acting()
    bot.merge_queue.fail_next(MergeQueueUnavailable("down"), method="current_pause")

    with pytest.raises(MergeQueueUnavailable):
        await bot.pause()

    assert "started" not in await bot.results()


async def test_a_404_is_not_reported_as_not_paused_while_the_status_says_paused() -> None:
    bot = Acting()
    bot.merge_queue.statuses[SITE] = make_status(paused=True)

    with pytest.raises(MergeQueueProtocolError):
        await bot.resume(BOB)

    assert bot.deliveries() == []


async def test_a_failed_resume_is_recorded() -> None:
    bot = Acting()
    await bot.pause()
    bot.merge_queue.fail_next(MergeQueueUnavailable("no answer"), method="resume")

    with pytest.raises(MergeQueueUnavailable):
        await bot.resume()

    assert (await bot.results())[2:] == ["started", "failed"]
    assert len(bot.deliveries()) == 1


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
    work, lease = GroupWork(bot.acts), timers_lease("one")
    by_timer = ExpirePauses(bot.resuming, work, lease, lambda: 0.5)

    assert isinstance(await by_timer.resume(over), NotPaused)

    with begin(bot.store) as transaction:
        assert transaction.pauses.due(now + HOUR, 10) == []
