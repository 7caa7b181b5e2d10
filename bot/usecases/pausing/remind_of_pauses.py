"""Remind people of pauses that go on: the pauser first, then the channels."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.audit import ActResult, AuditRecord
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.notices import Notice
from bot.domain.pause_records import PauseRecord
from bot.domain.reminders import LIFTS_SOON, ReminderPlan, first_plan, sent_at, snoozed
from bot.domain.repository import RepositoryName
from bot.domain.timers import Timer
from bot.ports import Clock, Nudge, Store, Transaction
from bot.usecases.choose_notices import who_want
from bot.usecases.pausing.group_cards import group_channels
from bot.usecases.pausing.group_pauses import group_act_of, still_paused
from bot.usecases.pausing.pause_cards import card_of, find_pause
from bot.usecases.pausing.pause_history import hearing_pauses
from bot.usecases.pausing.pause_timers import timers_of
from bot.usecases.tell_urgently import tell_urgently


@dataclass(frozen=True, slots=True)
class Snoozed:
    """No reminder before `next_at`: of that repository, or of all that is paused for `group`."""

    next_at: datetime
    repository: RepositoryName
    group: str | None = None


@dataclass(frozen=True, slots=True)
class RemindOfPauses:
    """Two processes at once remind once: a reminder's delivery is unique."""

    store: Store
    clock: Clock
    nudge: Nudge
    repositories: Sequence[RepositoryName]
    first_gap: timedelta

    async def run(self) -> None:
        """Raises StoreError."""
        if not self.first_gap:
            return
        now = self.clock.now()
        async with self.store.begin() as transaction:
            in_force = await transaction.pauses.open(self.repositories)
            if not in_force:
                return
            plans = await transaction.reminders.locked([one.pause_id for one in in_force])
            timers = await timers_of(transaction, in_force)
            reminded = 0
            for pause, *others in _together(in_force):
                plan = plans.get(pause.pause_id) or self._first(pause)
                if plan.next_at <= now and not _lifts_soon(timers.get(pause.pause_id), now):
                    await self._remind(transaction, pause, plan, now)
                    await _save_for(transaction, sent_at(plan, now, self.first_gap), others)
                    reminded += 1
        if reminded:
            self.nudge()

    async def snooze(self, snooze: AuditRecord, paused_at: datetime) -> Snoozed | None:
        """What was put off, with the act on record; None when that pause is over."""
        now = self.clock.now()
        async with self.store.begin() as transaction:
            pause = await find_pause(transaction, snooze.repository, paused_at)
            if pause is None:
                return None
            act = await group_act_of(transaction, pause)
            # One reminder speaks for a group, also when the pause it was drawn for is over.
            together = await still_paused(transaction, act) if act is not None else [pause]
            left = [one for one in together if one.is_open]
            if not left:
                return None
            plans = await transaction.reminders.locked({one.pause_id for one in (pause, *left)})
            plan = snoozed(plans.get(pause.pause_id) or self._first(pause), now, self.first_gap)
            await _save_for(transaction, plan, left)
            until = f"until {plan.next_at:%Y-%m-%d %H:%M} UTC"
            await transaction.audit.add(replace(snooze, result=ActResult.DONE, detail=until))
        group = act.group if act is not None and len(left) > 1 else None
        return Snoozed(plan.next_at, left[0].repository, group)

    def _first(self, pause: PauseRecord) -> ReminderPlan:
        return first_plan(pause.pause_id, pause.paused_at, self.first_gap)

    async def _remind(
        self, transaction: Transaction, pause: PauseRecord, plan: ReminderPlan, now: datetime
    ) -> None:
        """After an outage one reminder comes, not all that were missed."""
        subject = Subject(SubjectKind.REMINDER, pause.repository, plan.reminder_id)
        addresses = await _addresses(transaction, pause, plan)
        await tell_urgently(transaction, subject, addresses, now)
        await transaction.reminders.save(sent_at(plan, now, self.first_gap))


async def _addresses(transaction: Transaction, pause: PauseRecord, plan: ReminderPlan) -> set[str]:
    """The pauser alone the first time, when they are somebody of this workspace and want it."""
    if plan.sent == 0 and pause.by is not None and pause.by.user_id is not None:
        pauser = await who_want(transaction, Notice.REMINDER, [pause.by.user_id])
        if pauser:
            return set(pauser)
    cards = await transaction.cards.of(card_of(pause))
    channels = {card.channel_id for card in cards}
    channels |= set(await group_channels(transaction, pause))
    return channels | await hearing_pauses(transaction, pause.repository)


def _together(pauses: Sequence[PauseRecord]) -> list[list[PauseRecord]]:
    """What was paused together, the first of it first: its reminder speaks for all of it."""
    parties: dict[tuple[int, int], list[PauseRecord]] = defaultdict(list)
    for one in sorted(pauses, key=lambda one: one.pause_id):
        alone = 0 if one.group_act_id else one.pause_id
        parties[one.group_act_id, alone].append(one)
    return list(parties.values())


async def _save_for(
    transaction: Transaction, plan: ReminderPlan, pauses: Sequence[PauseRecord]
) -> None:
    """The plan of a group goes on with what is left of it when the first is over."""
    for one in pauses:
        await transaction.reminders.save(replace(plan, pause_id=one.pause_id))


def _lifts_soon(timer: Timer | None, now: datetime) -> bool:
    if timer is None or timer.is_overdue:
        return False
    return timer.lifts_at - now <= LIFTS_SOON
