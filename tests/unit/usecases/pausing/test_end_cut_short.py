"""Acts on groups whose process died: they come to an end, and whoever acted hears of it."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.audit import Action, Origin
from bot.domain.deliveries import SubjectKind
from bot.domain.group_acts import CALLED_OFF, CUT_SHORT, GroupAct, GroupOutcome
from bot.usecases.pausing.end_cut_short import STILL_NEWS, EndCutShort
from bot.usecases.pausing.group_work import GroupRequest
from bot.usecases.pausing.pause_queue import PauseRequest
from tests.support.acting_groups import ActingOnGroups
from tests.support.make import ALICE, CHANNEL

CHANGED, NOT_TRIED = GroupOutcome.CHANGED, GroupOutcome.NOT_TRIED
TO_ALICE = (ALICE.user_id, SubjectKind.GROUP)
CARD = (CHANNEL, SubjectKind.CARD)


@dataclass
class Dying(ActingOnGroups):
    """The process dies when it has acted on some of the three queues."""

    async def cut_short(self, *, done: int, origin: Origin = Origin.COMMAND) -> GroupAct:
        work = self.pausing_group.work
        request = GroupRequest(self.group, ALICE, origin, CHANNEL, "freeze")
        act = await work.begin(request, Action.PAUSE, self.names)
        for name in self.names[:done]:
            asked = PauseRequest(name, "freeze", ALICE, origin, CHANNEL, part_of=act)
            await self.pausing.run(asked)
        return act

    async def look(self, after: timedelta = CALLED_OFF + timedelta(seconds=1)) -> None:
        self.clock.advance(after.total_seconds())
        await EndCutShort(self.store, self.clock, self.nudge).run()

    def told(self) -> list[tuple[str, SubjectKind]]:
        return sorted((one.channel_id, one.subject.kind) for one in self.deliveries())

    def act(self, act: GroupAct) -> GroupAct:
        return self.store.database.contents.group_acts[act.group_act_id]


async def test_an_act_that_changed_nothing_is_told_to_whoever_acted_and_can_be_gone_on_with() -> (
    None
):
    bot = Dying()
    act = await bot.cut_short(done=0)
    await bot.look()
    assert bot.told() == [TO_ALICE]
    assert [one.outcome for one in bot.act(act).results] == [NOT_TRIED] * 3
    assert bot.act(act).is_told_by_records
    assert bot.nudges == 1

    again = await bot.pause_group(again=act.group_act_id)

    assert isinstance(again, GroupAct)
    assert len(again.of(CHANGED)) == 3
    assert bot.told() == sorted([CARD, TO_ALICE])


async def test_what_was_done_has_its_card_and_the_rest_is_told_to_whoever_acted() -> None:
    bot = Dying()
    act = await bot.cut_short(done=1)
    await bot.look()
    assert [one.outcome for one in bot.act(act).results] == [CHANGED, NOT_TRIED, NOT_TRIED]
    assert bot.told() == sorted([CARD, TO_ALICE])


async def test_an_act_that_was_done_but_for_its_end_is_told_by_its_card_alone() -> None:
    bot = Dying()
    await bot.cut_short(done=3)
    await bot.look()
    assert bot.told() == [CARD]


async def test_the_rest_of_an_act_is_told_where_the_act_was_told() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    await bot.look()
    elsewhere = GroupRequest(bot.group, ALICE, Origin.BUTTON, "D1", "freeze", act.group_act_id)
    again = await bot.pausing_group.run(elsewhere, bot.report)
    assert isinstance(again, GroupAct)
    assert CHANNEL in again.told_together


async def test_an_act_that_may_still_go_on_is_left_alone() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    await bot.look(CALLED_OFF - timedelta(seconds=1))
    assert bot.act(act).ended_at is None
    assert bot.told() == []


async def test_two_processes_end_an_act_once() -> None:
    bot = Dying()
    act = await bot.cut_short(done=0)
    await asyncio.gather(bot.look(), bot.look())
    await bot.look()
    assert bot.act(act).ended_at == act.at + CUT_SHORT
    assert bot.told() == [TO_ALICE]
    assert bot.nudges == 1


async def test_nobody_hears_of_an_act_from_before_a_long_outage() -> None:
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
