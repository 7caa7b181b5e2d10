"""Reads from which hour until which, as in "tomorrow 9 to 10" and "5-6pm"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import time

from bot.kernel.durations import NEXT_WORD, Until
from bot.kernel.ends.days import read_day
from bot.kernel.ends.numbers import NOON
from bot.kernel.ends.time_zones import read_zone
from bot.kernel.ends.typed import AT_EDGE, Piece, TypedText

_BEFORE_DAY_OR_HOURS = re.compile(r"(?:from|between|on|at)\s+")
_SAYS_FROM = re.compile(r"(?<![a-z])(?:from|between|on|at)(?=\s)")
_CLOCK = (
    r"(?P<hour{0}>\d{{1,2}})(?:[:.h](?P<minute{0}>[0-5]\d))?"
    r"(?:\s*(?:(?P<half{0}>[ap])\.?m\.?|(?P<clocked{0}>h|uhr)))?(?![a-z\d])"
)
_SPAN_OF_HOURS = re.compile(
    rf"(?:(?:from|between|at)\s+)?{_CLOCK.format(1)}"
    rf"\s*(?:-|\u2013|\u2014|(?P<joiner>to|until|till|and)\s)\s*{_CLOCK.format(2)}"
    r"(?![:.]\d)(?!\s*(?:d|days?|h(?:ou)?rs?|m|min(?:ute)?s?)(?![a-z]))"
)
"""Not "2 to 3 hours", which is a length."""

_MINUTES_A_DAY = 24 * 60
_WORK_BEGINS = 7
_WORK_ENDS = 18


@dataclass(frozen=True, slots=True)
class Hours:
    """A start and an end on one day."""

    spans: tuple[tuple[Until, Until], ...]  #: what may be meant, likeliest first
    words: int  #: how many words they take


def read_hours(words: Sequence[str]) -> Hours | None:
    """The hours that the words begin with; None for other words.

    Hours without am or pm may mean two times of day, unless one of them has minutes or is over 12.
    Without a day, "from" or a mark of a clock, words behind them make them a reason: "3-4 runners
    are down".
    """
    text = TypedText.of(words)
    mark = _BEFORE_DAY_OR_HOURS.match(text.small, text.start)
    at = mark.end() if mark is not None else text.start
    day_before = read_day(text, at)
    if day_before is not None:
        at = text.after_space(day_before.end)
    found = _SPAN_OF_HOURS.match(text.small, at)
    if found is None:
        return None
    marks = _SAYS_FROM.findall(text.small[: found.start("hour1")])
    if found["joiner"] == "and" and not {"from", "between"}.intersection(marks):
        return None
    end = found.end()
    zone = read_zone(text, text.after_space(end))
    end = zone.end if zone is not None else end
    day_behind = read_day(text, text.after_space(end)) if day_before is None else None
    end = day_behind.end if day_behind is not None else end
    edge = AT_EDGE.match(text.small, end)
    is_marked = bool(marks) or day_before is not None or end > found.end()
    if not is_marked and "h" in (found["clocked1"], found["clocked2"]):
        # "1-2h" and "2h until 5pm" begin with lengths.
        return None
    is_marked = is_marked or _is_clock(found)
    if edge is None or not (is_marked or not text.rest(edge.end())):
        return None
    clocks = _clocks(found)
    spans = _on_days(clocks, day_before, day_behind, is_until=found["joiner"] in _OF_THE_END)
    named = zone.value or None if zone is not None else None
    if not spans:
        return None
    return Hours(
        tuple((replace(start, zone=named), replace(end, zone=named)) for start, end in spans),
        text.words_to(edge.end()),
    )


_OF_THE_END = frozenset({"until", "till"})
"""Behind one of these a day that follows is that of the end."""


def _is_clock(found: re.Match[str]) -> bool:
    """Whether nothing but times of day looks so."""
    marks = ("minute1", "minute2", "half1", "half2", "clocked1", "clocked2")
    return any(found[mark] for mark in marks)


def _clocks(found: re.Match[str]) -> list[tuple[time, time]]:
    """The times of day that may be meant, likeliest first."""
    hours = (int(found["hour1"]), int(found["hour2"]))
    is_half = bool(found["half1"] or found["half2"])
    is_24 = not is_half and (_is_clock(found) or any(hour in {0, *_AFTERNOON} for hour in hours))
    starts = _times(found, 1, is_24=is_24)
    ends = _times(found, 2, is_24=is_24)
    pairs = [min(((start, end) for end in ends), key=_length) for start in starts if ends]
    if len(ends) == 1:
        return [min(pairs, key=_length)] if pairs else []
    return sorted(pairs, key=lambda pair: not _WORK_BEGINS <= pair[0].hour <= _WORK_ENDS)


_AFTERNOON = range(NOON + 1, 25)


def _times(found: re.Match[str], number: int, *, is_24: bool) -> list[time]:
    hour = int(found[f"hour{number}"])
    minute = int(found[f"minute{number}"] or 0)
    half = found[f"half{number}"]
    if is_24:
        exists = hour in range(24) or (hour, minute) == (24, 0)
        return [time(hour % 24, minute)] if exists else []
    if hour not in range(1, NOON + 1):
        return []
    halves = [half] if half else ["a", "p"]
    return [time(hour % NOON + (NOON if half == "p" else 0), minute) for half in halves]


def _length(pair: tuple[time, time]) -> int:
    """In minutes; an end at the same time of day is that of the next day."""
    start, end = (60 * clock.hour + clock.minute for clock in pair)
    return (end - start) % _MINUTES_A_DAY or _MINUTES_A_DAY


def _on_days(
    clocks: Sequence[tuple[time, time]],
    before: Piece[tuple[Until, ...]] | None,
    behind: Piece[tuple[Until, ...]] | None,
    *,
    is_until: bool,
) -> list[tuple[Until, Until]]:
    """On the day in front; one behind them may be that of the end alone, as behind "until"."""
    days = before or behind
    if days is None:
        return [(Until(start), Until(end)) for start, end in clocks]
    spans: list[tuple[Until, Until]] = []
    for day in days.value:
        for start, end in clocks:
            is_of_end = behind is not None and (is_until or end <= start)
            if not is_of_end:
                is_same_day = end > start and day.words != NEXT_WORD
                ended = replace(day, clock=end) if is_same_day else Until(end)
                spans.append((replace(day, clock=start), ended))
            if behind is not None and (is_of_end or len(clocks) == 1):
                spans.append((Until(start), replace(day, clock=end)))
    return spans
