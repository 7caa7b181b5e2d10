"""Pausing and resuming at a person's request: effects, posts and records."""

from datetime import datetime, timedelta

import pytest

from bot.acts.record import Action, ActResult, Circumstance
from bot.acts.rows import Audit
from bot.kernel.actor import Caller, Origin
from bot.kernel.durations import For
from bot.kernel.errors import ActState
from bot.merge_queue.errors import CredentialRefused, MergeQueueProtocolError, MergeQueueUnavailable
from bot.pauses.outcomes import NotPaused, OtherPause, PauseChange
from bot.pauses.rows import Pauses
from bot.pauses.settling import read_pause_for_act
from bot.pauses.taking_over import TakeOverPause
from tests.support.acting import Acting
from tests.support.clock import NOON
from tests.support.make import ALICE, BOB, CHANNEL, SITE, make_act, make_status
from tests.support.merge_queue import Call
from tests.support.transactions import begin

HOUR = timedelta(hours=1)
SIGNED = "CI runners are down (by alice via Slack)"


async def interrupted(bot: Acting, resumes_at: datetime) -> None:
    """A process was killed after the service had paused, before the bot had stored the answer."""
    now = bot.clock.now()
    asked = make_act(result=ActResult.STARTED, at=now, paused_at=None, resumes_at=resumes_at)
    with begin(bot.store) as transaction:
        Audit(transaction).add(asked)
    bot.paused_elsewhere(SIGNED, at=now)


async def test_the_new_end_of_an_interrupted_pause_stays() -> None:
    bot = Acting()
    await interrupted(bot, bot.clock.now() + HOUR)
    caller = Caller(BOB, Origin.BUTTON, CHANNEL)

    outcome = await bot.pausing.extend(caller, SITE, For(HOUR))
    # As the next poll does.
    await read_pause_for_act(bot.acts, bot.merge_queue, SITE)

    assert isinstance(outcome, PauseChange)
    assert outcome.pause.line.by == ALICE
    with begin(bot.store) as transaction:
        (known,) = Pauses(transaction).open([SITE])
    assert known.resumes_at == outcome.act.resumes_at == NOON + 2 * HOUR


async def test_what_somebody_presses_in_vain_meanwhile_leaves_the_answer_to_a_resume() -> None:
    bot = Acting()
    await bot.pause()

    async def press(call: Call) -> None:
        if call.method == "resume":
            await TakeOverPause(bot.acts).run(Caller(ALICE, Origin.BUTTON, CHANNEL), SITE)

    bot.merge_queue.before_answer = press
    outcome = await bot.resume(BOB)

    assert isinstance(outcome, PauseChange)
    with begin(bot.store) as transaction:
        assert Pauses(transaction).open([SITE]) == []
    assert [(act.action, act.result) for act in (await bot.audit())[-3:]] == [
        (Action.RESUME, ActResult.STARTED),
        (Action.TAKE_OVER, ActResult.UNCHANGED),
        (Action.RESUME, ActResult.DONE),
    ]


async def test_a_service_failure_records_a_start_and_a_failure() -> None:
    bot = Acting()
    lost = MergeQueueUnavailable("no answer")
    bot.merge_queue.fail_next(lost, method="pause", after=True)
    with pytest.raises(MergeQueueUnavailable):
        await bot.pause()

    started, failed = await bot.audit()
    assert (started.result, failed.result) == (ActResult.STARTED, ActResult.FAILED)
    assert failed.act_id == started.record_id
    assert "no answer" in (failed.outcome.detail or "")
    assert bot.deliveries() == []

    bot.merge_queue.fail_next(lost, method="resume")
    with pytest.raises(MergeQueueUnavailable):
        await bot.resume()

    assert (await bot.results())[-2:] == ["started", "failed"]


async def test_a_pause_whose_answer_was_lost_is_done_once_its_whole_reason_is_read() -> None:
    bot = Acting()
    bot.merge_queue.lose_next_answer("pause")

    outcome = await bot.pause()

    assert isinstance(outcome, PauseChange)
    assert outcome.posted_here
    assert outcome.pause.line.by == ALICE
    _, done = await bot.audit()
    assert done.result is ActResult.DONE
    assert done.outcome.answer == "no answer: the connection was lost"
    assert done.paused_at == bot.merge_queue.pauses[SITE].paused_at
    with begin(bot.store) as transaction:
        (known,) = Pauses(transaction).open([SITE])
    assert known == outcome.pause


async def test_an_end_that_a_pause_sets_counts_also_if_its_answer_was_lost() -> None:
    bot = Acting()
    bot.merge_queue.lose_next_answer("pause")
    caller = Caller(ALICE, Origin.COMMAND, CHANNEL)

    outcome = await bot.pausing.run(caller, SITE, "CI runners are down", lasting=For(HOUR))

    assert isinstance(outcome, PauseChange)
    assert outcome.pause.resumes_at == bot.clock.now() + HOUR


