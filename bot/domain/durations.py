"""How long a pause lasts: what people type, and the time at which it ends."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.errors import InvalidDuration

SHORTEST = timedelta(minutes=1)
LONGEST = timedelta(days=30)

UNTIL = "until"
FOR = "for"

_LENGTH = re.compile(
    r"(?=\d)(?:(?P<days>\d+)d(?:ays?)?)?(?:(?P<hours>\d+)h(?:(?:ou)?rs?)?)?"
    r"(?:(?P<minutes>\d+)(?:m(?:in(?:ute)?s?)?|(?<=h\d\d)))?",
    re.ASCII,
)
_LIKE_A_LENGTH = re.compile(
    r"[-+]?\d+(?:[.,]\d+)?(?:[smhdw]|min|mins|hours?|hrs?|days?|weeks?)"
    r"(?:\d+(?:[smhdw]|min)?)*",
    re.ASCII,
)
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?=:|am|pm)(?::(?P<minute>\d{2}))?(?P<half>am|pm)?", re.ASCII
)
_LIKE_A_TIME = re.compile(
    r"\d{1,2}[:h]\S*|to(?:day|night|morrow)|noon|midnight"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tues?|wed|thu(?:rs?)?|fri|sat",
    re.ASCII,
)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}", re.ASCII)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAYS = {word: at for at, day in enumerate(_DAYS) for word in (day, day[:3])}
_WEEKDAYS |= {"tues": 1, "thur": 3, "thurs": 3}
_UNITS = {
    **dict.fromkeys(("d", "day", "days"), "d"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "m"),
}
_NO_LENGTH_BEFORE = {"ago", "of"}
"""Words of a reason: "2 hours of red builds"."""

_OFFSET = re.compile(r"(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?", re.ASCII)
_SHORT_ZONE = re.compile(
    r"A[CEW][DS]T|BST|[CW]ES?T|EES?T|HKT|IST|JST|MSK|SGT|[CEMP][DS]?T", re.ASCII
)
"""Several zones have the same letters, and none says whether it is summer."""

_AREA = re.compile(
    r"africa|america|antarctica|arctic|asia|atlantic|australia|etc|europe|indian|pacific"
)
"""Of the time zones' names, before the slash."""

_DIGITS = 9
"""A number with more digits is far over every bound, and need not be computed."""

NOON_HOURS = 12

LONGEST_END = 7
"""Words that say when a pause ends: "for 1 day 2 hours 30 minutes"."""


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
    NO_SUCH_ZONE = "no such zone"
    """Or a time zone whose abbreviation or offset alone is ambiguous."""


@dataclass(frozen=True, slots=True)
class For:
    """A length of time from now, between SHORTEST and LONGEST."""

    length: timedelta


@dataclass(frozen=True, slots=True)
class Until:
    """A time of day: on a `day`, on the next such `weekday` (0 is Monday), or the next to come.

    It is in the person's own zone, or in `zone`, an IANA name they typed.
    """

    clock: time
    day: date | None = None
    zone: str | None = None
    weekday: int | None = None


Lasting = For | Until


def read_lasting(words: Sequence[str]) -> tuple[Lasting | None, int]:
    """The end given by the first words, and how many words it takes; None and 0 without one.

    Raises InvalidDuration for words that look like a duration but aren't one. "until" or "for"
    followed by other words begins a reason.
    """
    if not words:
        return None, 0
    if words[0].lower() == UNTIL:
        return _read_until(words[1:])
    skipped = 1 if words[0].lower() == FOR else 0
    lasting, taken = _read_lengths(words[skipped:])
    if lasting is None:
        return None, 0
    taken += skipped
    if words[taken : taken + 1] and words[taken].lower() == UNTIL:
        another, more = _read_until(words[taken + 1 :])
        if another is not None:
            raise InvalidDuration(DurationProblem.TWO_ENDS, " ".join(words[: taken + more]))
    return lasting, taken


def read_whole(text: str) -> Lasting:
    """Read a text that is only a duration; raises InvalidDuration."""
    words = text.split()
    lasting, taken = read_lasting(words)
    if lasting is None or taken < len(words):
        raise InvalidDuration(DurationProblem.UNREADABLE, text)
    return lasting


