"""Counts and logs what of the event log could not be read, each event once."""

import json
import logging
from collections import OrderedDict

from bot.domain.events import EventPage, UnreadableEvent
from bot.domain.repository import RepositoryName
from bot.merge_queue.statistics import Statistics

logger = logging.getLogger(__name__)

REMEMBERED = 10_000
"""Polls overlap, so the same event comes again and again; so many are known again."""

_LOGGED = 20


class UnreadableEvents:
    """Remembers which events were told of already."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics
        self._told: OrderedDict[tuple[str, int], None] = OrderedDict()

    def note(self, repository: RepositoryName, page: EventPage) -> None:
        """Count and log those of the page that are new."""
        unreadable = [
            event for event in page.unreadable if self._is_new(repository, _identity(event))
        ]
        partly_read = [
            event
            for event in page.events
            if event.metadata.raw is not None and self._is_new(repository, event.id)
        ]
        if not unreadable and not partly_read:
            return
        self._statistics.unreadable_events += len(unreadable)
        self._statistics.unreadable_metadata += len(partly_read)
        logger.warning(
            "Events of the log could not be read in full",
            extra={
                "action": "events_unreadable",
                "repository": repository,
                "unreadable_events": len(unreadable),
                "unreadable_metadata": len(partly_read),
                "event_ids": [event.event_id for event in unreadable][:_LOGGED],
                "problems": sorted({event.problem for event in unreadable})[:_LOGGED],
                "metadata_event_ids": [event.id for event in partly_read][:_LOGGED],
                "metadata_types": sorted({event.type for event in partly_read})[:_LOGGED],
            },
        )

    def _is_new(self, repository: RepositoryName, identity: int) -> bool:
        key = (str(repository), identity)
        if key in self._told:
            self._told.move_to_end(key)
            return False
        self._told[key] = None
        if len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        return True


def _identity(event: UnreadableEvent) -> int:
    """Its id, else a negative number made of what was sent."""
    if event.event_id is not None:
        return event.event_id
    return -1 - (hash(json.dumps(event.raw, sort_keys=True)) & 0xFFFF_FFFF_FFFF)
