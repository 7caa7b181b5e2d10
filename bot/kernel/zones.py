"""Abbreviations of time zones, and where they are used."""

from collections.abc import Mapping
from datetime import timedelta


def _hours(count: float) -> timedelta:
    return timedelta(hours=count)


ZONES: Mapping[str, tuple[tuple[str, timedelta | None], ...]] = {
    "CET": (("Europe/Paris", _hours(1)),),
    "CEST": (("Europe/Paris", _hours(2)),),
    "MEZ": (("Europe/Berlin", _hours(1)),),
    "MESZ": (("Europe/Berlin", _hours(2)),),
    "EET": (("Europe/Helsinki", _hours(2)),),
    "EEST": (("Europe/Helsinki", _hours(3)),),
    "WET": (("Europe/Lisbon", _hours(0)),),
    "WEST": (("Europe/Lisbon", _hours(1)),),
    "BST": (("Europe/London", _hours(1)),),
    "MSK": (("Europe/Moscow", _hours(3)),),
    "ET": (("America/New_York", None),),
    "EST": (("America/New_York", _hours(-5)),),
    "EDT": (("America/New_York", _hours(-4)),),
    "CT": (("America/Chicago", None),),
    "CST": (("America/Chicago", _hours(-6)), ("Asia/Shanghai", _hours(8))),
    "CDT": (("America/Chicago", _hours(-5)),),
    "MT": (("America/Denver", None),),
    "MST": (("America/Denver", _hours(-7)),),
    "MDT": (("America/Denver", _hours(-6)),),
    "PT": (("America/Los_Angeles", None),),
    "PST": (("America/Los_Angeles", _hours(-8)),),
    "PDT": (("America/Los_Angeles", _hours(-7)),),
    "IST": (
        ("Asia/Kolkata", _hours(5.5)),
        ("Europe/Dublin", _hours(1)),
        ("Asia/Jerusalem", _hours(2)),
    ),
    "JST": (("Asia/Tokyo", _hours(9)),),
    "SGT": (("Asia/Singapore", _hours(8)),),
    "HKT": (("Asia/Hong_Kong", _hours(8)),),
    "AEST": (("Australia/Sydney", _hours(10)),),
    "AEDT": (("Australia/Sydney", _hours(11)),),
    "AET": (("Australia/Sydney", None),),
    "AWST": (("Australia/Perth", _hours(8)),),
    "NZST": (("Pacific/Auckland", _hours(12)),),
    "NZDT": (("Pacific/Auckland", _hours(13)),),
}
"""By abbreviation: each region that uses it, and the offset that it stands for.

In July many write CET and mean the time in Paris, which is CEST then: where the two differ, both
are possible. None where the abbreviation is the same all year. If one of the regions is the
person's own, it is meant.
"""