def read_end(text: str) -> Lasting:
    """Read a text from a field that asks for an end, where "until" may be left out.

    Raises InvalidDuration.
    """
    try:
        return read_whole(text)
    except InvalidDuration as error:
        if error.problem != DurationProblem.UNREADABLE or text.lower().startswith(UNTIL):
            raise
    return read_whole(f"{UNTIL} {text}")


def read_doubtful(words: Sequence[str]) -> tuple[Lasting | None, int]:
    """A lone number of minutes, or a duration at the end of a reason, and the words before it.

    The person may have wanted an end, or these words in the reason; None if that is clear.
    """
    if len(words) == 1 and words[0].isascii() and words[0].isdigit():
        return _whole_or_none([f"{words[0]}m"]), 0
    for start in range(max(1, len(words) - LONGEST_END), len(words)):
        lasting = _whole_or_none(words[start:])
        if lasting is not None:
            return lasting, start
    return None, 0


def _whole_or_none(words: Sequence[str]) -> Lasting | None:
    """The end given by all the words; None also for an end that no pause can have."""
    try:
        return read_whole(" ".join(words))
    except InvalidDuration:
        return None


def _read_lengths(words: Sequence[str]) -> tuple[Lasting | None, int]:
    """Read lengths in one word, or as numbers and units: "2 hours", "1 h 30 min"."""
    parts: list[str] = []
    for count, unit in zip(words[::2], words[1::2], strict=False):
        if not (count.isascii() and count.isdigit() and unit.lower() in _UNITS):
            break
        parts.append(count + _UNITS[unit.lower()])
    taken = 2 * len(parts) or 1
    if not words or (parts and " ".join(words[taken : taken + 1]).lower() in _NO_LENGTH_BEFORE):
        return None, 0
    word = "".join(parts) or words[0]
    found = _LENGTH.fullmatch(word.lower())
    if found is None:
        if parts or _LIKE_A_LENGTH.fullmatch(word.lower()):
            raise InvalidDuration(DurationProblem.UNREADABLE, " ".join(words[:taken]))
        return None, 0
    lengths = {name: value for name, value in found.groupdict().items() if value is not None}
    if any(len(value.lstrip("0")) > _DIGITS for value in lengths.values()):
        raise InvalidDuration(DurationProblem.TOO_LONG, word)
    length = timedelta(**{name: int(value) for name, value in lengths.items()})
    return For(_bounded(length, word)), taken


def _bounded(length: timedelta, shown: str) -> timedelta:
    if length < SHORTEST:
        raise InvalidDuration(DurationProblem.TOO_SHORT, shown)
    if length > LONGEST:
        raise InvalidDuration(DurationProblem.TOO_LONG, shown)
    return length


def _read_until(words: Sequence[str]) -> tuple[Lasting | None, int]:
    """Read the words after "until", which counts as a word too."""
    if not words:
        return None, 0
    day, weekday = _read_day(words), _WEEKDAYS.get(words[0].lower())
    timed = list(words) if day is None and weekday is None else list(words[1:])
    if len(timed) > 1 and timed[0].isdigit() and timed[1].lower() in {"am", "pm"}:
        timed[:2] = [timed[0] + timed[1]]
    clock = _read_clock(timed[0]) if timed else None
    if clock is None:
        if day is not None or _LIKE_A_TIME.fullmatch(words[0].lower()):
            raise InvalidDuration(DurationProblem.UNREADABLE, " ".join((UNTIL, *words[:2])))
        return None, 0
    zone = _read_zone(timed[1]) if len(timed) > 1 else None
    left = len(timed) - (1 if zone is None else 2)
    return Until(clock, day, zone, weekday), 1 + len(words) - left


def _read_day(words: Sequence[str]) -> date | None:
    """The date; None for a word that doesn't look like one."""
    if not _DATE.fullmatch(words[0]):
        return None
    try:
        return date(*map(int, words[0].split("-")))
    except ValueError:
        shown = " ".join((UNTIL, *words[:2]))
        raise InvalidDuration(DurationProblem.NO_SUCH_TIME, shown) from None


