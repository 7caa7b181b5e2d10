"""Reads the ends of pauses and freezes as people type them.

Lengths and times of day are read here, since no library reads "1½h", "17h" or "5" as people mean
them. Which day the words for a date mean is up to dateparser (https://dateparser.readthedocs.io),
which read most of the phrases in `tests/unit/domain/end_phrases.py` as people mean them.

A text that begins like an end is an end, a refusal (InvalidDuration) or a doubt, never silently a
reason.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import time
from difflib import get_close_matches
from typing import NamedTuple

from bot.kernel.durations import UNTIL_WORD, DurationProblem, Lasting, Until
from bot.kernel.ends.lengths import length_at, lengths_of_number
from bot.kernel.ends.moments import read_moment
from bot.kernel.ends.numbers import ABOUT
from bot.kernel.ends.typed import OPENING, TYPED_KEPT, Beginning, TypedText
from bot.kernel.errors import InvalidDuration

_UNTIL_IN_WORDS = re.compile(
    r"['\u2019]?(?:unti?ll?|un?till|unitl|till?|up to)(?P<colon>[:=])?(?:\s+|$|(?<=[:=])|(?=\d))"
    rf"(?:{OPENING}['@]?(?=\d))?"
)
_UP_TO = "up to"
_MISSPELLED_UNTIL = re.compile(r"(?P<word>[a-z]{4,6}):?\s+")
_ALIKE_UNTIL = 0.75
"""How alike "until" a misspelled word is."""

_FOREIGN_UNTIL = re.compile(
    r"(?:bis(?:\s+(?:um|zum))?|hasta(?:\s+(?:las?|el))?|jusqu'(?:[a\u00e0]|au)|at\u00e9"
    r"(?:\s+(?:as|\u00e0s|o))?|fino\s+(?:a|al|alle)|tot|\u0434\u043e)\s+"
)
""""until" in German, Spanish, French, Portuguese, Italian, Dutch and Russian: asked about."""

_FOR_ELSEWHERE = re.compile(
    r"(?:f\u00fcr|fuer|pendant|pour|durante|por|per|voor|na|\u043d\u0430)\s+"
)
""""for" in the same languages, and in Polish, before a length."""

_FOR = re.compile(
    r"(?:for|duration|time)(?P<colon>[:=])?(?:\s+|(?<=[:=]))(?:(?:the\s+)?(?:next|coming)\s+)?"
)
_HEDGE = (
    r"(?:again|approx(?:imately|\.)?|about|around|at\s+(?:least|most)|briefly|first|initially|just"
    r"|like|likely|maybe|once\s+more|only|perhaps|please|possibly|probably|roughly|temporarily)\s+"
)
_HEDGED_FOR = re.compile(
    rf"(?:{_HEDGE})+for\s+(?:{_HEDGE})*|for\s+(?:{_HEDGE})+"
    r"|(?:not?|never)\s+(?:for\s+)?(?:more|longer)\s+than\s+"
)
"""Only for 2h; for maybe 2h; no longer than 2h: asked about."""

_SPAN = re.compile(
    r"(?:(?:from|between)\s+)?(?P<start>\d{1,2}(?:[:.h]\d\d)?\s*(?:[ap]\.?m\.?)?)"
    r"\s*(?:-|\u2013|to\s|until\s|till\s|and\s)\s*"
)
"""17:00-18:00; from 5 to 6 pm."""

_FROM = re.compile(r"from\s+")
_OR = re.compile(r"(?:or|/)\s+(?:until\s+|till?\s+)?")
_IN = re.compile(
    r"(?:in|by|first\s+thing(?:\s+on)?|before|not\s+before|after|through|thru|not?\s+later\s+than|eta:?"
    r"|within(?:\s+the\s+next)?|(?:during\s+)?(?:the\s+)?next"
    r"|ab|alle|gegen|om|um|vanaf|vers|\u00e0|d\u00e8s"
    r"|(?:end(?:s|ing)?|resum(?:e|es|ing)|back)(?:\s+(?:at|by|in|on|around))?)\s+"
)
_ALONE = re.compile(
    r"(?:(?:over\s+)?the\s+|this\s+)?weekend|over\s*night"
    r"|within\s+the\s+hour|(?:the\s+)?next\s+(?:hour|day|week)"
    r"|(?:the\s+)?rest\s+of\s+(?:(?:the|this|my)\s+)?(?:day|morning|afternoon|evening|week)"
    r"|(?:all|the\s+(?:whole|entire)|during\s+the)"
    r"\s+(?:day|morning|afternoon|evening|night|week|weekend)(?:\s+long)?"
    r"|(?:over|during)\s+(?:lunch(?:time)?|(?:the\s+)?(?:holidays|christmas|easter|thanksgiving))"
    r"|(?:the\s+)?(?:holidays|christmas|xmas|easter|thanksgiving|new\s+year(?:'?s)?)"
    r"|(?:for\s+)?(?:black\s+friday|cyber\s+monday)(?:\s+weekend)?"
)
"""Only without another word."""


_WEEKEND = re.compile(r"(?:over\s+the|this)\s+weekend(?!\w)|(?:the\s+)?weekend$")
"""Until it is over: nobody can say when that is."""


def read_beginning(
    words: Sequence[str], *, is_end: bool = False, is_start: bool = False
) -> Beginning | None:
    """The end that the words begin with; None for a text that is a reason.

    `is_end`: "until" may be left out, as in a field that asks for an end.
    `is_start`: an end may follow.
    Raises InvalidDuration for an end that no pause can have.
    """
    text = TypedText.of(words)
    until = _UNTIL_IN_WORDS.match(text.small, text.start)
    if until is not None:
        is_up_to = until[0].startswith(_UP_TO)
        found = _after_until(text, until.end(), is_up_to=is_up_to, is_start=is_start)
    else:
        found = _span(text) or _without_until(text, is_end=is_end) or _like_until(text)
    if found is None or not found.is_sure or is_start:
        return found
    _refuse_second_end(text, found)
    if until is None and _goes_on(text, found):
        return Beginning((), text.count, is_sure=False)
    return found


def _after_until(text: TypedText, at: int, *, is_up_to: bool, is_start: bool) -> Beginning | None:
    found = read_moment(text, at, is_marked=True)
    if found is None or not found.is_sure:
        # "until 2 hours from now", "until 45m": a length may stand there too.
        is_clock = _CLOCK_IN_FIGURES.match(text.small, at) is not None
        length = length_at(text, at, is_marked=True) if not is_clock else None
        found = length if length is not None and length.is_sure else found or length
    elif not is_start:
        found = _or_a_length(text, at, found, is_up_to=is_up_to)
    if found is None and not is_up_to:
        return Beginning((), text.count, is_sure=False)
    return _with_alternative(text, found) if found is not None else None


_CLOCK_IN_FIGURES = re.compile(r"\d{1,2}:\d\d")
_NOON = time(12)
_HOURS = re.compile(rf"{ABOUT}\d{{1,2}}\s?h(?!\w)")


def _or_a_length(text: TypedText, at: int, moment: Beginning, *, is_up_to: bool) -> Beginning:
    """What "2h" means behind "until" and "up to": two o'clock, or in two hours."""
    length = length_at(text, at, is_marked=True) if _HOURS.match(text.small, at) else None
    is_morning = all(
        isinstance(reading, Until) and reading.clock <= _NOON for reading in moment.readings
    )
    if length is None or not (is_up_to or is_morning):
        return moment
    return Beginning((*length.readings, *moment.readings), moment.words, is_sure=False)


