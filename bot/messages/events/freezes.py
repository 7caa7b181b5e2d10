"""When a scheduled freeze holds merges back."""

from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import JsonValue

from bot.messages.text import quote, utc_time

TIME_LIMIT = 40
ZONE_LIMIT = 40


def freeze_period(details: Mapping[str, JsonValue]) -> str:
    """From when until when, by the clocks of the freeze's own time zone; "" where nothing tells."""
    zone = _zone(details)
    start, end = _time(details.get("start"), zone), _time(details.get("end"), zone)
    if not start and not end:
        return ""
    times = " ".join([f"from {start}" if start else "", f"until {end}" if end else ""]).strip()
    name = details.get("timezone")
    if isinstance(name, str) and name and not times.endswith(" UTC"):
        times += f" {quote(name, ZONE_LIMIT)}"
    return times if end else f"{times}, no end given"


def has_begun(details: Mapping[str, JsonValue], now: datetime) -> bool:
    """Whether it holds merges back already; False where that cannot be told."""
    at, zone = _read(details.get("start")), _zone(details)
    if at is not None and at.tzinfo is None and zone is not None:
        at = at.replace(tzinfo=zone)
    return at is not None and at.tzinfo is not None and at <= now


def _zone(details: Mapping[str, JsonValue]) -> ZoneInfo | None:
    name = details.get("timezone")
    try:
        return ZoneInfo(name) if isinstance(name, str) and name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _time(sent: JsonValue, zone: ZoneInfo | None) -> str:
    if not isinstance(sent, str) or not sent:
        return ""
    at = _read(sent)
    if at is None:
        return quote(sent, TIME_LIMIT)
    if at.tzinfo is not None and zone is None:
        return utc_time(at)
    return f"{at.astimezone(zone) if at.tzinfo is not None else at:%Y-%m-%d %H:%M}"


def _read(sent: JsonValue) -> datetime | None:
    try:
        return datetime.fromisoformat(sent) if isinstance(sent, str) else None
    except ValueError:
        return None
