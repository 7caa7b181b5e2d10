"""What is true of one repository's queue at one moment."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.audit import Actor, AuditRecord
from bot.domain.queue import Pause, QueuedPullRequest, QueueStatus
from bot.domain.repository import RepositoryName

SAME_PAUSE = timedelta(seconds=1)
"""A service may tell one pause's time with another precision when it is read again."""


@dataclass(frozen=True, slots=True)
class KnownPause:
    """A pause in force and, when it was made through this bot, the act that made it."""

    pause: Pause
    act: AuditRecord | None = None

    @property
    def actor(self) -> Actor | None:
        return self.act.actor if self.act is not None else None

    def is_of(self, paused_at: datetime | None) -> bool:
        """Whether this is the pause that began at `paused_at`, and no later one."""
        return paused_at is not None and abs(self.pause.paused_at - paused_at) < SAME_PAUSE

    @property
    def reason(self) -> str:
        """The person's own words when we know them, else what the service holds."""
        if self.act is not None and self.act.reason is not None:
            return self.act.reason
        return self.pause.reason


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The live queue, read at `read_at`; of one base branch when `branch` is given."""

    repository: RepositoryName
    status: QueueStatus
    pause: KnownPause | None
    read_at: datetime
    branch: str | None = None

    def impact(self) -> "Impact":
        running = [batch for batch in self.status.batches if batch.status.code == "running"]
        due = [batch.estimated_merge_at for batch in self.status.batches]
        return Impact(
            waiting=len(self.status.waiting_pull_requests),
            in_batches=len(self.queued_in_batches()),
            running_batches=len(running),
            next_merge_at=min((at for at in due if at is not None), default=None),
        )

    def queued_in_batches(self) -> list[QueuedPullRequest]:
        """Each pull request that is in a batch, once, in queue order."""
        found = {
            pull_request.number: pull_request
            for batch in self.status.batches
            for pull_request in batch.pull_requests
        }
        return list(found.values())


@dataclass(frozen=True, slots=True)
class Impact:
    """What a pause would stop: counts, and the time of the next merge."""

    waiting: int
    in_batches: int
    running_batches: int
    next_merge_at: datetime | None
