"""Which topic an event belongs to."""

from collections.abc import Mapping

from bot.channels.subscription import Topic
from bot.log.classification import TYPES_OF_KIND, EventKind
from bot.merge_queue.event_types import (
    BISECTION_END,
    CHECKS_END,
    CHECKS_NOT_STARTED,
    CHECKS_START,
    DEQUEUE_COMMAND,
    ENTER,
    LEAVE,
    MERGED,
)

TOPIC_OF_KIND: Mapping[EventKind, Topic] = {
    EventKind.ENTER: Topic.ENTER,
    EventKind.CHECKS_STARTED: Topic.CHECKS,
    EventKind.CHECKS_ENDED: Topic.CHECKS,
    EventKind.CHECKS_NOT_STARTED: Topic.CHECKS,
    EventKind.MERGE: Topic.MERGE,
    EventKind.FAILURE: Topic.FAILURE,
    EventKind.DEQUEUE: Topic.DEQUEUE,
    EventKind.BISECTION_STARTED: Topic.BATCH,
    EventKind.BISECTION_ENDED: Topic.BATCH,
    EventKind.PAUSE: Topic.PAUSE,
    EventKind.PAUSE_UPDATE: Topic.PAUSE,
    EventKind.RESUME: Topic.PAUSE,
    EventKind.FREEZE: Topic.FREEZE,
    EventKind.COMMAND: Topic.COMMAND,
    EventKind.CI: Topic.CI,
}

_READ_TOGETHER = {
    # The end of the checks names the members of a batch; entering looks up the title.
    Topic.MERGE: [LEAVE, CHECKS_END, ENTER],
    # Read with a leave for its verdict, and to find who asked for it.
    Topic.FAILURE: [
        LEAVE,
        MERGED,
        CHECKS_END,
        CHECKS_NOT_STARTED,
        BISECTION_END,
        DEQUEUE_COMMAND,
        ENTER,
    ],
    Topic.DEQUEUE: [LEAVE, MERGED, CHECKS_END, DEQUEUE_COMMAND, ENTER],
    # Not posted, but needed to count failures in a row, and to find out why nothing merges.
    Topic.HEALTH: [
        ENTER,
        CHECKS_START,
        CHECKS_NOT_STARTED,
        CHECKS_END,
        LEAVE,
        MERGED,
        DEQUEUE_COMMAND,
    ],
    Topic.WEEKLY: [LEAVE, MERGED, CHECKS_END, DEQUEUE_COMMAND],
}
"""Further event types that a topic needs."""


def topic_of(kind: EventKind) -> Topic | None:
    return TOPIC_OF_KIND.get(kind)


def event_types_for(topics: frozenset[str]) -> frozenset[str]:
    """The event types to request from the service for these topics, which may be types."""
    found = topics.difference(Topic)
    for kind, topic in TOPIC_OF_KIND.items():
        if topic in topics:
            found = found.union(TYPES_OF_KIND[kind])
    for topic, types in _READ_TOGETHER.items():
        if topic in topics:
            found = found.union(types)
    return found
