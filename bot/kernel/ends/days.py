"""Reads days and dates as people type them.

Which day the words mean, dateparser knows: `bot.kernel.durations` asks it.
"""

import re
from calendar import month_name
from dataclasses import replace
from datetime import date, time
from typing import NamedTuple

from bot.kernel.durations import NEXT_WORD, WEEKDAYS, DurationProblem, Until
from bot.kernel.ends.clock_times import ClockTime
from bot.kernel.ends.typed import Piece, TypedText
from bot.kernel.errors import InvalidDuration

_MONTHS = [name.lower() for name in month_name[1:]]
_MONTH_NUMBERS = {month[:3]: number for number, month in enumerate(_MONTHS, 1)}
_MONTH = "|".join([*_MONTHS, *_MONTH_NUMBERS, "sept"])
_WEEKDAY = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_FRIDAY = WEEKDAYS["fri"]
_MONDAY = WEEKDAYS["mon"]
_LEAP_YEAR = 2028
_MIDNIGHT = time(0)
"""Of a day whose time of day is read apart."""

_DAY = re.compile(
    r"(?:on\s+)?(?:"
    r"(?P<tomorrow>tomorrow|tommorow|tomorow|tommorrow|tmrw|tmr|tmw)|(?P<today>today)"
    r"|(?P<relative>yesterday|(?:the\s+)?day\s+after\s+tomorrow)"
    rf"|(?:(?P<named>{_WEEKDAY})\.?,?\s+(?:the\s+)?)?(?:"
    r"(?P<iso>\d{4}(?P<iso_mark>[-/.])\d{1,2}(?P=iso_mark)\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<mark>[./])(?P<second>\d{1,2})"
    r"(?:(?P=mark)(?P<year>\d{4}|\d\d)?"
    r"|(?=,?\s+(?:at\s+)?\d{1,2}(?:[:.h]\d\d|\s*[ap]\.?m|\s*uhr))"
    r"|(?<=/\d)(?=[,;:.!?)]*$)|(?<=/\d\d)(?=[,;:.!?)]*$))"
    rf"|(?P<month>{_MONTH})\.?\s+(?P<of_month>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?:,?\s+(?P<month_year>\d{4}))?(?!:)"
    rf"|(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?(?P<of>{_MONTH})"
    r"(?:\.?,?\s+(?P<day_year>\d{4}))?"
    r"|(?:the\s+)?(?P<nth>\d{1,2})(?P<suffix>st|nd|rd|th))"
    rf"|(?:(?P<which>this|next|coming|this\s+coming)\s+)?(?P<weekday>{_WEEKDAY})(?:\.(?=\s))?"
    r")(?![a-z0-9'\u2019])"
)
"""A weekday may stand before a date: "Sat, Nov 28"."""

_VAGUE_DAY = re.compile(
    r"(?:the\s+)?(?P<week>eow|end\s+of\s+(?:the\s+|this\s+)?week|(?:this\s+)?weekend)"
    r"|(?P<next>next\s+week|start\s+of\s+next\s+week)|(?P<month>(?:the\s+)?end\s+of\s+(?:the\s+)?"
    r"month|next\s+month|eom)"
)

_NUMBERED_DAY = r"\d{1,2}(?:st|nd|rd|th|\.)?"
_DATE = (
    rf"(?:(?:{_MONTH})\.?\s*{_NUMBERED_DAY}|{_NUMBERED_DAY}\s*(?:of\s+)?(?:{_MONTH})(?:\s+\d{{4}})?"
    r"|\d{4}-\d\d?-\d\d?|\d{1,2}/\d{1,2}(?:/\d{2,4})?|\d{1,2}\.\d{1,2}\.(?:\d{4}|\d\d)?)"
)
_DAY_OR_MONTH = rf"(?:{_DATE}|(?:{_WEEKDAY}|{_MONTH})\.?)"
_JOINS_DAYS = (
    r"(?:\s*(?:[-\u2013\u2014&+]|\.\.+)\s*|\s+(?:to|and|until|till|through|thru)\s+)"
    r"(?:the\s+)?"
)
_RANGE_OF_DAYS = (
    rf"(?:{_DAY_OR_MONTH}{_JOINS_DAYS}{_DAY_OR_MONTH}|{_DATE}{_JOINS_DAYS}{_NUMBERED_DAY}"
    rf"|{_NUMBERED_DAY}{_JOINS_DAYS}{_DATE})(?![a-z0-9:])"
)
_SEVERAL_DAYS = re.compile(
    rf"(?:(?:between|during|for|from|in|next|on|over|the|this)\s+)*{_RANGE_OF_DAYS}"
    rf"|.*\s\(?{_RANGE_OF_DAYS}[.!?)]*$"
    rf"|(?:(?:during|from|in)\s+(?:{_MONTH})(?![a-z0-9])|(?:(?:all|for)\s+)?(?:{_MONTH})[.!?]*$)"
    rf"|(?:(?:between|from|the)\s+)*{_NUMBERED_DAY}{_JOINS_DAYS}{_NUMBERED_DAY}[.!?]*$",
    re.DOTALL,
)
"""Dec 24-27; holidays mon-fri; in december; 24 to 27."""


