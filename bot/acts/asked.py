"""What people ask for when they pause or freeze: why, until when, and for which pull requests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.acts.errors import InvalidCondition
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
from bot.kernel.ends.doubts import Doubt, doubt_of, possible_ends
from bot.kernel.ends.phrases import read_lasting, read_start
from bot.kernel.errors import InvalidDuration
from bot.merge_queue.window import PULL_REQUEST_END

FROM_WORD = "from"
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
    start: Until | None = None  #: of freezes only; None for now
    branches: tuple[str, ...] = ()  #: of freezes only; all if empty
    excepted: tuple[str, ...] = ()  #: of freezes only: conditions, such as `label=hotfix`

    @property
    def is_timed(self) -> bool:
        return self.start is not None or self.lasting is not None

    @property
    def doubt(self) -> Doubt | None:
        """What may be an end in the reason, where none was read."""
        return None if self.is_timed else doubt_of(self.reason)

    @property
    def is_exact(self) -> bool:
        """Whether its end is a length, or a date with its year: nobody reads these differently."""
        is_length = isinstance(self.lasting, For)
        return is_length or (isinstance(self.lasting, Until) and self.lasting.day is not None)

    @property
    def written(self) -> str:
        """The words from which the same is read."""
        start = (
            written(self.start).replace(UNTIL_WORD, FROM_WORD, 1) if self.start is not None else ""
        )
        lasting = written(self.lasting) if self.lasting is not None else ""
        branches = [f"{BRANCH_PREFIX}{branch}" for branch in self.branches]
        excepted = [f"{EXCEPT}{excepted}" for excepted in self.excepted]
        return " ".join(filter(None, [start, lasting, *branches, *excepted, self.reason]))

    @property
    def limits(self) -> str:
        held = f"only {', '.join(self.branches)}" if self.branches else ""
        excepted = f"except {', '.join(self.excepted)}" if self.excepted else ""
        return ", ".join(filter(None, [held, excepted]))


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

    ends: tuple[TypedEnd, ...] = ()

    is_doubt: bool = False
    """Whether they have to say which one they mean, or whether they mean an end at all."""

    is_far: bool = False
    """Whether they should see the date first."""

    def settled(self, asked: Asked) -> Asked:
        """What is asked for, with the end that was read."""
        return asked if self.is_doubt or not self.ends else self.ends[0].asked


def typed_ends(asked: Asked, now: datetime, zone: ZoneInfo) -> TypedEnds:
    """Read the end, or what may be one in the reason; `zone` is the person's own.

    Raises InvalidDuration for what can be the end of no pause.
    """
    start = now
    if asked.start is not None:
        start = resumes_at(asked.start, now, zone)
        asked = replace(asked, start=at_instant(start))
        if asked.lasting is not None:
            asked = replace(asked, lasting=with_its_date(asked.lasting, now, zone))
    doubt = asked.doubt
    if asked.lasting is not None:
        meant = [(asked.lasting, asked.reason)]
    elif doubt is not None:
        meant = list(doubt.readings)
    else:
        return TypedEnds(now, zone)
    try:
        found = possible_ends(meant, start, zone)
    except InvalidDuration:
        if doubt is not None and doubt.is_in_reason:
            # "CI worked until yesterday" is a reason and nothing else.
            return TypedEnds(now, zone)
        raise
    return TypedEnds(
        now,
        zone,
        tuple(
            TypedEnd(at, replace(asked, reason=reason, lasting=_kept(lasting, at)))
            for at, lasting, reason in found
        ),
        is_doubt=doubt is not None or len(found) > 1,
        is_far=any(is_far(lasting, at, start) for at, lasting, _ in found),
    )


def _kept(lasting: Lasting, at: datetime) -> Lasting:
    return lasting if isinstance(lasting, For) else at_instant(at)


def read_times(words: Sequence[str]) -> tuple[Asked, int]:
    """Read the times in front, and how many words they take; raises InvalidDuration.

    They are `2h`, `until 15:00`, or `from fri 18:00 until mon 08:00`.
    """
    start, taken = _start(words)
    lasting, more = read_lasting(words[taken:])
    return Asked(start=start, lasting=lasting), taken + more


def is_option(word: str) -> bool:
    return word.lower().startswith((BRANCH_PREFIX, EXCEPT))


def read_options(words: Sequence[str]) -> tuple[Asked, list[str]]:
    """Take `branch:…` and `except:…` out, wherever they are; raises InvalidCondition."""
    branches = []
    for word in words:
        if word.lower().startswith(BRANCH_PREFIX):
            name = word[len(BRANCH_PREFIX) :]
            if not name or len(name) > CONDITION_LIMIT or "*" in name:
                raise InvalidCondition(word, "the name of one branch, for example branch:main")
            branches.append(name)
    excepted = [_exception(typed) for typed in words if typed.lower().startswith(EXCEPT)]
    rest = [typed for typed in words if not is_option(typed)]
    for some, word in ((branches, BRANCH_PREFIX), (excepted, EXCEPT)):
        if len(some) > EXCEPTIONS_OF_A_FREEZE:
            raise InvalidCondition(word, f"at most {EXCEPTIONS_OF_A_FREEZE} of them")
    return Asked(branches=tuple(branches), excepted=tuple(excepted)), rest


def _start(words: Sequence[str]) -> tuple[Until | None, int]:
    if not words or words[0].lower() != FROM_WORD:
        return None, 0
    try:
        start, taken = read_start(words[1:])
    except InvalidDuration as error:
        raise InvalidDuration(
            error.problem, error.shown.replace(UNTIL_WORD, FROM_WORD, 1)
        ) from None
    return (start, taken) if isinstance(start, Until) else (None, 0)


def number_condition(pull_request: int) -> str:
    return f"number={pull_request}"


def _exception(word: str) -> str:
    """A condition of the service: a label unless it says otherwise."""
    value = word[len(EXCEPT) :]
    attribute, _, named = value.rpartition("=")
    number = value.removeprefix("#")
    if len(value) > CONDITION_LIMIT or not named.strip("#@") or attribute not in {"", *ATTRIBUTES}:
        raise InvalidCondition(word, f"{EXCEPTIONS}, for example except:hotfix")
    if attribute:
        return value
    if number.isascii() and number.isdigit() and 0 < int(number[:12]) < PULL_REQUEST_END:
        return number_condition(int(number))
    return f"author={value[1:]}" if value.startswith("@") else f"label={value}"
