"""Runs use cases at their intervals."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import Context
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger

from bot.domain.errors import BotError
from bot.domain.subscriptions import DigestTime
from bot.ports import UNMEASURED, Measures

logger = logging.getLogger(__name__)

DAY = timedelta(days=1)
"""A change of the clocks further away doesn't matter."""


class Job:
    """Repeated work that never runs twice at a time, and runs again immediately when woken."""

    def __init__(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        self.name = name
        self._work = work
        self._wanted = False
        self._failing = False
        self._ending = False
        self._running: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._interval: float | None = None
        self.measures: Measures = UNMEASURED

    def repeat(self, seconds: float, first_after: float) -> None:
        """Run at this interval, counted from the end of a run, whatever the wall clock shows."""
        self._interval = seconds
        self.wake(first_after)

    def wake(self, after: float = 0.0) -> None:
        """Run after `after` seconds; during a run, once more when it ends."""
        if self._ending:
            return
        if after > 0:
            self._wake_later(after)
            return
        self._wanted = True
        if self._running is None:
            # In its own context: the run doesn't belong to the request that woke it.
            self._running = asyncio.create_task(self._run(), name=self.name, context=Context())

    def _wake_later(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        at = loop.time() + seconds
        if self._timer is not None and not self._timer.cancelled():
            if loop.time() < self._timer.when() <= at:
                return
            self._timer.cancel()
        self._timer = loop.call_at(at, self.wake)

    def repeat_no_more(self) -> None:
        self._interval = None
        if self._timer is not None:
            self._timer.cancel()

    def begin_no_more(self) -> None:
        """Make the current run the last: a job that wakes itself would never end."""
        self._ending, self._wanted = True, False
        self.repeat_no_more()

    async def drain(self) -> None:
        """Wait for the current run."""
        self.repeat_no_more()
        while self._running is not None:
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        try:
            while self._wanted:
                self._wanted = False
                await self._once()
        finally:
            self._running = None
        if self._interval is not None:
            self.wake(self._interval)

    async def _once(self) -> None:
        failed = True
        try:
            await self._work()
            failed = False
        except BotError as error:
            # Logged when it begins and when it ends, not at every run.
            if not self._failing:
                facts = {"job": self.name, "error": type(error).__name__, "detail": str(error)}
                logger.warning("a scheduled job fails", extra={"action": "job_failed", **facts})
            self._failing = True
        except Exception:
            facts = {"action": "job_defect", "job": self.name}
            logger.exception("a scheduled job has a defect", extra=facts)
        if failed:
            self.measures.job_failed(self.name)
        elif self._failing:
            facts = {"action": "job_recovered", "job": self.name}
            logger.info("a scheduled job works again", extra=facts)
            self._failing = False


class JobScheduler:
    """Runs jobs at intervals, and waits for running ones before it stops."""

    def __init__(self, measures: Measures = UNMEASURED) -> None:
        self._measures = measures
        self._jobs: list[tuple[Job, float, float]] = []

    def every(self, seconds: float, job: Job, *, first_after: float = 0.0) -> None:
        """Run the job at this interval, for the first time after `first_after` seconds."""
        job.measures = self._measures
        self._measures.job_known(job.name)
        self._jobs.append((job, seconds, first_after))

    def start(self) -> None:
        for job, seconds, first_after in self._jobs:
            job.repeat(seconds, first_after)

    def stop_firing(self) -> None:
        for job, _, _ in self._jobs:
            job.repeat_no_more()

    def begin_no_more(self) -> None:
        """Let the current run be the last, even if something wakes the job."""
        for job, _, _ in self._jobs:
            job.begin_no_more()

    async def drain(self) -> None:
        """Wait for running jobs."""
        self.stop_firing()
        for job, _, _ in self._jobs:
            await job.drain()


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
    return _next_shown(CronTrigger.from_crontab(cron, timezone=UTC), zone, after)


def check_cron(cron: str) -> None:
    """Raise ValueError for an expression that is invalid or matches no time.

    Weekdays have names, because cron counts them from Sunday and APScheduler from Monday.
    """
    next_start(cron, ZoneInfo("UTC"), datetime(2000, 1, 1, tzinfo=UTC))
    if any(character.isdigit() for character in cron.rsplit(" ", maxsplit=1)[-1]):
        raise ValueError("weekdays in `starts` are names, such as mon-fri")


def _next_shown(trigger: CronTrigger, zone: ZoneInfo, now: datetime) -> datetime:
    """The trigger counts days of the wall clock, which all have 24 hours there.

    With the zone it would add 24 hours, which after a day of 23 is past midnight and skips the next
    day.
    """
    # A time that the clocks skip comes later than they show, by as much as they change.
    offsets = [at.utcoffset() or timedelta() for at in _around(now, zone)]
    shown = now.astimezone(zone).replace(tzinfo=UTC) - (max(offsets) - min(offsets))
    while True:
        shown = _after(trigger, shown)
        at = shown.replace(tzinfo=zone, fold=0).astimezone(UTC)
        if at > now:
            return at


def _around(now: datetime, zone: ZoneInfo) -> list[datetime]:
    return [at.astimezone(zone) for at in (now - DAY, now, now + DAY)]


def _after(trigger: CronTrigger, moment: datetime) -> datetime:
    found: datetime | None = trigger.get_next_fire_time(None, moment + timedelta(microseconds=1))
    if found is None:
        raise ValueError("no day has that time")
    return found
