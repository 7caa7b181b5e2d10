"""What may be an end in a text, where nobody can be sure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from bot.kernel.durations import For, Lasting, readings
from bot.kernel.ends.days import says_several_days
from bot.kernel.ends.lengths import STATUS_CODE, lengths_of_number
from bot.kernel.ends.numbers import NAMED_COUNT, count_of
from bot.kernel.ends.phrases import ROUND_MINUTES, read_beginning
from bot.kernel.ends.typed import EDGE, Beginning
from bot.kernel.errors import InvalidDuration

LONGEST_END = 8
"""Words that say when a pause ends: "for 1 day 2 hours and 30 minutes"."""

_SAYS_END = re.compile(
    r"['\u2019(\[]*(?:unti?ll?|till?|for|up to"
    r"|bis|hasta|jusqu'\S+|at\u00e9|fino|tot|\u0434\u043e)[:\s]"
)
_NEXT_HOUR = re.compile(r"(?:the )?next (?:hour|day|week)")
_SPAN_OF_CLOCKS = re.compile(
    r"\d{1,2}(?:[:.]\d\d)?(?:[ap]m|h)?[-\u2013\u2014]\d{1,2}(?:[:.]\d\d|[ap]m|h|:\d\d[ap]m|\suhr)"
)
_SAYS_UNTIL = re.compile(r"['\u2019(\[]*(?:unti?ll?|till?)[:\s]")
_OF_A_REASON = re.compile(
    r"(?:since|after|at|from|within|than|every|over|in|on|took|takes|take|by|before|of|last|as\s+of)"
)
"""Before an end, they make it a part of the reason: "red after 5 minutes"."""

_COURTESY = re.compile(
    r"(?:cheers|folks|guys|ok(?:ay)?|please|pls|plz|team|thanks|thx|ty)?[^\w\s]*|:[\w+'-]+:",
    re.IGNORECASE,
)
"""Behind an end it adds nothing."""

_RESUMING = frozenset({"back", "reopen", "resume", "resumes", "resuming", "unpause"})
_LIKE_UNTIL = frozenset({"around", "at", "before", "by", "to"})
"""In front of an hour alone: `pause at 5`."""

_RESUMED_AT = re.compile(
    rf"(?:^|\s)(?:{'|'.join(_RESUMING)})\s(?:(?:{'|'.join(_LIKE_UNTIL)})\s(?P<hour>\d{{1,2}})"
    r"|in\s(?P<length>\d{1,6}))$",
    re.IGNORECASE,
)
"""CI is down, back at 5."""

_BEFORE_RESUMING = frozenset({"and", "then"})
"""In `pause CI is down and resume at 5pm`."""

WORD_AND_HOUR = 2
"""Words in "at 5"."""

_HAS_CLOCK = re.compile(r"\d[:.h]\d\d|\d\s*[ap]\.?m\b|noon|midday|midnight")


_NUMBER_WITHOUT_UNIT = r"(?P<number>[0-9]{1,6}(?:[.,][0-9]{1,2})?)"
_NAMED_NUMBER = rf"(?P<named>(?!an?\b|another\b|one\b)(?:{NAMED_COUNT}))"
_NUMBER_ALONE = re.compile(
    r"\s*(?:(?:in|for)\s+)?(?:(?:about|another|approx\.?|ca\.?|just|max\.?|only|~)\s*)?"
    rf"(?:{_NUMBER_WITHOUT_UNIT}|{_NAMED_NUMBER}){EDGE}\s*",
    re.IGNORECASE,
)
_NUMBER_IN_FRONT = re.compile(
    rf"\s*{_NUMBER_WITHOUT_UNIT}"
    r"(?P<apart>[,;:]\s+(?![0-9])|\s+[-\u2013\u2014]\s+|\s+(?=[(\"\u201c])"
    r"|\s+(?=(?:as|because|due|for|since|so|while)\s))?\s*(?<=\s)(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_COUNTED = re.compile(
    r"(?:\S+\s+){0,2}(?:prs|\w{3,}(?<!s)s)(?!\w)|(?:of|out|percent|%)(?!\w)", re.IGNORECASE
)
"""Behind a number: tests fail, red builds, out of 12."""


_DAYS_ELSEWHERE = (
    r"(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|heute|(?:\u00fc|ue)?"
    r"(?:ber)?morgen|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|vandaag|overmorgen"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|demain|apr\u00e8s-demain|aujourd.hui"
    r"|wochenende|week-end|dit\s+weekend|weihnachten|ostern|no[e\u00eb]l|p\u00e2ques|kerst(?:mis)?"
    r"|abend|mittag|mitternacht|feierabend|ganzen\s+tag|soir|midi|minuit|toute\s+la\s+journ\u00e9e"
    r"|hele\s+dag|n\u00e4chste\s+woche|volgende\s+week|la\s+semaine\s+prochaine"
    r"|lunes|martes|mi\u00e9rcoles|jueves|viernes|s\u00e1bado|domingo|ma\u00f1ana|hoy)"
)
_MONTHS_ELSEWHERE = (
    r"(?:januar[iy]?|februar[iy]?|m(?:\u00e4|ae|aa)r[zt]|ma[iy]|mei|jun[iy]|jul[iy]|augustus|okt(?:ober)?"
    r"|dez(?:ember)?|janv(?:ier)?|f\u00e9vr?(?:ier)?|mars|avril|juin|juillet|ao\u00fbt|octobre"
    r"|nov(?:embre)?|d[e\u00e9]c(?:embre)?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|diciembre)"
)
_BEFORE_ELSEWHERE = (
    r"(?:ab|am|bis|ce|de|den|der|desde|du|d\u00e8s|el|gegen|le|n\u00e4chsten|\u00fcbers?|om|op|tot|um|van|vanaf"
    r"|vom|von|volgende|\u00e0\s+partir\s+d[eu])\s+"
)
_DAY_ELSEWHERE = re.compile(
    rf"(?:{_BEFORE_ELSEWHERE})*{_DAYS_ELSEWHERE}(?:[.!?,]*$|\s+(?:\d|abend|ab|au|avond|bis|fr\u00fch|jusqu"
    r"|matin|midi|mittag|nachmittag|ochtend|om|soir|tot|um|vormittag|\u00e0))"
    rf"|(?:{_BEFORE_ELSEWHERE})+{_DAYS_ELSEWHERE}(?!\w)"
    r"|(?:mo|di|mi|do|fr|sa|so|ma|wo|vr|za|zo|lun|mar|mer|jeu|ven|sam|dim)[-\u2013]"
    r"(?:mo|di|mi|do|fr|sa|so|ma|wo|vr|za|zo|lun|mar|mer|jeu|ven|sam|dim)(?!\w)"
    r"|\d{1,2}u(?:\d\d)?(?!\w)"
    rf"|(?:{_BEFORE_ELSEWHERE})*(?:\d{{1,2}}\.?\s*(?:-|\u2013|al|au|bis|tot)\s*)?\d{{1,2}}\.?\s+"
    rf"{_MONTHS_ELSEWHERE}(?!\w)"
)
"""Morgen, ab Freitag, du 24 au 27 décembre: asked about."""


class MeantEnd(NamedTuple):
    """What words may mean."""

    lasting: Lasting
    reason: str  #: the words that would be the reason then


class PossibleEnd(NamedTuple):
    """When an end that may be meant comes."""

    at: datetime
    lasting: Lasting
    reason: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """What nobody can be sure of."""

    readings: tuple[MeantEnd, ...]
    is_in_reason: bool = False
    """Whether words of the reason stand before it."""


def possible_ends(meant: Sequence[MeantEnd], now: datetime, zone: ZoneInfo) -> list[PossibleEnd]:
    """When each reading ends, with its reason, once for each time; `zone` is the person's own.

    Raises InvalidDuration if none of them can be the end of a pause.
    """
    found: dict[datetime, PossibleEnd] = {}
    refused: InvalidDuration | None = None
    for lasting, reason in meant:
        try:
            for at in readings(lasting, now, zone):
                found.setdefault(at, PossibleEnd(at, lasting, reason))
        except InvalidDuration as error:
            refused = refused or error
    if refused is not None and not found:
        raise refused
    return list(found.values())


def doubt_of(text: str) -> Doubt | None:
    """What an end in the text may mean; None if the text is a reason and nothing else."""
    words = text.split()
    number = _NUMBER_ALONE.fullmatch(text)
    if number is not None:
        return _doubt_of_number(number["number"] or number["named"].lower(), "")
    is_hour = len(words) == WORD_AND_HOUR and words[1].isascii() and words[1].isdigit()
    is_until = is_hour and words[0].lower() in _LIKE_UNTIL
    small = text.lower()
    if says_several_days(text) or _DAY_ELSEWHERE.match(small) or _SPAN_OF_NAMES.match(small):
        return Doubt(())
    begun = _beginning(["until", words[1]] if is_until else words)
    if begun is None or (is_until and not begun.readings):
        return _doubt_at_end(words) or _doubt_within(words) or _doubt_of_number_in_front(text)
    rest = _rest(text, begun.words)
    return Doubt(tuple(MeantEnd(reading, rest) for reading in begun.readings))


def without_end(text: str) -> str:
    """The reason without what may be an end in it."""
    doubt = doubt_of(text)
    if doubt is None or not doubt.readings:
        return text
    return doubt.readings[0].reason


def _beginning(words: Sequence[str]) -> Beginning | None:
    """None also for an end that no pause can have."""
    try:
        return read_beginning(words)
    except InvalidDuration:
        return None


_SPAN_OF_NAMES = re.compile(
    r"(?:now|noon|midday|midnight|\d{1,2}:\d\d)\s?[-\u2013\u2014/]\s?(?:\d|noon|midday|midnight|eod)"
    r"|(?:today|tonight)\s+(?:from|after|around|by|before)\s+\d"
)
"""Noon-1pm; today from 5pm."""


def is_number_alone(text: str) -> bool:
    """Whether it is a number that may be a length: "45", "1.5", "ten"."""
    return _NUMBER_ALONE.fullmatch(text) is not None


def _doubt_of_number(typed: str, reason: str) -> Doubt:
    """Minutes, or hours."""
    lengths = lengths_of_number(count_of(typed))
    return Doubt(tuple(MeantEnd(length, reason) for length in lengths))


def _doubt_of_number_in_front(text: str) -> Doubt | None:
    """45, CI is down; 45 for the deploy; 45 deploying. Not 45 tests fail."""
    found = _NUMBER_IN_FRONT.match(text)
    if found is None:
        return None
    is_round = found["number"].isdecimal() and int(found["number"]) in ROUND_MINUTES
    if not found["apart"] and (not is_round or _COUNTED.match(found["rest"])):
        return None
    return _doubt_of_number(found["number"], found["rest"].strip())


def _doubt_at_end(words: Sequence[str]) -> Doubt | None:
    """Whether the last words are an end: "CI is down for an hour", "deploying until 17:00 thx"."""
    while words and _COURTESY.fullmatch(words[-1]):
        words = words[:-1]
    resumed = _doubt_when_resumed(words)
    if resumed is not None:
        return resumed
    for start in range(max(1, len(words) - LONGEST_END), len(words)):
        tail = words[start:]
        if _is_start(tail):
            return Doubt((), is_in_reason=True)
        begun = _beginning(tail)
        if begun is None or begun.words < len(tail) or not _may_be_an_end(tail, begun):
            continue
        is_said = _SAYS_END.match(" ".join(tail).lower()) is not None or _is_span(tail, begun)
        reason = _without_resuming(words[:start])
        is_said = is_said or len(reason) < start
        if not is_said and _is_of_reason(words, start):
            return None
        return Doubt(_with_reason(begun, reason), is_in_reason=True)
    return None


def _is_start(tail: Sequence[str]) -> bool:
    """Whether it is like "starting at 5pm", behind the reason."""
    if len(tail) == 1 or tail[0].lower() not in _STARTING:
        return False
    is_in = tail[1].lower() == "in"
    begun = _beginning(tail[1:]) if is_in else _beginning(["until", *tail[1:]])
    return begun is not None and begun.words >= len(tail[1:]) and bool(begun.readings)


_STARTING = frozenset({"beginning", "begins", "starting", "starts"})


def _doubt_when_resumed(words: Sequence[str]) -> Doubt | None:
    """The number behind "back at" and "back in", which alone would be a part of the reason."""
    found = _RESUMED_AT.search(" ".join(words))
    if found is None:
        return None
    number = found["hour"] or found["length"]
    if found["length"] is None:
        begun = _beginning(["until", number])
    else:
        begun = Beginning(lengths_of_number(int(number)), 1, is_sure=False)
    if begun is None or not begun.readings:
        return None
    return Doubt(_with_reason(begun, words[:-3]), is_in_reason=True)


def _without_resuming(words: Sequence[str]) -> Sequence[str]:
    """The words in front of an end, without "and resume" behind them."""
    if words[-1].lower() not in _RESUMING:
        return words
    left = [*words[:-1]]
    while left and left[-1].lower() in _BEFORE_RESUMING:
        left.pop()
    return left


def _may_be_an_end(tail: Sequence[str], begun: Beginning) -> bool:
    text = " ".join(tail).lower()
    is_said = _SAYS_END.match(text) is not None or _NEXT_HOUR.fullmatch(text) is not None
    if is_said or _is_span(tail, begun):
        return True
    # "The gateway returns 500s" ends with no length, and "the deploy of friday" with no end.
    is_code = STATUS_CODE.fullmatch(tail[0].lower()) is not None
    is_length = any(isinstance(reading, For) for reading in begun.readings)
    if is_length and not is_code:
        return True
    return begun.is_sure and _HAS_CLOCK.search(text) is not None


def _is_span(tail: Sequence[str], begun: Beginning) -> bool:
    """From when until when."""
    is_marked = tail[0].lower() in {"from", "between"} and bool(begun.readings)
    return is_marked or _SPAN_OF_CLOCKS.match(" ".join(tail).lower()) is not None


def _is_of_reason(words: Sequence[str], start: int) -> bool:
    """Whether the end that begins there belongs to the reason."""
    around = (words[start - 1].lower(), words[start].lower())
    return any(_OF_A_REASON.fullmatch(word) for word in around)


def _doubt_within(words: Sequence[str]) -> Doubt | None:
    """An end that says so in the middle: "CI is down until 5pm because of the provider"."""
    for start in range(1, len(words)):
        tail = words[start:]
        if _SAYS_UNTIL.match(f"{tail[0].lower()} ") is None:
            continue
        begun = _beginning(tail)
        if begun is not None and begun.is_sure:
            reason = [*words[:start], *tail[begun.words :]]
            return Doubt(_with_reason(begun, reason), is_in_reason=True)
    return None


def _with_reason(begun: Beginning, words: Sequence[str]) -> tuple[MeantEnd, ...]:
    reason = " ".join(words).rstrip(" ,;:-\u2013\u2014")
    return tuple(MeantEnd(reading, reason) for reading in begun.readings)


def _rest(text: str, words: int) -> str:
    rest = text.split(maxsplit=words)[words:]
    return rest[0].strip() if rest else ""