@pytest.mark.parametrize("read", [None, "CI runners are down (by alice via Slack), still"])
async def test_a_pause_whose_answer_was_lost_is_not_done_by_what_else_is_read(
    read: str | None,
) -> None:
    """A part of the reason proves nothing, because people copy."""
    bot = Acting()
    bot.merge_queue.lose_next_answer("pause")
    bot.merge_queue.before_unclear = bot.merge_queue.pauses.clear
    if read is not None:
        bot.merge_queue.before_unclear = lambda: bot.paused_elsewhere(read, at=bot.clock.now())

    with pytest.raises(MergeQueueUnavailable, match="connection was lost") as raised:
        await bot.pause()

    assert raised.value.act is not None
    assert raised.value.act.state is ActState.UNCERTAIN
    assert await bot.results() == ["started", "failed"]
    with begin(bot.store) as transaction:
        known = Pauses(transaction).open([SITE])
    assert [pause.line.stored_reason for pause in known] == ([read] if read is not None else [])
    assert [pause.pauser for pause in known] == [None] * len(known)


async def test_who_resumes_only_their_own_pause_knows_it_although_its_answer_was_lost() -> None:
    bot = Acting()
    lost = MergeQueueUnavailable("no answer", arrived=True)
    bot.merge_queue.fail_next(lost, method="pause", after=True)
    with pytest.raises(MergeQueueUnavailable):
        await bot.pause()
    bot.clock.advance(1)
    by_bob = Caller(BOB, Origin.MACHINE)
    kept = await bot.resuming.run(by_bob, SITE, only_own=True)
    assert isinstance(kept, OtherPause)
    assert kept.known.pauser == ALICE.user_id
    assert SITE in bot.merge_queue.pauses
    by_alice = Caller(ALICE, Origin.MACHINE)
    assert isinstance(await bot.resuming.run(by_alice, SITE, only_own=True), PauseChange)
    assert SITE not in bot.merge_queue.pauses


async def test_a_resume_whose_answer_was_lost_tells_that_the_queue_runs_and_names_nobody() -> None:
    bot = Acting()
    await bot.pause()
    bot.clock.advance(60)
    bot.merge_queue.statuses[SITE] = make_status(paused=False)
    bot.merge_queue.lose_next_answer("resume")

    outcome = await bot.resume(BOB)

    assert isinstance(outcome, NotPaused)
    assert outcome.is_answer_lost
    assert outcome.ended is not None
    assert outcome.ended.ended_by is None
    ended = (await bot.audit())[-1]
    assert ended.result is ActResult.FAILED
    assert ended.outcome.circumstance is Circumstance.FOUND_RUNNING


@pytest.mark.parametrize("what", ["the pause", "the status", "no status"])
async def test_a_resume_whose_answer_was_lost_is_open_while_the_queue_may_be_paused(
    what: str,
) -> None:
    bot = Acting()
    await bot.pause()
    bot.merge_queue.lose_next_answer("resume")
    if what == "the pause":
        still = bot.merge_queue.pauses[SITE]
        bot.merge_queue.before_unclear = lambda: bot.merge_queue.pauses.update({SITE: still})
    elif what == "the status":
        bot.merge_queue.statuses[SITE] = make_status(paused=True)
    else:
        bot.merge_queue.fail_next(MergeQueueUnavailable("down", status=503), method="status")

    with pytest.raises(MergeQueueUnavailable, match="connection was lost") as raised:
        await bot.resume(BOB)

    assert raised.value.act is not None
    assert raised.value.act.state is ActState.UNCERTAIN
    assert (await bot.audit())[-1].outcome.circumstance is None
    with begin(bot.store) as transaction:
        assert Pauses(transaction).open([SITE])


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


async def test_a_new_reason_is_not_refused_as_too_late_while_the_status_says_paused() -> None:
    bot = Acting()
    made = await bot.pause()
    assert isinstance(made, PauseChange)
    bot.merge_queue.pauses.clear()
    bot.merge_queue.statuses[SITE] = make_status(paused=True)

    with pytest.raises(MergeQueueProtocolError):
        await bot.pausing.change_reason(
            Caller(BOB, Origin.MODAL, CHANNEL), SITE, "The vendor is down", drawn=made.pause.drawn
        )


async def test_the_services_responses_are_recorded() -> None:
    bot = Acting()
    await bot.pause()
    await bot.resume()
    bot.merge_queue.fail_next(CredentialRefused(403, "admins only"), method="pause")
    with pytest.raises(CredentialRefused):
        await bot.pause()

    answers = [(act.result, act.outcome.answer) for act in await bot.audit()]
    assert answers == [
        (ActResult.STARTED, None),
        (ActResult.DONE, "200"),
        (ActResult.STARTED, None),
        (ActResult.DONE, "204"),
        (ActResult.STARTED, None),
        (ActResult.REFUSED, "403 forbidden: admins only"),
    ]