def zone_named(name: str | None) -> ZoneInfo | None:
    """The time zone of that IANA name; None for another name or none."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _read_zone(word: str) -> str | None:
    """The time zone; None for any other word, because the reason may follow the time."""
    if word.upper() in {"UTC", "GMT", "Z"}:
        return "UTC"
    if _SHORT_ZONE.fullmatch(word) or _OFFSET.fullmatch(word.upper()):
        raise InvalidDuration(DurationProblem.NO_SUCH_ZONE, word)
    area, slash, _ = word.lower().partition("/")
    if not slash or not _AREA.fullmatch(area):
        return None
    zone = zone_named(word)
    if zone is None:
        raise InvalidDuration(DurationProblem.NO_SUCH_ZONE, word)
    return zone.key


def _read_clock(word: str) -> time | None:
    """The time of day; None for a word that doesn't look like one."""
    found = _CLOCK.fullmatch(word.lower())
    if found is None:
        return None
    hour, minute, half = int(found["hour"]), int(found["minute"] or 0), found["half"]
    hours = range(24) if half is None else range(1, NOON_HOURS + 1)
    if hour not in hours or minute not in range(60):
        raise InvalidDuration(DurationProblem.NO_SUCH_TIME, f"{UNTIL} {word}")
    if half is not None:
        hour = hour % NOON_HOURS + (NOON_HOURS if half == "pm" else 0)
    return time(hour, minute)


def resumes_at(lasting: Lasting, now: datetime, zone: ZoneInfo) -> datetime:
    """The end in UTC; `zone` is the person's own.

    Raises InvalidDuration when it is past, too near, too far or doesn't exist.

    If the time comes twice because clocks go back, the first one still to come counts.
    """
    if isinstance(lasting, For):
        return now + lasting.length
    if lasting.zone is not None:
        zone = ZoneInfo(lasting.zone)
    today = now.astimezone(zone).date()
    shown = _shown(lasting)
    if lasting.day is not None:
        days = [lasting.day]
    elif lasting.weekday is not None:
        ahead = (lasting.weekday - today.weekday()) % len(_DAYS)
        days = [today + timedelta(days=ahead), today + timedelta(days=ahead + len(_DAYS))]
    else:
        days = [today, today + timedelta(days=1)]
    times = (_at(day, lasting.clock, zone, now, shown) for day in days)
    at = next((one for one in times if one > now), None)
    if at is None:
        raise InvalidDuration(DurationProblem.PAST, shown)
    _bounded(at - now, shown)
    return at


def _at(day: date, clock: time, zone: ZoneInfo, now: datetime, shown: str) -> datetime:
    local = datetime.combine(day, clock, zone)
    first, second = (local.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    if first.astimezone(zone).replace(fold=0, tzinfo=None) != local.replace(tzinfo=None):
        raise InvalidDuration(DurationProblem.SKIPPED, shown)
    return first if first > now else second


def written(lasting: Lasting) -> str:
    """The words from which `read_lasting` reads the same value."""
    if isinstance(lasting, For):
        hours, minutes = divmod(int(lasting.length.total_seconds()) // 60, 60)
        parts = ((hours // 24, "d"), (hours % 24, "h"), (minutes, "m"))
        return "".join(f"{count}{unit}" for count, unit in parts if count)
    return _shown(lasting)


def _shown(until: Until) -> str:
    day = f"{until.day.isoformat()} " if until.day is not None else ""
    if until.weekday is not None:
        day = f"{_DAYS[until.weekday][:3]} "
    zone = f" {until.zone}" if until.zone is not None else ""
    return f"{UNTIL} {day}{until.clock:%H:%M}{zone}"


OLDEST_LOOKBACK = timedelta(days=3660)
_LOOKBACK = re.compile(r"([0-9]{1,20}[mhdw])+")
_MINUTES = {"m": 1, "h": 60, "d": 24 * 60, "w": 7 * 24 * 60}


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
    minutes = sum(int(count) * _MINUTES[unit] for count, unit in parts)
    if not 1 <= minutes <= OLDEST_LOOKBACK // timedelta(minutes=1):
        raise InvalidLookback("a length of time is at least a minute and at most ten years")
    return timedelta(minutes=minutes)
