"""Reads times of day as people type them, such as "5 p.m.", "17h30" or "noon"."""

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from bot.kernel.durations import DurationProblem
from bot.kernel.ends.numbers import ABOUT, NAMED_COUNT, NOON, whole_of
from bot.kernel.ends.typed import Piece, TypedText
from bot.kernel.errors import InvalidDuration

_LAST_HOUR = 23
_MIDNIGHT_AS_END = 24
"""24:00."""

_ANY_DAY = date(2026, 1, 1)

_HALF_DAY = r"(?P<half>a\.?m\.?|p\.?m\.?)(?![a-z])"
_OCLOCK = r"(?:h(?:(?:ou)?rs?)?|uhr|o'?\s?clock)(?![a-z])"
_TO_THE_HOUR = r"5|10|15|20|25"
"""Minutes before or after an hour; "9 to 10" is from nine until ten."""

_EXACT = re.compile(
    rf"(?:at\s+)?{ABOUT}(?:"
    r"(?:12\s+)?(?P<name>noon|midday|midnight)"
    rf"|(?P<past>half|quarter|(?:\d{{1,2}}|{NAMED_COUNT})\s+min(?:ute)?s?|{_TO_THE_HOUR}|{NAMED_COUNT})"
    r"\s+(?P<side>past|to)\s+"
    rf"(?P<past_hour>\d{{1,2}}|{NAMED_COUNT})(?:\s*{_HALF_DAY.replace('half', '_half')})?"
    rf"|(?P<hour>\d{{1,2}})(?P<colon>[:.]|h(?=\d)|(?=\d\d\s*[ap]\.?m))(?P<minute>\d\d)(?::\d\d)?"
    rf"(?:\s*{_HALF_DAY}|\s*(?P<oclock>{_OCLOCK}))?"
    rf"|(?P<alone>\d{{1,2}}|{NAMED_COUNT})\s*(?:{_HALF_DAY.replace('half', 'half_')}"
    rf"|(?P<clocked>{_OCLOCK}))?"
    rf"|(?P<military>(?:[01]\d|2[0-4])[0-5]\d)(?P<military_hours>\s*(?:{_OCLOCK}|hours))?"
    r")(?!z?[a-y0-9:½])(?!\.\d)"
)
LIKE_A_CLOCK = re.compile(r"\d{1,2}(?::\d+|\s*[ap]\.?m\.?(?![a-z])|h\d+)\S*")
"""Not read above, and hardly anything else."""

_VAGUE_CLOCK = re.compile(
    r"(?:(?:at\s+)?(?:the\s+)?(?P<end>eod|eob|cob|e\.o\.d\.?|close[\s-]of[\s-](?:business|play)"
    r"|end[\s-]+of[\s-]+(?:the\s+|my\s+|our\s+)?(?:business|work(?:ing)?)?\s*-?(?:day|hours)?"
    r"(?:\s+today)?)"
    r"|(?P<evening>tonight|(?:this\s+|the\s+|in\s+the\s+)?(?:evening|night))"
    r"|(?P<morning>(?:this\s+|the\s+|in\s+the\s+)?morning)"
    r"|(?P<afternoon>(?:this\s+|the\s+|in\s+the\s+)?afternoon)"
    r"|(?:the\s+)?(?P<lunch>(?:after\s+)?lunch(?:\s?time|\s+break)?))(?![a-z'\u2019])"
)
_MEANT = {
    "end": (time(17), time(18), time(0)),
    "evening": (time(20), time(0)),
    "morning": (time(8), time(9)),
    "afternoon": (time(13), time(17)),
    "lunch": (time(12), time(13)),
}
"""What people may mean; nobody can be sure."""

