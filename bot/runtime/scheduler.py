"""Runs use cases at their intervals."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import Context
from datetime import UTC, datetime

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.kernel.errors import BotError
from bot.kernel.metrics import UNSCRAPED, Metrics

logger = logging.getLogger(__name__)


STILL_SECONDS = 300.0
"""How often the log repeats that a job fails."""


WATCH_SECONDS = 1.0
"""How often to check whether the wall clock was set back."""


class Job:
    """Repeated work that never runs twice at a time, and runs again immediately when woken."""

    def __init__(
        self,
        name: str,
        work: Callable[[], Awaitable[None]],
        still_seconds: float = STILL_SECONDS,
    ) -> None:
        self.name = name
        self._still_seconds = still_seconds
        self._work = work
        self._wanted = False
        self._is_failing = False
        self._logged_at = 0.0
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
        self._ending = True
        self._wanted = False
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
                self._log_failure(error)
            else:
                if self._is_failing:
                    extra = {"action": "job_recovered", "job": self.name}
                    logger.info("a scheduled job works again", extra=extra)
                self._is_failing = False

    def _log_failure(self, error: BotError) -> None:
        """Log when it begins, and now and then while it lasts, not at every run."""
        now = asyncio.get_running_loop().time()
        if self._is_failing and now - self._logged_at < self._still_seconds:
            return
        self._is_failing = True
        self._logged_at = now
        failure = {"error": type(error).__name__, "detail": str(error)}
        extra = {"action": "job_failed", "job": self.name, **failure}
        logger.warning("a scheduled job fails", extra=extra)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running = None
        if not task.cancelled() and task.exception() is not None:
            self.metrics.job_failures.labels(self.name).inc()
            logger.error(
                "a scheduled job failed with a defect",
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
