"""How long a pause lasts: a length, or the time at which it ends."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import StrEnum
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.kernel.errors import InvalidDuration
from bot.kernel.zones import ZONES

SHORTEST = timedelta(minutes=1)


LONGEST_TIME = timedelta(days=30)


UNTIL_WORD = "until"


FOR = "for"


_WRITTEN_LENGTH = re.compile(
    r"(?=\d)(?:(?P<days>\d+)d(?:ays?)?)?(?:(?P<hours>\d+)h(?:(?:ou)?rs?)?)?"
    r"(?:(?P<minutes>\d+)(?:m(?:in(?:ute)?s?)?|(?<=h\d\d)))?",
    re.ASCII,
)


_DIGITS = 9
"""A number with more digits is far over every bound, and need not be computed."""


DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


WEEKDAYS = {word: at for at, day in enumerate(DAYS) for word in (day, day[:3])}
WEEKDAYS |= {"tues": 1, "thur": 3, "thurs": 3}


NEXT_WORD = "next"
"""Before a weekday: not the one of this week."""


_OFFSET = re.compile(r"UTC(?P<sign>[+-])(?P<hours>\d\d):(?P<minutes>\d\d)", re.ASCII)


_WEEK = timedelta(days=7)


_NEAR_DAYS = {"today": timedelta(), "tomorrow": timedelta(days=1)}


_NTH = re.compile(r"([1-9]|[12]\d|3[01])(?:st|nd|rd|th)")


_HALF_A_YEAR = timedelta(days=183)


FAR = timedelta(days=1)
"""An end that is further away is confirmed with its date before anything is done."""


ROLLED_OVER = timedelta(hours=12)
"""A time of day that comes so late has passed today: somebody at 15:05 hardly means 15:00 of the
next day."""


class DurationProblem(StrEnum):
    """Why a pause can't last that long."""

    UNREADABLE = "unreadable"
    TOO_SHORT = "too short"
    TOO_LONG = "too long"
    PAST = "past"
    NO_SUCH_TIME = "no such time"
    SKIPPED = "skipped"
    """The clocks go forward over it that day."""
    TWO_ENDS = "two ends"
    UNCLEAR = "unclear"
    """It may mean several times, or nobody can say which."""

    NO_SUCH_ZONE = "no such zone"


@dataclass(frozen=True, slots=True)
class For:
    """A length of time from now, between SHORTEST and LONGEST_TIME."""

    length: timedelta


@dataclass(frozen=True, slots=True)
class Until:
    """A time of day, on the day named by one of the fields, else on the next that comes.

    It is in the person's own zone, or in `zone`.
    """

    clock: time
    day: date | None = None
    zone: str | None = None
    """An IANA name, an offset such as UTC+02:00, or an abbreviation of `bot.kernel.zones`."""

    weekday: int | None = None
    """The next such weekday, or that of the date; 0 is Monday."""

    words: str = ""
    """A day in words, such as "tomorrow" or "28 november"; NEXT_WORD before a weekday."""


Lasting = For | Until


def read_length(text: str) -> For:
    """Read a length as the program and settings write it, such as 1d2h30m.

    Raises InvalidDuration.
    """
    typed = text.strip().lower()
    found = _WRITTEN_LENGTH.fullmatch(typed)
    if found is None:
        raise InvalidDuration(DurationProblem.UNREADABLE, text)
    lengths = {name: value for name, value in found.groupdict().items() if value is not None}
    if any(len(value.lstrip("0")) > _DIGITS for value in lengths.values()):
        raise InvalidDuration(DurationProblem.TOO_LONG, text)
    length = timedelta(**{name: int(value) for name, value in lengths.items()})
    return For(bounded(length, text))


def bounded(length: timedelta, shown: str) -> timedelta:
    """The length, if a pause can last so long; raises InvalidDuration."""
    if length < SHORTEST:
        raise InvalidDuration(DurationProblem.TOO_SHORT, shown)
    if length > LONGEST_TIME:
        raise InvalidDuration(DurationProblem.TOO_LONG, shown)
    return length


