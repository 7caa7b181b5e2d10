"""Moments of the simulated service, as whole microseconds since 1970 in UTC."""

import re
from datetime import UTC, datetime, timedelta

Moment = int
SECOND = 1_000_000
DAY = 86_400 * SECOND

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))",
    re.ASCII,
)


def rfc3339(moment: Moment) -> str:
    """Write a moment as the service does: RFC 3339, UTC, microseconds, `Z`."""
    return f"{to_datetime(moment).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def optional_rfc3339(moment: Moment | None) -> str | None:
    return None if moment is None else rfc3339(moment)


def parse_rfc3339(text: str) -> Moment:
    """Read an RFC 3339 date-time with its offset; raise ValueError for anything else."""
    matched = _RFC3339.fullmatch(text)
    if matched is None:
        raise ValueError(f"not an RFC 3339 date-time: {text!r}")
    fraction = matched[7] or ""
    zulu = matched[8]
    sign = matched[9]
    year, month, day, hour, minute, second = (int(matched[part]) for part in range(1, 7))
    # RFC 3339 allows a leap second, which no datetime can hold: it counts as the next second.
    whole = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    since = whole - _EPOCH + timedelta(seconds=max(0, second - 59))
    moment = (since.days * 86_400 + since.seconds) * SECOND + int(f"{fraction:0<6}"[:6])
    if zulu:
        return moment
    offset = (int(matched[10]) * 60 + int(matched[11])) * 60 * SECOND
    return moment - offset if sign == "+" else moment + offset


def from_datetime(when: datetime) -> Moment:
    """Turn an aware datetime into a moment."""
    return (when - _EPOCH) // timedelta(microseconds=1)


def to_datetime(moment: Moment) -> datetime:
    """Turn a moment into an aware datetime in UTC."""
    return _EPOCH + timedelta(microseconds=moment)


def hour_of_day(moment: Moment) -> int:
    return moment % DAY // (3_600 * SECOND)


def next_hour(moment: Moment) -> Moment:
    """Give the first full hour after a moment, when a merging schedule may change."""
    hour = 3_600 * SECOND
    return (moment // hour + 1) * hour
