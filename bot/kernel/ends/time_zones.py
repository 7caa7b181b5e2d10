"""Reads time zones as people type them after a time of day."""

import re
from functools import cache
from zoneinfo import available_timezones

from bot.kernel.durations import DurationProblem, zone_named
from bot.kernel.ends.typed import Piece, TypedText
from bot.kernel.errors import InvalidDuration
from bot.kernel.zones import ZONES

_LARGEST_OFFSET = 14

_ZONE = re.compile(
    r"\(?(?P<offset>(?P<utc>utc|gmt)?\s?[+-]\d{1,2}(?::?\d\d)?)\)?(?![\w:])"
    r"|\(?(?P<own>(?:my|our|local)(?:\s+own)?\s+time)\)?(?![a-z])"
    r"|\(?(?P<american>eastern|central|mountain|pacific)"
    r"(?:\s+(?:standard|daylight))?(?:\s+time)?\)?(?![\w'/-])"
    r"|\(?(?P<city>[a-z]+(?:[ _][a-z]+)?)\s+time\)?(?![a-z])"
    r"|\(?(?P<name>[a-z]+/[a-z_]+(?:/[a-z_]+)?)\)?(?![a-z/])"
    r"|\(?(?P<short>[a-z]{1,5})\)?(?![\w'/-])"
)
_PLACE_NAME = re.compile(r"(?:in\s+)?(?P<place>[a-z]+(?:[ _][a-z]+)?)(?=[.!?]*$)")
"""The last words of a text."""

_AREA = re.compile(
    r"africa|america|antarctica|arctic|asia|atlantic|australia|etc|europe|indian|pacific"
)
_ENDS_IN_MINUTES = re.compile(r":\d\d\s?$")
_WRITTEN_BY_A_PROGRAM = re.compile(r"\d{4}-\d\d-\d\d.*:\d\d$|:\d\d:\d\d$")
"""Only behind these an offset follows without a space: "9:00-10:00" is from when until when."""

_NO_CITIES = frozenset(
    {"center", "east", "general", "north", "south", "troll", "universal", "west"}
)
_COMMON_WORDS = frozenset({"at", "wet", "ct", "et", "mt", "pt"})
"""Abbreviations that are words, or parts of words: only in capitals."""

OWN = ""
"""The person's own zone."""


def read_zone(text: TypedText, at: int) -> Piece[str] | None:
    """The zone that begins there, as `Until` names it or OWN; None where none begins.

    Raises InvalidDuration for what looks like a zone and isn't one.
    """
    found = _ZONE.match(text.small, at)
    zone = _read_zone(text, at, found) if found is not None else None
    if found is not None and zone is not None:
        return Piece(zone, found.end())
    named = _PLACE_NAME.match(text.small, at)
    if named is None:
        return None
    zone = _zone_of_place(named["place"], text.as_typed[at:])
    return Piece(zone, named.end()) if zone is not None else None


def _read_zone(text: TypedText, at: int, found: re.Match[str]) -> str | None:
    is_after_minutes = _ENDS_IN_MINUTES.search(text.small[:at]) is not None
    if found["offset"] is not None and found["utc"] is None and not is_after_minutes:
        # "9-5".
        return None
    is_dash = found[0].startswith("-") and not text.small[at - 1].isspace()
    if is_dash and not _WRITTEN_BY_A_PROGRAM.search(text.small[:at]):
        return None
    return _zone_of(found, text.as_typed[at : found.end()].strip("() "))


def _zone_of(found: re.Match[str], as_typed: str) -> str | None:
    if found["own"] is not None:
        zone: str | None = OWN
    elif found["american"] is not None:
        zone = f"{found['american'][0].upper()}T"
    elif found["offset"] is not None:
        zone = _offset(found["offset"], as_typed)
    elif found["city"] is not None:
        zone = _zone_of_city(found["city"])
        if zone is None and as_typed[0].isupper():
            raise InvalidDuration(DurationProblem.NO_SUCH_ZONE, as_typed)
    elif found["name"] is not None:
        zone = _named_zone(found["name"], as_typed)
    else:
        zone = _abbreviated(found["short"], is_in_capitals=as_typed.isupper())
    return zone


def _abbreviated(typed: str, *, is_in_capitals: bool) -> str | None:
    short = typed.upper()
    if short in {"UTC", "GMT", "Z"}:
        return "UTC"
    is_known = short in ZONES and (is_in_capitals or typed not in _COMMON_WORDS)
    return short if is_known else None


def _named_zone(name: str, as_typed: str) -> str | None:
    area = name.partition("/")[0]
    if not _AREA.fullmatch(area):
        return None
    zone = zone_named(as_typed)
    if zone is None:
        raise InvalidDuration(DurationProblem.NO_SUCH_ZONE, as_typed)
    return zone.key


def _offset(typed: str, as_typed: str) -> str | None:
    """As `Until` names it: UTC+05:30."""
    sign = "-" if "-" in typed else "+"
    digits = typed.partition(sign)[2].replace(":", "")
    has_minutes = len(digits) > len("05")
    hours = digits[:-2] if has_minutes else digits
    minutes = digits[-2:] if has_minutes else "0"
    if int(hours) > _LARGEST_OFFSET or int(minutes) not in range(60):
        if typed[0] in "+-":
            # 17:00-18:00 is a span.
            return None
        raise InvalidDuration(DurationProblem.NO_SUCH_ZONE, as_typed)
    return f"UTC{sign}{int(hours):02}:{int(minutes):02}"


def _zone_of_place(place: str, as_typed: str) -> str | None:
    """Of a city that is written like one."""
    is_written_so = as_typed.removeprefix("in ")[:1].isupper()
    if not is_written_so or place in _NO_CITIES:
        return None
    return _zone_of_city(place)


@cache
def _all_zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _zone_of_city(city: str) -> str | None:
    ending = f"/{city.replace(' ', '_')}"
    zones = sorted(zone for zone in _all_zones() if zone.lower().endswith(ending))
    return zones[0] if zones else None
