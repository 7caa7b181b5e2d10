"""Whether a request is sent again, and after how long: a pure decision."""

from collections.abc import Callable
from dataclasses import dataclass
from secrets import SystemRandom

from bot.domain.errors import MergeQueueUnavailable
from bot.domain.pacing import retry_delay

SHORTEST_ATTEMPT = 0.5
"""Seconds that must be left for another attempt to make sense."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds, and how often to try.

    `connect` and `read` bound one connection and one silence of the service, `total` a whole
    call with its retries: a person waits for the answer. `read_back` bounds the look at what
    became of a write whose answer was lost, and comes on top of `total`. `jitter` gives numbers
    from 0 to 1, which spread the waits.
    """

    connect: float = 3.0
    read: float = 5.0
    total: float = 8.0
    read_back: float = 4.0
    attempts: int = 3
    jitter: Callable[[], float] = SystemRandom().random

    def wait_before_retry(
        self, error: MergeQueueUnavailable, *, is_read: bool, attempt: int, remaining: float
    ) -> float | None:
        """Seconds to wait after the `attempt`-th attempt (1 for the first), None to give up.

        A write is sent again only when it certainly did not arrive. The service's own wait is
        honoured, but not beyond the `remaining` seconds: the caller is told of it instead.
        """
        if attempt >= self.attempts or not (is_read or not error.arrived):
            return None
        jitter = self.jitter()
        wait = retry_delay(attempt, hint=None, jitter=jitter)
        if error.retry_after is not None:
            wait = max(wait, retry_delay(attempt, hint=error.retry_after, jitter=jitter))
        return wait if wait + SHORTEST_ATTEMPT < remaining else None


PATIENCE = Patience()
