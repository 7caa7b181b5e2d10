"""Lift the pauses of a group whose time has come together, and tell of them in one post."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.audit import Action, Actor, Origin
from bot.domain.errors import QueueBusy, answer_of
from bot.domain.group_acts import GroupOutcome, HeldPause, RepositoryResult
from bot.domain.groups import Group
from bot.domain.pause_records import Timer, same_moment
from bot.domain.pauses import LiftsLater, NotPaused, OtherPause, Unpaused, UnpauseOutcome
from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.leases import JobLease
from bot.usecases.pausing.group_work import GroupRequest, GroupWork, unheard
from bot.usecases.pausing.lift_pause import LiftPause, Postponed


@dataclass(frozen=True, slots=True)
class Party:
    """Timers of one person for pauses that one act made on a group, all of them due.

    `group_act_id` is that act.
    """

    group: str
    timers: tuple[Timer, ...]
    group_act_id: int


def parties(
    transaction: Transaction, due: Sequence[Timer]
) -> tuple[Sequence[Party], Sequence[Timer]]:
    """The timers that act together, and those that act alone."""
    held = transaction.group_acts.holding([timer.repository for timer in due])
    by_act: dict[tuple[str, int, str], list[Timer]] = defaultdict(list)
    alone: list[Timer] = []
    for timer in due:
        holding = next((one for one in held if _is_held_by(timer, one)), None)
        if holding is None:
            alone.append(timer)
        else:
            by_act[holding.group, holding.group_act_id, timer.set_by].append(timer)
    together: list[Party] = []
    for (group, group_act_id, _), timers in by_act.items():
        if len(timers) > 1:
            together.append(Party(group, tuple(timers), group_act_id))
        else:
            alone += timers
    return together, alone


def _is_held_by(timer: Timer, held: HeldPause) -> bool:
    return (
        held.repository == timer.repository
        and held.paused_at is not None
        and same_moment(held.paused_at, timer.paused_at)
    )


@dataclass(frozen=True, slots=True)
class LiftGroup:
    """An act on a group, on a timer's word. What fails is tried again, one by one."""

    lift_pause: LiftPause
    work: GroupWork

    async def run(self, party: Party, lease: JobLease) -> None:
        """Raises StoreError."""
        first = party.timers[0]
        timers = {timer.repository: timer for timer in party.timers}
        request = GroupRequest(
            Group(party.group, tuple(timers)),
            Actor(first.set_by, first.set_by_name),
            Origin.TIMER,
            first.channel_id,
            lifts_at=first.lifts_at,
        )
        act = await self.work.begin(request, Action.UNPAUSE, request.group.repositories)

        async def lift(repository: RepositoryName) -> RepositoryResult:
            timer = timers[repository]
            outcome = await self.lift_pause.run(timer, lease, act)
            return await self._result(party, timer, outcome)

        await self.work.run(act, lift, unheard)

    async def _result(
        self, party: Party, timer: Timer, outcome: UnpauseOutcome | LiftsLater | Postponed
    ) -> RepositoryResult:
        match outcome:
            case Unpaused():
                return RepositoryResult(timer.repository, GroupOutcome.CHANGED)
            case NotPaused():
                await self._let_go(party, timer)
                return RepositoryResult(timer.repository, GroupOutcome.NOT_PAUSED)
            case OtherPause(known=known):
                await self._let_go(party, timer)
                return RepositoryResult(timer.repository, GroupOutcome.REPLACED, known.by)
            case LiftsLater():
                detail = "somebody resumed it, or changed its end, meanwhile"
                return RepositoryResult(timer.repository, GroupOutcome.FAILED, detail=detail)
            case Postponed(error=error):
                why = str(error) if isinstance(error, QueueBusy) else answer_of(error)
                detail = f"{why}; it is tried again"
                return RepositoryResult(timer.repository, GroupOutcome.FAILED, detail=detail)

    async def _let_go(self, party: Party, timer: Timer) -> None:
        """Not what somebody has paused for the group since."""
        await self.work.acts.store.run(
            lambda transaction: transaction.group_acts.let_go(
                party.group, timer.repository, party.group_act_id
            )
        )
