"""How far back somebody wants to look: `90m`, `24h`, `7d`, `2w`, or several of these together."""

import re
from datetime import timedelta

LONGEST = timedelta(days=3660)

_PART = re.compile(r"([0-9]{1,20})([mhdw])")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")
_UNITS = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


class InvalidLookback(ValueError):
    """Not a length of time to look back over, or one of nothing, or of over ten years."""


def read_lookback(text: str) -> timedelta:
    """The length; raises InvalidLookback with a sentence."""
    written = text.strip().lower()
    if not _WHOLE.fullmatch(written):
        raise InvalidLookback("a length of time is written 90m, 24h, 7d or 2w")
    length = sum((_length(int(count), unit) for count, unit in _PART.findall(written)), timedelta())
    if not timedelta() < length <= LONGEST:
        raise InvalidLookback("a length of time is at least a minute and at most ten years")
    return length


def _length(count: int, unit: str) -> timedelta:
    """Far more than ten years is a little more: a timedelta has an end too."""
    too_many = LONGEST // _UNITS[unit] + 1
    return min(count, too_many) * _UNITS[unit]
