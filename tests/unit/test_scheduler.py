"""Jobs: no overlaps, no skipped runs, wakes, and failures logged once."""

import asyncio
import logging
import time
from contextvars import ContextVar
from datetime import datetime, timedelta, tzinfo
from typing import Self

import apscheduler.schedulers.base
import pytest
from typing_extensions import override

from bot.runtime import scheduler as runtime_scheduler
from bot.runtime.scheduler import Job, JobScheduler
from bot.store.errors import StoreUnavailable
from tests.support.waiting import until, until_true


class Work:
    """Counts its runs; each waits for `gate` while that is closed."""

    def __init__(self) -> None:
        self.runs = 0
        self.under_way = 0
        self.most_at_once = 0
        self.failure: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def run(self) -> None:
        self.runs += 1
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            await self.gate.wait()
            if self.failure is not None:
                raise self.failure
        finally:
            self.under_way -= 1


def actions(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [getattr(record, "action", "") for record in caplog.records]


async def test_a_run_does_not_inherit_the_waking_requests_context() -> None:
    request: ContextVar[str] = ContextVar("request", default="none")
    seen: list[str] = []

    async def work() -> None:
        seen.append(request.get())

    job = Job("post", work)
    request.set("pause of site")
    job.wake()
    await job.drain()
    job.wake(0.01)
    await until(lambda: len(seen) == 2, "the run for later")
    assert seen == ["none", "none"]


async def test_wakes_during_a_run_cause_one_more_run_and_no_overlap() -> None:
    work = Work()
    work.gate.clear()
    job = Job("post", work.run)
    job.wake()
    await until(lambda: work.under_way, "the first run")
    for _ in range(5):
        job.wake()

    work.gate.set()
    await job.drain()

    assert (work.runs, work.most_at_once) == (2, 1)


async def test_the_earlier_of_delayed_wakes_counts_and_is_not_run_before() -> None:
    work = Work()
    job = Job("post", work.run)
    job.wake(3600)
    job.wake(0.03)
    job.wake(3600)

    assert work.runs == 0
    await until(lambda: work.runs, "the earlier run")
    await job.drain()
    assert work.runs == 1


@pytest.mark.parametrize(
    ("failure", "logged"),
    [
        (StoreUnavailable("locked"), ["job_failed", "job_recovered"]),
        (ZeroDivisionError("a defect"), ["job_defect"] * 3),
    ],
    ids=["failure", "bug"],
)
async def test_a_failing_job_is_logged_and_continues(
    failure: Exception, logged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A failure and its recovery once, a bug each time and with its traceback."""
    caplog.set_level(logging.INFO)
    work = Work()
    work.failure = failure
    job = Job("post", work.run)
    for turn in range(5):
        if turn == 3:
            work.failure = None
        job.wake()
        await job.drain()

    assert work.runs == 5
    assert actions(caplog) == logged
    has_traceback = caplog.records[0].exc_info is not None
    assert has_traceback is isinstance(failure, ZeroDivisionError)


async def test_a_job_that_goes_on_failing_is_logged_again_after_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    work = Work()
    work.failure = StoreUnavailable("the disk is full")
    job = Job("post", work.run, still_seconds=0.05)

    async def runs_and_logs() -> bool:
        job.wake()
        await job.drain()
        return actions(caplog).count("job_failed") == 3

    await until_true(runs_and_logs, "the third record")
    assert work.runs > 3
    assert {vars(record)["detail"] for record in caplog.records} == {"the disk is full"}


async def test_jobs_due_at_the_same_instant_all_run() -> None:
    scheduler = JobScheduler()
    works = [Work() for _ in range(300)]
    for number, work in enumerate(works):
        scheduler.every(0.2, Job(f"job {number}", work.run))

    scheduler.start()
    await until(lambda: all(work.runs >= 3 for work in works), "three turns of every job")
    scheduler.stop_firing()
    await scheduler.drain()

    assert max(work.most_at_once for work in works) == 1


async def test_a_clock_set_back_stops_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    added = timedelta()

    class SetBack(datetime):
        @override
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return super().now(tz) + added

    monkeypatch.setattr(apscheduler.schedulers.base, "datetime", SetBack)
    monkeypatch.setattr(runtime_scheduler, "datetime", SetBack)
    scheduler = JobScheduler()
    work = Work()
    scheduler.every(0.2, Job("poll", work.run))
    scheduler.start()
    await until(lambda: work.runs >= 2, "two turns")

    added = timedelta(hours=-1)
    done = work.runs
    await until(lambda: work.runs >= done + 3, "three turns since")
    scheduler.stop_firing()
    await scheduler.drain()


async def test_stopping_waits_for_running_jobs_and_starts_none() -> None:
    scheduler = JobScheduler()
    work = Work()
    work.gate.clear()
    scheduler.every(3600, Job("poll", work.run))
    scheduler.start()
    await until(lambda: work.under_way, "the first run")
    scheduler.stop_firing()
    draining = asyncio.create_task(scheduler.drain())
    await asyncio.sleep(0)
    assert not draining.done()

    work.gate.set()
    await draining

    assert (work.runs, work.under_way) == (1, 0)


async def test_deferrable_jobs_run_after_the_rest_and_within_their_interval() -> None:
    scheduler = JobScheduler()
    urgent = Work()
    later = Work()
    scheduler.every(3600, Job("later", later.run), first_after=0.2)
    scheduler.every(3600, Job("urgent", urgent.run))
    scheduler.start()
    await until(lambda: urgent.runs, "what is urgent")
    assert later.runs == 0

    await until(lambda: later.runs, "what may wait")
    scheduler.stop_firing()
    await scheduler.drain()


async def test_a_job_that_wakes_itself_stops_with_its_current_run() -> None:
    scheduler = JobScheduler()
    runs: list[Job] = []

    async def work() -> None:
        runs.append(job)
        if len(runs) == 2:
            scheduler.begin_no_more()
        # More waits than one run takes, now and later.
        job.wake()
        job.wake(0.001)

    job = Job("post", work)
    scheduler.every(3600, job)
    job.wake()
    async with asyncio.timeout(30):
        await scheduler.drain()
    job.wake()
    await scheduler.drain()

    assert len(runs) == 2


async def test_a_job_that_fires_at_the_last_moment_is_not_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scheduler = JobScheduler()
    scheduler.every(0.01, Job("poll", Work().run))
    scheduler.start()
    await asyncio.sleep(0)
    time.sleep(0.02)  # noqa: ASYNC251 - it is due while the loop is busy
    scheduler._scheduler.wakeup()
    scheduler.stop_firing()
    for _ in range(2):
        await scheduler.drain()
    await asyncio.sleep(0)

    assert caplog.records == []


async def test_a_scheduler_that_never_started_can_be_stopped() -> None:
    scheduler = JobScheduler()
    scheduler.every(1, Job("poll", Work().run))

    scheduler.stop_firing()
    await scheduler.drain()
