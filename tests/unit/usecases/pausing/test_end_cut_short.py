"""Group actions whose process died: they end with what was done, and the person is told."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from bot.acts.group_act import INTERRUPTED, GroupAct, GroupOutcome, RepositoryResult
from bot.acts.record import Action
from bot.acts.unanswered import GIVEN_UP, SILENT, Unanswered
from bot.acts.unanswered_rows import UnansweredRequests
from bot.desk.readers.acts import read_asked
from bot.groups.telling_outcomes import NOT_FOUND_OUT, SURELY_OVER, TellOutcomes
from bot.kernel.actor import Caller, Origin
from bot.kernel.groups import Group
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.pauses.group_work import EndCutShort
from bot.posts.delivery import SubjectKind
from bot.store.job_lease import JOB_LEASE
from tests.support.acting_groups import ActingOnGroups
from tests.support.make import ALICE, CHANNEL
from tests.support.merge_queue import Call
from tests.support.transactions import begin

CHANGED = GroupOutcome.CHANGED
NOT_TRIED = GroupOutcome.NOT_TRIED
UNCERTAIN = GroupOutcome.UNCERTAIN
FAILED = GroupOutcome.FAILED
TO_ALICE = (ALICE.user_id, SubjectKind.GROUP)
FOLLOWS = (ALICE.user_id, SubjectKind.OUTCOME_FOLLOWS)
CARD = (CHANNEL, SubjectKind.LIVE_MESSAGE)
SOON = JOB_LEASE + timedelta(seconds=1)
REQUEST = "request of alice"


@dataclass
class Dying(ActingOnGroups):
    """The process dies when it has acted on some of the three queues."""

    async def begin(
        self,
        action: Action = Action.PAUSE,
        origin: Origin = Origin.COMMAND,
        asked: str = "freeze",
    ) -> GroupAct:
        """The act has begun, and its answer is owed; timers owe none."""
        request = REQUEST if origin is Origin.COMMAND else None
        caller = Caller(ALICE, origin, CHANNEL, request)
        now = self.clock.now()
        if request is not None:
            owed = Unanswered(request, ALICE.user_id, CHANNEL, "pause @release", now, now + SOON)
            with begin(self.store) as transaction:
                UnansweredRequests(transaction).add(owed)
        act = GroupAct.by(caller, now, action, self.group, read_asked(asked))
        return await self.work.begin(act)

    async def cut_short(self, *, done: int, origin: Origin = Origin.COMMAND) -> GroupAct:
        act = await self.begin(origin=origin)
        for name in self.names[:done]:
            await self.pausing.run(act.caller, name, "freeze", part_of=act)
        return act

    async def die_while(self, work: Awaitable[object], method: str, *, carried_out: bool) -> None:
        """The service carries it out, or not, and the process dies before the answer."""
        self.merge_queue.fail_next(KeyboardInterrupt(), method=method, after=carried_out)
        with pytest.raises(KeyboardInterrupt):
            await work

    async def reading(self, after: timedelta = SOON) -> None:
        """The jobs of another process, that much later."""
        self.clock.advance(after.total_seconds())
        cut_short = EndCutShort(self.work)
        await cut_short.run()
        telling = TellOutcomes(self.merge_queue, self.acts, cut_short)
        await telling.run()
        await telling.drain()

    def reported(self) -> list[tuple[str, SubjectKind]]:
        return sorted(
            (delivery.channel_id, delivery.subject.kind) for delivery in self.deliveries()
        )

    def act(self, act: GroupAct) -> GroupAct:
        return self.store.database.contents.group_acts[act.group_act_id]

    def outcomes(self, act: GroupAct) -> list[GroupOutcome]:
        return [result.outcome for result in self.act(act).results]


async def away(call: Call) -> None:
    raise MergeQueueUnavailable(call.method)


ENDED_BY = {Action.RESUME: Action.PAUSE, Action.UNFREEZE: Action.FREEZE}
METHODS = {
    Action.PAUSE: "pause",
    Action.RESUME: "resume",
    Action.FREEZE: "create_freeze",
    Action.UNFREEZE: "delete_freeze",
}


@pytest.mark.parametrize("carried_out", [True, False])
@pytest.mark.parametrize("killed_at", range(3))
@pytest.mark.parametrize("action", METHODS)
async def test_whatever_the_action_what_it_did_before_a_kill_counts_and_nothing_else_is_done(
    action: Action, killed_at: int, *, carried_out: bool
) -> None:
    """The process died before it read an answer; what it had not begun is left to the person."""
    bot = Dying()
    if action in ENDED_BY:
        await bot.do(bot.request("release", action=ENDED_BY[action]))
    act = await bot.begin(action, asked="release")
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
    cut_off = works[action](bot.names[killed_at])
    await bot.die_while(cut_off, METHODS[action], carried_out=carried_out)
    requests = len(bot.merge_queue.called(METHODS[action]))

    await bot.reading()
    await bot.reading(SURELY_OVER)

    became = CHANGED if carried_out else FAILED
    untouched = [NOT_TRIED] * (2 - killed_at)
    assert bot.outcomes(act) == [CHANGED] * killed_at + [became, *untouched]
    assert len(bot.merge_queue.called(METHODS[action])) == requests
    is_told = (ALICE.user_id, SubjectKind.GROUP) in bot.reported()
    assert is_told is bool(bot.act(act).left_to_try)


async def test_until_it_is_known_what_a_kill_cut_off_nobody_can_tell() -> None:
    bot = Dying()
    act = await bot.cut_short(done=1)
    cut_off = bot.pausing.run(act.caller, bot.names[1], "freeze", part_of=act)
    await bot.die_while(cut_off, "pause", carried_out=False)

    await bot.reading()

    unknown = RepositoryResult(bot.names[1], UNCERTAIN, detail=INTERRUPTED)
    assert bot.act(act).results[1] == unknown
    assert bot.outcomes(act) == [CHANGED, UNCERTAIN, NOT_TRIED]
    assert bot.reported() == [CARD]


async def test_a_person_reads_within_a_minute_that_the_outcome_follows() -> None:
    """The service answers nothing after the restart."""
    bot = Dying()
    act = await bot.cut_short(done=0)
    cut_off = bot.pausing.run(act.caller, bot.names[0], "freeze", part_of=act)
    await bot.die_while(cut_off, "pause", carried_out=True)
    bot.merge_queue.before_answer = away

    await bot.reading()
    assert bot.reported() == []
    await bot.reading(SILENT)
    assert bot.outcomes(act) == [UNCERTAIN, NOT_TRIED, NOT_TRIED]
    assert bot.reported() == [FOLLOWS]
    await bot.reading(SILENT)
    assert bot.reported() == [FOLLOWS]

    await bot.reading(GIVEN_UP)
    assert bot.act(act).results[0] == RepositoryResult(bot.names[0], FAILED, detail=NOT_FOUND_OUT)
    assert bot.reported() == sorted([FOLLOWS, TO_ALICE])
    await bot.reading(GIVEN_UP)
    assert bot.reported() == sorted([FOLLOWS, TO_ALICE])


async def test_the_rest_of_an_act_is_shown_to_the_actor_and_reported_in_the_same_place() -> None:
    bot = Dying()
    act = await bot.cut_short(done=1)
    await bot.reading()
    await bot.reading()
    assert bot.outcomes(act) == [CHANGED, NOT_TRIED, NOT_TRIED]
    assert bot.act(act).is_cut_short
    assert bot.reported() == sorted([CARD, TO_ALICE])
    elsewhere = Caller(ALICE, Origin.BUTTON, "D1")
    request = await bot.groups.again(elsewhere, bot.group, act.group_act_id)
    assert request is not None
    again = await bot.do(request, again=act.group_act_id)
    assert CHANNEL in again.notified_together
    assert [pause.repository for pause in await bot.held()] == list(bot.names)
    assert await bot.groups.again(elsewhere, Group("other", bot.names), act.group_act_id) is None


async def test_the_retried_rest_ends_together_with_the_earlier_ones() -> None:
    bot = Dying()
    end = bot.clock.now() + timedelta(minutes=30)
    act = await bot.work.begin(replace(bot.request("30m freeze"), resumes_at=end))
    await bot.pausing.run(act.caller, bot.names[0], "freeze", part_of=act)
    await bot.reading()
    request = await bot.groups.again(act.caller, bot.group, act.group_act_id)
    assert request is not None
    await bot.do(request, again=act.group_act_id)
    assert [pause.resumes_at for pause in await bot.held()] == [end] * 3


async def test_an_action_in_progress_in_another_process_is_left_alone() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    bot.clock.advance(SILENT.total_seconds())
    other = ActingOnGroups(store=bot.store, clock=bot.clock)
    async with other.acts.locks.alone(f"group {act.group_act_id}") as is_theirs:
        assert is_theirs
        await bot.reading(timedelta())
    assert bot.act(act).ended_at is None
    assert bot.reported() == []
    await bot.reading()
    assert bot.reported() == [TO_ALICE]


async def test_an_act_that_cannot_be_ended_does_not_stop_the_others() -> None:
    bot = Dying()
    broken = await bot.cut_short(done=0, origin=Origin.TIMER)
    other = await bot.cut_short(done=1)
    contents = bot.store.database.contents.group_acts
    contents[broken.group_act_id] = replace(contents[broken.group_act_id], repositories=None)  # type: ignore[arg-type]
    await bot.reading()
    assert bot.outcomes(other) == [CHANGED, NOT_TRIED, NOT_TRIED]


async def test_acts_of_timers_end_silently() -> None:
    """Timers resume the rest by themselves."""
    bot = Dying()
    act = await bot.cut_short(done=0, origin=Origin.TIMER)
    await bot.reading()
    assert bot.act(act).ended_at is not None
    assert bot.reported() == []
