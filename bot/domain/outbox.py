"""What is known of the outbox as a whole, and of what a summary tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.deliveries import Subject
from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class SuspendedChannel:
    """A channel that Slack refuses posts to; its head delivery is tried again at `retry_at`."""

    channel_id: str
    code: str
    suspended_at: datetime
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class OutboxSummary:
    """What is not settled: counts, and the creation time of the oldest outside suspended channels.

    `suspended` are those of them for which something waits.
    """

    pending: int
    sending: int
    in_doubt: int
    oldest_created_at: datetime | None
    suspended: Sequence[SuspendedChannel]


@dataclass(frozen=True, slots=True)
class SummaryContent:
    """What a summary tells: how many deliveries of each repository and kind, and since when.

    `subjects` are the latest failures among them, at most ten, oldest first.
    """

    counts: Mapping[tuple[RepositoryName, str | None], int]
    oldest_created_at: datetime
    subjects: Sequence[Subject]
