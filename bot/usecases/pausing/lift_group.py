"""Lift the pauses of a group whose time has come together, and tell of them in one post."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.audit import Action
from bot.domain.errors import QueueBusy, answer_of
from bot.domain.group_acts import GroupOutcome, RepositoryResult
from bot.domain.groups import Group
from bot.domain.pause_records import PauseRecord, Who
from bot.domain.pauses import LiftsLater, NotPaused, OtherPause, Unpaused, UnpauseOutcome
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.leases import JobLease
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, unheard
from bot.usecases.pausing.lift_pause import LiftPause, Postponed


@dataclass(frozen=True, slots=True)
class Party:
    """Pauses that one act made on a group, all of them due to end on one person's word."""

    group: str
    pauses: tuple[PauseRecord, ...]


def parties(
    transaction: Transaction, due: Sequence[PauseRecord]
) -> tuple[Sequence[Party], Sequence[PauseRecord]]:
    """The pauses that end together, and those that end alone."""
    acts = transaction.group_acts.get({one.group_act_id for one in due if one.group_act_id})
    by_act: dict[tuple[int, Who | None], list[PauseRecord]] = defaultdict(list)
    for one in due:
        by_act[one.group_act_id, one.timer.set_by if one.timer else None].append(one)
    together: list[Party] = []
    alone: list[PauseRecord] = []
    for (group_act_id, _), pauses in by_act.items():
        act = acts.get(group_act_id)
        if act is not None and len(pauses) > 1:
            together.append(Party(act.group, tuple(pauses)))
        else:
            alone += pauses
    return together, alone


@dataclass(frozen=True, slots=True)
class LiftGroup:
    """An act on a group, on a timer's word. What fails is tried again, one by one."""

    lift_pause: LiftPause
    work: GroupWork

    async def run(self, party: Party, lease: JobLease) -> None:
        """Raises StoreError."""
        timer = party.pauses[0].timer
        if timer is None:
            return
        pauses = {one.repository: one for one in party.pauses}
        request = GroupRequest(
            Group(party.group, tuple(pauses)),
            timer.caller,
        )
        act = await self.work.begin(request, Action.UNPAUSE, tuple(pauses), timer.lifts_at)

        async def lift(repository: RepositoryName) -> RepositoryResult:
            outcome = await self.lift_pause.run(pauses[repository], lease, act)
            return _result(repository, outcome)

        await self.work.run(act, lift, unheard)


def _result(
    repository: RepositoryName, outcome: UnpauseOutcome | LiftsLater | Postponed
) -> RepositoryResult:
    match outcome:
        case Unpaused():
            return RepositoryResult(repository, GroupOutcome.CHANGED)
        case NotPaused():
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        case OtherPause(known=known):
            return RepositoryResult(repository, GroupOutcome.REPLACED, known.by_name)
        case LiftsLater():
            detail = "somebody resumed it, or changed its end, meanwhile"
            return RepositoryResult(repository, GroupOutcome.FAILED, detail=detail)
        case Postponed(error=error):
            why = str(error) if isinstance(error, QueueBusy) else answer_of(error)
            detail = f"{why}; it is tried again"
            return RepositoryResult(repository, GroupOutcome.FAILED, detail=detail)
