"""Numbers as people type them: in figures, with a fraction, or as a word."""

import re
from fractions import Fraction
from unicodedata import numeric

LARGEST_DIGIT = 9
NOON = 12
"""Up to this hour there are two of each in a day."""

COUNTS = {
    "a": 1,
    "an": 1,
    "another": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
}
_TENS = "|".join(name for name, count in COUNTS.items() if count in {20, 30, 40, 50})
_ONES = "|".join(name for name, count in COUNTS.items() if 1 < count <= LARGEST_DIGIT)
_COUNT_NAMES = "|".join(sorted(COUNTS, key=len, reverse=True))
NAMED_COUNT = rf"(?:{_TENS})[\s-](?:{_ONES})|{_COUNT_NAMES}"

ABOUT = (
    r"(?:(?:about|around|approx\.?|approximately|roughly|circa|ca\.?|~|\u2248|max\.?|at\s+most"
    r"|at\s+least|up\s+to|another|just|less\s+than|under|not?\s+more\s+than)\s*)?"
)
"""Before a length or a time of day."""

_SIGN = r"[\u00bc-\u00be\u2150-\u215e]"
"""½ and the like."""

_WRITTEN = r"\d[/\u2044][1-9]"
COUNT = (
    rf"(?:\d+\s+(?:and\s+)?{_WRITTEN}|{_WRITTEN}|\d+(?:[.,]\d+)?\s*{_SIGN}?|\.\d+|{_SIGN}"
    rf"|(?:{NAMED_COUNT})(?=\s))"
)
_NUMBER_PART = re.compile(rf"{_WRITTEN}|\d+(?:[.,]\d+)?|\.\d+|{_SIGN}|[a-z]+")


def whole_of(typed: str) -> int:
    """A whole number, in figures or as a word."""
    return int(count_of(typed))


def count_of(typed: str) -> float:
    """What matches COUNT: 2, two, 1.5, 1,5, 1½, 1 1/2."""
    parts = [part for part in _NUMBER_PART.findall(typed) if part != "and"]
    return float(sum(map(_value_of, parts)))


def _value_of(part: str) -> float:
    if part in COUNTS:
        return COUNTS[part]
    if re.fullmatch(_SIGN, part):
        return numeric(part)
    part = part.replace(",", ".").replace("\u2044", "/")
    return float(Fraction(part)) if "/" in part else float(part)
