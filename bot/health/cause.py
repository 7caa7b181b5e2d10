"""What keeps a queue from merging while an alert lasts, and when that counts as changed."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.doctor.diagnosis import QueueCause, QueueVerdict
from bot.kernel.repository import RepositoryName

EXAMINED_EVERY = timedelta(minutes=2)
"""How often a queue is examined while an alert lasts, or may begin."""

EXAMINED_AFTER = timedelta(minutes=5)
"""A queue whose head has waited for less is left alone."""

EXAMINED_FAILURES = 3
"""So many failures in a row are a reason to examine a queue, however short its head has waited."""

DETECTED = frozenset(
    {
        QueueVerdict.SAME_CHECK,
        QueueVerdict.COMES_BACK,
        QueueVerdict.HELD,
        QueueVerdict.NEVER_START,
        QueueVerdict.DONE,
        QueueVerdict.RESTARTED,
    }
)
"""The causes that begin an alert by themselves. Many different failures have a message already."""


@dataclass(frozen=True, slots=True)
class ToldCause:
    """A cause that the thread of one alert has named."""

    alert_id: int
    repository: RepositoryName
    verdict: QueueVerdict
    said: str
    found_at: datetime
    cause_id: int = 0  #: assigned by the store, 0 before


@dataclass(slots=True)
class CauseWatch:
    """What the last examinations of a queue found.

    A cause counts until two examinations in a row don't find it; then what the second one finds
    counts. So a verdict that flaps changes nothing.
    """

    cause: QueueCause | None = None  #: the one that counts
    since: datetime | None = None  #: since when one has been there without a break
    found: QueueCause | None = None  #: by the last examination
    examined_at: datetime | None = None

    def is_due(self, now: datetime) -> bool:
        at = self.examined_at
        return at is None or not timedelta() <= now - at < EXAMINED_EVERY

    def begin_with(self, cause: QueueCause | None, since: datetime, now: datetime) -> None:
        """Continue from what an alert shows, or begin one with what was just found."""
        self.cause = cause
        self.found = cause
        self.since = since if cause is not None else None
        self.examined_at = now

    def add(self, found: QueueCause | None, now: datetime) -> None:
        """The outcome of another examination."""
        is_second_without = not _is_same_cause(self.found, self.cause)
        if _is_same_cause(found, self.cause) or is_second_without:
            self.cause = found
            began_at = self.since or self.examined_at or now
            self.since = began_at if found is not None else None
        self.found = found
        self.examined_at = now

    def lasted(self, verdicts: Collection[QueueVerdict], now: datetime) -> timedelta:
        """For how long a cause has counted, if it is one of these."""
        if self.cause is None or self.since is None or self.cause.verdict not in verdicts:
            return timedelta()
        return max(now - self.since, timedelta())


def _is_same_cause(found: QueueCause | None, known: QueueCause | None) -> bool:
    """Whether both have the same verdict, or neither names one."""
    if found is None or known is None:
        return found is known
    return found.verdict is known.verdict
