"""What became of a wish to take over a pause."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.kernel.actor import Actor
from bot.pauses.pause import PauseRecord


@dataclass(frozen=True, slots=True)
class TakenOver:
    """The pauses that the person is now responsible for; those that were theirs are left out."""

    pauses: Sequence[PauseRecord]
    before: Sequence[Actor] = ()  #: who was responsible until then, as far as known


@dataclass(frozen=True, slots=True)
class AlreadyTheirs:
    """The person is responsible for all of it already."""


@dataclass(frozen=True, slots=True)
class NothingToTakeOver:
    """That pause is over; `known` is the one in force instead, if there is one."""

    known: PauseRecord | None = None


TakeOverOutcome = TakenOver | AlreadyTheirs | NothingToTakeOver
