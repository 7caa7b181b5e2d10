"""Reads lengths of time as people type them, such as "1½h" or "half an hour"."""

import re
from datetime import time, timedelta
from difflib import get_close_matches

from bot.kernel.durations import LONGEST_TIME, SHORTEST, DurationProblem, For, Until, bounded
from bot.kernel.ends.numbers import ABOUT, COUNT, NAMED_COUNT, NOON, count_of
from bot.kernel.ends.typed import EDGE, TYPED_KEPT, Beginning, TypedText
from bot.kernel.errors import InvalidDuration

_UNIT = (
    r"(?:months?|years?|fortnights?|m(?:in(?:ute)?s?|n)?\.?|'|h(?:(?:ou)?rs?)?\.?|d(?:ays?)?|w(?:(?:ee)?ks?)?"
    r"|s(?:ec(?:ond)?s?)?)(?![a-z])"
)
_MINUTES_IN_TYPED = {"m": 1, "'": 1, "h": 60, "d": 24 * 60, "w": 7 * 24 * 60, "s": 1 / 60}
_MINUTES_IN_LONG = {"fortnight": 14 * 24 * 60, "month": 31 * 24 * 60, "year": 366 * 24 * 60}

_COUNTED_UNIT = rf"{COUNT}[\s-]*(?:more\s+)?{_UNIT}"
_FROM_NOW = r"(?:\s+from\s+now)?"
_TYPED_LENGTH = re.compile(
    rf"{ABOUT}(?:pt?(?=\d))?{_COUNTED_UNIT}(?:[\s,+&]*(?:and\s+)?{_COUNTED_UNIT})*"
    rf"(?P<after_hours>(?<=[hrs])(?:\d\d|\s\d\d(?=\s*$|[,;:])))?{_FROM_NOW}{EDGE}"
)
_LENGTH_PART = re.compile(rf"({COUNT})[\s-]*(?:more\s+)?({_UNIT})")
_HYPHENATED = re.compile(r"\S+-[a-z]")
"""A 2-hour outage may have been."""
_ADJECTIVE = re.compile(r"(?P<count>\S+)[\s-]+(?:minute|hour|day|week)$")
"""The 30 minute builds may be why; of one hour nobody can tell."""

_SIGNED = re.compile(rf"[-+]\d\S*?{_UNIT}{EDGE}")
_MISSPELLED_LENGTH = re.compile(
    rf"\d+h\d(?:\d{{2,}})?(?=\s|$)|\d{{1,3}}(?:[,.]\d{{3}})+\s*{_UNIT}{EDGE}"
)
"""1h5, and 1,500 minutes, which are one and a half to others."""

_ALIKE_UNITS = 0.76
"""How alike the name of a unit a misspelled one is."""

_UNITS = ("minute", "minutes", "hour", "hours", "days", "weeks")
_WITH_OTHER_WORD = re.compile(rf"(?P<count>{COUNT})\s*(?P<word>[a-z]{{4,8}}){EDGE}")

_HOURS_AND_MINUTES = re.compile(
    rf"(?P<hours>\d{{1,2}}):(?P<minutes>[0-5]\d)(?::00)?(?P<unit>\s*h(?:(?:ou)?rs?)?)?{EDGE}"
)
_HOURS_WITH_A_POINT = re.compile(
    rf"(?P<hours>\d{{1,2}})[.,](?P<minutes>[0-5]\d)(?<!25)\s*h(?:(?:ou)?rs?)?{EDGE}"
)
"""1.30h may be 1:30 h, or 1.3 h."""

_LIKE_AN_HOUR_OF_A_DAY = re.compile(rf"(?P<hours>1[3-9]|2[0-3])\s?h(?P<minutes>[0-5]\d){EDGE}")
"""17h30 may be half past five."""

_FEW_HOURS = re.compile(r"[0-4]:")
"""Without "until", 1:30 may be an hour and a half."""

_UNITS_ELSEWHERE = {
    "m": r"minuten|minutos?|minuti|minuta|minut|\u043c\u0438\u043d\u0443\u0442\w*",
    "h": r"stunden?|std\.?|heures?|horas?|ore|ora|uur|uren|godziny?|\u0447\u0430\u0441\w*",
    "d": r"tage?|jours?|d[i\u00ed]as?|dias?|giorn[io]|dagen|dag|dni|\u0434\u043d\w*",
}
"""In German, French, Spanish, Portuguese, Italian, Dutch, Polish and Russian: asked about."""

