"""The words of a freeze: when it holds merging, of what, except for what, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.domain.durations import (
    UNTIL,
    For,
    Lasting,
    Until,
    read_doubtful,
    read_lasting,
    resumes_at,
    written,
)
from bot.domain.errors import InvalidCondition, InvalidDuration
from bot.domain.event_log import PULL_REQUEST_END
from bot.domain.freezing import FreezeTerms, any_of, number_condition

FROM = "from"
BRANCH = "branch:"
EXCEPT = "except:"
WORD_LIMIT = 100
AT_MOST = 5
"""Branches, and exceptions, of one freeze: a button carries them all."""

ATTRIBUTES = frozenset({"author", "label", "number"})
EXCEPTIONS = "a label, @author or #pull-request"


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
        return (
            None
            if lasting is None
            else replace(self, reason=" ".join(words[:before]), lasting=lasting)
        )

    def window(self, now: datetime, zone: ZoneInfo) -> "Window":
        """Its times, in the person's zone if they name none; raises InvalidDuration."""
        start = resumes_at(self.start, now, zone) if self.start is not None else None
        end = None if self.lasting is None else resumes_at(self.lasting, start or now, zone)
        return Window(start, end)

    def terms(self, window: "Window", stored_reason: str, zone: ZoneInfo) -> FreezeTerms:
        return FreezeTerms(
            stored_reason,
            window.start,
            window.end,
            zone,
            any_of([f"base={one}" for one in self.branches]),
            any_of(self.excepted),
        )

    @property
    def limits(self) -> str:
        """The branches and exceptions, in words."""
        held = f"only {', '.join(self.branches)}" if self.branches else ""
        excepted = f"except {', '.join(self.excepted)}" if self.excepted else ""
        return ", ".join(filter(None, [held, excepted]))


@dataclass(frozen=True, slots=True)
class Window:
    """When a freeze holds merging: `start` None for now, `end` None until somebody ends it."""

    start: datetime | None = field(default=None)
    end: datetime | None = field(default=None)


def read_options(words: Sequence[str]) -> tuple[TypedFreeze, list[str]]:
    """Take `branch:…` and `except:…` out, wherever they are; raises InvalidCondition."""
    branches = [_branch(one) for one in words if one.lower().startswith(BRANCH)]
    excepted = [_exception(one) for one in words if one.lower().startswith(EXCEPT)]
    rest = [one for one in words if not one.lower().startswith((BRANCH, EXCEPT))]
    for some, word in ((branches, BRANCH), (excepted, EXCEPT)):
        if len(some) > AT_MOST:
            raise InvalidCondition(word, f"at most {AT_MOST} of them")
    return TypedFreeze(branches=tuple(branches), excepted=tuple(excepted)), rest


def read_freeze(words: Sequence[str]) -> TypedFreeze:
    """Read all but the repository; raises InvalidCondition and InvalidDuration."""
    typed, rest = read_options(words)
    start, lasting, taken = read_window(rest)
    return replace(typed, start=start, lasting=lasting, reason=" ".join(rest[taken:]))


def read_kept(text: str) -> TypedFreeze:
    """Read stored words; text that can't be read any more becomes the reason."""
    try:
        return read_freeze(text.split())
    except (InvalidCondition, InvalidDuration):
        return TypedFreeze(text)


def read_window(words: Sequence[str]) -> tuple[Until | None, Lasting | None, int]:
    """The start and the end given by the first words, and how many words they take.

    `2h`, `until 15:00`, or `from fri 18:00 until mon 08:00`. Raises InvalidDuration.
    """
    start, taken = _start(words)
    lasting, more = read_lasting(words[taken:])
    return start, lasting, taken + more


def _start(words: Sequence[str]) -> tuple[Until | None, int]:
    if not words or words[0].lower() != FROM:
        return None, 0
    try:
        start, taken = read_lasting([UNTIL, *words[1:]])
    except InvalidDuration as error:
        raise InvalidDuration(error.problem, error.shown.replace(UNTIL, FROM, 1)) from None
    return (None, 0) if start is None or isinstance(start, For) else (start, taken)


def _branch(word: str) -> str:
    name = word[len(BRANCH) :]
    if not name or len(name) > WORD_LIMIT or "*" in name:
        raise InvalidCondition(word, "the name of one branch, for example branch:main")
    return name


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
