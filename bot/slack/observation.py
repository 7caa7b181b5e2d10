"""What a call to Slack says of Slack's health."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class SlackObservation:
    """The calls that Slack didn't answer, as the process that posts knows them."""

    failing_since: datetime | None = None  #: the first since its last answer, None after an answer
    failed_at: datetime | None = None  #: the last one

    def began_at(self, limit: timedelta) -> datetime | None:
        """When an outage began: calls have failed for longer than the limit, and none succeeded."""
        if self.failing_since is None or self.failed_at is None:
            return None
        return self.failing_since if self.failed_at - self.failing_since > limit else None
