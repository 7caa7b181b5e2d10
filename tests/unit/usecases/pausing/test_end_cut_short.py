"""Acts on groups whose process died: they go on, or end, and whoever acted hears of it."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import pytest

from bot.domain.audit import Action, ActResult, Caller, Origin
from bot.domain.deliveries import SubjectKind
from bot.domain.group_acts import GO_ON_WITHIN, GroupAct, GroupOutcome
from bot.usecases.leases import LEASE
from bot.usecases.pausing.end_cut_short import STILL_NEWS, EndCutShort
from bot.usecases.pausing.extend_pause import ExtendPause
from bot.usecases.pausing.group_work import GroupRequest
from bot.usecases.pausing.groups import ExtendGroup
from tests.support.acting_groups import ActingOnGroups
from tests.support.make import ALICE, BOB, CHANNEL
from tests.support.transactions import begin

CHANGED, NOT_TRIED = GroupOutcome.CHANGED, GroupOutcome.NOT_TRIED
TO_ALICE = (ALICE.user_id, SubjectKind.GROUP)
CARD = (CHANNEL, SubjectKind.LIVE_MESSAGE)
SOON = LEASE + timedelta(seconds=1)
TOO_LATE = GO_ON_WITHIN + timedelta(seconds=1)


@dataclass
class Dying(ActingOnGroups):
    """The process dies when it has acted on some of the three queues."""

    async def cut_short(
        self, *, done: int, origin: Origin = Origin.COMMAND, asked: str = "freeze"
    ) -> GroupAct:
        work = self.pausing_group.work
        request = GroupRequest(self.group, Caller(ALICE, origin, CHANNEL), asked)
        act = await work.begin(request, Action.PAUSE, self.names)
        for name in self.names[:done]:
            await self.pausing.run(act.caller, name, "freeze", part_of=act)
        return act

    async def look(self, after: timedelta = SOON) -> None:
        self.clock.advance(after.total_seconds())
        work = self.pausing_group.work
        extending = ExtendGroup(ExtendPause(self.merge_queue, self.acts), work)
        ending = EndCutShort(
            work,
            {
                Action.PAUSE: self.pausing_group.carry_out,
                Action.RESUME: self.resuming_group.carry_out,
                Action.EXTEND: extending.carry_out,
            },
        )
        await ending.run()
        await ending.tasks.drain()

    def told(self) -> list[tuple[str, SubjectKind]]:
        return sorted((one.channel_id, one.subject.kind) for one in self.deliveries())

    def act(self, act: GroupAct) -> GroupAct:
        return self.store.database.contents.group_acts[act.group_act_id]

    def outcomes(self, act: GroupAct) -> list[GroupOutcome]:
        return [one.outcome for one in self.act(act).results]


@pytest.mark.parametrize("done", [0, 1, 3])
async def test_an_act_that_a_crash_cut_off_goes_on_by_itself(done: int) -> None:
    bot = Dying()
    act = await bot.cut_short(done=done)

    await bot.look()

    assert bot.outcomes(act) == [CHANGED] * 3
    assert len(bot.merge_queue.called("pause")) == 3
    assert bot.act(act).ended_at == bot.clock.now()
    assert bot.told() == [CARD]


async def test_what_the_service_did_and_nobody_heard_of_is_part_of_the_act() -> None:
    """The process died between the request and its answer."""
    bot = Dying()
    act = await bot.cut_short(done=1)
    unheard = bot.names[1]
    bot.merge_queue.fail_next(KeyboardInterrupt(), method="pause", after=True)
    with pytest.raises(KeyboardInterrupt):
        await bot.pausing.run(act.caller, unheard, "freeze", part_of=act)
    assert unheard in bot.merge_queue.pauses

    await bot.look()

    assert bot.outcomes(act) == [CHANGED] * 3
    assert len(bot.merge_queue.called("pause")) == 3


async def test_resuming_goes_on_too() -> None:
    bot = Dying()
    await bot.pause_group()
    request = GroupRequest(bot.group, Caller(BOB, Origin.BUTTON, CHANNEL))
    act = await bot.resuming_group.work.begin(request, Action.RESUME, bot.names)

    await bot.look()

    assert bot.merge_queue.pauses == {}
    assert bot.outcomes(act) == [CHANGED] * 3


async def test_all_that_goes_on_ends_at_the_same_moment_as_what_was_done_before() -> None:
    bot = Dying()
    work = bot.pausing_group.work
    end = bot.clock.now() + timedelta(minutes=30)
    request = bot.request("30m freeze")
    await work.begin(request, Action.PAUSE, bot.names, end)

    await bot.look()

    with begin(bot.store) as transaction:
        pauses = transaction.pauses.open(bot.names)
    assert [one.lifts_at for one in pauses] == [end] * 3


async def test_an_act_that_somebody_else_has_acted_after_does_not_go_on() -> None:
    """They may have resumed what was paused of it."""
    bot = Dying()
    act = await bot.cut_short(done=1)
    await bot.resume_group(BOB)

    await bot.look()

    assert bot.merge_queue.pauses == {}
    assert bot.outcomes(act) == [CHANGED, NOT_TRIED, NOT_TRIED]
    assert bot.act(act).is_cut_short


async def test_an_act_from_before_a_long_outage_ends_and_can_be_tried_again() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    await bot.look(TOO_LATE)
    assert bot.told() == [TO_ALICE]
    assert bot.outcomes(act) == [NOT_TRIED] * 3
    assert bot.act(act).is_cut_short

    again = await bot.pause_group(again=act.group_act_id)

    assert isinstance(again, GroupAct)
    assert len(again.of(CHANGED)) == 3
    assert bot.told() == sorted([CARD, TO_ALICE])


async def test_what_was_done_has_its_card_and_the_rest_is_told_to_whoever_acted() -> None:
    bot = Dying()
    act = await bot.cut_short(done=1)
    await bot.look(TOO_LATE)
    assert bot.outcomes(act) == [CHANGED, NOT_TRIED, NOT_TRIED]
    assert bot.told() == sorted([CARD, TO_ALICE])


async def test_the_rest_of_an_act_is_told_where_the_act_was_told() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    await bot.look(TOO_LATE)
    elsewhere = GroupRequest(
        bot.group, Caller(ALICE, Origin.BUTTON, "D1"), "freeze", act.group_act_id
    )
    again = await bot.pausing_group.run(elsewhere, bot.report)
    assert isinstance(again, GroupAct)
    assert CHANNEL in again.notified_together


async def test_an_act_that_another_process_carries_out_is_left_alone() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    bot.clock.advance(SOON.total_seconds())
    other = ActingOnGroups(store=bot.store, clock=bot.clock)
    async with other.acts.locks.alone(f"group {act.group_act_id}") as is_theirs:
        assert is_theirs
        await bot.look(timedelta())
    assert bot.act(act).ended_at is None
    assert bot.merge_queue.pauses == {}


async def test_two_processes_go_on_with_an_act_once() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    await asyncio.gather(bot.look(), bot.look())
    await bot.look()
    assert bot.outcomes(act) == [CHANGED] * 3
    assert len(bot.merge_queue.called("pause")) == 3
    assert bot.told() == [CARD]


async def test_nobody_hears_of_an_act_from_before_an_outage_of_days() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    await bot.look(STILL_NEWS)
    assert bot.act(act).ended_at is not None
    assert bot.told() == []


async def test_an_act_of_timers_is_not_told_to_whoever_set_them() -> None:
    """What is left over the timers lift by themselves."""
    bot = Dying()
    act = await bot.cut_short(done=0, origin=Origin.TIMER)
    await bot.look()
    assert bot.act(act).ended_at is not None
    assert bot.told() == []


async def test_each_part_is_on_record_once() -> None:
    bot = Dying()
    await bot.cut_short(done=2)
    await bot.look()
    done = [one for one in await bot.whole_audit() if one.result is ActResult.DONE]
    assert sorted(one.repository for one in done) == sorted(bot.names)
