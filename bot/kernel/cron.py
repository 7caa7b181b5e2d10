"""When something on a schedule is due next."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger
from typing_extensions import override

UTC_ZONE = "UTC"


@dataclass(frozen=True, slots=True)
class DigestTime:
    """A time of day in a time zone: `zone` is an IANA name."""

    at: time
    zone: str = UTC_ZONE

    @override
    def __str__(self) -> str:
        """The time as typed: "09:00 Europe/Paris"."""
        return f"{self.at:%H:%M} {self.zone}"


JUST_AFTER = timedelta(microseconds=1)


CRON_FIELDS = 5


DAY = timedelta(days=1)
"""A change of the clocks further away doesn't matter."""


def next_digest(digest: DigestTime, now: datetime) -> datetime:
    """The next time the wall clock shows that time, in UTC; once a day, also when clocks change.

    A time that the clocks skip comes as long after the gap as it would after the gap's beginning.
    Of a time that they show twice, the first counts.
    """
    trigger = CronTrigger(hour=digest.at.hour, minute=digest.at.minute, timezone=UTC)
    return _next_shown(trigger, ZoneInfo(digest.zone), now)


def next_start(cron: str, zone: ZoneInfo, after: datetime) -> datetime:
    """The next time after `after` at which the wall clock matches `cron`, in UTC.

    Times that the clocks skip or show twice are as in `next_digest`.
    """
    return _next_shown(_trigger(cron), zone, after)


@cache
def _trigger(cron: str) -> CronTrigger:
    """Reading an expression, one of the settings', costs more than finding its next time."""
    return CronTrigger.from_crontab(cron, timezone=UTC)


def check_cron(cron: str) -> str:
    """Return the expression; raise ValueError if it is invalid or matches no time.

    Weekdays have names, because cron counts them from Sunday and APScheduler from Monday.
    """
    if len(cron.split()) != CRON_FIELDS:
        raise ValueError("not five fields: minute, hour, day, month, weekday")
    if any(character.isdigit() for character in cron.rsplit(" ", maxsplit=1)[-1]):
        raise ValueError("weekdays are names, such as mon-fri")
    try:
        trigger = _trigger(cron)
    except ValueError:
        # The library's words speak of its own classes.
        raise ValueError(f"“{cron[:80]}” isn't a cron expression") from None
    _next_shown(trigger, ZoneInfo("UTC"), datetime(2000, 1, 1, tzinfo=UTC))
    return cron


def _next_shown(trigger: CronTrigger, zone: ZoneInfo, now: datetime) -> datetime:
    """The trigger counts days of the wall clock, which all have 24 hours there.

    With the zone it would add 24 hours, which after a day of 23 is past midnight and skips the next
    day.
    """
    # A time that the clocks skip comes later than they show, by as much as they change.
    around = [at.astimezone(zone) for at in (now - DAY, now, now + DAY)]
    offsets = [at.utcoffset() or timedelta() for at in around]
    shown = now.astimezone(zone).replace(tzinfo=UTC) - (max(offsets) - min(offsets))
    while True:
        found: datetime | None = trigger.get_next_fire_time(None, shown + JUST_AFTER)
        if found is None:
            raise ValueError("no day has that time")
        shown = found
        at = shown.replace(tzinfo=zone, fold=0).astimezone(UTC)
        if at > now:
            return at
