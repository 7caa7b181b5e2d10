"""How fast Slack may be posted to, and how long to wait before a failed attempt is repeated."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

BURST = 5
"""Posts that may go out at once after a quiet while (https://docs.slack.dev/apis/web-api/rate-limits
allows bursts over one message a second and channel)."""

PER_SECOND = 1.0

WORKSPACE_BURST = 50
WORKSPACE_PER_SECOND = 5
"""Slack grants a workspace "several hundred" posts a minute, whatever their channels."""


@dataclass(slots=True)
class TokenBucket:
    """So many at once, and so many a second. A clock that is set back gives no tokens."""

    burst: int
    per_second: float
    known: tuple[float, datetime] | None = None

    def tokens(self, now: datetime) -> float:
        tokens, at = self.known or (float(self.burst), now)
        passed = max((now - at).total_seconds(), 0.0)
        return min(self.burst, tokens + passed * self.per_second)

    def take(self, now: datetime) -> None:
        self.known = (self.tokens(now) - 1, now)

    def wait(self, now: datetime) -> timedelta:
        """Until there is a token; never zero when there is none, which would be permission."""
        tokens = self.tokens(now)
        if tokens >= 1:
            return timedelta()
        # Seen from now on: a clock that was set back keeps nobody waiting for the old time.
        self.known = (tokens, now)
        return max(timedelta(seconds=(1 - tokens) / self.per_second), timedelta.resolution)


@dataclass(slots=True)
class Pace:
    """A token bucket per channel, one for all of them, and waits that Slack asked for.

    `held`: since when, and until when, nobody posts. A clock that is set back gives no tokens and
    makes no wait longer than it was.
    """

    per_second: float = PER_SECOND
    budget: TokenBucket | None = None
    channels: dict[str, TokenBucket] = field(default_factory=dict)
    held: tuple[datetime, datetime] | None = None

    def wait(self, channel_id: str, now: datetime, *, urgent: bool = False) -> timedelta:
        """How long until the channel may be posted to; zero takes one token."""
        wait = self.until(channel_id, now, urgent=urgent)
        if not wait:
            self._channel(channel_id).take(now)
            if self.budget is not None:
                self.budget.take(now)
        return wait

    def until(self, channel_id: str, now: datetime, *, urgent: bool = False) -> timedelta:
        """How long until the channel may be posted to.

        Urgent posts are few in a channel and go at once, at the cost of those that follow there.
        """
        channel = self._channel(channel_id)
        own = channel.wait(now)
        if urgent and channel.tokens(now) > -BURST:
            own = timedelta()
        shared = self.budget.wait(now) if self.budget is not None else timedelta()
        return max(self._held(now), own, shared)

    def room(self, now: datetime) -> int:
        """How many posts the budget grants now."""
        return max(int(self.budget.tokens(now)), 0) if self.budget is not None else WORKSPACE_BURST

    def hold_all(self, now: datetime, wait: timedelta) -> None:
        """Nobody posts for so long: Slack's limit of the method concerns the workspace."""
        if wait > self._held(now):
            self.held = now, now + wait

    def _held(self, now: datetime) -> timedelta:
        if self.held is None:
            return timedelta()
        since, until = self.held
        if now < since:
            self.held = since, until = now, now + (until - since)
        return max(until - now, timedelta())

    def _channel(self, channel_id: str) -> TokenBucket:
        known = self.channels.get(channel_id)
        if known is None:
            known = self.channels[channel_id] = TokenBucket(BURST, self.per_second)
        return known


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

    An answer that names a later time is an answer: only failures after it make the wait longer.
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


_LARGEST_STEP = 3
_BITS = 2


@dataclass(slots=True)
class ClaimSize:
    """What is claimed may be sent for a while only, and the transaction also reads what it says.

    Where machine and database are so slow that this alone takes most of the while, the same would
    be claimed again and again and nothing ever sent, unless it becomes less.
    """

    _steps: int = field(default=0, init=False)

    def of(self, most: int) -> int:
        """So many at present, where it is `most` as long as transactions are quick."""
        return max(1, most >> _BITS * self._steps)

    def learn(self, took: timedelta, may_take: timedelta) -> None:
        """How long the last transaction took, of the time until when what it claimed is sent."""
        step = 1 if 2 * took > may_take else -1
        self._steps = min(_LARGEST_STEP, max(0, self._steps + step))
