"""Remind people of pauses that go on: the pauser first, then the channels."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.domain.audit import ActResult, AuditRecord
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.notices import Notice
from bot.domain.pause_records import PauseRecord, Timer
from bot.domain.reminders import LIFTS_SOON, ReminderPlan, first_plan, sent_at, snoozed
from bot.domain.repository import RepositoryName
from bot.ports import Clock, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.choose_notices import who_want
from bot.usecases.leases import JobLease
from bot.usecases.pausing.group_pauses import group_act_of, group_channels, still_paused
from bot.usecases.pausing.pause_history import hearing_pauses
from bot.usecases.pausing.recorded_pauses import card_of, find_pause, timers_of
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

    async def run(self, lease: JobLease) -> None:
        """`lease`: under which one process minds the times of pauses. Raises StoreError."""
        if not self.first_gap:
            return
        if await self.store.run(self._remind_all, lease, self.clock.now()):
            self.nudge()

    def _remind_all(self, transaction: Transaction, lease: JobLease, now: datetime) -> bool:
        """Whether anybody is reminded."""
        in_force = transaction.pauses.open(self.repositories)
        if not in_force or lease.take(transaction, now) is None:
            return False
        plans = transaction.reminders.locked([one.pause_id for one in in_force])
        timers = timers_of(transaction, in_force)
        has_reminded = False
        for together in _together(in_force):
            pause = together[0]
            plan = plans.get(pause.pause_id) or self._first(pause)
            if plan.next_at <= now and not _lifts_soon(timers.get(pause.pause_id), now):
                _remind(transaction, pause, plan, now)
                _save_for(transaction, sent_at(plan, now, self.first_gap), together)
                has_reminded = True
        return has_reminded

    def move(self, transaction: Transaction, jump: timedelta) -> None:
        """After a jump of the clock: what was to come stays as far off as before."""
        in_force = transaction.pauses.open(self.repositories)
        plans = transaction.reminders.locked([one.pause_id for one in in_force])
        for pause in in_force:
            plan = plans.get(pause.pause_id) or self._first(pause)
            transaction.reminders.save(replace(plan, next_at=plan.next_at + jump))

    async def snooze(self, snooze: AuditRecord, paused_at: datetime) -> Snoozed | None:
        """What was put off, with the act on record; None when that pause is over."""
        return await self.store.run(self._put_off, snooze, paused_at, self.clock.now())

    def _put_off(
        self, transaction: Transaction, snooze: AuditRecord, paused_at: datetime, now: datetime
    ) -> Snoozed | None:
        pause = find_pause(transaction, snooze.repository, paused_at)
        if pause is None:
            return None
        act = group_act_of(transaction, pause)
        # One reminder speaks for a group, also when the pause it was drawn for is over.
        together = still_paused(transaction, act) if act is not None else [pause]
        left = [one for one in together if one.is_open]
        if not left:
            return None
        plans = transaction.reminders.locked({one.pause_id for one in (pause, *left)})
        plan = snoozed(plans.get(pause.pause_id) or self._first(pause), now, self.first_gap)
        _save_for(transaction, plan, left)
        until = f"until {plan.next_at:%Y-%m-%d %H:%M} UTC"
        transaction.audit.add(replace(snooze, result=ActResult.DONE, detail=until))
        group = act.group if act is not None and len(left) > 1 else None
        return Snoozed(plan.next_at, left[0].repository, group)

    def _first(self, pause: PauseRecord) -> ReminderPlan:
        return first_plan(pause.pause_id, pause.paused_at, self.first_gap)


def _remind(
    transaction: Transaction, pause: PauseRecord, plan: ReminderPlan, now: datetime
) -> None:
    """After an outage one reminder comes, not all that were missed."""
    subject = Subject(SubjectKind.REMINDER, pause.repository, plan.reminder_id)
    addresses = _addresses(transaction, pause, plan)
    identity = f"{pause.identity} {plan.sent}"
    tell_urgently(transaction, subject, addresses, now, identity=identity)


def _addresses(transaction: Transaction, pause: PauseRecord, plan: ReminderPlan) -> set[str]:
    """The pauser alone the first time, when they are somebody of this workspace and want it."""
    if plan.sent == 0 and pause.by is not None and pause.by.user_id is not None:
        pauser = who_want(transaction, Notice.REMINDER, [pause.by.user_id])
        if pauser:
            return set(pauser)
    cards = transaction.cards.of(card_of(pause))
    channels = {card.channel_id for card in cards}
    channels |= set(group_channels(transaction, pause))
    return channels | hearing_pauses(transaction, pause.repository)


def _together(pauses: Sequence[PauseRecord]) -> list[list[PauseRecord]]:
    """What was paused together, the first of it first: its reminder speaks for all of it."""
    parties: dict[tuple[int, int], list[PauseRecord]] = defaultdict(list)
    for one in sorted(pauses, key=lambda one: one.pause_id):
        alone = 0 if one.group_act_id else one.pause_id
        parties[one.group_act_id, alone].append(one)
    return list(parties.values())


def _save_for(transaction: Transaction, plan: ReminderPlan, pauses: Sequence[PauseRecord]) -> None:
    """The plan of a group goes on with what is left of it when the first is over."""
    for one in pauses:
        transaction.reminders.save(replace(plan, pause_id=one.pause_id))


def _lifts_soon(timer: Timer | None, now: datetime) -> bool:
    if timer is None or timer.is_overdue:
        return False
    return timer.lifts_at - now <= LIFTS_SOON
