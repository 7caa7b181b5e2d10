"""A live queue as it was read."""

from dataclasses import dataclass
from datetime import datetime

from bot.freezes.freeze import Freeze
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import QueueStatus
from bot.pauses.pause import PauseRecord


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The live queue as one reading of the service and of the store showed it.

    It is never stored or kept: each question reads the queue again. So it is as old as `read_at`
    says, and a queue that couldn't be read has none (`ReadQueue`).
    """

    repository: RepositoryName
    status: QueueStatus  #: of that branch only, if there is one
    pause: PauseRecord | None  #: None if it runs, or if nobody can tell: see `is_pause_known`
    read_at: datetime  #: by the bot's clock, when the answers had come
    branch: str | None = None  #: the base branch that was asked for; None for all
    #: False if the service can't say whether the queue is paused and no event reported a pause; the
    #: queue may still be paused
    is_pause_known: bool = True
    freezes: tuple[Freeze, ...] = ()  #: those in force that may concern it
    next_freeze: Freeze | None = None  #: the first of those to come; None for none

    @property
    def is_frozen(self) -> bool:
        """Whether freezes keep everything queued from merging.

        Of conditions that the bot can't judge, the service may say whom they hold.
        """
        if any(freeze.holds(self.branch) for freeze in self.freezes):
            return True
        is_any_free = any(queued.is_frozen is False for queued in self.status.queued)
        return bool(self.freezes) and not is_any_free

    @property
    def merge_expected_at(self) -> datetime | None:
        """The service's estimate of the next merge.

        None where a pause or a freeze makes it impossible, or its time has passed.
        """
        due = self.status.next_merge_at
        if due is None or due < self.read_at:
            return None
        return None if self.pause is not None or self.is_frozen else due


ReadQueue = Snapshot | RepositoryName
"""A queue as it is now, or the bare name of a repository whose queue could not be read."""
