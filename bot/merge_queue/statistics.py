"""What went over the wire, counted for metrics, and when an answer came last."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime


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
