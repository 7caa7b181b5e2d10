"""Group actions whose process died: they continue, or end and notify the person."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from bot.acts.group_act import GO_ON_WITHIN, GroupAct, GroupOutcome
from bot.acts.record import Action, ActResult
from bot.desk.readers import read_asked
from bot.kernel.actor import Caller, Origin
from bot.kernel.groups import Group
from bot.kernel.repository import RepositoryName
from bot.pauses.group_work import NEW_RESUME, EndCutShort, Report
from bot.pauses.rows import Pauses
from bot.posts.delivery import SubjectKind
from bot.store.job_lease import JOB_LEASE
from tests.support.acting_groups import ActingOnGroups
from tests.support.make import ALICE, BOB, CHANNEL
from tests.support.transactions import begin

CHANGED = GroupOutcome.CHANGED
NOT_TRIED = GroupOutcome.NOT_TRIED
TO_ALICE = (ALICE.user_id, SubjectKind.GROUP)
CARD = (CHANNEL, SubjectKind.LIVE_MESSAGE)
SOON = JOB_LEASE + timedelta(seconds=1)
TOO_LATE = GO_ON_WITHIN + timedelta(seconds=1)


@dataclass
class Dying(ActingOnGroups):
    """The process dies when it has acted on some of the three queues."""

    async def cut_short(
        self, *, done: int, origin: Origin = Origin.COMMAND, asked: str = "freeze"
    ) -> GroupAct:
        caller = Caller(ALICE, origin, CHANNEL)
        now = self.clock.now()
        act = GroupAct.by(caller, now, Action.PAUSE, self.group, read_asked(asked))
        act = await self.work.begin(act)
        for name in self.names[:done]:
            await self.pausing.run(act.caller, name, "freeze", part_of=act)
        return act

    async def reading(self, after: timedelta = SOON) -> None:
        self.clock.advance(after.total_seconds())
        ending = EndCutShort(self.work, self.groups.carry_out)
        await ending.run()
        await ending.tasks.drain()

    def reported(self) -> list[tuple[str, SubjectKind]]:
        return sorted(
            (delivery.channel_id, delivery.subject.kind) for delivery in self.deliveries()
        )

    def act(self, act: GroupAct) -> GroupAct:
        return self.store.database.contents.group_acts[act.group_act_id]

    def outcomes(self, act: GroupAct) -> list[GroupOutcome]:
        return [result.outcome for result in self.act(act).results]


async def test_changes_with_a_lost_response_are_part_of_the_action() -> None:
    """The process died between the request and its answer."""
    bot = Dying()
    act = await bot.cut_short(done=1)
    name = bot.names[1]
    bot.merge_queue.fail_next(KeyboardInterrupt(), method="pause", after=True)
    with pytest.raises(KeyboardInterrupt):
        await bot.pausing.run(act.caller, name, "freeze", part_of=act)
    assert name in bot.merge_queue.pauses

    await bot.reading()

    assert bot.outcomes(act) == [CHANGED] * 3
    assert len(bot.merge_queue.called("pause")) == 3


ENDED_BY = {Action.RESUME: Action.PAUSE, Action.UNFREEZE: Action.FREEZE}
METHODS = {
    Action.PAUSE: "pause",
    Action.RESUME: "resume",
    Action.FREEZE: "create_freeze",
    Action.UNFREEZE: "delete_freeze",
}


@pytest.mark.parametrize("killed_at", range(3))
@pytest.mark.parametrize("action", METHODS)
async def test_whatever_the_action_what_it_did_before_a_kill_counts_as_done(
    action: Action, killed_at: int
) -> None:
    """The service had carried it out, and the process died before it read the answer."""
    bot = Dying()
    if action in ENDED_BY:
        await bot.do(bot.request("release", action=ENDED_BY[action]))
    act = await bot.work.begin(bot.request("release", BOB, action=action))
    works: dict[Action, Callable[[RepositoryName], Awaitable[object]]] = {
        Action.PAUSE: lambda name: bot.pausing.run(act.caller, name, "release", part_of=act),
        Action.RESUME: lambda name: bot.resuming.run(act.caller, name, part_of=act),
        Action.FREEZE: lambda name: bot.groups.freeze_queue.freeze(
            act.caller, name, act.asked, part_of=act
        ),
        Action.UNFREEZE: lambda name: bot.groups.freeze_queue.unfreeze(
            act.caller, name, "release", part_of=act
        ),
    }
    for name in bot.names[:killed_at]:
        await works[action](name)
    bot.merge_queue.fail_next(KeyboardInterrupt(), method=METHODS[action], after=True)
    with pytest.raises(KeyboardInterrupt):
        await works[action](bot.names[killed_at])

    await bot.reading()

    assert bot.outcomes(act) == [CHANGED] * 3


async def test_an_act_whose_continuation_has_a_defect_ends_and_is_not_repeated() -> None:
    bot = Dying()
    act = await bot.cut_short(done=1)
    tried = []

    async def fail(act: GroupAct, _report: Report) -> GroupAct:
        tried.append(act)
        raise RuntimeError

    bot.clock.advance(SOON.total_seconds())
    ending = EndCutShort(bot.work, fail)
    for _ in range(3):
        await ending.run()
        await ending.tasks.drain()

    assert len(tried) == 1
    assert bot.outcomes(act) == [CHANGED, NOT_TRIED, NOT_TRIED]
    assert bot.reported() == sorted([CARD, TO_ALICE])


async def test_an_interrupted_resume_continues() -> None:
    bot = Dying()
    await bot.pause_group()
    act = await bot.work.begin(bot.request("", BOB, action=Action.RESUME))

    await bot.reading()

    assert bot.merge_queue.pauses == {}
    assert bot.outcomes(act) == [CHANGED] * 3


async def test_all_continued_pauses_end_together_with_the_earlier_ones() -> None:
    bot = Dying()
    end = bot.clock.now() + timedelta(minutes=30)
    await bot.work.begin(replace(bot.request("30m freeze"), resumes_at=end))

    await bot.reading()

    with begin(bot.store) as transaction:
        pauses = Pauses(transaction).open(bot.names)
    assert [pause.resumes_at for pause in pauses] == [end] * 3


async def test_an_action_superseded_by_another_does_not_continue() -> None:
    """Another person may have resumed its queues."""
    bot = Dying()
    act = await bot.cut_short(done=1)
    await bot.resume_group(BOB)

    await bot.reading()

    assert bot.merge_queue.pauses == {}
    assert bot.outcomes(act) == [CHANGED, NOT_TRIED, NOT_TRIED]
    assert bot.act(act).is_cut_short
    other = Group("other", bot.names)
    assert await bot.groups.again(act.caller, other, act.group_act_id) is None


async def test_the_rest_of_an_act_is_shown_to_the_actor_and_reported_in_the_same_place() -> None:
    bot = Dying()
    act = await bot.cut_short(done=1)
    await bot.reading(TOO_LATE)
    assert bot.outcomes(act) == [CHANGED, NOT_TRIED, NOT_TRIED]
    assert bot.reported() == sorted([CARD, TO_ALICE])
    elsewhere = Caller(ALICE, Origin.BUTTON, "D1")
    request = await bot.groups.again(elsewhere, bot.group, act.group_act_id)
    assert request is not None
    again = await bot.do(request, again=act.group_act_id)
    assert CHANNEL in again.notified_together
    assert await bot.groups.again(elsewhere, Group("other", bot.names), act.group_act_id) is None


async def test_an_action_in_progress_in_another_process_is_left_alone() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    bot.clock.advance(SOON.total_seconds())
    other = ActingOnGroups(store=bot.store, clock=bot.clock)
    async with other.acts.locks.alone(f"group {act.group_act_id}") as is_theirs:
        assert is_theirs
        await bot.reading(timedelta())
    assert bot.act(act).ended_at is None
    assert bot.merge_queue.pauses == {}


async def test_two_processes_continue_an_action_once() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    await asyncio.gather(bot.reading(), bot.reading())
    await bot.reading()
    assert bot.outcomes(act) == [CHANGED] * 3
    assert len(bot.merge_queue.called("pause")) == 3
    done = [action for action in await bot.whole_audit() if action.result is ActResult.DONE]
    assert sorted(one.repository for one in done) == sorted(bot.names)
    assert bot.reported() == [CARD]


@pytest.mark.parametrize(
    ("origin", "after"), [(Origin.COMMAND, NEW_RESUME), (Origin.TIMER, SOON)], ids=["days", "timer"]
)
async def test_acts_of_days_ago_and_of_timers_end_silently(
    origin: Origin, after: timedelta
) -> None:
    """Timers resume the rest by themselves."""
    bot = Dying()
    act = await bot.cut_short(done=0, origin=origin)
    await bot.reading(after)
    assert bot.act(act).ended_at is not None
    assert bot.reported() == []
