"""Acts on all repositories of a group, and how each of them ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.audit import Action, Actor, Caller, Origin
from bot.domain.durations import Lasting, Until, read_doubtful, read_lasting, written
from bot.domain.errors import InvalidDuration
from bot.domain.repository import RepositoryName

GO_ON_WITHIN = timedelta(minutes=30)
"""An act that a crash or a restart cut off goes on by itself when it was begun since then."""


CHANGES = frozenset({Action.PAUSE, Action.UNPAUSE})
EVERY_ACT = CHANGES | {Action.EXTEND}


class GroupOutcome(StrEnum):
    """How one repository came out of an act on its group."""

    CHANGED = "changed"
    ALREADY_PAUSED = "already_paused"
    NOT_PAUSED = "not_paused"
    NOT_OURS = "not_ours"
    """Paused, but not through the group: left alone."""

    REPLACED = "replaced"
    """Paused through the group, and another pause has taken its place since: left alone."""

    FAILED = "failed"
    NOT_TRIED = "not_tried"

    @property
    def can_be_tried_again(self) -> bool:
        return self in {GroupOutcome.FAILED, GroupOutcome.NOT_TRIED}


@dataclass(frozen=True, slots=True)
class RepositoryResult:
    """`who` made the pause that was found there, if that is known; `detail` is why it failed."""

    repository: RepositoryName
    outcome: GroupOutcome
    who: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What is typed behind a group's name: perhaps how long, and why."""

    reason: str
    lasting: Lasting | None = None


def read_asked(text: str) -> Asked:
    """Raises InvalidDuration when it begins like a duration and is none."""
    lasting, taken = read_lasting(text.split())
    rest = text.split(maxsplit=taken)[taken:]
    return Asked(rest[0].strip() if rest else "", lasting)


def read_as_end(text: str) -> str | None:
    """The text with a duration at the end of its reason put first; None when there is none."""
    words = text.split()
    if read_lasting(words)[1]:
        return None
    lasting, before = read_doubtful(words)
    return None if lasting is None else " ".join([written(lasting), *words[:before]])


def read_kept(text: str) -> Asked:
    """What was read before and kept since; a text that cannot be read any more is all reason."""
    try:
        return read_asked(text)
    except InvalidDuration:
        return Asked(text)


@dataclass(frozen=True, slots=True)
class GroupAct:
    """One person's word on a group. `group_act_id` is given by the store, 0 before.

    `asked` is what was typed behind the group's name, so that it can be read again.
    `notified_together` are the channels that get one post for all of it. `ended_at` is None while
    it goes on, also when a crash has cut it off; `results` are in the order of `repositories`, and
    complete once it has ended.
    `lifts_at` is the one end of all its pauses when the act gives them one, and the time of the
    timers that act when it is timers that do.
    """

    group: str
    action: Action
    at: datetime
    actor: Actor
    origin: Origin
    repositories: tuple[RepositoryName, ...]
    channel_id: str | None = None
    asked: str = ""
    notified_together: frozenset[str] = frozenset()
    results: tuple[RepositoryResult, ...] = ()
    ended_at: datetime | None = None
    group_act_id: int = 0
    lifts_at: datetime | None = None

    @property
    def identity(self) -> str:
        """What a restored database does not give to another act, as it does `group_act_id`."""
        return f"{self.at.isoformat()} {self.actor.user_id} {self.action} {self.group}"

    @property
    def caller(self) -> Caller:
        return Caller(self.actor, self.origin, self.channel_id)

    @property
    def wanted(self) -> Asked:
        """`asked`, read."""
        return read_kept(self.asked)

    @property
    def ends_at_time_of_day(self) -> bool:
        """Whether its pauses end at the time that a person named, not after a length."""
        return isinstance(self.wanted.lasting, Until)

    def of(self, *outcomes: GroupOutcome) -> list[RepositoryResult]:
        return [one for one in self.results if one.outcome in outcomes]

    @property
    def left_to_try(self) -> tuple[RepositoryName, ...]:
        return tuple(one.repository for one in self.results if one.outcome.can_be_tried_again)

    @property
    def has_changed(self) -> bool:
        """Whether any queue was changed; nobody but the actor is told of an act that did not."""
        return bool(self.of(GroupOutcome.CHANGED))

    @property
    def is_cut_short(self) -> bool:
        """Whether it ended with a crash or a restart, before all was tried."""
        return self.ended_at is not None and bool(self.of(GroupOutcome.NOT_TRIED))


def in_order(
    repositories: Sequence[RepositoryName], results: Sequence[RepositoryResult]
) -> tuple[RepositoryResult, ...]:
    """The results in the group's order; those without one were not tried."""
    found = {one.repository: one for one in results}
    return tuple(
        found.get(name, RepositoryResult(name, GroupOutcome.NOT_TRIED)) for name in repositories
    )
