"""Freezes that people make: the words they type, what they ask for, and what the service lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from bot.domain.audit import AuditRecord
from bot.domain.durations import (
    UNTIL,
    Lasting,
    Until,
    read_doubtful,
    read_lasting,
    resumes_at,
    written,
)
from bot.domain.errors import InvalidCondition, InvalidDuration
from bot.domain.event_log import PULL_REQUEST_END
from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import moment, zone_of
from bot.domain.repository import RepositoryName
from bot.domain.resource import Several

Condition = str | Mapping[str, Any]
"""`base=main`, or a tree of `and`, `or` and `not`, as the service takes it."""

BY_EVENT = "event:"
"""Begins the id of a freeze in a card's buttons: its first event's id follows."""

ASK_FROM = timedelta(hours=12)
"""A freeze that lasts so long, or has no end, is confirmed first."""

FROM = "from"
BRANCH = "branch:"
EXCEPT = "except:"
WORD_LIMIT = 100
AT_MOST = 5
"""Branches, and exceptions, of one freeze: a button carries them all."""

ATTRIBUTES = frozenset({"author", "label", "number"})
EXCEPTIONS = "a label, @author or #pull-request"


@dataclass(frozen=True, slots=True)
class FreezeTerms:
    """A freeze to create.

    `start`: None for now. `end`: None until somebody ends it.
    `zone`: the person's own; the service shows times in it.
    `matching`, `excluded`: the service holds what meets all of the first, unless it meets all of
    the second.
    """

    reason: str
    start: datetime | None
    end: datetime | None
    zone: ZoneInfo
    matching: tuple[Condition, ...] = ()
    excluded: tuple[Condition, ...] = ()

    @property
    def sent(self) -> dict[str, Any]:
        """The fields as the service takes them; a missing start is now."""
        times = [at for at in (self.start, self.end) if at is not None]
        first = [at.astimezone(self.zone).replace(fold=0).astimezone(UTC) for at in times]
        # Of a time that occurs twice in the zone the service would take the first.
        zone = self.zone if first == times else ZoneInfo("UTC")
        return {
            "reason": self.reason,
            "start": local(self.start, zone) if self.start is not None else None,
            "end": local(self.end, zone) if self.end is not None else None,
            "timezone": zone.key,
            "matching_conditions": list(self.matching),
            "exclude_conditions": list(self.excluded),
        }


@dataclass(frozen=True, slots=True)
class FreezeChange:
    """What to change of a freeze; None leaves it as it is."""

    end: datetime | None = None
    excluded: tuple[Condition, ...] | None = None


class ScheduledFreeze(FreezeAttributes):
    """A freeze in force or to come, as the service lists it.

    `excluded`: its exceptions exactly as sent, to send them back.
    """

    id: str
    excluded: Annotated[Several[Any], Field(validation_alias="exclude_conditions")] = ()

    @property
    def begins_at(self) -> datetime | None:
        return moment(self.start, self)

    @property
    def ends_at(self) -> datetime | None:
        return moment(self.end, self)

    def has_begun(self, now: datetime) -> bool:
        """An unreadable start counts as past: the service lists the freeze."""
        return self.begins_at is None or self.begins_at <= now

    def has(self, change: FreezeChange) -> bool:
        """Whether it is as the change makes it."""
        end = None if change.end is None else change.end.replace(microsecond=0)
        is_end = end in {None, self.ends_at}
        return is_end and change.excluded in (None, self.excluded)

    def sent(self, change: FreezeChange) -> Mapping[str, Any]:
        """The change as the service takes it for this freeze."""
        end = None if change.end is None else local(change.end, zone_of(self) or UTC)
        excluded = None if change.excluded is None else list(change.excluded)
        fields = {"end": end, "exclude_conditions": excluded}
        return {name: value for name, value in fields.items() if value is not None}


def local(at: datetime, zone: tzinfo) -> str:
    """The time in the zone, without an offset, in whole seconds."""
    return at.astimezone(zone).replace(tzinfo=None).isoformat(timespec="seconds")


def has_terms(freeze: FreezeAttributes, terms: FreezeAttributes) -> bool:
    """Whether they are the same freeze; times may be written in different ways."""
    return _identity(freeze) == _identity(terms)


def has_begin(freeze: FreezeAttributes, terms: FreezeAttributes) -> bool:
    """Whether they begin at the same time for the same reason."""
    return _identity(freeze)[:2] == _identity(terms)[:2]


def _identity(terms: FreezeAttributes) -> tuple[object, ...]:
    times = [moment(one, terms) for one in (terms.start, terms.end)]
    seconds = [at.replace(microsecond=0) if at is not None else None for at in times]
    return (terms.reason or "", *seconds, terms.matching_conditions, terms.exclude_conditions)


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
        case [one]:
            return ({"or": [one, added]},)
        case several:
            return ({"or": [{"and": several}, added]},)


def number_condition(pull_request: int) -> str:
    return f"number={pull_request}"


def is_excepted(excluded: Sequence[Condition], condition: str) -> bool:
    """Whether the condition alone is among the exceptions."""
    match list(excluded):
        case [{"or": [*parts]}]:
            return condition in parts
        case [one]:
            return one == condition
        case _:
            return False


@dataclass(frozen=True, slots=True)
class KnownFreeze:
    """A freeze of the service's list, with what the bot knows of it.

    `by`: who made it. `reason`: their own words. `group`, `group_act_id`: the
    group it was made for, and the act on that.
    """

    repository: RepositoryName
    freeze: ScheduledFreeze
    by: str | None = None
    reason: str = ""
    group: str | None = None
    group_act_id: int = 0


class FreezesAsTheyWere(StrEnum):
    """Why nothing was changed; the audit says it too."""

    FROZEN = "already frozen"
    NOT_FROZEN = "not frozen"
    SEVERAL = "several freezes"
    OTHER_END = "its end has changed"
    EXCEPTED = "already excepted"


@dataclass(frozen=True, slots=True)
class FreezeOutcome:
    """The freezes that were made, changed or ended; with `because`, nothing was changed.

    `ended`: the act that ended one last, if there is none any more.
    `posted_here`: the freezes' card tells the channel.
    """

    freezes: Sequence[KnownFreeze] = ()
    because: FreezesAsTheyWere | None = None
    ended: AuditRecord | None = None
    posted_here: bool = False


def overlaps(freeze: ScheduledFreeze, wanted: FreezeTerms, now: datetime) -> bool:
    """Whether it holds all that the wanted one would hold, at some of its time."""
    matching = {*freeze.matching_conditions}
    if matching and matching != {*FreezeAttributes.model_validate(wanted.sent).matching_conditions}:
        return False
    begins, ends = freeze.begins_at or now, freeze.ends_at
    is_before_end = ends is None or (wanted.start or now) < ends
    return is_before_end and (wanted.end is None or begins < wanted.end)


@dataclass(frozen=True, slots=True)
class TypedFreeze:
    """A freeze as somebody asks for it, without its repository.

    `start`: None for now. `lasting`: counted from the start; None until somebody ends it.
    `branches`: all if empty. `excepted`: conditions, such as `label=hotfix`.
    """

    reason: str = ""
    start: Until | None = None
    lasting: Lasting | None = None
    branches: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()

    @property
    def is_timed(self) -> bool:
        return self.start is not None or self.lasting is not None

    @property
    def written(self) -> str:
        """The words from which `read_freeze` reads the same."""
        start = written(self.start).replace(UNTIL, FROM, 1) if self.start is not None else ""
        lasting = written(self.lasting) if self.lasting is not None else ""
        branches = [f"{BRANCH}{one}" for one in self.branches]
        excepted = [f"{EXCEPT}{one}" for one in self.excepted]
        return " ".join(filter(None, [start, lasting, *branches, *excepted, self.reason]))

    @property
    def with_end(self) -> "TypedFreeze | None":
        """With a duration at the end of its reason as its length; None if there is none."""
        if self.is_timed:
            return None
        words = self.reason.split()
        lasting, before = read_doubtful(words)
        if lasting is None:
            return None
        return replace(self, reason=" ".join(words[:before]), lasting=lasting)

    def terms(self, now: datetime, zone: ZoneInfo, stored_reason: str = "") -> FreezeTerms:
        """Times are in the person's zone if they name none; raises InvalidDuration."""
        start = resumes_at(self.start, now, zone) if self.start is not None else None
        end = None if self.lasting is None else resumes_at(self.lasting, start or now, zone)
        return FreezeTerms(
            stored_reason,
            start,
            end,
            zone,
            any_of([f"base={one}" for one in self.branches]),
            any_of(self.excepted),
        )

    @property
    def limits(self) -> str:
        held = f"only {', '.join(self.branches)}" if self.branches else ""
        excepted = f"except {', '.join(self.excepted)}" if self.excepted else ""
        return ", ".join(filter(None, [held, excepted]))


