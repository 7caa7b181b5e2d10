"""Pausing and resuming groups: effects, posts and records."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import time, timedelta

import pytest
from typing_extensions import override

from bot.acts.asked import Asked
from bot.acts.group_act import GroupAct, GroupOutcome, RepositoryResult
from bot.acts.record import Action, ActResult
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.durations import Until
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import MergeQueueUnavailable, StateConflict
from bot.merge_queue.freezes import moment
from bot.merge_queue.port import OnAnswer, UnclearChange, ignore
from bot.merge_queue.queue import Pause
from bot.pauses.group_work import GROUP_ACTS_AT_ONCE
from bot.pauses.outcomes import PauseChange
from bot.pauses.pause import timed
from bot.pauses.readings import EventContext, PauseReading, observe_reading, place_event
from bot.pauses.rows import Pauses
from tests.support.acting_groups import ActingOnGroups, BusyMergeQueue
from tests.support.clock import NOON
from tests.support.directories import make_person
from tests.support.make import ALICE, BOB, CHANNEL, make_event, make_status, saying
from tests.support.merge_queue import FakeMergeQueue
from tests.support.transactions import begin

CHANGED = GroupOutcome.CHANGED
FAILED = GroupOutcome.FAILED
ONLY_OWN = Asked(only_own=True)


def outcomes(act: GroupAct) -> list[GroupOutcome]:
    return [result.outcome for result in act.results]


async def test_a_pause_logged_before_its_response_is_restored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The event ends the act, and its answer comes later."""
    bot = ActingOnGroups()
    pause = bot.merge_queue.pause

    async def shown_by_the_log(
        repository: RepositoryName, reason: str, *, on_answer: OnAnswer = ignore
    ) -> Pause | UnclearChange:
        paused = await pause(repository, reason, on_answer=on_answer)
        assert isinstance(paused, Pause)
        reported_at = paused.paused_at + timedelta(seconds=2)
        event = make_event(type_="queue.pause.create", received_at=reported_at)
        details = event.details.model_copy(update={"reason": reason, "is_ours": True})
        event = replace(event, repository=repository, details=details)
        context = EventContext(bot.clock.now(), PauseReading(paused, bot.clock.now()))
        with begin(bot.store) as transaction:
            placed = place_event(transaction, event, context, ())
        assert placed.is_by_act
        return paused

    monkeypatch.setattr(bot.merge_queue, "pause", shown_by_the_log)
    await bot.pause_group("freeze for 4.2")

    assert outcomes(await bot.resume_group(BOB)) == [CHANGED] * 3
    assert bot.merge_queue.pauses == {}


async def test_queues_paused_earlier_or_again_are_left_alone_and_named() -> None:
    bot = ActingOnGroups(count=6)
    before, replaced, taken_over, ended, mine, other = bot.names
    bot.merge_queue.pauses[before] = Pause(reason="by hand", paused_at=bot.clock.now())

    paused = await bot.pause_group()

    assert outcomes(paused) == [GroupOutcome.ALREADY_PAUSED, *[CHANGED] * 5]
    bot.clock.advance(60)
    bot.merge_queue.pauses[replaced] = Pause(reason="anew", paused_at=bot.clock.now())
    same_time = bot.merge_queue.pauses[taken_over].paused_at
    bot.merge_queue.pauses[taken_over] = Pause(reason="Database", paused_at=same_time)
    del bot.merge_queue.pauses[ended]

    resumed = await bot.resume_group(BOB)

    assert outcomes(resumed) == [
        GroupOutcome.NOT_OURS,
        *[GroupOutcome.REPLACED] * 2,
        GroupOutcome.NOT_PAUSED,
        *[CHANGED] * 2,
    ]
    assert set(bot.merge_queue.pauses) == {before, replaced, taken_over}
    assert {call.repository for call in bot.merge_queue.called("resume")} == {mine, other}


@dataclass
class LateMergeQueue(FakeMergeQueue):
    """What it says of a pause is heard only when something else has happened."""

    meanwhile: Callable[[], Awaitable[object]] | None = None

    @override
    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        answer = await super().current_pause(repository)
        happens = self.meanwhile
        self.meanwhile = None
        if happens is not None:
            await happens()
        return answer


async def test_a_404_for_a_pause_in_force_leaves_the_rest_to_retry() -> None:
    """As long as the status says that the queue is paused, it is not believed."""
    bot = ActingOnGroups(count=2)
    lost, found = bot.names
    await bot.pause_group()
    pause = bot.merge_queue.pauses.pop(lost)
    bot.merge_queue.statuses[lost] = make_status(paused=True)

    first = await bot.resume_group(BOB)

    assert outcomes(first) == [FAILED, CHANGED]
    assert [occurrence.repository for occurrence in await bot.held()] == [lost]
    bot.merge_queue.pauses[lost] = pause
    again = await bot.resume_group(BOB, again=first.group_act_id)
    assert outcomes(again) == [CHANGED]
    assert found not in bot.merge_queue.pauses