def zone_named(name: str | None) -> ZoneInfo | None:
    """The time zone of that IANA name; None for another name or none."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def resumes_at(lasting: Lasting, now: datetime, zone: ZoneInfo) -> datetime:
    """The end in UTC; `zone` is the person's own.

    Raises InvalidDuration when it is past, too near, too far, doesn't exist, or may be several.
    """
    first, *others = readings(lasting, now, zone)
    if others:
        raise InvalidDuration(DurationProblem.UNCLEAR, written(lasting))
    return first


def readings(lasting: Lasting, now: datetime, zone: ZoneInfo) -> Sequence[datetime]:
    """The times in UTC that it may mean, the earliest first; `zone` is the person's own.

    There are several only for "next friday", said early in the week, and for the abbreviation of a
    time zone whose clocks say another time now. If the time comes twice because clocks go back, the
    first one still to come counts.

    Raises InvalidDuration when it is past, too near, too far or doesn't exist.
    """
    if isinstance(lasting, For):
        return [now + lasting.length]
    found = set[datetime]()
    for region in _regions(lasting.zone, zone):
        found |= _instants(lasting, now, zone, region)
    shown = written(lasting)
    possible = [at for at in sorted(found) if SHORTEST <= at - now <= LONGEST_TIME]
    if possible:
        return possible
    nearest = min(found)
    if nearest <= now:
        raise InvalidDuration(DurationProblem.PAST, shown)
    bounded(nearest - now, shown)
    return [nearest]


def with_its_date(lasting: Lasting, now: datetime, zone: ZoneInfo) -> Lasting:
    """The same, with the date of "today" or "tomorrow" as seen from `now`, not from a start."""
    if isinstance(lasting, For) or lasting.words not in _NEAR_DAYS:
        return lasting
    today = now.astimezone(zone_named(lasting.zone) or zone).date()
    return replace(lasting, day=today + _NEAR_DAYS[lasting.words], words="")


def is_far(lasting: Lasting, at: datetime, now: datetime) -> bool:
    """Whether people should see the date of the end before anything is done."""
    if isinstance(lasting, For):
        return at - now > FAR
    has_day = lasting.day is not None or lasting.weekday is not None or bool(lasting.words)
    limit = FAR if has_day else ROLLED_OVER
    return at - now > limit


def at_instant(at: datetime) -> Until:
    """An end that means the same whenever it is read."""
    in_utc = at.astimezone(UTC)
    return Until(in_utc.time(), in_utc.date(), "UTC")


class _Region(NamedTuple):
    """Where the time that is meant is."""

    zone: ZoneInfo | timezone
    offset: timedelta | None = None  #: what the zone's abbreviation says, if one was typed


def _regions(named: str | None, own: ZoneInfo) -> Sequence[_Region]:
    """The regions whose time may be meant."""
    if named is None:
        return [_Region(own)]
    found = _OFFSET.fullmatch(named)
    if found is not None:
        offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
        if found["sign"] == "-":
            offset = -offset
        return [_Region(timezone(offset))]
    if named not in ZONES:
        return [_Region(ZoneInfo(named))]
    winter = datetime(2026, 1, 1, tzinfo=own)
    summer = datetime(2026, 7, 1, tzinfo=own)
    if named in {winter.tzname(), summer.tzname()}:
        _, own_offset = next(iter(ZONES[named]))
        return [_Region(own, own_offset)]
    return [_Region(ZoneInfo(region), offset) for region, offset in ZONES[named]]


def _instants(until: Until, now: datetime, own: ZoneInfo, region: _Region) -> set[datetime]:
    """Raises InvalidDuration for a time that the clocks skip."""
    times: set[datetime] = set()
    shown = written(until)
    zone = region.zone
    for day in _days(until, now.astimezone(zone)):
        local = datetime.combine(day, until.clock)
        exact: datetime | None = None
        if region.offset is not None:
            exact = local.replace(tzinfo=timezone(region.offset)).astimezone(UTC)
        if exact is not None and exact.astimezone(zone).replace(tzinfo=None, fold=0) == local:
            times.add(exact)
            continue
        times.add(_at(day, until.clock, zone, now, shown))
        if exact is not None and zone != own:
            # CET in July: the time in Paris, or an hour later?
            times.add(exact)
    has_one_day = until.day is not None or bool(until.words)
    if has_one_day or not times:
        return times
    # The next one to come: today's, or that of tomorrow or next week.
    ahead = {at for at in times if at > now}
    nearest = min(ahead, default=max(times))
    return {at for at in ahead if at - nearest < FAR} or {nearest}


def _days(until: Until, local: datetime) -> Sequence[date]:
    """The days that may be meant, seen from the local time."""
    today = local.date()
    if until.day is not None:
        return [_on_its_weekday(until, until.day)]
    if until.weekday is not None and until.words in {"", NEXT_WORD}:
        ahead = timedelta(days=(until.weekday - today.weekday()) % len(DAYS))
        is_in_next_week = until.words == NEXT_WORD and until.weekday <= today.weekday()
        if is_in_next_week:
            return [today + (ahead or _WEEK)]
        return [today + ahead, today + ahead + _WEEK]
    if until.words in _NEAR_DAYS:
        return [today + _NEAR_DAYS[until.words]]
    if until.words:
        day = _day_in_words(until, local.replace(tzinfo=None))
        return [_on_its_weekday(until, day)]
    return [today, today + timedelta(days=1)]


def _next_with(number: int, today: date) -> date:
    """The next day with that number in its month; dateparser takes this month's, past or not."""
    day = today
    while day.day != number:
        day += timedelta(days=1)
    return day


