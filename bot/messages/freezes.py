"""Scheduled freezes: who made them, why, when, and for which pull requests."""

from collections.abc import Sequence

from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import Freeze, moment, zone_of
from bot.domain.message import Block
from bot.domain.pauses import REASON_LIMIT
from bot.messages import blocks
from bot.messages.text import NAME_LIMIT, listed, local_time, quote

SHOWN = 3
LIMIT = 40
YEARS = range(1970, 9000)
"""Times outside these are shown as sent, because they don't exist in every zone."""


def freeze_blocks(freezes: Sequence[Freeze]) -> list[Block]:
    """A line for each freeze in force."""
    lines = [freeze_line(one) for one in freezes]
    return [blocks.section(listed(lines, "\n", most=SHOWN))] if lines else []


def freeze_line(freeze: Freeze) -> str:
    """By whom, why, when, and for which pull requests."""
    by = f" by {quote(freeze.by, NAME_LIMIT)}" if freeze.by else ""
    facts = [quote(freeze.terms.reason or "", REASON_LIMIT), *freeze_facts(freeze.terms)]
    return f":snowflake: Scheduled freeze{by}: {' · '.join(fact for fact in facts if fact)}"


def freeze_facts(terms: FreezeAttributes) -> list[str]:
    """When it is, and for which pull requests if not for all."""
    held, excepted = _conditions(terms.matching_conditions), _conditions(terms.exclude_conditions)
    return [
        freeze_period(terms),
        f"only {held}" if held else "",
        f"except {excepted}" if excepted else "",
    ]


def _conditions(sent: Sequence[str]) -> str:
    said = [
        f"branch {one.removeprefix('base=')}" if one.startswith("base=") else one for one in sent
    ]
    return quote(" and ".join(said), NAME_LIMIT)


def freeze_period(terms: FreezeAttributes) -> str:
    """From when until when, for each reader and in its own zone; empty if nothing is known."""
    start, end = _time(terms.start, terms), _time(terms.end, terms)
    if not start and not end:
        return ""
    times = " ".join([f"from {start}" if start else "", f"until {end}" if end else ""]).strip()
    return f"{times}{_in_its_zone(terms)}" if end else f"{times}{_in_its_zone(terms)}, no end given"


def _in_its_zone(terms: FreezeAttributes) -> str:
    zone = zone_of(terms)
    if zone is None or zone.key == "UTC":
        return ""
    read = [moment(terms.start, terms), moment(terms.end, terms)]
    times = [f"{at.astimezone(zone):%Y-%m-%d %H:%M}" for at in read if at and at.year in YEARS]
    return f" ({' to '.join(times)} {quote(zone.key, LIMIT)})" if times else ""


def _time(sent: str | None, terms: FreezeAttributes) -> str:
    """As it was sent, with its time zone, if it can't be read."""
    at = moment(sent, terms)
    if at is not None and at.year in YEARS:
        return local_time(at)
    if not sent:
        return ""
    return f"{quote(sent, LIMIT)} {quote(terms.timezone or '', LIMIT)}".strip()