def _with_alternative(text: TypedText, found: Beginning) -> Beginning:
    """Until 5pm or 6pm; until 5pm or until it is fixed."""
    rest = TypedText.of(text.as_typed.split()[found.words :])
    either = _OR.match(rest.small)
    if either is None:
        return found
    other = read_moment(rest, either.end(), is_marked=True)
    if other is None:
        return replace(found, is_sure=False)
    both = (*found.readings, *other.readings)
    return Beginning(both, found.words + other.words, is_sure=False)


def _without_until(text: TypedText, *, is_end: bool) -> Beginning | None:
    at = text.start
    for_ = _FOR.match(text.small, at)
    found = _after_for(text, for_.end()) if for_ is not None else None
    hedged = _HEDGED_FOR.match(text.small, at)
    if found is None and hedged is not None:
        length = length_at(text, hedged.end(), is_marked=False)
        found = replace(length, is_sure=False) if length is not None else None
    if for_ is not None or found is not None:
        return found
    if not is_end and _WEEKEND.match(text.small, at):
        return Beginning((), text.count, is_sure=False)
    found = length_at(text, at, is_marked=False) or read_moment(text, at, is_marked=is_end)
    soon = _IN.match(text.small, at)
    if found is None and _ALONE.fullmatch(text.small):
        return Beginning((), text.count, is_sure=False)
    if found is not None or soon is None:
        return found
    # "in review", but also "in 2 hours", which may be when it begins.
    found = length_at(text, soon.end(), is_marked=False) or _one_unit(text, soon.end())
    found = found or read_moment(text, soon.end(), is_marked=False)
    return replace(found, is_sure=is_end) if found is not None else None


