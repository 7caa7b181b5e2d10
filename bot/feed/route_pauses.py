"""From the log's pause events to the pause's record, its live messages and posts."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.acts.causes import seen_act
from bot.acts.rows import Audit, Revisions
from bot.kernel.repository import RepositoryName
from bot.log.classification import classify
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord
from bot.pauses.readings import EventContext, PauseReading, place_event
from bot.pauses.rows import Pauses
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent
from bot.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class ReadAfter:
    """What was read of the pause after its events."""

    reading: PauseReading | None = None  #: None if it couldn't be read, or isn't offered
    revision: int = 0  #: the repository's, from before the request
    is_offered: bool = True  #: whether the service says if a queue is paused


def event_context(
    transaction: Transaction,
    repository: RepositoryName,
    read: ReadAfter,
    now: datetime,
    clock_ahead: timedelta,
) -> EventContext:
    """What counts beside the events of one transaction, which holds the repository's pauses."""
    Pauses(transaction).lock(repository)
    is_current = read.revision == Revisions(transaction).of(repository)
    return EventContext(
        now,
        read.reading if is_current else None,
        is_reading=not read.is_offered,
        clock_ahead=clock_ahead,
    )


def route_pause_event(
    transaction: Transaction,
    record: EventRecord,
    context: EventContext,
    channels: Collection[str],
) -> None:
    """Give the event its place, for the audit too if nobody did it through this bot.

    `channels`: those that get such events.
    """
    placed = place_event(transaction, record, context, channels)
    # An event without a line waits from now on.
    Events(transaction).mark_routed(record.repository, [record.event_id])
    if not placed.is_by_act:
        Audit(transaction).add(seen_act(record))
    if placed.is_unknown:
        subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
        identity = str(record.event_id)
        kind = classify(record)
        enqueue_urgent(transaction, subject, channels, context.now, identity=identity, kind=kind)
