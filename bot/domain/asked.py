"""What people ask for when they pause or freeze: why, until when, and for which pull requests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.domain.durations import UNTIL, Lasting, Until, read_doubtful, read_lasting, written
from bot.domain.errors import InvalidCondition, InvalidDuration
from bot.domain.event_log import PULL_REQUEST_END

FROM = "from"
BRANCH = "branch:"
EXCEPT = "except:"
WORD_LIMIT = 100
AT_MOST = 5
"""Branches, and exceptions, of one freeze: a button carries them all."""

ATTRIBUTES = frozenset({"author", "label", "number"})
EXCEPTIONS = "a label, @author or #pull-request"


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks for, without its repository or group.

    `lasting`: counted from the start; None until somebody ends it.
    Of freezes only: `start`, None for now. `branches`: all if empty. `excepted`: conditions, such
    as `label=hotfix`.
    """

    reason: str = ""
    lasting: Lasting | None = None
    start: Until | None = None
    branches: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()

    @property
    def is_timed(self) -> bool:
        return self.start is not None or self.lasting is not None

    @property
    def written(self) -> str:
        """The words from which the same is read."""
        start = written(self.start).replace(UNTIL, FROM, 1) if self.start is not None else ""
        lasting = written(self.lasting) if self.lasting is not None else ""
        branches = [f"{BRANCH}{one}" for one in self.branches]
        excepted = [f"{EXCEPT}{one}" for one in self.excepted]
        return " ".join(filter(None, [start, lasting, *branches, *excepted, self.reason]))

    @property
    def with_end(self) -> "Asked | None":
        """With a lone number of minutes, or a duration at the end of its reason, as its length.

        None if there is none. The person may have wanted an end, or these words in the reason.
        """
        if self.is_timed:
            return None
        words = self.reason.split()
        lasting, before = read_doubtful(words)
        if lasting is None:
            return None
        return replace(self, reason=" ".join(words[:before]), lasting=lasting)

    @property
    def limits(self) -> str:
        held = f"only {', '.join(self.branches)}" if self.branches else ""
        excepted = f"except {', '.join(self.excepted)}" if self.excepted else ""
        return ", ".join(filter(None, [held, excepted]))


NOTHING = Asked()


def read_asked(text: str) -> Asked:
    """Read an end, if the text begins with one, and a reason.

    Raises InvalidDuration for words that look like a duration but aren't one.
    """
    lasting, taken = read_lasting(text.split())
    rest = text.split(maxsplit=taken)[taken:]
    return Asked(rest[0].strip() if rest else "", lasting)


def read_freeze(words: Sequence[str]) -> Asked:
    """Read all but the repository; raises InvalidCondition and InvalidDuration.

    The times come first: `2h`, `until 15:00`, or `from fri 18:00 until mon 08:00`.
    """
    asked, rest = read_options(words)
    start, taken = _start(rest)
    lasting, more = read_lasting(rest[taken:])
    return replace(asked, start=start, lasting=lasting, reason=" ".join(rest[taken + more :]))


def read_options(words: Sequence[str]) -> tuple[Asked, list[str]]:
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
    return Asked(branches=tuple(branches), excepted=tuple(excepted)), rest


def _start(words: Sequence[str]) -> tuple[Until | None, int]:
    if not words or words[0].lower() != FROM:
        return None, 0
    try:
        start, taken = read_lasting([UNTIL, *words[1:]])
    except InvalidDuration as error:
        raise InvalidDuration(error.problem, error.shown.replace(UNTIL, FROM, 1)) from None
    return (start, taken) if isinstance(start, Until) else (None, 0)


def number_condition(pull_request: int) -> str:
    return f"number={pull_request}"


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
