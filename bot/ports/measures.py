"""What is measured while the bot works, for whoever watches it."""

from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from typing_extensions import override


class PollOutcome(StrEnum):
    """How a poll of an event log ended."""

    READ = "read"
    FAILED = "failed"
    LEASE_LOST = "lease_lost"


class LogProblem(StrEnum):
    """What is wrong with an event log as the service gives it."""

    CURSOR_REFUSED = "cursor_refused"
    ENDLESS = "endless_links"
    WRONG_TIME = "wrong_time"
    DUPLICATE_ID = "duplicate_id"


class Measures(Protocol):
    """Counts and times. Never raises and never waits; no argument is text from outside.

    `slack_failed` alone is told what Slack said: whoever keeps it bounds it.
    """

    def acknowledged(self, seconds: float) -> None:
        """Slack was answered so long after its request was read."""
        ...

    def poll_started(self, late: timedelta) -> None:
        """A poll asked the service so long after it was due."""
        ...

    def poll_ended(self, outcome: PollOutcome) -> None: ...

    def log_problem(self, problem: LogProblem) -> None: ...

    def posted(self, after: timedelta) -> None:
        """An event was posted so long after the service recorded it; clocks may disagree."""
        ...

    def not_rendered(self, count: int) -> None:
        """So many messages became plain text because a defect kept them from being rendered."""
        ...

    def slack_limited(self, seconds: float) -> None:
        """Slack has closed a method to us for so long, because of its rate."""
        ...

    def slack_failed(self, method: str, code: str) -> None:
        """A call of a Web API method failed; `code` is Slack's, or what our side calls it."""
        ...

    def job_known(self, job: str) -> None:
        """So that a job's first failure shows as a change."""
        ...

    def job_failed(self, job: str) -> None: ...


class Unmeasured(Measures):
    """Nobody watches."""

    @override
    def acknowledged(self, seconds: float) -> None: ...

    @override
    def poll_started(self, late: timedelta) -> None: ...

    @override
    def poll_ended(self, outcome: PollOutcome) -> None: ...

    @override
    def log_problem(self, problem: LogProblem) -> None: ...

    @override
    def posted(self, after: timedelta) -> None: ...

    @override
    def not_rendered(self, count: int) -> None: ...

    @override
    def slack_limited(self, seconds: float) -> None: ...

    @override
    def slack_failed(self, method: str, code: str) -> None: ...

    @override
    def job_known(self, job: str) -> None: ...

    @override
    def job_failed(self, job: str) -> None: ...


UNMEASURED = Unmeasured()