def read_options(words: Sequence[str]) -> tuple[TypedFreeze, list[str]]:
    """Take `branch:…` and `except:…` out, wherever they are; raises InvalidCondition."""
    branches = []
    for word in words:
        if word.lower().startswith(BRANCH):
            name = word[len(BRANCH) :]
            if not name or len(name) > WORD_LIMIT or "*" in name:
                raise InvalidCondition(word, "the name of one branch, for example branch:main")
            branches.append(name)
    excepted = [_exception(one) for one in words if one.lower().startswith(EXCEPT)]
    rest = [one for one in words if not one.lower().startswith((BRANCH, EXCEPT))]
    for some, word in ((branches, BRANCH), (excepted, EXCEPT)):
        if len(some) > AT_MOST:
            raise InvalidCondition(word, f"at most {AT_MOST} of them")
    return TypedFreeze(branches=tuple(branches), excepted=tuple(excepted)), rest


def read_freeze(words: Sequence[str]) -> TypedFreeze:
    """Read all but the repository; raises InvalidCondition and InvalidDuration.

    The times come first: `2h`, `until 15:00`, or `from fri 18:00 until mon 08:00`.
    """
    typed, rest = read_options(words)
    start, taken = _start(rest)
    lasting, more = read_lasting(rest[taken:])
    return replace(typed, start=start, lasting=lasting, reason=" ".join(rest[taken + more :]))