def _after_for(text: TypedText, at: int) -> Beginning | None:
    found = length_at(text, at, is_marked=True) or _one_unit(text, at)
    if found is not None:
        return found
    found = _minutes_without_unit(text, at)
    if found is not None:
        return found
    # "for tomorrow", but not "for tomorrow's release".
    found = read_moment(text, at, is_marked=False)
    if found is None or found.words != text.count:
        return None
    return replace(found, is_sure=False)


def _one_unit(text: TypedText, at: int) -> Beginning | None:
    """The hour of "for the next hour"; None where "next" isn't before it."""
    if not _NEXT.search(text.small[:at]):
        return None
    before = text.words_to(at)
    found = length_at(TypedText.of(["1", *text.as_typed.split()[before:]]), 0, is_marked=True)
    return replace(found, words=before + found.words - 1) if found is not None else None


_NEXT = re.compile(r"(?:next|coming)\s+$")


def _minutes_without_unit(text: TypedText, at: int) -> Beginning | None:
    """For 45; for 45, CI is down; for 45 CI is down. Not for 3 approvals."""
    number = _NUMBER.match(text.small, at)
    if number is None:
        return None
    lengths = lengths_of_number(int(number[1]))
    is_apart = bool(number[2]) or not text.rest(number.end())
    if not is_apart and int(number[1]) not in ROUND_MINUTES:
        return None
    return Beginning(lengths, text.words_to(number.end()), is_sure=False)


_NUMBER = re.compile(r"(\d{1,6})([,;:.]?)(?=\s|$)")
ROUND_MINUTES = range(10, 125, 5)


def _like_until(text: TypedText) -> Beginning | None:
    """An end behind a misspelled "until", or one of another language."""
    elsewhere = _FOREIGN_UNTIL.match(text.small, text.start)
    if elsewhere is not None:
        found = read_moment(text, elsewhere.end(), is_marked=True)
        if found is None:
            return Beginning((), text.count, is_sure=False)
        return replace(found, is_sure=False)
    lasting = _FOR_ELSEWHERE.match(text.small, text.start)
    if lasting is not None:
        return length_at(text, lasting.end(), is_marked=False)
    misspelled = _MISSPELLED_UNTIL.match(text.small, text.start)
    if misspelled is None:
        return None
    is_alike = get_close_matches(misspelled["word"], [UNTIL_WORD], cutoff=_ALIKE_UNTIL)
    if not is_alike:
        return None
    return read_moment(text, misspelled.end(), is_marked=False)


