"""Reads a day and a time of day in either order, with a time zone."""

from dataclasses import dataclass, replace
from datetime import time

from bot.kernel.durations import DurationProblem, Until
from bot.kernel.ends.clock_times import LIKE_A_CLOCK, ClockTime, read_clock_time
from bot.kernel.ends.days import read_day, read_vague_day
from bot.kernel.ends.time_zones import read_zone
from bot.kernel.ends.typed import AT_EDGE, Beginning, TypedText
from bot.kernel.errors import InvalidDuration

_SAY_AN_END = (
    *("eod", "eob", "cob", "eow", "e.o.d", "end of", "end-of", "the end of", "close of"),
    *("tonight", "tomorrow"),
)
"""Words that begin an end also without "until"."""

_DAY_ALONE = ClockTime((time(9), time(0)), is_sure=False)
"""Until tomorrow: until it begins, or until work begins?"""

_TODAY_ALONE = ClockTime((time(17), time(18), time(23, 59)), is_sure=False)

_MIDNIGHT_OF_A_DAY = ClockTime((time(23, 59), time(0)), is_sure=False)
"""The one that ends the day, or the one that begins it?"""


@dataclass(slots=True)
class _Parts:
    """What was read of a moment so far."""

    end: int
    """Where in the text the next part begins."""

    days: tuple[Until, ...] = ()
    """Without their times of day; several where nobody can be sure."""

    clock: ClockTime | None = None

    zone: str | None = None


def read_moment(text: TypedText, at: int, *, is_marked: bool) -> Beginning | None:
    """The moment that begins there; None where none does.

    `is_marked`: "until" stands before it. Otherwise only what can't be anything else is an end.
    Raises InvalidDuration for one that doesn't exist.
    """
    parts = _Parts(end=at)
    _take_vague_day(text, parts)
    # "tomorrow 9am", "9am tomorrow", "9am CET tomorrow".
    _take_day(text, parts)
    _take_clock(text, parts, is_marked=is_marked)
    _take_day(text, parts)
    _take_zone(text, parts)
    _take_day(text, parts)
    if parts.clock is None and not parts.days:
        if is_marked:
            _refuse_strange_clock(text, at)
        return None
    edge = AT_EDGE.match(text.small, parts.end)
    if edge is None:
        return None
    said = text.small[at : parts.end]
    if not is_marked and not _is_unmistakable(parts, said, text.rest(edge.end())):
        return None
    return _put_together(parts, text.words_to(edge.end()))


def _take_vague_day(text: TypedText, parts: _Parts) -> None:
    found = read_vague_day(text, parts.end)
    if found is not None:
        parts.days = (found.day,)
        parts.clock = found.clock
        parts.end = found.end


def _take_day(text: TypedText, parts: _Parts) -> None:
    if parts.days:
        return
    found = read_day(text, text.after_space(parts.end))
    if found is not None:
        parts.days = found.value
        parts.end = found.end


def _take_clock(text: TypedText, parts: _Parts, *, is_marked: bool) -> None:
    if parts.clock is not None:
        return
    at = text.after_space(parts.end)
    found = read_clock_time(text, at, is_marked=is_marked or bool(parts.days))
    if found is not None:
        parts.clock = found.value
        parts.end = found.end


def _take_zone(text: TypedText, parts: _Parts) -> None:
    if parts.clock is None:
        return
    found = read_zone(text, text.after_space(parts.end))
    if found is not None:
        parts.zone = found.value or None
        parts.end = found.end


def _refuse_strange_clock(text: TypedText, at: int) -> None:
    strange = LIKE_A_CLOCK.match(text.small, at)
    if strange is not None:
        raise InvalidDuration(DurationProblem.NO_SUCH_TIME, text.shown_to(strange.end()))


def _is_unmistakable(parts: _Parts, said: str, rest: str) -> bool:
    """Whether words without "until" begin like an end."""
    if parts.clock is not None and parts.clock.is_marked:
        return True
    is_sure = parts.clock is not None and parts.clock.is_sure
    if parts.days and is_sure:
        # "noon tomorrow release".
        return True
    # "friday deploys are off", "morning runs fail" and "night" are reasons.
    is_alone = not rest and (bool(parts.days) or is_sure or said.startswith("this "))
    return is_alone or said.startswith(_SAY_AN_END)


def _put_together(parts: _Parts, words: int) -> Beginning:
    days = parts.days
    is_today = bool(days) and days[0].words == "today"
    clock = parts.clock or (_TODAY_ALONE if is_today else _DAY_ALONE)
    if clock.is_midnight and is_today:
        days = ()
    elif clock.is_midnight and days:
        clock = _MIDNIGHT_OF_A_DAY
    elif parts.clock is not None and days and not clock.is_sure:
        # The evening of Monday ends when Monday ends.
        clock = replace(clock, clocks=tuple(map(_ending_the_day, clock.clocks)))
    possible: list[Until] = []
    for day in days or (Until(time(0)),):
        possible += [replace(day, clock=at, zone=parts.zone) for at in clock.clocks]
    is_sure = clock.is_sure and len(possible) == 1
    return Beginning(tuple(possible), words, is_sure=is_sure)


def _ending_the_day(clock: time) -> time:
    return time(23, 59) if clock == time(0) else clock
