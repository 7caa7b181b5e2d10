"""A live queue as it was read."""

from dataclasses import dataclass
from datetime import datetime

from bot.freezes.freeze import Freeze
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import QueueStatus
from bot.pauses.pause import PauseRecord


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The live queue, read at `read_at`, limited to a base branch when `branch` is given."""

    repository: RepositoryName
    status: QueueStatus
    pause: PauseRecord | None
    read_at: datetime
    branch: str | None = None
    #: False if the service can't say whether the queue is paused and no event reported a pause; the
    #: queue may still be paused
    is_pause_known: bool = True
    freezes: tuple[Freeze, ...] = ()  #: those in force
    next_freeze: Freeze | None = None  #: the first of those to come


ReadQueue = Snapshot | RepositoryName
"""A queue as it is now, or the bare name of a repository whose queue could not be read."""
