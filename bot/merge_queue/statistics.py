"""Counters for metrics, and events of the log that could not be read."""

import json
import logging
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.events import EventPage, UnreadableEvent
from bot.domain.repository import RepositoryName

logger = logging.getLogger(__name__)

REMEMBERED = 10_000
"""Polls overlap and return the same event repeatedly; so many are remembered."""

_LOGGED = 20


@dataclass(slots=True)
class Statistics:
    """Counters, which only grow.

    `outcomes`: attempts by endpoint and outcome: the status as text, `unreachable` (it didn't
    arrive) or `lost` (no answer).
    `unreadable_metadata`: events whose metadata could not be read in full.
    `rate_limit_waits`: answers that asked us to wait; `rate_limit_seconds`: for how long in all.
    `last_answer_at`: the time of the last readable answer.
    """

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)
    unreadable_answers: Counter[str] = field(default_factory=Counter)
    unreadable_events: int = 0
    unreadable_metadata: int = 0
    rate_limit_waits: int = 0
    rate_limit_seconds: float = 0.0
    last_answer_at: datetime | None = None
    _known: dict[tuple[str, str], None] = field(default_factory=dict, repr=False)

    def note_unreadable(self, repository: RepositoryName, page: EventPage) -> None:
        """Count and log the events of the page that could not be read in full, each once."""
        lost = [one for one in page.unreadable if self._is_new(repository, _identity(one))]
        partly = [
            event for event in page.incomplete if self._is_new(repository, str(event.event_id))
        ]
        self.unreadable_events += len(lost)
        self.unreadable_metadata += len(partly)
        if lost or partly:
            details = {
                "action": "events_unreadable",
                "repository": repository,
                "unreadable_events": len(lost),
                "unreadable_metadata": len(partly),
                "event_ids": [event.event_id for event in lost][:_LOGGED],
                "problems": sorted({event.problem for event in lost})[:_LOGGED],
                "metadata_event_ids": [event.event_id for event in partly][:_LOGGED],
                "metadata_types": sorted({event.type for event in partly})[:_LOGGED],
            }
            logger.warning("Events of the log could not be read in full", extra=details)

    def _is_new(self, repository: RepositoryName, identity: str) -> bool:
        key = (str(repository), identity)
        if key in self._known:
            return False
        self._known[key] = None
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
        return True


def _identity(event: UnreadableEvent) -> str:
    return json.dumps(event.raw if event.event_id is None else event.event_id, sort_keys=True)
