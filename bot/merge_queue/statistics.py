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
"""Polls overlap and bring the same event again and again; so many are known again."""

_LOGGED = 20


@dataclass(slots=True)
class Statistics:
    """Counters grow only; read them whenever.

    `outcomes` counts attempts by endpoint and outcome: the status as text, or `unreachable`
    (did not arrive) or `lost` (no answer). `unreadable_answers` counts by endpoint.
    `unreadable_metadata` counts events whose metadata could be read in part or not at all.
    `rate_limit_waits` counts answers that asked us to wait for the service's rate,
    `rate_limit_seconds` adds up for how long. `last_answer_at` is the time of the last answer
    that could be read.
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
            told = {
                "action": "events_unreadable",
                "repository": repository,
                "unreadable_events": len(lost),
                "unreadable_metadata": len(partly),
                "event_ids": [event.event_id for event in lost][:_LOGGED],
                "problems": sorted({event.problem for event in lost})[:_LOGGED],
                "metadata_event_ids": [event.event_id for event in partly][:_LOGGED],
                "metadata_types": sorted({event.type for event in partly})[:_LOGGED],
            }
            logger.warning("Events of the log could not be read in full", extra=told)

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
