"""What is true of one repository's queue at one moment."""

from dataclasses import dataclass
from datetime import datetime

from bot.domain.audit import Actor, AuditRecord
from bot.domain.event_records import FreezeAttributes
from bot.domain.pause_records import same_moment
from bot.domain.queue import Pause, QueueStatus
from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class KnownPause:
    """A pause in force and, when it was made through this bot, the act that made it.

    `credited` is the name that the event log gives for one made elsewhere. `lifts_at` is when it
    lifts itself, if it does, `is_overdue` whether that was tried and could not be.
    """

    pause: Pause
    act: AuditRecord | None = None
    credited: str | None = None
    lifts_at: datetime | None = None
    is_overdue: bool = False

    @property
    def actor(self) -> Actor | None:
        return self.act.actor if self.act is not None else None

    @property
    def by(self) -> str | None:
        """The name of whoever paused, when it is known."""
        return self.act.actor.name if self.act is not None else self.credited

    def is_of(self, paused_at: datetime | None) -> bool:
        """Whether this is the pause that began at `paused_at`, and no later one."""
        return paused_at is not None and same_moment(self.pause.paused_at, paused_at)

    def says(self, stored_reason: str | None) -> bool:
        """Whether its reason is still this one: a service may keep the time of a pause changed."""
        return stored_reason is not None and self.pause.reason.strip() == stored_reason.strip()

    def end_to_come(self, now: datetime) -> datetime | None:
        """When it resumes by itself, unless that time has passed."""
        return self.lifts_at if self.lifts_at is not None and self.lifts_at > now else None

    @property
    def reason(self) -> str:
        """The person's own words when we know them, else what the service holds."""
        if self.act is not None and self.act.reason is not None:
            return self.act.reason
        return self.pause.reason


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The live queue, read at `read_at`; of one base branch when `branch` is given.

    Without `is_pause_known` the service has no way to say whether the queue is paused, and no event
    has told of a pause: it isn't known to be running. `freezes` are those in force.
    """

    repository: RepositoryName
    status: QueueStatus
    pause: KnownPause | None
    read_at: datetime
    branch: str | None = None
    is_pause_known: bool = True
    freezes: tuple[FreezeAttributes, ...] = ()

    def impact(self) -> "Impact":
        running = [batch for batch in self.status.batches if batch.status.code == "running"]
        due = [batch.estimated_merge_at for batch in self.status.batches]
        return Impact(
            waiting=len(self.status.waiting_pull_requests),
            in_batches=len(self.status.in_batches),
            running_batches=len(running),
            next_merge_at=min((at for at in due if at is not None), default=None),
        )


@dataclass(frozen=True, slots=True)
class Impact:
    """What a pause would stop: counts, and the time of the next merge."""

    waiting: int
    in_batches: int
    running_batches: int
    next_merge_at: datetime | None

    @property
    def queued(self) -> int:
        """Pull requests in batches and in line."""
        return self.waiting + self.in_batches
