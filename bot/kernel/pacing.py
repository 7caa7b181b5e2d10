"""How fast to post to Slack, and how long to wait before retrying."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from secrets import SystemRandom

POST_BURST = 5
"""The burst after a quiet time (https://docs.slack.dev/apis/web-api/rate-limits allows bursts over
one message a second and channel)."""

PER_SECOND = 1.0

WORKSPACE_BURST = 50
WORKSPACE_PER_SECOND = 5
"""Slack allows a workspace "several hundred" posts a minute in all channels together."""


@dataclass(slots=True)
class TokenBucket:
    """A burst, and a rate per second; setting the clock back yields no tokens."""

    burst: int
    per_second: float
    known: tuple[float, datetime] | None = None  #: how many tokens there were, and when

    def tokens(self, now: datetime) -> float:
        tokens, at = self.known or (float(self.burst), now)
        passed = max((now - at).total_seconds(), 0.0)
        return min(self.burst, tokens + passed * self.per_second)

    def room(self, now: datetime) -> int:
        """How many whole tokens there are."""
        return max(int(self.tokens(now)), 0)

    def take(self, now: datetime) -> None:
        self.known = (self.tokens(now) - 1, now)

    def pause_for(self, now: datetime, wait: timedelta) -> None:
        """Have no token before `wait` is over, because Slack asked for it."""
        missing = wait.total_seconds() * self.per_second
        self.known = (min(self.tokens(now), 1 - missing), now)

    def wait(self, now: datetime) -> timedelta:
        """How long until there is a token; zero only when there is one."""
        tokens = self.tokens(now)
        if tokens >= 1:
            return timedelta()
        # Restart from now if the clock was set back, so that nobody waits for the old time.
        self.known = (tokens, now)
        return max(timedelta(seconds=(1 - tokens) / self.per_second), timedelta.resolution)


@dataclass(slots=True)
class Pace:
    """A token bucket per channel, and one for all of them."""

    budget: TokenBucket = field(
        default_factory=lambda: TokenBucket(WORKSPACE_BURST, WORKSPACE_PER_SECOND)
    )
    channels: dict[str, TokenBucket] = field(
        default_factory=lambda: defaultdict(lambda: TokenBucket(POST_BURST, PER_SECOND))
    )

    def wait(self, channel_id: str, now: datetime, *, urgent: bool = False) -> timedelta:
        """How long until the channel may be posted to; takes a token if the wait is zero.

        Urgent posts are rare and go out immediately, at the expense of later ones in the channel.
        """
        channel = self.channels[channel_id]
        own = channel.wait(now)
        if urgent and channel.tokens(now) > -POST_BURST:
            own = timedelta()
        wait = max(own, self.budget.wait(now))
        if not wait:
            channel.take(now)
            self.budget.take(now)
        return wait


FIRST_SECONDS = 1.0
LONGEST_BACKOFF_SECONDS = 300.0


def retry_delay(attempt: int, *, hint: float | None, jitter: float) -> float:
    """Seconds to wait after the `attempt`-th attempt (1 for the first).

    `hint` is the other side's own wait and the minimum. Without one the wait doubles from one
    second to five minutes. `jitter`, between 0 and 1, spreads it between half of it and all of it,
    so that many waiters do not return in the same instant.
    """
    if hint is not None:
        asked = max(hint, 0.0)
        return asked + jitter * min(1.0, asked / 4)
    doublings = min(max(attempt, 1) - 1, 30)
    doubled: float = FIRST_SECONDS * 2.0**doublings
    return min(doubled, LONGEST_BACKOFF_SECONDS) * (0.5 + jitter / 2)


SHORTEST_ATTEMPT = 0.5
"""Seconds that must be left for another attempt."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds to wait for a connection, for the next bytes, and for a call with its retries."""

    connect: float = 3.0
    read: float = 5.0
    total: float = 8.0
    #: at least so long for finding out about a write whose answer was lost, on top of `total` if
    #: that is over
    read_back: float = 4.0
    attempts: int = 3
    #: gives numbers from 0 to 1, which spread the waits
    jitter: Callable[[], float] = SystemRandom().random

    def wait(self, attempt: int, asked: float | None, remaining: float) -> float | None:
        """Seconds to wait after the `attempt`-th attempt (1 for the first), None to give up.

        If the other side asks for a wait beyond the `remaining` seconds, the call ends.
        """
        jitter = self.jitter()
        own = retry_delay(attempt, hint=None, jitter=jitter)
        theirs = retry_delay(attempt, hint=asked, jitter=jitter)
        wait = max(own, theirs)
        if attempt >= self.attempts or wait + SHORTEST_ATTEMPT >= remaining:
            return None
        return wait


USUAL_PATIENCE = Patience()
"""Of the schedule, which comes again soon."""

PEOPLES_PATIENCE = Patience(read=30.0, total=30.0)
"""Of people's acts: a slow service must not make pausing impossible."""


@dataclass(slots=True)
class Failures:
    """Failures in a row: `count` attempts from `since` on, of which `unanswered` got no answer.

    A wait that the other side asked for is an answer: only failures after it lengthen the wait.
    """

    count: int = 0
    unanswered: int = 0
    since: datetime | None = None

    def add(self, began_at: datetime, *, hint: float | None = None) -> timedelta:
        """Count a failure and return the wait; `hint` is the other side's own, in seconds."""
        self.since = self.since or began_at
        self.count += 1
        self.unanswered = self.unanswered + 1 if hint is None else 0
        return timedelta(seconds=retry_delay(self.unanswered, hint=hint, jitter=0.5))

    def end(self) -> None:
        """Reset after a success."""
        self.count = 0
        self.unanswered = 0
        self.since = None


def http_date(sent: str | None) -> datetime | None:
    """A date as in RFC 9110, section 5.6.7, in UTC; None if it is invalid or missing."""
    try:
        moment = parsedate_to_datetime(sent or "")
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None


_LARGEST_STEP = 3
_BITS = 2


@dataclass(slots=True)
class ClaimSize:
    """How many deliveries to claim at once, given how long a claim takes.

    A claim must be sent within a limited time. If a slow machine or database used up most of it,
    the same deliveries would be claimed again and again and never sent. Fewer are then claimed.
    """

    _steps: int = field(default=0, init=False)

    def of(self, most: int) -> int:
        """The current size, which is `most` while transactions are fast."""
        return max(1, most >> _BITS * self._steps)

    def learn(self, took: timedelta, may_take: timedelta) -> None:
        """Adapt to how long the last claim took, of the time it had."""
        step = 1 if 2 * took > may_take else -1
        self._steps = min(_LARGEST_STEP, max(0, self._steps + step))
