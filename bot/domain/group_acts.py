"""Acts on all repositories of a group, and how each of them ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self

from bot.domain.asked import NOTHING, Asked
from bot.domain.audit import Action, Actor, Caller, Origin
from bot.domain.durations import Until
from bot.domain.groups import Group
from bot.domain.pauses import AlreadyPaused, NotPaused, OtherEnd, OtherPause, PauseChange
from bot.domain.repository import RepositoryName

GO_ON_WITHIN = timedelta(minutes=30)
"""How old an act cut off by a crash or restart may be for the bot to finish it."""


CHANGES = frozenset({Action.PAUSE, Action.RESUME})
EVERY_ACT = CHANGES | {Action.EXTEND}
FREEZES = frozenset({Action.FREEZE, Action.UNFREEZE})


def acts_like(action: Action) -> frozenset[Action]:
    """The acts of which a newer one makes it pointless to go on."""
    return FREEZES if action in FREEZES else EVERY_ACT


class GroupOutcome(StrEnum):
    """The result of a group act for one repository."""

    CHANGED = "changed"
    ALREADY_PAUSED = "already_paused"
    NOT_PAUSED = "not_paused"
    NOT_OURS = "not_ours"
    """Paused or frozen, but not through the group: left alone."""

    REPLACED = "replaced"
    """Paused through the group, and another pause has taken its place since: left alone."""

    FAILED = "failed"
    NOT_TRIED = "not_tried"

    @property
    def can_be_tried_again(self) -> bool:
        return self in {GroupOutcome.FAILED, GroupOutcome.NOT_TRIED}


@dataclass(frozen=True, slots=True)
class RepositoryResult:
    """The result; `who` made the pause found there, if known, and `detail` is why it failed."""

    repository: RepositoryName
    outcome: GroupOutcome
    who: str | None = None
    detail: str | None = None


def result_of(
    repository: RepositoryName,
    outcome: PauseChange | AlreadyPaused | NotPaused | OtherPause | OtherEnd,
) -> RepositoryResult:
    match outcome:
        case PauseChange():
            return RepositoryResult(repository, GroupOutcome.CHANGED)
        case AlreadyPaused(known=known):
            return RepositoryResult(repository, GroupOutcome.ALREADY_PAUSED, known.by_name)
        case NotPaused():
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        case OtherPause(known=known) | OtherEnd(known=known):
            return RepositoryResult(repository, GroupOutcome.REPLACED, known.by_name)


@dataclass(frozen=True, slots=True)
class GroupAct:
    """One person's act on a group. `group_act_id` is assigned by the store, 0 before.

    `notified_together`: channels that get one post for all of it.
    `ended_at`: None while it runs, also if a crash cut it off.
    `results`: in the order of `repositories`, complete once it has ended.
    `resumes_at`: the shared end of all its pauses, or the due time of the timers that act.
    """

    group: str
    action: Action
    at: datetime
    actor: Actor
    origin: Origin
    repositories: tuple[RepositoryName, ...]
    channel_id: str | None = None
    asked: Asked = NOTHING
    notified_together: frozenset[str] = frozenset()
    results: tuple[RepositoryResult, ...] = ()
    ended_at: datetime | None = None
    group_act_id: int = 0
    resumes_at: datetime | None = None

    @property
    def identity(self) -> str:
        """A key that, unlike `group_act_id`, a restored database never gives to another act."""
        return f"{self.at.isoformat()} {self.actor.user_id} {self.action} {self.group}"

    @classmethod
    def by(cls, caller: Caller, at: datetime, action: Action, group: Group, asked: Asked) -> Self:
        """An act on all repositories of the group that is yet to begin."""
        return cls(
            group.name,
            action,
            at,
            caller.actor,
            caller.origin,
            group.repositories,
            caller.channel_id,
            asked,
        )

    @property
    def caller(self) -> Caller:
        return Caller(self.actor, self.origin, self.channel_id)

    @property
    def ends_at_time_of_day(self) -> bool:
        """Whether its pauses end at a typed time of day rather than after a length."""
        return isinstance(self.asked.lasting, Until)

    def of(self, *outcomes: GroupOutcome) -> list[RepositoryResult]:
        return [one for one in self.results if one.outcome in outcomes]

    @property
    def left_to_try(self) -> tuple[RepositoryName, ...]:
        return tuple(one.repository for one in self.results if one.outcome.can_be_tried_again)

    @property
    def has_changed(self) -> bool:
        """Whether it changed any queue; if not, only the actor sees the result."""
        return bool(self.of(GroupOutcome.CHANGED))

    @property
    def is_cut_short(self) -> bool:
        """Whether a crash or a restart ended it early."""
        return self.ended_at is not None and bool(self.of(GroupOutcome.NOT_TRIED))


def in_order(
    repositories: Sequence[RepositoryName], results: Sequence[RepositoryResult]
) -> tuple[RepositoryResult, ...]:
    """The results in the group's order; repositories without one were not tried."""
    found = {one.repository: one for one in results}
    return tuple(
        found.get(name, RepositoryResult(name, GroupOutcome.NOT_TRIED)) for name in repositories
    )
