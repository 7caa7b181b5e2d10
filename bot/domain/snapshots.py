"""The state of one repository's queue, and of its base branches, at one moment."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.freezes import Freeze
from bot.domain.pause_records import PauseRecord
from bot.domain.queue import QueueStatus
from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The live queue, read at `read_at`, limited to a base branch when `branch` is given.

    `is_pause_known`: False if the service can't say whether the queue is paused and no event
    reported a pause; the queue may still be paused.
    `freezes`: those in force.
    """

    repository: RepositoryName
    status: QueueStatus
    pause: PauseRecord | None
    read_at: datetime
    branch: str | None = None
    is_pause_known: bool = True
    freezes: tuple[Freeze, ...] = ()

    def impact(self) -> "Impact":
        return Impact.of(self.status)


ReadQueue = Snapshot | RepositoryName
"""A queue as it is now, or the bare name of a repository whose queue could not be read."""


@dataclass(frozen=True, slots=True)
class Impact:
    """What a pause would stop: counts, and the time of the next merge."""

    waiting: int
    in_batches: int
    running_batches: int
    next_merge_at: datetime | None
    checks: int = 0
    """Those of the running batches."""

    @classmethod
    def of(cls, status: QueueStatus) -> Self:
        running = [batch for batch in status.batches if batch.status.code == "running"]
        due = [batch.estimated_merge_at for batch in status.batches]
        return cls(
            waiting=len(status.waiting_pull_requests),
            in_batches=len(status.in_batches),
            running_batches=len(running),
            next_merge_at=min((at for at in due if at is not None), default=None),
            checks=sum(batch.checks_summary.total for batch in running),
        )

    @property
    def queued(self) -> int:
        """Pull requests in batches and waiting."""
        return self.waiting + self.in_batches


@dataclass(frozen=True, slots=True)
class BranchActivity:
    """A base branch with recent queue activity.

    `queued`: its pull requests in batches and waiting; None if its queue can't be read.
    `merge`: its last merge, None if none is known.
    `merged`: the pull request that merged, if it is known.
    """

    name: str
    queued: int | None = None
    merge: EventRecord | None = None
    merged: PullRequestRecord | None = None


@dataclass(frozen=True, slots=True)
class BranchPage:
    """Some of the active base branches, from index `first` of `total`.

    `is_now`: those with a queue now, as the service doesn't list earlier ones any more.
    """

    branches: tuple[BranchActivity, ...]
    first: int
    total: int
    is_now: bool = False