_SAYS_WHEN = re.compile(r"tonight|in\s|this\s")


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day that was read; several where nobody can be sure."""

    clocks: tuple[time, ...]
    is_sure: bool = True
    is_marked: bool = True
    """Whether nothing but a time of day looks like it, such as 5pm or 17:00."""

    is_midnight: bool = False


def read_clock_time(text: TypedText, at: int, *, is_marked: bool) -> Piece[ClockTime] | None:
    """The time of day that begins there; None where none does.

    `is_marked`: "until" or a day stands before it, so that a lone number may be an hour.
    Raises InvalidDuration for a time that doesn't exist.
    """
    vague = _VAGUE_CLOCK.match(text.small, at)
    if vague is not None:
        return _read_vague(text, vague)
    exact = _read_exact(text, at, is_marked=is_marked)
    if exact is None:
        return None
    return _with_half_of_day(text, exact)


def _read_vague(text: TypedText, vague: re.Match[str]) -> Piece[ClockTime]:
    named = next(name for name, said in vague.groupdict().items() if said is not None)
    # "tonight at 8pm" says it exactly.
    exact = _read_exact(text, text.after_space(vague.end()), is_marked=True)
    if exact is None:
        clock = ClockTime(_MEANT[named], is_sure=False, is_marked=False)
        return Piece(clock, vague.end())
    if named == "evening" and len(exact.value.clocks) > 1:
        return Piece(_afternoon(exact.value), exact.end)
    return exact


def _with_half_of_day(text: TypedText, exact: Piece[ClockTime]) -> Piece[ClockTime]:
    """Read what may follow a time of day: "8 tonight", "9 in the morning"."""
    clock = exact.value
    found = _VAGUE_CLOCK.match(text.small, text.after_space(exact.end))
    if found is None or found["end"] is not None or found["lunch"] is not None:
        return exact
    is_certain = len(clock.clocks) == 1
    if is_certain and not _SAYS_WHEN.match(found[0]):
        # "until 00:00 night shift": the night is a part of the reason.
        return exact
    if not is_certain and found["morning"] is not None:
        clock = ClockTime((min(clock.clocks),))
    elif not is_certain:
        clock = _afternoon(clock)
    return Piece(clock, found.end())


def _afternoon(clock: ClockTime) -> ClockTime:
    return ClockTime((max(clock.clocks),))


def _read_exact(text: TypedText, at: int, *, is_marked: bool) -> Piece[ClockTime] | None:
    found = _EXACT.match(text.small, at)
    if found is None:
        return None
    clock = _clock_of(text.shown_to(found.end()), found, is_marked=is_marked)
    return Piece(clock, found.end()) if clock is not None else None


def _clock_of(shown: str, found: re.Match[str], *, is_marked: bool) -> ClockTime | None:
    clock: ClockTime | None = None
    if found["name"] is not None:
        clock = _noon_or_midnight(found["name"])
    elif found["hour"] is not None:
        is_said = is_marked or found["half"] is not None or found["oclock"] is not None
        # 4.20 is a version.
        if found["colon"] != "." or is_said:
            clock = _exact(shown, int(found["hour"]), int(found["minute"]), found["half"])
    elif found["alone"] is not None:
        clock = _lone_hour(shown, found, is_marked=is_marked)
    elif is_marked and found["military"] is not None:
        hour, minute = divmod(int(found["military"]), 100)
        exact = _exact(shown, hour, minute, None)
        clock = replace(exact, is_sure=found["military_hours"] is not None)
    elif is_marked or found["past"] in {"half", "quarter"}:
        clock = _past(shown, found)
    return clock


def _noon_or_midnight(name: str) -> ClockTime:
    is_midnight = name == "midnight"
    clock = time(0) if is_midnight else time(NOON)
    return ClockTime((clock,), is_midnight=is_midnight, is_marked=False)


def _lone_hour(shown: str, found: re.Match[str], *, is_marked: bool) -> ClockTime | None:
    hour = whole_of(found["alone"])
    half = found["half_"]
    if half is not None:
        return _exact(shown, hour, 0, half)
    clocked = found["clocked"]
    is_said = is_marked or (clocked is not None and clocked.startswith(("u", "o")))
    if not is_said or hour > _LAST_HOUR:
        return None
    counts_whole_day = clocked in {"h", "uhr"} or (clocked is not None and hour > NOON)
    if counts_whole_day and found["alone"].isdigit():
        # 17h and 17 Uhr.
        return _exact(shown, hour, 0, None)
    if hour > NOON or hour == 0:
        return replace(_exact(shown, hour, 0, None), is_sure=clocked is not None)
    clocks = (time(hour % NOON + NOON), time(hour % NOON))
    return ClockTime(clocks, is_sure=False, is_marked=clocked is not None)


def _past(shown: str, found: re.Match[str]) -> ClockTime:
    hour = whole_of(found["past_hour"])
    said = found["_half"]
    minutes = _minutes_past(found)
    halves = [said] if said is not None or hour > NOON else ["pm", "am"]
    clocks = []
    for half in halves:
        exact = _exact(shown, hour, 0, half).clocks[0]
        changed = datetime.combine(_ANY_DAY, exact) + timedelta(minutes=minutes)
        clocks.append(changed.time())
    return ClockTime(tuple(clocks), is_sure=len(clocks) == 1)


def _minutes_past(found: re.Match[str]) -> int:
    """Before the hour they are negative."""
    said = found["past"].split()[0]
    minutes = {"half": 30, "quarter": 15}.get(said) or whole_of(said)
    return minutes if found["side"] == "past" else -minutes


def _exact(shown: str, hour: int, minute: int, half: str | None) -> ClockTime:
    """Raises InvalidDuration for a time of day that doesn't exist."""
    if hour == _MIDNIGHT_AS_END and minute == 0 and half is None:
        return ClockTime((time(0),), is_midnight=True)
    hours = range(24) if half is None else range(1, NOON + 1)
    if hour not in hours or minute not in range(60):
        raise InvalidDuration(DurationProblem.NO_SUCH_TIME, shown)
    if half is not None:
        hour %= NOON
        if half.startswith("p"):
            hour += NOON
    return ClockTime((time(hour, minute),))
