"""What is known of a queue before anybody judges it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from bot.freezes.freeze import Freeze
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import (
    CHECKS_END,
    CHECKS_NOT_STARTED,
    CHECKS_START,
    ENTER,
    LEAVE,
    MERGED,
)
from bot.merge_queue.queue import QueuedDetails, QueueStatus
from bot.pauses.pause import PauseRecord

EXAMINED_TYPES = (ENTER, CHECKS_START, CHECKS_NOT_STARTED, CHECKS_END, LEAVE, MERGED)
"""The types of events that are looked at."""


EXAMINED = 500
"""However many there are, so that a busy queue costs no more than others."""


@dataclass(frozen=True, slots=True)
class Log:
    """The stored events of the last day, and how complete they are.

    A type that no poll reads is missing, which must not be taken for quiet.
    """

    events: Mapping[str, Sequence[EventRecord]] = field(default_factory=dict)
    """By type, oldest first."""

    types: frozenset[str] = frozenset()  #: those that polls read; empty for all
    read_at: datetime | None = None  #: when it was last read to its end; None if it never was
    since: datetime | None = None  #: no earlier event can be among them; None if nobody knows

    def of(self, type_: str) -> Sequence[EventRecord]:
        """The newest EXAMINED events of that type, oldest first."""
        return self.events.get(type_, ())[-EXAMINED:]

    def reads(self, *types: str) -> bool:
        """Whether polls read all these types."""
        return self.read_at is not None and (not self.types or self.types.issuperset(types))


class NoAnswer(StrEnum):
    """How the service fails to say how the queue is."""

    SILENT = "silent"  #: no answer
    FAILING = "failing"  #: a failure of its own, or a limit of requests
    REFUSED = "refused"  #: it doesn't let the bot read the queue
    INVALID = "invalid"  #: it says that the repository's configuration is invalid
    UNREADABLE = "unreadable"  #: an answer that can't be read


@dataclass(frozen=True, slots=True)
class ServiceProblem:
    """Why the status can't be read."""

    kind: NoAnswer
    said: str = ""  #: the service's own sentence with its status, if any
    last_answer_at: datetime | None = None  #: the last good answer to this process, if any


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """What is known of one queue."""

    repository: RepositoryName
    status: QueueStatus | None  #: None if it can't be read
    #: why it can't be read, or that the configuration is invalid
    problem: ServiceProblem | None = None
    pause: PauseRecord | None = None  #: the one in force
    is_pause_known: bool = True  #: False if None doesn't mean that the queue is running
    freezes: Sequence[Freeze] = ()  #: those in force
    #: when the pauses and freezes of the last day ended, oldest first
    releases: Sequence[datetime] = ()
    details: QueuedDetails | None = None  #: of the head, if the service gives them
    log: Log = field(default_factory=Log)

    @property
    def released_at(self) -> datetime | None:
        """When the last pause or freeze ended."""
        return self.releases[-1] if self.releases else None
