"""Removing a pull request from its queue: the question, and the possible outcomes."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from bot.acts.record import AuditRecord, Circumstance
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventDetails, EventRecord, PullRequestRecord
from bot.merge_queue.event_types import REMOVED_HERE
from bot.merge_queue.queue import QueuedPullRequest, RemovalImpact


@dataclass(frozen=True, slots=True)
class WouldRemove:
    """Nothing was done yet: the person is asked first."""

    repository: RepositoryName
    pull_request: QueuedPullRequest
    impact: RemovalImpact


@dataclass(frozen=True, slots=True)
class Removed:
    """The service has taken the removal, which it may need a while to carry out."""

    act: AuditRecord
    pull_request: PullRequestRecord
    posted_here: bool  #: the actor's channel gets a post about it, once it has left
    has_left: bool = True  #: it isn't in the queue any more


class Unremovable(StrEnum):
    """Why nothing was done."""

    GONE = "gone"  #: it isn't in the queue
    LEAVING = "leaving"  #: somebody asked for its removal already
    QUEUED_AGAIN = "queued_again"  #: it left, and was queued again, after the person was asked


@dataclass(frozen=True, slots=True)
class NotRemoved:
    """Nothing was done. `by`: the act of this bot that removed it before, if there is one."""

    repository: RepositoryName
    number: int
    because: Unremovable
    by: AuditRecord | None = None


RemovalOutcome = Removed | NotRemoved


def is_doubtful(act: AuditRecord) -> bool:
    """Whether the pull request has left, but perhaps for another reason than this act."""
    return act.outcome.circumstance is Circumstance.LEFT_UNSEEN


def removal_as_event(act: AuditRecord, leave: EventRecord) -> EventRecord:
    """The act in the form of an event just before the leave, which it explains."""
    return EventRecord(
        act.repository,
        0,
        min(act.at, leave.received_at - timedelta.resolution),
        REMOVED_HERE,
        act.pull_request,
        None,
        None,
        EventDetails(actor=act.actor.name),
    )
