"""What people ask for when they pause or freeze: why, until when, and for which pull requests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from bot.acts.errors import InvalidCondition
from bot.acts.reason import is_visible
from bot.kernel.durations import (
    UNTIL_WORD,
    For,
    Lasting,
    Until,
    at_instant,
    is_far,
    resumes_at,
    with_its_date,
    written,
)
from bot.kernel.ends.doubts import Doubt, MeantEnd, doubt_of, possible_ends
from bot.kernel.ends.spans import FROM_WORD, IN_WORD, read_span
from bot.kernel.errors import InvalidDuration
from bot.merge_queue.window import PULL_REQUEST_END

BRANCH_PREFIX = "branch:"
EXCEPT = "except:"
CONDITION_LIMIT = 100
EXCEPTIONS_OF_A_FREEZE = 5
"""Branches, and exceptions, of one freeze: a button carries them all."""

ATTRIBUTES = frozenset({"author", "label", "number"})
EXCEPTIONS = "a label, @author or #pull-request"


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks for, without its repository or group."""

    reason: str = ""
    lasting: Lasting | None = None  #: counted from the start; None until somebody ends it
    start: Lasting | None = None  #: of freezes only; counted from now, None for now
    branches: tuple[str, ...] = ()  #: of freezes only; all if empty
    excepted: tuple[str, ...] = ()  #: of freezes only: conditions, such as `label=hotfix`
    only_own: bool = False  #: of a group's end: leave what anybody else made

    @property
    def is_timed(self) -> bool:
        return self.start is not None or self.lasting is not None

    @property
    def doubt(self) -> Doubt | None:
        """What may be an end in the reason, where none was read."""
        return None if self.lasting is not None else doubt_of(self.reason)

    @property
    def is_exact(self) -> bool:
        """Whether its end is a length, or a date with its year: nobody reads these differently."""
        if isinstance(self.lasting, Until):
            return self.lasting.day is not None
        return isinstance(self.lasting, For)

    @property
    def written(self) -> str:
        """The words from which the same is read."""
        words: list[str] = []
        if isinstance(self.start, For):
            words += [FROM_WORD, IN_WORD, written(self.start)]
        elif self.start is not None:
            words.append(written(self.start).replace(UNTIL_WORD, FROM_WORD, 1))
        if self.lasting is not None:
            words.append(written(self.lasting))
        words += [f"{BRANCH_PREFIX}{branch}" for branch in self.branches]
        words += [f"{EXCEPT}{condition}" for condition in self.excepted]
        if self.reason:
            words.append(self.reason)
        return " ".join(words)

    @property
    def limits(self) -> str:
        limits: list[str] = []
        if self.branches:
            limits.append(f"only {', '.join(self.branches)}")
        if self.excepted:
            limits.append(f"except {', '.join(self.excepted)}")
        return ", ".join(limits)


NOTHING_ASKED = Asked()


@dataclass(frozen=True, slots=True)
class TypedEnd:
    """What typed words may mean: when it ends, and what is asked for then.

    The end in `asked` means the same whenever it is read, unless it is a length.
    """

    at: datetime
    asked: Asked


@dataclass(frozen=True, slots=True)
class TypedEnds:
    """The end that somebody typed, in what may be several readings."""

    now: datetime
    zone: ZoneInfo
    """The person's own."""

    start: Until | None = None
    """When it begins, the same whenever it is read; None for now."""

    ends: tuple[TypedEnd, ...] = ()

    is_doubt: bool = False
    """Whether they have to say which one they mean, or whether they mean an end at all."""

    is_far: bool = False
    """Whether they should see the date first."""

    def with_end(self, asked: Asked) -> Asked:
        """What is asked for, with the end that was read; unchanged where that is in doubt."""
        if self.is_doubt or not self.ends:
            return replace(asked, start=self.start)
        return self.ends[0].asked


