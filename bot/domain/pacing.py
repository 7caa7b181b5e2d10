"""How fast a channel may be posted to: one message a second, with short bursts."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

BURST = 5
"""Posts that may go out at once after a quiet while (https://docs.slack.dev/apis/web-api/rate-limits
allows bursts over one message a second and channel)."""

PER_SECOND = 1.0


@dataclass(slots=True)
class Pace:
    """A token bucket per channel, and waits that Slack asked for."""

    per_second: float = PER_SECOND
    tokens: dict[str, tuple[float, datetime]] = field(default_factory=dict)
    workspace_until: datetime | None = None

    def wait(self, channel_id: str, now: datetime, *, urgent: bool = False) -> timedelta:
        """How long until the channel may be posted to; zero takes one token.

        Urgent posts are few and go at once, at the cost of those that follow.
        """
        if self.workspace_until is not None and now < self.workspace_until:
            return self.workspace_until - now
        tokens, at = self.tokens.get(channel_id, (float(BURST), now))
        tokens = min(BURST, tokens + (now - at).total_seconds() * self.per_second)
        if tokens < 1 and not (urgent and tokens > -BURST):
            self.tokens[channel_id] = (tokens, now)
            return timedelta(seconds=(1 - tokens) / self.per_second)
        self.tokens[channel_id] = (tokens - 1, now)
        return timedelta()

    def has_room(self, channel_id: str, now: datetime) -> bool:
        """Whether `wait` would let an ordinary post go now; takes nothing."""
        if self.workspace_until is not None and now < self.workspace_until:
            return False
        tokens, at = self.tokens.get(channel_id, (float(BURST), now))
        return tokens + (now - at).total_seconds() * self.per_second >= 1

    def hold_all(self, until: datetime) -> None:
        """Nobody posts before `until`: Slack's limit of the method concerns the workspace."""
        if self.workspace_until is None or until > self.workspace_until:
            self.workspace_until = until