_ONE_ELSEWHERE = r"eine?|een|une?|uma?|una"
_FOREIGN_LENGTH = re.compile(
    rf"(?:(?P<count>{COUNT})\s*|(?:{_ONE_ELSEWHERE})\s+)(?:"
    + "|".join(rf"(?P<{unit}>{words})" for unit, words in _UNITS_ELSEWHERE.items())
    + rf")(?!\w){EDGE}"
)
_PART_OF_HOUR_ELSEWHERE = re.compile(
    rf"(?:(?:{_ONE_ELSEWHERE})\s+)?(?:(?P<m15>quart\s+d'heure|kwartier(?:tje)?|viertelstunde)"
    r"|(?P<m30>halbe\s+stunde|demi[\s-]heure|media\s+hora|half\s+uur|halfuur(?:tje)?)"
    r"|(?P<m45>dreiviertelstunde|(?:trois|drie)\s+(?:quarts\s+d'heure|kwartier))"
    rf"|(?P<m90>(?:anderthalb|eineinhalb)\s+stunden?|anderhalf\s+uur))(?!\w){EDGE}"
)

_HALF = re.compile(
    rf"{ABOUT}(?:(?P<count>\d+|{NAMED_COUNT})\s+and\s+(?:a\s+)?half\s+(?P<unit>hours?|days?|weeks?)"
    rf"|(?:(?P<first>an?|one|\d+|{NAMED_COUNT})\s+)?(?P<whole>hour|day|week)s?\s+and\s+a\s+half"
    r"|(?:a\s+)?(?P<part>half|quarter|three\s+quarters)(?:\s+of)?(?:\s+an?)?[\s-]+(?P<of>hour|hr|day)"
    rf"){_FROM_NOW}{EDGE}"
)
_NAMED_PARTS = {"half": 0.5, "quarter": 0.25, "three quarters": 0.75}

_VAGUE_LENGTH = re.compile(
    rf"{ABOUT}(?:(?:an?\s+)?(?P<word>couple(?:\s+of)?|few|several)\s+(?:more\s+)?"
    r"(?P<unit>minutes?|mins?|hours?|hrs?|days?|weeks?)"
    r"|(?P<low>\d+)\s*(?P<first>h|m|min)?\s*(?:-|\u2013|(?<=[a-z])/|to|or)\s*(?P<high>\d+)\s*"
    rf"(?P<range>minutes?|mins?|m|hours?|hrs?|h|days?|d)){EDGE}"
)
_WHILE = re.compile(
    r"(?:an?\s+(?:good\s+)?(?:while|bit|moment|sec|second|minute\s+or\s+two)|some\s+time"
    r"|an?\s+good\s+(?:half\s+)?(?:an\s+)?(?:hour|day|week)|good\s+\d+\s*(?:minutes?|hours?)"
    r"|(?:the\s+)?rest\s+of\s+(?:(?:the|this)\s+)?(?:day|morning|afternoon|evening|week)"
    r"|(?:the|this)\s+(?:day|morning|afternoon|evening|night|weekend|week)|today|tonight"
    rf"|(?:{COUNT}|the|this)\s+(?:sprint|shift)s?"
    r"|lunch(?:time)?|(?:the\s+)?(?:holidays|christmas|easter|thanksgiving|new\s+year(?:['\u2019]?s)?)"
    rf"){EDGE}"
)
"""After "for": nobody knows how long."""

_WORKING_TIME = re.compile(
    rf"{ABOUT}{COUNT}[\s-]*(?:business|working|work)[\s-]+(?:days?|hours?){EDGE}"
)
"""Nobody knows whose."""

_IN_THE_PAST = re.compile(r"(?:ago|late|old|older|behind|earlier|too\s+late|in\s+a\s+row)(?![a-z])")
"""Words of a reason: "an hour ago CI broke"."""

_FROM_ANOTHER_TIME = (
    r"after|before|from|once(?!\s+(?:more|again))|when|as\s+soon\s+as|or"
    r"|(?:\u00e0|al?|au|bis|tot)\s+\d+"
)
_COUNTS_LATER = re.compile(rf"(?:\d\d\s+)?(?:{_FROM_ANOTHER_TIME})(?![a-z])")
"""A length that doesn't count from now, as far as anybody can say: "40m after the copy"."""

_OF_SOMETHING = re.compile(
    rf"(?:\d\d\s+)?(?:of|long|later|left|if|since|{_FROM_ANOTHER_TIME})(?![a-z])"
)
"""Of a reason, or of an end: "2h of red builds", but "2h of maintenance", "2h since CI is down"."""

