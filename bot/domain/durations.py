"""How long a pause is to last: what people write, and the moment it comes to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from bot.domain.errors import InvalidDuration

SHORTEST = timedelta(minutes=1)
LONGEST = timedelta(days=30)

UNTIL = "until"

_LENGTH = re.compile(
    r"(?=\d)(?:(?P<days>\d+)d)?(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m(?:in)?)?", re.ASCII
)
_LIKE_A_LENGTH = re.compile(
    r"[-+]?\d+(?:[.,]\d+)?(?:[smhdw]|min|mins|hours?|hrs?|days?|weeks?)"
    r"(?:\d+(?:[smhdw]|min))*",
    re.ASCII,
)
_CLOCK = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d{2})", re.ASCII)
_HALF_DAY = re.compile(r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?P<half>am|pm)", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}", re.ASCII)
_DIGITS = 9
"""A number with more digits is far over every bound, and need not be computed."""

NOON_HOURS = 12


class DurationProblem(StrEnum):
    """Why a pause cannot last so long."""

    UNREADABLE = "unreadable"
    TOO_SHORT = "too short"
    TOO_LONG = "too long"
    PAST = "past"
    NO_SUCH_TIME = "no such time"
    SKIPPED = "skipped"
    """The clocks go forward over it that day."""
    TWO_ENDS = "two ends"


@dataclass(frozen=True, slots=True)
class For:
    """A length from now on, between SHORTEST and LONGEST."""

    length: timedelta


@dataclass(frozen=True, slots=True)
class Until:
    """A time of day in the person's own zone; without a `day` the next time it comes."""

    clock: time
    day: date | None = None


Lasting = For | Until


def read_lasting(words: Sequence[str]) -> tuple[Lasting | None, int]:
    """What the first words say of an end, and how many they are; None and 0 when nothing.

    Raises InvalidDuration when they look like a duration and are none. A reason that begins with
    "until" and goes on with a word is a reason.
    """
    if not words:
        return None, 0
    if words[0].lower() == UNTIL:
        return _read_until(words[1:3])
    lasting, taken = _read_length(words[0])
    if lasting is not None and words[1:2] and words[1].lower() == UNTIL:
        another, more = _read_until(words[2:4])
        if another is not None:
            raise InvalidDuration(DurationProblem.TWO_ENDS, " ".join(words[: taken + more]))
    return lasting, taken


def read_whole(text: str) -> Lasting:
    """A duration and nothing else; raises InvalidDuration."""
    words = text.split()
    lasting, taken = read_lasting(words)
    if lasting is None or taken < len(words):
        raise InvalidDuration(DurationProblem.UNREADABLE, text)
    return lasting


def _read_length(word: str) -> tuple[Lasting | None, int]:
    text = word.lower()
    found = _LENGTH.fullmatch(text)
    if found is None:
        if _LIKE_A_LENGTH.fullmatch(text):
            raise InvalidDuration(DurationProblem.UNREADABLE, word)
        return None, 0
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    if any(len(value.lstrip("0")) > _DIGITS for value in parts.values()):
        raise InvalidDuration(DurationProblem.TOO_LONG, word)
    return For(_bounded(timedelta(**{name: int(n) for name, n in parts.items()}), word)), 1


def _bounded(length: timedelta, shown: str) -> timedelta:
    if length < SHORTEST:
        raise InvalidDuration(DurationProblem.TOO_SHORT, shown)
    if length > LONGEST:
        raise InvalidDuration(DurationProblem.TOO_LONG, shown)
    return length


def _read_until(words: Sequence[str]) -> tuple[Lasting | None, int]:
    if words and _DATE.fullmatch(words[0]):
        shown = " ".join((UNTIL, *words))
        try:
            day = date(*map(int, words[0].split("-")))
        except ValueError:
            raise InvalidDuration(DurationProblem.NO_SUCH_TIME, shown) from None
        if len(words) < 2:  # noqa: PLR2004 - the date and the time
            raise InvalidDuration(DurationProblem.UNREADABLE, shown)
        clock = _read_clock(words[1])
        if clock is None:
            raise InvalidDuration(DurationProblem.UNREADABLE, shown)
        return Until(clock, day), 3
    clock = _read_clock(words[0]) if words else None
    return (Until(clock), 2) if clock is not None else (None, 0)


def _read_clock(word: str) -> time | None:
    """None for a word that does not look like a time of day."""
    text = word.lower()
    if found := _CLOCK.fullmatch(text):
        return _time(int(found["hour"]), int(found["minute"]), word)
    if found := _HALF_DAY.fullmatch(text):
        hour = int(found["hour"])
        if not 1 <= hour <= NOON_HOURS:
            raise InvalidDuration(DurationProblem.NO_SUCH_TIME, f"{UNTIL} {word}")
        later = NOON_HOURS if found["half"] == "pm" else 0
        return _time(hour % NOON_HOURS + later, int(found["minute"] or 0), word)
    return None


def _time(hour: int, minute: int, shown: str) -> time:
    try:
        return time(hour, minute)
    except ValueError:
        raise InvalidDuration(DurationProblem.NO_SUCH_TIME, f"{UNTIL} {shown}") from None


def lifts_at(lasting: Lasting, now: datetime, zone: ZoneInfo) -> datetime:
    """The moment, in UTC. Raises InvalidDuration when it is past, too near, too far or never.

    A time that comes twice, when the clocks go back, is the first of the two that is to come.
    """
    if isinstance(lasting, For):
        return now + lasting.length
    today = now.astimezone(zone).date()
    shown = _shown(lasting)
    if lasting.day is not None:
        at = _at(lasting.day, lasting.clock, zone, now, shown)
        if at <= now:
            raise InvalidDuration(DurationProblem.PAST, shown)
    else:
        at = _at(today, lasting.clock, zone, now, shown)
        if at <= now:
            at = _at(today + timedelta(days=1), lasting.clock, zone, now, shown)
    _bounded(at - now, shown)
    return at


def _at(day: date, clock: time, zone: ZoneInfo, now: datetime, shown: str) -> datetime:
    local = datetime.combine(day, clock, zone)
    first, second = (local.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    if first.astimezone(zone).replace(fold=0, tzinfo=None) != local.replace(tzinfo=None):
        raise InvalidDuration(DurationProblem.SKIPPED, shown)
    return first if first > now else second


def written(lasting: Lasting) -> str:
    """The words that `read_lasting` reads back."""
    if isinstance(lasting, For):
        hours, minutes = divmod(int(lasting.length.total_seconds()) // 60, 60)
        parts = ((hours // 24, "d"), (hours % 24, "h"), (minutes, "m"))
        return "".join(f"{count}{unit}" for count, unit in parts if count)
    return _shown(lasting)


def _shown(until: Until) -> str:
    day = f"{until.day.isoformat()} " if until.day is not None else ""
    return f"{UNTIL} {day}{until.clock:%H:%M}"
