"""When a scheduled freeze holds merges back."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import JsonValue

from bot.messages.text import quote, utc_time

TIME_LIMIT = 40
ZONE_LIMIT = 40


def freeze_period(details: Mapping[str, JsonValue]) -> str:
    """From when until when, by the clocks of the freeze's own time zone; "" where nothing tells."""
    start, end = _time(details.get("start")), _time(details.get("end"))
    if not start and not end:
        return ""
    times = " ".join([f"from {start}" if start else "", f"until {end}" if end else ""]).strip()
    zone = details.get("timezone")
    times += f" {quote(zone, ZONE_LIMIT)}" if isinstance(zone, str) and zone else ""
    return times if end else f"{times}, no end given"


def _time(sent: JsonValue) -> str:
    if not isinstance(sent, str) or not sent:
        return ""
    try:
        at = datetime.fromisoformat(sent)
    except ValueError:
        return quote(sent, TIME_LIMIT)
    return f"{at:%Y-%m-%d %H:%M}" if at.tzinfo is None else utc_time(at)
