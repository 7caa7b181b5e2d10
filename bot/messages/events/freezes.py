"""When a scheduled freeze holds merges back."""

from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import moment
from bot.messages.text import local_time, quote

LIMIT = 40
YEARS = range(1970, 9000)
"""Outside of these, a time is shown as it was sent: no clock has it in every zone."""


def freeze_period(freeze: FreezeAttributes) -> str:
    """From when until when, by each reader's own clock; "" where nothing is known."""
    start, end = _time(freeze.start, freeze), _time(freeze.end, freeze)
    if not start and not end:
        return ""
    times = " ".join([f"from {start}" if start else "", f"until {end}" if end else ""]).strip()
    return times if end else f"{times}, no end given"


def _time(sent: str | None, freeze: FreezeAttributes) -> str:
    """As it was sent, with its time zone, where that cannot be read."""
    at = moment(sent, freeze)
    if at is not None and at.year in YEARS:
        return local_time(at)
    if not sent:
        return ""
    return f"{quote(sent, LIMIT)} {quote(freeze.timezone or '', LIMIT)}".strip()