def typed_ends(asked: Asked, now: datetime, zone: ZoneInfo) -> TypedEnds:
    """Read the end, or what may be one in the reason; `zone` is the person's own.

    Raises InvalidDuration for what can be the end of no pause.
    """
    start = now
    begins: Until | None = None
    if asked.start is not None:
        start = resumes_at(asked.start, now, zone)
        begins = at_instant(start)
        asked = replace(asked, start=begins)
        if asked.lasting is not None:
            asked = replace(asked, lasting=with_its_date(asked.lasting, now, zone))
    doubt = asked.doubt
    if asked.lasting is not None:
        meant = [MeantEnd(asked.lasting, asked.reason)]
    elif doubt is not None:
        meant = list(doubt.readings)
    else:
        return TypedEnds(now, zone, begins)
    try:
        found = possible_ends(meant, start, zone)
    except InvalidDuration:
        if doubt is not None and doubt.is_in_reason:
            # "CI worked until yesterday" is a reason and nothing else.
            return TypedEnds(now, zone, begins)
        raise
    ends = [
        TypedEnd(at, replace(asked, reason=reason, lasting=_dated(lasting, at)))
        for at, lasting, reason in found
    ]
    return TypedEnds(
        now,
        zone,
        begins,
        tuple(ends),
        is_doubt=doubt is not None or len(found) > 1,
        is_far=any(is_far(lasting, at, start) for at, lasting, _ in found),
    )


def _dated(lasting: Lasting, at: datetime) -> Lasting:
    """A length as it is; a time of day with the day that is meant now."""
    return lasting if isinstance(lasting, For) else at_instant(at)


class ReadTimes(NamedTuple):
    """The times in front of a command's words."""

    asked: Asked
    taken: int  #: how many words they take


def read_times(words: Sequence[str]) -> ReadTimes:
    """Read `2h`, `until 15:00`, or `from fri 18:00 until mon 08:00`; raises InvalidDuration."""
    start, end, taken = read_span(words)
    return ReadTimes(Asked(start=start, lasting=end), taken)


def is_option(word: str) -> bool:
    return word.lower().startswith((BRANCH_PREFIX, EXCEPT))


class ReadOptions(NamedTuple):
    """The options among a command's words, and the other words."""

    asked: Asked
    rest: list[str]


def read_conditions(words: Sequence[str]) -> ReadOptions:
    """Take `branch:…` and `except:…` out, wherever they are; raises InvalidCondition."""
    limits = [_branch(word) for word in words if word.lower().startswith(BRANCH_PREFIX)]
    exceptions = [_exception(word) for word in words if word.lower().startswith(EXCEPT)]
    branches = list(dict.fromkeys(limits))
    excepted = list(dict.fromkeys(exceptions))
    rest = [word for word in words if not is_option(word)]
    _check_number(limits, BRANCH_PREFIX)
    _check_number(exceptions, EXCEPT)
    return ReadOptions(Asked(branches=tuple(branches), excepted=tuple(excepted)), rest)


def _branch(word: str) -> str:
    name = word[len(BRANCH_PREFIX) :]
    is_of_git = name.isprintable() and not set(name) & _IN_NO_BRANCH
    if not name or len(name) > CONDITION_LIMIT or not is_of_git:
        raise InvalidCondition(word, "the name of one branch, for example branch:main")
    return name


_IN_NO_BRANCH = frozenset(" *?[~^:\\\ufffd")
"""Git allows none of them in the name of a branch; U+FFFD stands for what nothing stores.

https://git-scm.com/docs/git-check-ref-format
"""


def _check_number(options: Sequence[str], word: str) -> None:
    if len(options) > EXCEPTIONS_OF_A_FREEZE:
        raise InvalidCondition(word, f"at most {EXCEPTIONS_OF_A_FREEZE} of them")


def number_condition(pull_request: int) -> str:
    return f"number={pull_request}"


def _exception(word: str) -> str:
    """A condition of the service: a label unless it says otherwise."""
    value = word[len(EXCEPT) :]
    attribute, _, named = value.rpartition("=")
    number = value.removeprefix("#")
    is_named = is_visible(named.strip("#@")) and attribute in {"", *ATTRIBUTES}
    is_number = number.isascii() and number.isdigit()
    is_pull_request = is_number and 0 < int(number[:12]) < PULL_REQUEST_END
    is_no_pull_request = is_number and number != value and not is_pull_request
    if len(value) > CONDITION_LIMIT or not is_named or is_no_pull_request:
        raise InvalidCondition(word, f"{EXCEPTIONS}, for example except:hotfix")
    if attribute:
        return value
    if is_pull_request:
        return number_condition(int(number))
    if value.startswith("@"):
        return f"author={value[1:]}"
    return f"label={value}"
