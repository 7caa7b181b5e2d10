"""When a scheduled freeze holds merges back."""

from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import read_time, zone_of
from bot.messages.text import quote, utc_time

LIMIT = 40


def freeze_period(freeze: FreezeAttributes) -> str:
    """From when until when, by the clocks of the freeze's own time zone; "" where nothing tells."""
    start, end = _time(freeze.start, freeze), _time(freeze.end, freeze)
    if not start and not end:
        return ""
    times = " ".join([f"from {start}" if start else "", f"until {end}" if end else ""]).strip()
    if freeze.timezone and not times.endswith(" UTC"):
        times += f" {quote(freeze.timezone, LIMIT)}"
    return times if end else f"{times}, no end given"


def _time(sent: str | None, freeze: FreezeAttributes) -> str:
    at, zone = read_time(sent), zone_of(freeze)
    if at is None:
        return quote(sent, LIMIT) if sent else ""
    if at.tzinfo is not None and zone is None:
        return utc_time(at)
    return f"{at.astimezone(zone) if at.tzinfo is not None else at:%Y-%m-%d %H:%M}"
