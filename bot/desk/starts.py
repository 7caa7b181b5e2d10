"""Words that say when to begin, with which somebody asks for what begins right away."""

from collections.abc import Sequence
from enum import Enum

from bot.kernel.durations import WEEKDAYS, DurationProblem
from bot.kernel.ends.phrases import read_beginning
from bot.kernel.errors import InvalidDuration
from bot.kernel.typed import Word


class Start(Enum):
    """When it is to begin."""

    LATER = "later"
    REGULARLY = "regularly"


_PARTS_OF_DAYS = frozenset({"morning", "afternoon", "evening", "night"})
_PERIODS = frozenset(
    {
        *("minute", "hour", "day", "weekday", "workday", "weekend", "week", "month"),
        *_PARTS_OF_DAYS,
        *WEEKDAYS,
    }
)
_EVERY = frozenset({"every", "each"})
_REGULARLY = frozenset(
    {
        *("hourly", "daily", "nightly", "weekly", "monthly", "weekdays", "weekends"),
        *(f"{day}s" for day in WEEKDAYS if len(day) > len("wed")),
    }
)
_BEHIND_A_PERIOD = frozenset({"at", "between", "for", "from", "on", "starting", "till", "until"})

_SAYS_IT_STARTS = frozenset({"begin", "beginning", "begins", "start", "starting", "starts"})
_BEFORE_THE_START = frozenset({"at", "from", "of", "on"})


def start_meant(words: Sequence[Word]) -> Start | None:
    """When it is to begin, if the words begin with that; None for a reason."""
    if not words:
        return None
    if _is_regular([word.bare for word in words]):
        return Start.REGULARLY
    return Start.LATER if times_of_start(words) is not None else None


def _is_regular(said: Sequence[str]) -> bool:
    """Such as "every night", "each 2 hours", "daily at 5", but not "daily deploys are red"."""
    at = 1
    if said[0] in _EVERY:
        if at < len(said) and (said[at].isdecimal() or said[at] == "other"):
            at += 1
        periods = at
        while at < len(said) and said[at].removesuffix("s") in _PERIODS:
            at += 1
        if at == periods:
            return False
    elif said[0] not in _REGULARLY:
        return False
    return at == len(said) or said[at] in _BEHIND_A_PERIOD or said[at][:1].isdecimal()


def times_of_start(words: Sequence[Word]) -> Sequence[Word] | None:
    """The words behind "starting at", "as of" and the like, if they begin with a time to come.

    A time without these words may be an end, about which the bot asks.
    """
    said = [word.bare for word in words]
    if said[0] in _SAYS_IT_STARTS:
        behind = 2 if said[1:2] and said[1] in _BEFORE_THE_START else 1
    elif said[:2] == ["as", "of"]:
        behind = 2
    else:
        return None
    times = words[behind:]
    try:
        begun = read_beginning([word.time for word in times], is_end=True)
    except InvalidDuration as error:
        # A start and an end: "starting at 5pm for 2h".
        return times if error.problem is DurationProblem.TWO_ENDS else None
    if begun is None or times[0].bare == "today":
        return None
    is_any_number = times[0].bare.isdecimal() and not begun.is_sure
    return times if begun.words >= len(times) or not is_any_number else None
