"""Freezes that people make: their terms, and what the service lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from bot.acts.asked import Asked
from bot.acts.record import AuditRecord
from bot.freezes.freeze import Freeze
from bot.kernel.durations import resumes_at
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import FreezeAttributes
from bot.merge_queue.freezes import Condition, FreezeTerms
from bot.pauses.stop import Stop

SAME_MINUTE = timedelta(minutes=1)
"""Freezes that begin, or end, so close together do so at once, by whichever clock."""


ASK_FROM = timedelta(hours=12)
"""A freeze that lasts so long, or has no end, is confirmed first."""


def terms_of(asked: Asked, now: datetime, zone: ZoneInfo, stored_reason: str = "") -> FreezeTerms:
    """Times are in the person's zone if they name none; raises InvalidDuration."""
    start = resumes_at(asked.start, now, zone) if asked.start is not None else None
    end = None if asked.lasting is None else resumes_at(asked.lasting, start or now, zone)
    branches = any_of([f"base={branch}" for branch in asked.branches])
    return FreezeTerms(stored_reason, start, end, zone, branches, any_of(asked.excepted))


def any_of(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """One of them is enough; the service requires all that it is given."""
    return ({"or": list(conditions)},) if conditions[1:] else tuple(conditions)


def with_exception(excluded: Sequence[Condition], added: Condition) -> tuple[Condition, ...]:
    """The exceptions, and another one that is enough by itself."""
    match list(excluded):
        case []:
            return (added,)
        case [{"or": [*parts]}]:
            return ({"or": [*parts, added]},)
        case [only]:
            return ({"or": [only, added]},)
        case several:
            return ({"or": [{"and": several}, added]},)


def is_excepted(excluded: Sequence[Condition], condition: str) -> bool:
    """Whether the condition alone is among the exceptions."""
    match list(excluded):
        case [{"or": [*parts]}]:
            return condition in parts
        case [only]:
            return only == condition
        case _:
            return False


class FreezesAsTheyWere(StrEnum):
    """Why nothing was changed; the audit says it too."""

    FROZEN = "already frozen"
    NOT_FROZEN = "not frozen"
    SEVERAL = "several freezes"
    OTHER_END = "its end has changed"
    EXCEPTED = "already excepted"
    ONLY_PLANNED = "only planned"
    BEGUN = "begun already"
    OTHER_TIMES = "its times have changed"


@dataclass(frozen=True, slots=True)
class Times:
    """When a freeze begins and ends."""

    start: datetime
    end: datetime | None  #: None until somebody ends it


@dataclass(frozen=True, slots=True)
class FreezeOutcome:
    """The freezes that were made, changed or ended; with `because`, nothing was changed."""

    freezes: Sequence[Freeze] = ()
    because: FreezesAsTheyWere | None = None
    ended: AuditRecord | None = None  #: the act that ended one last, if there is none any more
    posted_here: bool = False  #: the freezes' card tells the channel

    left: Sequence[Freeze] = ()
    """Those that were meant too and are as they were."""

    beside: Sequence[Freeze] = ()
    """The queue's other freezes, which keep merges waiting too."""

    error: MergeQueueError | None = None
    """Why they are."""


@dataclass(frozen=True, slots=True)
class FreezesOfGroup:
    """The freezes that were made for a group, by repository."""

    found: Mapping[RepositoryName, Sequence[Freeze]]
    unread: Mapping[RepositoryName, MergeQueueError]  #: why those of others couldn't be read


def is_needless(wanted: FreezeTerms, freeze: Freeze, now: datetime) -> bool:
    """Whether the wanted freeze would change nothing beside this one.

    The service takes any freezes beside each other. One that keeps more waiting, or for longer, is
    made, unless the same person froze it for the same reason: a length counts from a later moment
    then, so the same request again can't be told from one for longer. They extend the freeze.
    """
    asked = FreezeAttributes.model_validate(wanted.sent)
    matching = {*freeze.terms.matching_conditions}
    if matching and matching != {*asked.matching_conditions}:
        return False
    excepted = {*freeze.terms.exclude_conditions}
    if excepted and excepted != {*asked.exclude_conditions}:
        return False
    return _lasts_as_long(wanted, freeze, now) or _is_asked_again(wanted, freeze, now)


def _lasts_as_long(wanted: FreezeTerms, freeze: Freeze, now: datetime) -> bool:
    """Whether the freeze is in force at all of the wanted time."""
    begins = freeze.begins_at or now
    if begins > (wanted.start or now) + SAME_MINUTE:
        return False
    ends = freeze.ends_at
    return ends is None or (wanted.end is not None and wanted.end <= ends + SAME_MINUTE)


def _is_asked_again(wanted: FreezeTerms, freeze: Freeze, now: datetime) -> bool:
    """Whether the same person froze the queue for the same reason, and it still is frozen."""
    is_same = bool(wanted.reason) and freeze.terms.reason == wanted.reason
    return is_same and wanted.start is None and freeze.has_begun(now)


def times_of(freeze: Freeze) -> Times | None:
    """None if its start is unreadable."""
    begins_at = freeze.begins_at
    return Times(begins_at, freeze.ends_at) if begins_at is not None else None


def meant_by(freeze_id: str | None, known: Sequence[Freeze], now: datetime) -> list[Freeze]:
    """Which somebody may end: the one of that id, or those in force, else those to come."""
    if freeze_id is None:
        return [freeze for freeze in known if freeze.has_begun(now)] or [*known]
    return [freeze for freeze in known if freeze.freeze_id == freeze_id]


def ids_of(freezes: Sequence[Freeze]) -> frozenset[str]:
    return frozenset(freeze.freeze_id for freeze in freezes if freeze.freeze_id is not None)


def stop_by_freezes(freezes: Sequence[Freeze], pull_request: int | None = None) -> Stop:
    """`pull_request`: the only one that is to get through them."""
    words = sorted(ids_of(freezes))
    if pull_request is not None:
        words.append(f"#{pull_request}")
    first = freezes[0]
    makers = frozenset(freeze.act.actor.user_id if freeze.act else None for freeze in freezes)
    return Stop(makers, first.by, first.reason, first.begins_at, subject=" ".join(words))