_IN_HOURS = re.compile(r"h(?:(?:ou)?rs?)?\.?$")
_MINUTES_NEXT = re.compile(r"[0-5]\d(?!\S)")
"""1h 30 CI is down: an hour and a half, or an hour and "30 CI"."""

_IN_SECONDS = re.compile(r"\d+\s*s")
STATUS_CODE = re.compile(r"[45]\d\ds")
"""The gateway returns 500s: no length."""


def length_at(text: TypedText, at: int, *, is_marked: bool) -> Beginning | None:
    """The length that begins there; None where none does.

    `is_marked`: "for" stands before it, so that it is meant as an end.
    Raises InvalidDuration for one that no pause can have.
    """
    if _SIGNED.match(text.small, at) or _MISSPELLED_LENGTH.match(text.small, at):
        first = text.as_typed.split(maxsplit=1)[0]
        raise InvalidDuration(DurationProblem.UNREADABLE, first[:TYPED_KEPT])
    unsure = (
        _read_vague(text, at, is_marked=is_marked)
        or _read_elsewhere(text, at)
        or _read_hours_and_minutes(text, at, is_marked=is_marked)
    )
    if unsure is not None:
        return unsure
    half = _HALF.match(text.small, at)
    found = half or _TYPED_LENGTH.match(text.small, at)
    if found is None:
        return _read_misspelled(text, at)
    rest = text.rest(found.end())
    is_past = bool(rest) and _IN_THE_PAST.match(rest) is not None
    if is_past and not (is_marked and half is not None):
        return None
    if not is_marked and STATUS_CODE.match(text.small, at):
        return None
    if rest and not is_marked and _IN_SECONDS.match(found[0]):
        # Flaky tests take their seconds.
        return Beginning((), text.count, is_sure=False)
    minutes = _minutes_of(text, found) if half is None else _minutes_of_half(half)
    length = _as_length(minutes, text.shown_to(found.end()))
    # "a day without deploys": nobody can be sure, unless "for" says so.
    is_counted = half is not None or found[0].lstrip()[0] not in "ao"
    adjective = _ADJECTIVE.search(found[0])
    is_of_noun = _HYPHENATED.match(found[0]) is not None or (
        adjective is not None and adjective["count"] not in {"1", "an", "one"}
    )
    is_plain = is_counted and not is_of_noun and _OF_SOMETHING.match(rest) is None
    is_marked_well = is_marked and _COUNTS_LATER.match(rest) is None
    may_go_on = _IN_HOURS.search(found[0]) is not None and _MINUTES_NEXT.match(rest) is not None
    is_sure = (is_marked_well or not rest or is_plain) and not may_go_on
    return Beginning((For(length),), text.words_to(found.end()), is_sure=is_sure)


def lengths_of_number(number: float) -> tuple[For, ...]:
    """What a number without its unit may mean: minutes, or hours; with a fraction, hours."""
    lengths = [timedelta(minutes=number)] if number == int(number) else []
    if number <= NOON:
        lengths.append(timedelta(minutes=round(number * 60)))
    return tuple(For(length) for length in lengths if SHORTEST <= length <= LONGEST_TIME)


def _read_elsewhere(text: TypedText, at: int) -> Beginning | None:
    """A length in another language."""
    part = _PART_OF_HOUR_ELSEWHERE.match(text.small, at)
    if part is not None:
        length = timedelta(minutes=int(str(part.lastgroup).removeprefix("m")))
        return Beginning((For(length),), text.words_to(part.end()), is_sure=False)
    found = _FOREIGN_LENGTH.match(text.small, at)
    if found is None:
        return None
    unit = next(unit for unit in _UNITS_ELSEWHERE if found[unit] is not None)
    length = timedelta(minutes=count_of(found["count"] or "one") * _MINUTES_IN_TYPED[unit])
    possible = (For(length),) if SHORTEST <= length <= LONGEST_TIME else ()
    return Beginning(possible, text.words_to(found.end()), is_sure=False)


def _read_misspelled(text: TypedText, at: int) -> Beginning | None:
    """90 minuets."""
    found = _WITH_OTHER_WORD.match(text.small, at)
    if found is None:
        return None
    alike = get_close_matches(found["word"], _UNITS, n=1, cutoff=_ALIKE_UNITS)
    if not alike:
        return None
    length = timedelta(minutes=count_of(found["count"]) * _unit_minutes(alike[0]))
    possible = (For(length),) if SHORTEST <= length <= LONGEST_TIME else ()
    return Beginning(possible, text.words_to(found.end()), is_sure=False)


