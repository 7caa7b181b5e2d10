"""Reads when something begins and ends, as in "from 5pm to 7pm"."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from bot.kernel.durations import (
    FOR,
    NEXT_WORD,
    UNTIL_WORD,
    DurationProblem,
    For,
    Lasting,
    Until,
    written,
)
from bot.kernel.ends.hours import read_hours
from bot.kernel.ends.phrases import (
    WITHOUT_TIME,
    LeadingTime,
    read_beginning,
    read_lasting,
    read_start,
)
from bot.kernel.ends.typed import LONGEST_PHRASE, Beginning
from bot.kernel.errors import InvalidDuration

FROM_WORD = "from"
AT_WORD = "at"
IN_WORD = "in"
BEFORE_A_START = frozenset({AT_WORD, "between", FROM_WORD, "on"})


_MAY_BE_HOURS = re.compile(
    r"\d\S*\s*(?:[-\u2013\u2014]|(?:to|until|till|and)\s)\s*\d", re.IGNORECASE
)
"""A quick look, because most words are none."""


_MAY_BE_A_START = re.compile(
    r"(?:at|between|from|in|next|on|tomorrow|tonight"
    r"|(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
    r"|\d+[./-]\S*)$",
    re.IGNORECASE,
)
"""A quick look at the word behind a length, because most begin a reason."""


_SAYS_NOW = re.compile(
    r"(?:(?:as\s+of|begin|beginning|effective|from|start|starting)\s+)+"
    r"(?:immediately|(?:right\s+)?now|right\s+away)(?:\s+onwards?|\s+on)?(?!\S)",
    re.IGNORECASE,
)


class LeadingTimes(NamedTuple):
    """The times with which words begin."""

    start: Lasting | None  #: None for now
    end: Lasting | None  #: counted from the start; None where none is given
    words: int  #: how many words they take


def read_span(words: Sequence[str]) -> LeadingTimes:
    """Read `2h`, `until 15:00`, `in 10m for 2h`, `5-6pm` or `from fri 18:00 until mon 08:00`.

    Raises InvalidDuration, also for a span that may mean several, as `possible_spans` says.
    """
    from_now = words_for_now(words)
    if from_now:
        end = _read_end_from_now(words[from_now:])
        return LeadingTimes(None, end.at, from_now + end.words)
    if _MAY_BE_HOURS.search(" ".join(words[:LONGEST_PHRASE])):
        spans = _spans_of_hours(words)
        if len(spans) == 1:
            return spans[0]
        if spans:
            raise _unclear(words, spans[0].words)
    start, taken = _start(words)
    if start is not None:
        end = _read_end_of_span(words[taken:])
        return LeadingTimes(start, end.at, taken + end.words)
    end = read_lasting(words)
    spans = _spans_behind_length(words, end)
    if len(spans) == 1 and spans[0].words == len(words):
        return spans[0]
    if spans:
        raise _unclear(words, spans[0].words)
    return LeadingTimes(None, end.at, end.words + words_for_now(words[end.words :]))


def words_for_now(words: Sequence[str]) -> int:
    """How many words in front say that it begins now: "from now on", "starting immediately"."""
    found = _SAYS_NOW.match(" ".join(words[:LONGEST_PHRASE]))
    return len(found[0].split()) if found is not None else 0


def _read_end_from_now(words: Sequence[str]) -> LeadingTime:
    """As `read_lasting`, also "to 6pm"."""
    is_to = bool(words) and words[0].lower() == _TO_WORD
    return read_lasting([UNTIL_WORD, *words[1:]] if is_to else words)


def possible_spans(words: Sequence[str]) -> Sequence[LeadingTimes]:
    """What a start and an end in front may mean, likeliest first; none if nothing begins so."""
    spans = _spans_of_hours(words) or _spans_of_days(words)
    if spans:
        return spans
    try:
        return _spans_behind_length(words, read_lasting(words))
    except InvalidDuration:
        return ()


def _spans_behind_length(words: Sequence[str], length: LeadingTime) -> Sequence[LeadingTimes]:
    """What a length with a start behind it may mean, such as "2h at 5pm", "for 1h tomorrow"."""
    if not isinstance(length.at, For):
        return ()
    behind = words[length.words : length.words + LONGEST_PHRASE]
    if not behind or not _MAY_BE_A_START.match(behind[0]):
        return ()
    for count in range(len(behind), 0, -1):
        turned = [*behind[:count], FOR, written(length.at)]
        whole = [span for span in _all_spans(turned) if span.words == len(turned)]
        if whole and all(_is_start_behind(span, turned[0].lower()) for span in whole):
            return [LeadingTimes(span.start, length.at, length.words + count) for span in whole]
    return ()


def _is_start_behind(span: LeadingTimes, first: str) -> bool:
    """Not "45m 5 runners are down" and "45m today CI is flaky"."""
    if span.start is None:
        return False
    has_day = isinstance(span.start, Until) and span.start.words not in {NEXT_WORD, "today"}
    return first in {IN_WORD, "tonight", *BEFORE_A_START} or (has_day and _has_day(span.start))


def _all_spans(words: Sequence[str]) -> Sequence[LeadingTimes]:
    try:
        return [read_span(words)]
    except InvalidDuration:
        return _spans_of_hours(words) or _spans_of_days(words)


def _spans_of_hours(words: Sequence[str]) -> Sequence[LeadingTimes]:
    return [
        LeadingTimes(start, end, found.words)
        for found in [read_hours(words)]
        if found is not None
        for start, end in found.spans
    ]


def _spans_of_days(words: Sequence[str]) -> Sequence[LeadingTimes]:
    """Such as "friday to monday" and "from 5pm until tomorrow"."""
    marked = 1 if words and words[0].lower() in BEFORE_A_START else 0
    try:
        start = read_beginning([UNTIL_WORD, *words[marked:]], is_start=True)
        taken = marked + start.words - 1 if start is not None else 0
        joiner = " ".join(words[taken - 1 : taken + 1]).lower().split()
        if start is None or _JOINS_TIMES.isdisjoint(joiner):
            return ()
        behind = words[taken + 1 :] if joiner[-1] in _JOINS_TIMES else words[taken:]
        if joiner[-1] == FOR:
            return _with_length(start, taken, read_lasting([FOR, *behind]))
        end = read_beginning([UNTIL_WORD, *behind], is_start=True)
    except InvalidDuration:
        return ()
    if end is None or not start.readings or not end.readings:
        return ()
    if not (marked or all(map(_has_day, start.readings))):
        # "3 to 4 runners are down".
        return ()
    taken = len(words) - len(behind) + end.words - 1
    starts = start.readings
    ends = end.readings
    if len(starts) == 1 or len(ends) == 1:
        pairs = [(begun, ended) for begun in starts for ended in ends]
    else:
        # Both begin with work, or both at midnight.
        pairs = [*zip(starts, ends, strict=False)]
    return [LeadingTimes(begun, ended, taken) for begun, ended in pairs]


def _with_length(start: Beginning, taken: int, length: LeadingTime) -> Sequence[LeadingTimes]:
    """Each start with the length behind it, for which the words in front are `taken`."""
    if not isinstance(length.at, For):
        return ()
    return [LeadingTimes(begun, length.at, taken + length.words) for begun in start.readings]


def _has_day(at: Lasting) -> bool:
    return isinstance(at, Until) and bool(at.day or at.words or at.weekday is not None)


def _unclear(words: Sequence[str], taken: int) -> InvalidDuration:
    return InvalidDuration(DurationProblem.UNCLEAR, " ".join(words[:taken]))


class _Start(NamedTuple):
    at: Lasting | None
    taken: int  #: how many words it takes


_NO_START = _Start(None, 0)


def _start(words: Sequence[str]) -> _Start:
    """The start behind "from"; behind "at", "on" or nothing only if an end follows.

    Raises InvalidDuration for what is no time behind "from".
    """
    said = words[0].lower() if words else ""
    is_from = said == FROM_WORD
    if [word.lower() for word in words[is_from : is_from + 1]] == [IN_WORD]:
        return _start_in_a_while(words, is_from + 1, needs_end=not is_from)
    marked = 1 if said in BEFORE_A_START else 0
    if not marked and _JOINS_TIMES.isdisjoint(word.lower() for word in words[1:]):
        return _NO_START
    try:
        start, more = read_start(words[marked:])
    except InvalidDuration as error:
        spans = _spans_of_days(words)
        if spans:
            raise _unclear(words, spans[0].words) from None
        if not is_from:
            return _NO_START
        shown = error.shown.replace(UNTIL_WORD, FROM_WORD, 1)
        raise InvalidDuration(error.problem, shown) from None
    taken = marked + more
    if not isinstance(start, Until):
        return _NO_START
    if not is_from and not _is_start(words[:taken], words[taken:]):
        return _NO_START
    return _Start(start, taken)


def _start_in_a_while(words: Sequence[str], marked: int, *, needs_end: bool) -> _Start:
    """The start behind "in", a length from now."""
    try:
        found = read_beginning(words[marked:], is_start=True)
        lengths = [read for read in found.readings if isinstance(read, For)] if found else []
        if found is None or len(lengths) != 1 or len(found.readings) > 1:
            return _NO_START
        taken = marked + found.words
        if needs_end and _read_end_of_span(words[taken:]).at is None:
            return _NO_START
    except InvalidDuration:
        return _NO_START
    return _Start(lengths[0], taken)


def _is_start(said: Sequence[str], behind: Sequence[str]) -> bool:
    """Whether an end follows; behind a start without a mark, it has its own."""
    if not behind:
        return False
    try:
        # "at 5pm until fixed" has an end, though nobody can say which.
        is_end = _read_end_of_span(behind).at is not None or behind[0].lower() in _UNTIL_IN_A_SPAN
        # "2h until 17:00" has two ends, although 2h may be a time of day.
        is_length = isinstance(read_lasting(said).at, For)
    except InvalidDuration:
        return False
    if said[0].lower() in BEFORE_A_START:
        return is_end
    is_span = not _JOINS_TIMES.isdisjoint((said[-1], behind[0].lower()))
    return is_end and is_span and not is_length


_TO_WORD = "to"
_UNTIL_IN_A_SPAN = frozenset({UNTIL_WORD, "till"})
_UNTIL_WORDS = frozenset({UNTIL_WORD, _TO_WORD, "till"})
_JOINS_TIMES = _UNTIL_WORDS | {"for", "-", "\u2013", "\u2014"}
"""What may stand between a start and its end."""


def _read_end_of_span(words: Sequence[str]) -> LeadingTime:
    """The end behind a start: "from 5pm to 7pm". Raises InvalidDuration."""
    if not words or words[0].lower() not in _UNTIL_WORDS:
        return read_lasting(words)
    found = read_lasting([UNTIL_WORD, *words[1:]])
    if found.at is not None:
        return found
    # "from 9h until 12h": these are times of day.
    at, taken = read_start(words[1:])
    return LeadingTime(at, taken + 1) if at is not None else WITHOUT_TIME