def says_several_days(text: str) -> bool:
    """Whether it begins or ends with a range of days, or is a month: "dec 24-27", "december".

    When each of them begins and ends, only the person can say.
    """
    return _SEVERAL_DAYS.match(text.lower()) is not None


class VagueDay(NamedTuple):
    """A day that means different things to different people."""

    day: Until
    clock: ClockTime | None  #: its hours, if any are meant
    end: int  #: where in the text it ends


def read_vague_day(text: TypedText, at: int) -> VagueDay | None:
    """The vague day that begins there; None where none does."""
    found = _VAGUE_DAY.match(text.small, at)
    if found is None:
        return None
    if found["week"] is not None:
        hours = ClockTime((time(17), time(18)), is_sure=False, is_marked=False)
        return VagueDay(Until(_MIDNIGHT, weekday=_FRIDAY), hours, found.end())
    if found["next"] is not None:
        return VagueDay(Until(_MIDNIGHT, weekday=_MONDAY), None, found.end())
    return VagueDay(Until(_MIDNIGHT, words="1st"), None, found.end())


def read_day(text: TypedText, at: int) -> Piece[tuple[Until, ...]] | None:
    """The day that begins there, without a time of day; None where none does.

    Several days where nobody can be sure. Raises InvalidDuration for a date that doesn't exist.
    """
    found = _DAY.match(text.small, at)
    if found is None:
        return None
    days = _days(text.shown_to(found.end()), found)
    if found["named"] is not None:
        days = tuple(replace(day, weekday=WEEKDAYS[found["named"]]) for day in days)
    return Piece(days, found.end()) if days else None


def _days(shown: str, found: re.Match[str]) -> tuple[Until, ...]:
    if found["weekday"] is not None:
        which = NEXT_WORD if found["which"] == NEXT_WORD else ""
        return (Until(_MIDNIGHT, weekday=WEEKDAYS[found["weekday"]], words=which),)
    if found["iso"] is not None:
        year, month, day = map(int, found["iso"].split(found["iso_mark"]))
        return (Until(_MIDNIGHT, _existing(shown, year, month, day)),)
    if found["first"] is not None:
        return _days_of_numbers(shown, found)
    words = _relative_day(found)
    if words is not None:
        return (Until(_MIDNIGHT, words=words),)
    month = _MONTH_NUMBERS[(found["month"] or found["of"])[:3]]
    day = int(found["of_month"] or found["day"])
    return (_of_month(shown, day, month, found["month_year"] or found["day_year"]),)


def _relative_day(found: re.Match[str]) -> str | None:
    """As `Until` names it."""
    if found["tomorrow"] is not None:
        return "tomorrow"
    if found["nth"] is not None:
        return f"{int(found['nth'])}{found['suffix']}"
    relative: str | None = found["today"] or found["relative"]
    return relative.removeprefix("the ") if relative is not None else None


def _days_of_numbers(shown: str, found: re.Match[str]) -> tuple[Until, ...]:
    """28.11. is a day and a month; 3/12 is 3 December to some, and 12 March to others."""
    first = int(found["first"])
    second = int(found["second"])
    year = found["year"]
    if year is not None and len(year) == len("26"):
        year = f"20{year}"
    orders = [(first, second)]
    if found["mark"] == "/":
        orders.append((second, first))
    possible = [(day, month) for day, month in dict.fromkeys(orders) if _is_month(month)]
    if not possible and found["mark"] == ".":
        # 4.20 is a version.
        return ()
    if not possible:
        raise InvalidDuration(DurationProblem.NO_SUCH_TIME, shown)
    return tuple(_of_month(shown, day, month, year) for day, month in possible)


def _is_month(number: int) -> bool:
    return 1 <= number <= len(_MONTHS)


def _of_month(shown: str, day: int, month: int, year: str | None) -> Until:
    """Raises InvalidDuration for a date that doesn't exist in any year."""
    if year is not None:
        return Until(_MIDNIGHT, _existing(shown, int(year), month, day))
    _existing(shown, _LEAP_YEAR, month, day)
    return Until(_MIDNIGHT, words=f"{day} {_MONTHS[month - 1]}")


def _existing(shown: str, year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        raise InvalidDuration(DurationProblem.NO_SUCH_TIME, shown) from None
