"""What is known of each pause from its beginning to its end, whoever made and lifted it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.repository import RepositoryName
from bot.domain.snapshots import SAME_PAUSE


class PauseEnding(StrEnum):
    """How a pause ended. `REPLACED`: by another pause, so that the queue went on being paused."""

    LIFTED = "lifted"
    REPLACED = "replaced"
    TIMER = "timer"


@dataclass(frozen=True, slots=True)
class Who:
    """A person or client: `user_id` when it is somebody of this Slack workspace."""

    name: str
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class PauseRecord:
    """One pause of one queue.

    `paused_at` is the service's own time; unless `is_exact` it is that of the event that told of
    the pause, which lies close to it. `reason` is the person's own words when we know them, else
    `stored_reason`, what the service holds. `event_id` is the event that told of the pause.
    `queued_at_start` and `queued_now` count pull requests in batches and in line, None while not
    read. `joined` are the numbers of those that came meanwhile. `end_told`: the channels were
    given the line that says it is over.
    """

    repository: RepositoryName
    paused_at: datetime
    stored_reason: str
    reason: str
    by: Who | None = None
    is_exact: bool = True
    event_id: int | None = None
    previous_reason: str | None = None
    queued_at_start: int | None = None
    queued_now: int | None = None
    joined: frozenset[int] = frozenset()
    ended_at: datetime | None = None
    ended_by: Who | None = None
    ending: PauseEnding | None = None
    end_told: bool = False
    pause_id: int = 0

    @property
    def is_open(self) -> bool:
        return self.ended_at is None

    @property
    def lasted(self) -> timedelta | None:
        """Never negative: its ends may come from two clocks."""
        if self.ended_at is None:
            return None
        return max(self.ended_at - self.paused_at, timedelta())

    def is_of(self, paused_at: datetime | None) -> bool:
        """Whether this is the pause that the service says began at `paused_at`."""
        return paused_at is not None and abs(self.paused_at - paused_at) < SAME_PAUSE
