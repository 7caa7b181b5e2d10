"""Metrics for Prometheus, in one registry of this process."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from typing_extensions import override

import bot


@dataclass(frozen=True, slots=True)
class SuspendedChannel:
    """A channel where Slack refuses posts; its first delivery is retried at `retry_at`."""

    channel_id: str
    code: str
    suspended_at: datetime
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class OutboxSummary:
    """Unsettled deliveries: counts, and the age of the oldest outside suspended channels."""

    pending: int
    sending: int
    in_doubt: int
    oldest_created_at: datetime | None
    suspended: Sequence[SuspendedChannel]  #: the suspended channels with waiting deliveries


CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


MOST_CODES = 100
"""The most pairs of method and code counted separately; later ones count as `other`.

Slack has more codes than that, and another server may have any number.
"""


OTHER_LABEL = "other"


class PollOutcome(StrEnum):
    """The result of polling an event log."""

    READ = "read"
    FAILED = "failed"
    LEASE_LOST = "lease_lost"


class LogProblem(StrEnum):
    """A problem with the service's event log."""

    CURSOR_REFUSED = "cursor_refused"
    ENDLESS = "endless_links"
    WRONG_TIME = "wrong_time"
    DUPLICATE_ID = "duplicate_id"


SLACK_REQUESTS = ("accepted", "unsigned", "clock", "ended", "secret", "foreign")
"""The outcomes of requests over HTTP in Slack's name."""


class Metrics:
    """The metrics of a process; `render` returns them in Prometheus's text format.

    No label holds names of people or repositories, so the number of series depends only on the
    program.
    """

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._slack_codes: set[tuple[str, str]] = set()
        ProcessCollector(registry=registry)
        build = Info("mqbot_build", "The version that runs", registry=registry)
        build.info({"version": bot.__version__})
        self.acknowledgement = Histogram(
            "mqbot_slack_ack_seconds",
            "From reading a request of Slack to acknowledging it",
            # Slack waits three seconds.
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3),
            registry=registry,
        )
        self.poll_lateness = Histogram(
            "mqbot_poll_lateness_seconds",
            "From the time a poll of an event log was due to its first request",
            buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300),
            registry=registry,
        )
        self.event_to_post = Histogram(
            "mqbot_event_to_post_seconds",
            "From the service's own time of an event to its post in Slack",
            buckets=(1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 900, 3600),
            registry=registry,
        )

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"mqbot_{name}", text, labels, registry=registry)

        self.not_rendered = counter(
            "messages_not_rendered",
            "Messages posted as plain text or not edited, because of a defect in the bot",
        )
        self.polls = counter("polls", "Polls that ended, by outcome", "outcome")
        self.log_problems = counter(
            "event_log_problems", "What was wrong with event logs, by kind", "problem"
        )
        for labelled, values in ((self.polls, PollOutcome), (self.log_problems, LogProblem)):
            for value in values:
                labelled.labels(value)
        self.slack_requests = counter(
            "slack_requests",
            "Requests over HTTP in Slack's name: accepted, or refused because unsigned, for their "
            "clock, their secret, or one whose last day is over; foreign if the secret is wrong "
            "and the workspace isn't named",
            "outcome",
        )
        # The first failure shows as a change.
        for outcome in SLACK_REQUESTS:
            self.slack_requests.labels(outcome)
        self.slack_waits = counter(
            "slack_rate_limit_waits", "Times Slack closed a method to us for its rate"
        )
        self.slack_wait_seconds = counter(
            "slack_rate_limit_wait_seconds", "Seconds for which Slack closed methods to us"
        )
        self._slack_errors = counter(
            "slack_errors",
            "Calls of Slack that failed, answers to people included",
            "method",
            "code",
        )
        self.service_requests = counter(
            "service_requests",
            "Attempts of requests to the merge queue service; an outcome is the HTTP status, "
            "unreachable (did not arrive) or lost (no answer)",
            "endpoint",
            "outcome",
        )
        self.service_retries = counter("service_retries", "Requests sent again", "endpoint")
        self.service_unreadable_answers = counter(
            "service_unreadable_answers",
            "Answers of the service that could not be read",
            "endpoint",
        )
        self.service_unreadable_events = counter("service_unreadable_events", "Events kept unread")
        self.service_unreadable_metadata = counter(
            "service_unreadable_metadata",
            "Events posted with less detail, because their metadata could not be read in full",
        )
        self.service_waits = counter(
            "service_rate_limit_waits",
            "Answers of the service that asked us to wait for its rate",
        )
        self.service_wait_seconds = counter(
            "service_rate_limit_wait_seconds",
            "Seconds for which the service asked us to wait for its rate",
        )
        self.job_failures = counter("job_failures", "Runs of scheduled jobs that failed", "task")

    def count_slack_error(self, method: str, code: str) -> None:
        """Count a failed call by Slack's code, or ours; the most pairs are `MOST_CODES`."""
        labels = method, code
        if labels not in self._slack_codes and len(self._slack_codes) >= MOST_CODES:
            labels = OTHER_LABEL, OTHER_LABEL
        self._slack_codes.add(labels)
        self._slack_errors.labels(*labels).inc()

    def watch(self, name: str, help_text: str, read: Callable[[], float | None]) -> None:
        """Add a gauge that is read when scraped; absent while `read` returns None."""
        self._registry.register(_Watched(name, help_text, read))

    def watch_outbox(self, read: Callable[[], "OutboxReading | None"]) -> None:
        """Add gauges of the outbox, absent while `read` returns None."""
        self._registry.register(_OutboxCollector(read))

    def render(self) -> bytes:
        return generate_latest(self._registry)


class OutboxReading(NamedTuple):
    """The unsettled deliveries at a point in time."""

    summary: OutboxSummary
    read_at: datetime


class _Watched(Collector):
    def __init__(self, name: str, help_text: str, read: Callable[[], float | None]) -> None:
        self._name = name
        self._help_text = help_text
        self._read = read

    @override
    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(self._name, self._help_text, value=self._read())


class _OutboxCollector(Collector):
    def __init__(self, read: Callable[[], OutboxReading | None]) -> None:
        self._read = read

    @override
    def collect(self) -> Iterator[Metric]:
        depth = GaugeMetricFamily(
            "mqbot_outbox_deliveries", "Deliveries that are not settled", labels=["state"]
        )
        age = GaugeMetricFamily(
            "mqbot_outbox_oldest_seconds",
            "Age of the oldest unsettled delivery in channels that Slack doesn't refuse",
        )
        suspended = GaugeMetricFamily(
            "mqbot_outbox_suspended_channels", "Channels that Slack refuses posts to"
        )
        reading = self._read()
        if reading is not None:
            summary, read_at = reading
            depth.add_metric(["pending"], summary.pending)
            depth.add_metric(["sending"], summary.sending)
            depth.add_metric(["in_doubt"], summary.in_doubt)
            oldest = read_at - (summary.oldest_created_at or read_at)
            age.add_metric([], max(0.0, oldest.total_seconds()))
            suspended.add_metric([], len(summary.suspended))
        yield from (depth, age, suspended)


UNSCRAPED: Metrics = Metrics()
"""Those of parts that run alone, which nobody reads."""