async def test_a_queue_paused_again_while_its_group_resumes_can_be_restored() -> None:
    bot = ActingOnGroups(count=1)
    service = LateMergeQueue(bot.names, clock=bot.clock)
    bot.use(service)
    await bot.pause_group()
    service.pauses.clear()
    service.meanwhile = bot.pause_group

    assert outcomes(await bot.resume_group(BOB)) == [GroupOutcome.NOT_PAUSED]

    assert service.pauses
    assert outcomes(await bot.resume_group(BOB)) == [CHANGED]


async def test_the_person_who_paused_is_named_for_an_observed_pause() -> None:
    bot = ActingOnGroups(count=2)
    await bot.pause_group("first", BOB)

    again = await bot.pause_group("second")

    reported = [(result.outcome, result.who) for result in again.results]
    assert reported == [(GroupOutcome.ALREADY_PAUSED, "bob")] * 2
    # What Bob's pause of the group holds is restored all the same.
    assert outcomes(await bot.resume_group()) == [CHANGED] * 2


async def test_a_person_who_paused_elsewhere_is_notified_once_the_log_names_them() -> None:
    bot = ActingOnGroups(count=2)
    before, since = bot.names
    await _paused_elsewhere(bot, before, "carol")
    paused = await bot.pause_group()
    bot.clock.advance(60)
    await _paused_elsewhere(bot, since, "dave")

    resumed = await bot.resume_group()

    assert paused.results[0] == RepositoryResult(before, GroupOutcome.ALREADY_PAUSED, "carol")
    assert [(result.outcome, result.who) for result in resumed.results] == [
        (GroupOutcome.NOT_OURS, "carol"),
        (GroupOutcome.REPLACED, "dave"),
    ]


async def _paused_elsewhere(bot: ActingOnGroups, name: RepositoryName, by: str) -> None:
    """A pause made elsewhere, in the service and in its event log."""
    pause = bot.merge_queue.pauses[name] = Pause(reason="by hand", paused_at=bot.clock.now())
    reading = PauseReading(pause, bot.clock.now())
    with begin(bot.store) as transaction:
        observe_reading(transaction, name, reading, bot.clock.now())
        (seen,) = Pauses(transaction).open([name])
        Pauses(transaction).save(saying(seen, by=Actor("", by)))


async def test_repositories_removed_from_the_group_are_restored_too() -> None:
    bot = ActingOnGroups()
    await bot.pause_group()
    bot.group = type(bot.group)("release", bot.names[:1])

    resumed = await bot.resume_group()

    assert outcomes(resumed) == [CHANGED] * 3
    assert bot.merge_queue.pauses == {}


@pytest.mark.parametrize("is_answer_lost", [False, True])
async def test_who_ends_only_their_own_leaves_the_groups_pauses_of_others(
    *, is_answer_lost: bool
) -> None:
    bot = ActingOnGroups(count=1)
    if is_answer_lost:
        lost = MergeQueueUnavailable("no answer", arrived=True)
        bot.merge_queue.fail_next(lost, method="pause", after=True)
    await bot.pause_group(actor=ALICE)
    (paused,) = bot.names
    for actor, outcome in ((BOB, GroupOutcome.NOT_OURS), (ALICE, CHANGED)):
        assert paused in bot.merge_queue.pauses
        request = replace(bot.request(actor=actor, action=Action.RESUME), asked=ONLY_OWN)
        ended = await bot.do(request)
        assert ended.results == (
            RepositoryResult(paused, outcome, None if outcome is CHANGED else ALICE.name),
        )
    assert bot.merge_queue.pauses == {}


UNFORESEEN = (
    KeyError("paused_at"),
    AttributeError("'NoneType' object has no attribute 'paused_at'"),
    ZeroDivisionError(),
    TimeoutError(),
    ExceptionGroup("several", [ValueError("one")]),
    RuntimeError(""),
)


