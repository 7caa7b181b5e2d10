"""The pauses made for groups that are in force still, and when they lift themselves."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import AuditRecord
from bot.domain.group_acts import GroupAct, GroupOutcome, HeldPause
from bot.domain.pause_records import PauseRecord
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.pausing.pause_timers import timers_of


def group_act_of(transaction: Transaction, part: PauseRecord | AuditRecord) -> GroupAct | None:
    """The act on a group that the pause was made by, or that the act is a part of."""
    if not part.group_act_id:
        return None
    return transaction.group_acts.get([part.group_act_id]).get(part.group_act_id)


def still_paused(transaction: Transaction, act: GroupAct) -> Sequence[PauseRecord]:
    """The pauses that the act made and that are in force, in the group's order."""
    in_force = transaction.pauses.open(act.repositories)
    ours = {one.repository: one for one in in_force if one.group_act_id == act.group_act_id}
    return [ours[name] for name in act.repositories if name in ours]


def paused_anew(transaction: Transaction, act: GroupAct) -> Sequence[PauseRecord]:
    """The pauses in force that have taken the place of those that the act made."""
    made = {one.repository for one in act.of(GroupOutcome.CHANGED)}
    in_force = transaction.pauses.open(made)
    return [one for one in in_force if one.group_act_id != act.group_act_id]


def held_in_force(transaction: Transaction, group: str) -> Mapping[RepositoryName, PauseRecord]:
    """The pauses that are held for a group and in force still, by repository."""
    held = {one.repository: one for one in transaction.group_acts.held(group)}
    in_force = transaction.pauses.open(held)
    return {one.repository: one for one in in_force if _is_held(one, held[one.repository])}


def _is_held(record: PauseRecord, held: HeldPause) -> bool:
    return held.is_in_force(Pause(reason=record.stored_reason, paused_at=record.paused_at))


@dataclass(frozen=True, slots=True)
class TimedEnds:
    """When those of some pauses lift themselves that do; `overdue` of them should have."""

    times: Sequence[datetime]
    overdue: int


def ends_of(transaction: Transaction, pauses: Collection[PauseRecord]) -> TimedEnds:
    timers = timers_of(transaction, pauses).values()
    overdue = sum(timer.is_overdue for timer in timers)
    return TimedEnds([timer.lifts_at for timer in timers], overdue)
