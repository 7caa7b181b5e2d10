"""How long to wait before the next attempt: a pure decision."""

from dataclasses import dataclass
from datetime import timedelta

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 300.0


def retry_delay(attempt: int, *, hint: float | None, jitter: float) -> float:
    """Seconds to wait after the `attempt`-th attempt (1 for the first).

    A `hint` is the other side's own wait and is never undercut. Without one the wait doubles
    from one second to five minutes. `jitter`, between 0 and 1, spreads the wait between half
    and the whole of it, so that many waiters do not come back at one instant.
    """
    if hint is not None:
        return max(hint, 0.0) + jitter * min(1.0, max(hint, 0.0) / 4)
    doubled: float = FIRST_SECONDS * 2.0 ** min(max(attempt, 1) - 1, 30)
    return min(doubled, LONGEST_SECONDS) * (0.5 + jitter / 2)


@dataclass(slots=True)
class Failures:
    """What failed in a row: `count` attempts, and so many of them `unanswered`.

    Whoever asks to be asked later has answered: only what fails after that makes the wait longer.
    """

    count: int = 0
    unanswered: int = 0

    def add(self, *, hint: float | None) -> timedelta:
        """One more; how long to wait now. A `hint` in seconds is the other side's own wait."""
        self.count += 1
        self.unanswered = self.unanswered + 1 if hint is None else 0
        return timedelta(seconds=retry_delay(self.unanswered, hint=hint, jitter=0.5))

    def end(self) -> None:
        """An attempt did not fail."""
        self.count = self.unanswered = 0
