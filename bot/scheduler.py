"""Runs use cases at their intervals."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import Context
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger

from bot.domain.errors import BotError
from bot.domain.subscriptions import DigestTime
from bot.metrics import UNSCRAPED, Metrics

logger = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
"""How often to check whether the wall clock was set back."""

JUST_AFTER = timedelta(microseconds=1)
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
        self.metrics = UNSCRAPED

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
            self._running.add_done_callback(self._ended)

    def _wake_later(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        at = loop.time() + seconds
        if self._timer is not None and not self._timer.cancelled():
            if loop.time() < self._timer.when() <= at:
                return
            self._timer.cancel()
        self._timer = loop.call_at(at, self.wake)

    def begin_no_more(self) -> None:
        """Make the current run the last: a job that wakes itself would never end."""
        self._ending, self._wanted = True, False
        if self._timer is not None:
            self._timer.cancel()

    async def drain(self) -> None:
        """Wait for the current run."""
        if self._timer is not None:
            self._timer.cancel()
        while self._running is not None:
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        while self._wanted:
            self._wanted = False
            try:
                await self._work()
            except BotError as error:
                self.metrics.job_failures.labels(self.name).inc()
                # Logged when it begins and when it ends, not at every run.
                if not self._failing:
                    failure = {"error": type(error).__name__, "detail": str(error)}
                    extra = {"action": "job_failed", "job": self.name, **failure}
                    logger.warning("a scheduled job fails", extra=extra)
                self._failing = True
            else:
                if self._failing:
                    extra = {"action": "job_recovered", "job": self.name}
                    logger.info("a scheduled job works again", extra=extra)
                self._failing = False

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running = None
        if not task.cancelled() and task.exception() is not None:
            self.metrics.job_failures.labels(self.name).inc()
            logger.error(
                "a scheduled job has a defect",
                extra={"action": "job_defect", "job": self.name},
                exc_info=task.exception(),
            )
        elif self._wanted and not task.cancelled():
            self.wake()


class JobScheduler:
    """Fires jobs at intervals (APScheduler), and waits for running ones before it stops."""

    def __init__(self, metrics: Metrics = UNSCRAPED) -> None:
        self._metrics = metrics
        # With a grace time other than None a job that is a second late would be skipped.
        self._scheduler = AsyncIOScheduler(
            timezone=UTC,
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )
        self._jobs: dict[Job, float] = {}
        self._is_shut_down = False
        self._watch: asyncio.TimerHandle | None = None

    def every(self, seconds: float, job: Job, *, first_after: float = 0.0) -> None:
        """Fire the job at this interval, for the first time after `first_after` seconds."""
        job.metrics = self._metrics
        # The first failure shows as a change.
        self._metrics.job_failures.labels(job.name)
        self._jobs[job] = first_after
        self._scheduler.add_job(_fire(job), "interval", seconds=seconds, id=job.name)

    def start(self) -> None:
        self._scheduler.start()
        self._watch_clock(datetime.now(UTC))  # noqa: TID251  # the clock that APScheduler reads
        for job, first_after in self._jobs.items():
            job.wake(first_after)

    def _watch_clock(self, before: datetime) -> None:
        """Restart the schedule if the clock is set back, or nothing would fire for that long."""
        now = datetime.now(UTC)  # noqa: TID251  # see above
        if now < before:
            seconds = (before - now).total_seconds()
            logger.warning(
                "the clock was set back", extra={"action": "clock_set_back", "seconds": seconds}
            )
            for job in self._jobs:
                self._scheduler.modify_job(job.name, next_run_time=now)
        loop = asyncio.get_running_loop()
        self._watch = loop.call_later(WATCH_SECONDS, self._watch_clock, now)

    def stop_firing(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        # Don't shut down yet: that would cancel jobs that have just fired, and log errors.
        if self._scheduler.running:
            self._scheduler.pause()

    def begin_no_more(self) -> None:
        """Let the current run be the last, even if something wakes the job."""
        for job in self._jobs:
            job.begin_no_more()

    async def drain(self) -> None:
        """Wait for running jobs: APScheduler itself would cancel them."""
        self.stop_firing()
        if self._scheduler.running and not self._is_shut_down:
            self._scheduler.shutdown(wait=False)
            self._is_shut_down = True
        for job in self._jobs:
            await job.drain()


def _fire(job: Job) -> Callable[[], Awaitable[None]]:
    # APScheduler runs plain functions in a thread; a coroutine function stays on the loop.
    async def fire() -> None:
        job.wake()

    return fire


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


def check_cron(cron: str) -> str:
    """Return the expression; raise ValueError if it is invalid or matches no time.

    Weekdays have names, because cron counts them from Sunday and APScheduler from Monday.
    """
    next_start(cron, ZoneInfo("UTC"), datetime(2000, 1, 1, tzinfo=UTC))
    if any(character.isdigit() for character in cron.rsplit(" ", maxsplit=1)[-1]):
        raise ValueError("weekdays in `starts` are names, such as mon-fri")
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