@pytest.mark.parametrize("error", UNFORESEEN, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("method", ["current_pause", "pause"])
async def test_an_unforeseen_error_fails_only_its_own_repository_once(
    method: str, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    bot = ActingOnGroups(count=12)
    bot.merge_queue.fail_next(error, method=method)

    act = await bot.pause_group()

    (failed,) = act.of(FAILED)
    assert len(act.of(CHANGED)) == 11
    assert act.ended_at is not None
    (logged,) = [record for record in caplog.records if hasattr(record, "reference")]
    assert failed.detail == f"something went wrong on my side (reference {logged.reference})"
    again = await bot.groups.again(act.caller, bot.group, act.group_act_id)
    assert again is not None
    assert outcomes(await bot.do(again, again=act.group_act_id)) == [CHANGED]


async def test_an_act_goes_on_when_its_progress_cannot_be_shown() -> None:
    bot = ActingOnGroups(count=5)

    async def refuse(_act: GroupAct, _done: int) -> None:
        raise TimeoutError

    act = await bot.groups.act(bot.request("freeze"), refuse)

    assert isinstance(act, GroupAct)
    assert outcomes(act) == [CHANGED] * 5


async def test_a_double_click_on_retry_pauses_once() -> None:
    bot = ActingOnGroups(is_busy=True)
    bot.merge_queue.fail_next(StateConflict(409, "busy"), method="pause")
    first = await bot.pause_group()
    before = len(bot.merge_queue.called("pause"))

    await asyncio.gather(
        bot.pause_group(again=first.group_act_id), bot.pause_group(again=first.group_act_id)
    )

    assert len(bot.merge_queue.called("pause")) == before + 1
    assert len(bot.merge_queue.pauses) == 3


async def test_each_action_is_recorded_with_its_group() -> None:
    bot = ActingOnGroups(count=2)
    act = await bot.pause_group("freeze")

    records = await bot.whole_audit()

    assert Counter(record.result for record in records) == {ActResult.STARTED: 2, ActResult.DONE: 2}
    assert {(record.group.name, record.group.act_id) for record in records} == {
        ("release", act.group_act_id)
    }
    assert {record.outcome.answer for record in records if record.result is ActResult.DONE} == {
        "200"
    }


async def test_a_reason_that_begins_like_a_duration_stays_the_reason() -> None:
    """The HTTP API takes the end from a field of its own."""
    bot = ActingOnGroups(count=2)
    request = replace(bot.request(), asked=Asked("1h maintenance"))
    ended = await bot.do(request)
    assert outcomes(ended) == [CHANGED] * 2
    assert {(pause.line.reason, pause.resumes_at) for pause in await bot.held()} == {
        ("1h maintenance", None)
    }
    assert ended.asked == Asked("1h maintenance")


@pytest.mark.parametrize(("hours", "begins"), [(1, 18), (7, 19)])
async def test_the_rest_of_a_planned_freeze_has_the_times_of_the_others(
    hours: int, begins: int
) -> None:
    """A person in another time zone retries it, before its start or after."""
    bot = ActingOnGroups(count=2)
    bot.people.others[BOB.user_id] = replace(make_person(BOB.user_id), zone="Asia/Tokyo")
    asked = Asked("release", lasting=Until(time(20)), start=Until(time(18)))
    bot.merge_queue.fail_next(StateConflict(409, "busy"), method="create_freeze")
    first = await bot.do(replace(bot.request(action=Action.FREEZE), asked=asked))
    (left,) = first.left_to_try
    bot.clock.advance(hours * 3600 - 1)

    caller = Caller(BOB, Origin.BUTTON, CHANNEL)
    rest = await bot.groups.again(caller, bot.group, first.group_act_id)
    assert rest is not None
    await bot.do(rest, again=first.group_act_id)

    (made,) = bot.merge_queue.all_freezes[left]
    assert moment(made.start, made) == NOON.replace(hour=begins)
    assert moment(made.end, made) == NOON.replace(hour=20)


async def test_fifty_repositories_are_paused_eight_at_a_time_with_two_requests_each() -> None:
    bot = ActingOnGroups(count=50, is_busy=True)

    paused = await bot.pause_group()

    assert outcomes(paused) == [CHANGED] * 50
    assert isinstance(bot.merge_queue, BusyMergeQueue)
    assert bot.merge_queue.most == GROUP_ACTS_AT_ONCE == 8
    assert len(bot.merge_queue.calls) == 100
    assert bot.merge_queue.rounds <= 15
    assert bot.reports == list(range(1, 51))


async def test_a_group_action_has_no_total_time_limit() -> None:
    """Twenty repositories, a minute each."""
    bot = ActingOnGroups(count=20)

    class Slow(type(bot.merge_queue)):  # type: ignore[misc]  # the fake's own class, made slow
        async def pause(self, *given: object, **named: object) -> Pause:
            bot.clock.advance(60)
            return await super().pause(*given, **named)  # type: ignore[no-any-return]

    bot.use(Slow(repositories=bot.names, clock=bot.clock))

    assert outcomes(await bot.pause_group()) == [CHANGED] * 20


async def test_one_person_changes_one_repository_of_the_group_at_a_time() -> None:
    """A single pause meanwhile is not held for the group, and the group leaves it alone."""
    bot = ActingOnGroups(is_busy=True)
    bot.merge_queue.pauses.clear()
    single = bot.pausing

    async def alone() -> object:
        request = bot.request()
        return await single.run(Caller(BOB, request.caller.origin, CHANNEL), bot.names[0], "alone")

    mine, group = await asyncio.gather(alone(), bot.pause_group("freeze", ALICE))

    assert isinstance(mine, PauseChange)
    assert outcomes(group) == [GroupOutcome.ALREADY_PAUSED, CHANGED, CHANGED]
    await bot.resume_group()
    assert [pause.reason for pause in bot.merge_queue.pauses.values()] == [
        "alone (by bob via Slack)"
    ]


async def test_queues_paused_after_the_others_end_get_their_own_end() -> None:
    bot = ActingOnGroups(count=2)
    bot.merge_queue.fail_next(StateConflict(409, "busy"), method="pause")
    first = await bot.pause_group("30m freeze")
    bot.clock.advance(1800)

    await bot.pause_group("30m freeze", again=first.group_act_id)

    with begin(bot.store) as transaction:
        *_, last = timed(Pauses(transaction).open(bot.names))
    assert last.resumes_at == bot.clock.now() + timedelta(minutes=30)