def _on_its_weekday(until: Until, day: date) -> date:
    """Raises InvalidDuration if the weekday that was typed before the date is another."""
    if until.weekday is not None and until.weekday != day.weekday():
        raise InvalidDuration(DurationProblem.NO_SUCH_TIME, written(until))
    return day


def _day_in_words(until: Until, local: datetime) -> date:
    """The day, as dateparser reads it; raises InvalidDuration."""
    nth = _NTH.fullmatch(until.words)
    if nth is not None:
        return _next_with(int(nth[1]), local.date())
    # Half a second to import, and seldom needed.
    import dateparser  # noqa: PLC0415 - see above

    found = dateparser.parse(
        f"{until.words} {until.clock:%H:%M}",
        languages=["en"],
        settings={
            "RELATIVE_BASE": local,
            "PREFER_DATES_FROM": "future",
            "DATE_ORDER": "DMY",
            "RETURN_AS_TIMEZONE_AWARE": False,
        },
    )
    if found is None:
        raise InvalidDuration(DurationProblem.NO_SUCH_TIME, written(until))
    day: date = found.date()
    is_leap_day = (day.month, day.day) == (2, 29)
    if found - local > _HALF_A_YEAR and not is_leap_day:
        # Without a year it was meant of this one, and has passed.
        return day.replace(year=day.year - 1)
    return day


def _at(day: date, clock: time, zone: ZoneInfo | timezone, now: datetime, shown: str) -> datetime:
    local = datetime.combine(day, clock, zone)
    first = local.replace(fold=0).astimezone(UTC)
    second = local.replace(fold=1).astimezone(UTC)
    if first.astimezone(zone).replace(fold=0, tzinfo=None) != local.replace(tzinfo=None):
        raise InvalidDuration(DurationProblem.SKIPPED, shown)
    return first if first > now else second


def written(lasting: Lasting) -> str:
    """The words from which `bot.kernel.ends.phrases` reads the same value."""
    if isinstance(lasting, For):
        all_minutes = int(lasting.length.total_seconds()) // 60
        all_hours, minutes = divmod(all_minutes, 60)
        days, hours = divmod(all_hours, 24)
        parts = ((days, "d"), (hours, "h"), (minutes, "m"))
        return "".join(f"{count}{unit}" for count, unit in parts if count)
    return _end_shown(lasting)


def _end_shown(until: Until) -> str:
    weekday = DAYS[until.weekday][:3] if until.weekday is not None else ""
    date_ = until.day.isoformat() if until.day is not None else until.words
    day = [date_, weekday] if date_ == NEXT_WORD else [weekday, date_]
    parts = [UNTIL_WORD, *day, f"{until.clock:%H:%M}", until.zone or ""]
    return " ".join(part for part in parts if part)


OLDEST_LOOKBACK = timedelta(days=3660)


_LOOKBACK = re.compile(r"([0-9]{1,20}[mhdw])+")


_MINUTES_IN = {"m": 1, "h": 60, "d": 24 * 60, "w": 7 * 24 * 60}


class InvalidLookback(ValueError):
    """Not a length of time to look back over; the text says which ones are allowed."""


def read_lookback(text: str) -> timedelta:
    """How far back to look: `90m`, `24h`, `7d`, `2w` or several of these.

    Raises InvalidLookback.
    """
    typed = text.strip().lower()
    if not _LOOKBACK.fullmatch(typed):
        raise InvalidLookback("a length of time is written 90m, 24h, 7d or 2w")
    parts = re.findall(r"([0-9]+)([mhdw])", typed)
    minutes = sum(int(count) * _MINUTES_IN[unit] for count, unit in parts)
    if not 1 <= minutes <= OLDEST_LOOKBACK // timedelta(minutes=1):
        raise InvalidLookback("a length of time is at least a minute and at most ten years")
    return timedelta(minutes=minutes)


def later_end(resumes_at: datetime | None, now: datetime, by: timedelta) -> datetime:
    """The new end: `by` later than the current one, or than now without one."""
    return max(resumes_at or now, now) + by