def _span(text: TypedText) -> Beginning | None:
    """From when until when, of what has no start of its own: nobody can be sure."""
    span = _SPAN.match(text.small, text.start)
    if span is None:
        begins = _FROM.match(text.small, text.start)
        if begins is None or read_moment(text, begins.end(), is_marked=False) is None:
            return None
        return Beginning((), text.count, is_sure=False)
    is_clock = not span["start"].strip().isdigit()
    found = read_moment(text, span.end(), is_marked=is_clock)
    return replace(found, is_sure=False) if found is not None else None


def _goes_on(text: TypedText, found: Beginning) -> bool:
    """Whether it may be the start of a span: "friday 17:00 - monday 9:00"."""
    words = text.as_typed.split()
    is_dash = words[found.words - 1] in {"-", "\u2013", "\u2014"}
    is_to = words[found.words : found.words + 1] == ["to"]
    rest = TypedText.of(words[found.words + is_to :])
    is_moment = isinstance(found.readings[0], Until)
    if not (is_dash or is_to or is_moment):
        return False
    try:
        another = read_moment(rest, rest.start, is_marked=False)
        if is_dash or is_to:
            return another is not None
        # "17:00 19:00", "5pm 2h".
        length = length_at(rest, rest.start, is_marked=False)
        return any(end and end.is_sure for end in (another, length))
    except InvalidDuration:
        return False


def _refuse_second_end(text: TypedText, found: Beginning) -> None:
    rest = TypedText.of(text.as_typed.split()[found.words :])
    until = _UNTIL_IN_WORDS.match(rest.small)
    for_ = _FOR.match(rest.small)
    try:
        if until is not None:
            another = read_moment(rest, until.end(), is_marked=True)
        elif for_ is not None:
            another = length_at(rest, for_.end(), is_marked=True)
        else:
            return
    except InvalidDuration:
        return
    if another is not None and another.readings:
        raise InvalidDuration(DurationProblem.TWO_ENDS, text.as_typed[:TYPED_KEPT])


class LeadingTime(NamedTuple):
    """The end, or the start, with which words begin."""

    at: Lasting | None
    words: int  #: how many words it takes


WITHOUT_TIME = LeadingTime(None, 0)


def read_lasting(words: Sequence[str]) -> LeadingTime:
    """The end given by the first words.

    None also where the words only may be an end: `doubt_of` says what they may mean.
    Raises InvalidDuration for an end that no pause can have.
    """
    found = read_beginning(words)
    # "at 5pm" may be when it is to begin.
    if found is None or not found.is_sure or words[0].lower() == "at":
        return WITHOUT_TIME
    return LeadingTime(found.readings[0], found.words)


def says_until(words: Sequence[str]) -> bool:
    """Whether they begin with "until", also misspelled."""
    text = TypedText.of(words)
    is_said = _UNTIL_IN_WORDS.match(text.small, text.start) is not None
    return is_said or _like_until(text) is not None


def read_start(words: Sequence[str]) -> LeadingTime:
    """As `read_lasting`, of the words after "from", where an end may follow.

    Raises InvalidDuration, also where it may mean several times.
    """
    found = read_beginning([UNTIL_WORD, *words], is_start=True)
    if found is None or not found.readings:
        return WITHOUT_TIME
    if not found.is_sure:
        said = " ".join(words[: found.words - 1])
        raise InvalidDuration(DurationProblem.UNCLEAR, said)
    return LeadingTime(found.readings[0], found.words - 1)


def read_end(text: str) -> Lasting:
    """Read a text that is only an end, where "until" may be left out.

    Raises InvalidDuration.
    """
    words = text.split()
    found = read_beginning(words, is_end=True)
    if found is None or (found.is_sure and found.words < len(words)):
        raise InvalidDuration(DurationProblem.UNREADABLE, text)
    if not found.is_sure:
        raise InvalidDuration(DurationProblem.UNCLEAR, text)
    return found.readings[0]
