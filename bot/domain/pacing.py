"""How fast a channel may be posted to: one message a second, with short bursts."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

BURST = 5
"""Posts that may go out at once after a quiet while (https://docs.slack.dev/apis/web-api/rate-limits
allows bursts over one message a second and channel)."""

PER_SECOND = 1.0


@dataclass(slots=True)
class Pace:
    """A token bucket per channel, and waits that Slack asked for.

    `held`: since when, and until when, nobody posts. A clock that is set back gives no tokens and
    makes no wait longer than it was.
    """

    per_second: float = PER_SECOND
    tokens: dict[str, tuple[float, datetime]] = field(default_factory=dict)
    held: tuple[datetime, datetime] | None = None

    def wait(self, channel_id: str, now: datetime, *, urgent: bool = False) -> timedelta:
        """How long until the channel may be posted to; zero takes one token.

        Urgent posts are few and go at once, at the cost of those that follow.
        """
        held = self._held(now)
        if held:
            return held
        tokens = self._tokens(channel_id, now)
        if tokens < 1 and not (urgent and tokens > -BURST):
            self.tokens[channel_id] = (tokens, now)
            wait = timedelta(seconds=(1 - tokens) / self.per_second)
            # Zero would be permission.
            return max(wait, timedelta.resolution)
        self.tokens[channel_id] = (tokens - 1, now)
        return timedelta()

    def has_room(self, channel_id: str, now: datetime) -> bool:
        """Whether `wait` would let an ordinary post go now; takes nothing."""
        return not self._held(now) and self._tokens(channel_id, now) >= 1

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

    def _tokens(self, channel_id: str, now: datetime) -> float:
        tokens, at = self.tokens.get(channel_id, (float(BURST), now))
        passed = max((now - at).total_seconds(), 0.0)
        return min(BURST, tokens + passed * self.per_second)
