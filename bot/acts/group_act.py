"""Acts on all repositories of a group, and how each of them ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self

from bot.acts.asked import NOTHING_ASKED, Asked
from bot.acts.record import Action
from bot.kernel.actor import Actor, Approved, Caller, Origin
from bot.kernel.groups import Group
from bot.kernel.repository import RepositoryName

CHANGES = frozenset({Action.PAUSE, Action.RESUME})


EVERY_ACT = CHANGES | {Action.EXTEND}


FREEZE_ACTIONS = frozenset({Action.FREEZE, Action.UNFREEZE})


LASTING_ACTIONS = frozenset({Action.PAUSE, Action.FREEZE})
"""What they make is in force until it ends, and their card follows that."""


ENDING_ACTIONS = frozenset({Action.RESUME, Action.UNFREEZE})


INTERRUPTED = "interrupted by a restart of the bot"


def acts_like(action: Action) -> frozenset[Action]:
    """The acts after which it is pointless to retry the rest of an earlier one."""
    return FREEZE_ACTIONS if action in FREEZE_ACTIONS else EVERY_ACT


class GroupOutcome(StrEnum):
    """The result of a group act for one repository."""

    CHANGED = "changed"
    AS_ASKED = "as_asked"
    """Paused or frozen by the same actor for the same reason before."""

    ALREADY_PAUSED = "already_paused"
    """Paused or frozen by somebody else, or for another reason: left alone."""

    ALREADY_PLANNED = "already_planned"
    """A freeze is planned for some of that time, and isn't in force yet."""

    NOT_PAUSED = "not_paused"
    NOT_OURS = "not_ours"
    """Paused or frozen, but not through the group, or by somebody else: left alone."""

    REPLACED = "replaced"
    """Paused through the group, and another pause has taken its place since: left alone."""

    ASKED = "asked"
    """It takes two people, and this was the first."""
    UNCERTAIN = "uncertain"
    """The service's answer was lost: nobody can tell yet."""

    FAILED = "failed"
    NOT_TRIED = "not_tried"

    @property
    def can_be_tried_again(self) -> bool:
        return self in {GroupOutcome.UNCERTAIN, GroupOutcome.FAILED, GroupOutcome.NOT_TRIED}


_LEFT_TO_OTHERS = (
    GroupOutcome.ALREADY_PAUSED,
    GroupOutcome.ALREADY_PLANNED,
    GroupOutcome.NOT_OURS,
    GroupOutcome.REPLACED,
)


@dataclass(frozen=True, slots=True)
class RepositoryResult:
    """The result; `who` made the pause found there, if known, and `detail` is why it failed."""

    repository: RepositoryName
    outcome: GroupOutcome
    who: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class GroupAct:
    """One person's act on a group. `group_act_id` is assigned by the store, 0 before."""

    group: str
    action: Action
    at: datetime
    actor: Actor
    origin: Origin
    repositories: tuple[RepositoryName, ...]
    channel_id: str | None = None
    asked: Asked = NOTHING_ASKED
    notified_together: frozenset[str] = frozenset()  #: channels that get one post for all of it
    #: in the order of `repositories`, complete once it has ended
    results: tuple[RepositoryResult, ...] = ()
    ended_at: datetime | None = None  #: None while it runs, also if a crash cut it off
    group_act_id: int = 0
    #: the shared end of all its pauses, or the due time of the timers that act
    resumes_at: datetime | None = None
    request: str | None = None  #: the request that asked for it; None for timers
    approved: Approved | None = None  #: the proposal that it carries out, if it is one

    @property
    def is_planned(self) -> bool:
        """Whether it freezes nothing yet."""
        return self.action is Action.FREEZE and self.asked.start is not None

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
            request=caller.request,
            approved=caller.approved,
        )

    @property
    def caller(self) -> Caller:
        return Caller(self.actor, self.origin, self.channel_id, self.request, self.approved)

    def of(self, *outcomes: GroupOutcome) -> list[RepositoryResult]:
        return [result for result in self.results if result.outcome in outcomes]

    @property
    def left_to_try(self) -> tuple[RepositoryName, ...]:
        return tuple(
            result.repository for result in self.results if result.outcome.can_be_tried_again
        )

    @property
    def has_changed(self) -> bool:
        """Whether it changed any queue; if not, only the actor sees the result."""
        return bool(self.of(GroupOutcome.CHANGED))

    @property
    def is_left_to_others(self) -> bool:
        """Whether it changed nothing because something else is in force, which stays."""
        return not self.has_changed and bool(self.of(*_LEFT_TO_OTHERS))

    @property
    def is_cut_short(self) -> bool:
        """Whether a crash or a restart ended it early."""
        return self.ended_at is not None and bool(self.of(GroupOutcome.NOT_TRIED))


def in_group_order(
    repositories: Sequence[RepositoryName], results: Sequence[RepositoryResult]
) -> tuple[RepositoryResult, ...]:
    """The results in the group's order; repositories without one were not tried."""
    found = {result.repository: result for result in results}
    return tuple(
        found.get(name, RepositoryResult(name, GroupOutcome.NOT_TRIED)) for name in repositories
    )
