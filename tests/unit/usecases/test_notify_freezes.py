"""A freeze that can't go on yet is read ever more seldom, by one process at a time."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.freezes.freeze import Freeze, Told
from bot.freezes.notifying import LONGEST_FREEZE_WAIT, DueFreeze, NotifyFreezes
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.event_records import FreezeAttributes
from bot.store.job_lease import JOB_LEASE, JobLease
from bot.store.lease_values import POLL_LEASE
from tests.support.clock import MovedClock
from tests.support.make import SITE


class Rounds:
    """A store in which one freeze is due and waits for a poll, and a service that counts reads."""

    def __init__(self, *, is_ours: bool = True) -> None:
        self.clock = MovedClock()
        self.reads = 0
        now = self.clock.now()
        begun = now - timedelta(minutes=1)
        terms = FreezeAttributes(start=begun.isoformat())
        self.freeze = Freeze(SITE, None, terms, None, Told(1, 1, begun))
        self._is_ours = is_ours
        lease = JobLease(POLL_LEASE, "me", JOB_LEASE)
        self.job = NotifyFreezes(
            cast("Any", self),
            self.clock,
            lambda after=0.0: None,  # noqa: ARG005
            cast("Any", self),
            cast("Any", SimpleNamespace(repositories=SimpleNamespace(names=(SITE,)))),
            lambda: None,
            lease,
        )

    async def read(self, *_arguments: object) -> list[DueFreeze]:
        return [DueFreeze(self.freeze, is_followed=True)]

    async def run(self, function: object, *_arguments: object) -> object:
        is_lease = getattr(function, "__name__", "") == "take"
        return (object() if self._is_ours else None) if is_lease else False

    async def freezes(self, *_arguments: object) -> object:
        self.reads += 1
        raise MergeQueueUnavailable(SITE)

    async def event_page(self, *_arguments: object, **_how: object) -> object:
        raise MergeQueueUnavailable(SITE)

    async def status(self, *_arguments: object) -> object:
        raise MergeQueueUnavailable(SITE)

    def pass_seconds(self, count: int) -> None:
        for _ in range(count):
            asyncio.run(self.job.run())
            self.clock.advance(1)


@pytest.mark.parametrize(("seconds", "most"), [(1, 1), (60, 6), (600, 30)])
def test_a_freeze_that_waits_is_read_ever_more_seldom(seconds: int, most: int) -> None:
    rounds = Rounds()
    rounds.pass_seconds(seconds)
    assert 1 <= rounds.reads <= most
    rounds.pass_seconds(int(LONGEST_FREEZE_WAIT) + 1)
    assert rounds.reads >= 2


def test_only_one_process_reads() -> None:
    rounds = Rounds(is_ours=False)
    rounds.pass_seconds(60)
    assert rounds.reads == 0