def read_kept(text: str) -> TypedFreeze:
    """Read stored words; text that can't be read any more becomes the reason."""
    try:
        return read_freeze(text.split())
    except (InvalidCondition, InvalidDuration):
        return TypedFreeze(text)


def _start(words: Sequence[str]) -> tuple[Until | None, int]:
    if not words or words[0].lower() != FROM:
        return None, 0
    try:
        start, taken = read_lasting([UNTIL, *words[1:]])
    except InvalidDuration as error:
        raise InvalidDuration(error.problem, error.shown.replace(UNTIL, FROM, 1)) from None
    return (start, taken) if isinstance(start, Until) else (None, 0)


def _exception(word: str) -> str:
    """A condition of the service: a label unless it says otherwise."""
    value = word[len(EXCEPT) :]
    attribute, _, named = value.rpartition("=")
    number = value.removeprefix("#")
    if len(value) > WORD_LIMIT or not named.strip("#@") or attribute not in {"", *ATTRIBUTES}:
        raise InvalidCondition(word, f"{EXCEPTIONS}, for example except:hotfix")
    if attribute:
        return value
    if number.isascii() and number.isdigit() and 0 < int(number[:12]) < PULL_REQUEST_END:
        return number_condition(int(number))
    return f"author={value[1:]}" if value.startswith("@") else f"label={value}"