def _read_hours_and_minutes(text: TypedText, at: int, *, is_marked: bool) -> Beginning | None:
    """For 1:30, or 1:30 where it may also be a time of day."""
    found = _HOURS_WITH_A_POINT.match(text.small, at)
    if found is not None:
        as_clock = 60 * int(found["hours"]) + int(found["minutes"])
        as_number = round(60 * count_of(f"{found['hours']}.{found['minutes']}"))
        lengths = (For(_as_length(minutes, found[0])) for minutes in (as_clock, as_number))
        return Beginning(tuple(lengths), text.words_to(found.end()), is_sure=False)
    found = None if is_marked else _LIKE_AN_HOUR_OF_A_DAY.match(text.small, at)
    if found is not None:
        clock = time(int(found["hours"]), int(found["minutes"]))
        lasting = For(timedelta(hours=clock.hour, minutes=clock.minute))
        return Beginning((Until(clock), lasting), text.words_to(found.end()), is_sure=False)
    found = _HOURS_AND_MINUTES.match(text.small, at)
    if found is None:
        return None
    hours = int(found["hours"])
    minutes = int(found["minutes"])
    words = text.words_to(found.end())
    if is_marked:
        length = _as_length(60 * hours + minutes, text.shown_to(found.end()))
        return Beginning((For(length),), words, is_sure=True)
    is_few = _FEW_HOURS.match(found[0]) is not None
    if hours + minutes == 0 or not (is_few or (found["unit"] is not None and hours <= NOON)):
        return None
    readings = (For(timedelta(hours=hours, minutes=minutes)), Until(time(hours, minutes)))
    return Beginning(readings, words, is_sure=False)


def _as_length(minutes: float, shown: str) -> timedelta:
    """Raises InvalidDuration for one that no pause can have."""
    if minutes > 2 * LONGEST_TIME / timedelta(minutes=1):
        raise InvalidDuration(DurationProblem.TOO_LONG, shown)
    return bounded(timedelta(seconds=round(minutes * 60)), shown)


def _minutes_of(text: TypedText, found: re.Match[str]) -> float:
    """Raises InvalidDuration where units don't go from large to small."""
    total = float(found["after_hours"] or 0)
    last = float("inf")
    for part in _LENGTH_PART.finditer(found[0]):
        unit = _unit_minutes(part[2])
        if unit >= last:
            raise InvalidDuration(DurationProblem.UNREADABLE, text.shown_to(found.end()))
        total += count_of(part[1]) * unit
        last = unit
    return total


def _minutes_of_half(found: re.Match[str]) -> float:
    if found["part"] is not None:
        part = " ".join(found["part"].split())
        return _NAMED_PARTS[part] * _unit_minutes(found["of"])
    if found["count"] is not None:
        return (count_of(found["count"]) + 0.5) * _unit_minutes(found["unit"])
    return (count_of(found["first"] or "one") + 0.5) * _unit_minutes(found["whole"])


def _unit_minutes(unit: str) -> float:
    for name, minutes in _MINUTES_IN_LONG.items():
        if unit.startswith(name):
            return minutes
    return _MINUTES_IN_TYPED[unit[0]]


def _read_vague(text: TypedText, at: int, *, is_marked: bool) -> Beginning | None:
    found = _VAGUE_LENGTH.match(text.small, at)
    if found is None:
        unbounded = _WORKING_TIME.match(text.small, at)
        if unbounded is None and is_marked:
            unbounded = _WHILE.match(text.small, at)
        if unbounded is None:
            return None
        return Beginning((), text.words_to(unbounded.end()), is_sure=False)
    if _IN_THE_PAST.match(text.rest(found.end())):
        return None
    lengths = _vague_minutes(found)
    longest = LONGEST_TIME / timedelta(minutes=1)
    possible = tuple(For(timedelta(minutes=length)) for length in lengths if 1 <= length <= longest)
    return Beginning(possible, text.words_to(found.end()), is_sure=False)


def _vague_minutes(found: re.Match[str]) -> list[float]:
    """The lengths that may be meant."""
    if found["word"] is None:
        unit = _unit_minutes(found["range"])
        low_unit = _unit_minutes(found["first"]) if found["first"] else unit
        return [int(found["low"][:6]) * low_unit, int(found["high"][:6]) * unit]
    unit = _unit_minutes(found["unit"])
    if unit == 1:
        return [5, 10]
    counts = (2, 3) if found["word"].startswith("couple") else (3, 5)
    return [count * unit for count in counts]
