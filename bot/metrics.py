"""Metrics for Prometheus, in one registry of this process."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
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
from bot.domain.deliveries import OutboxSummary
from bot.ports import Count, LogProblem, Measures, PollOutcome, Time

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

MOST_CODES = 100
"""The most pairs of method and code counted separately; later ones count as `other`.

Slack has more codes than that, and another server may have any number.
"""

OTHER = "other"


_TIMES: Mapping[Time, tuple[str, Sequence[float]]] = {
    Time.ACKNOWLEDGEMENT: (
        "From reading a request of Slack to acknowledging it",
        # Slack waits three seconds.
        (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3),
    ),
    Time.POLL_LATENESS: (
        "From the time a poll of an event log was due to its first request",
        (0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300),
    ),
    Time.EVENT_TO_POST: (
        "From the service's own time of an event to its post in Slack",
        (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 900, 3600),
    ),
}
_COUNTS: Mapping[Count, tuple[str, Sequence[str]]] = {
    Count.NOT_RENDERED: (
        "Messages posted as plain text or not edited, because of a defect in the bot",
        (),
    ),
    Count.POLLS: ("Polls that ended, by outcome", ["outcome"]),
    Count.LOG_PROBLEMS: ("What was wrong with event logs, by kind", ["problem"]),
    Count.SLACK_WAITS: ("Times Slack closed a method to us for its rate", ()),
    Count.SLACK_WAIT_SECONDS: ("For how many seconds, added up", ()),
    Count.SLACK_ERRORS: (
        "Calls of Slack that failed, answers to people included",
        ["method", "code"],
    ),
    Count.SERVICE_REQUESTS: (
        (
            "Attempts of requests to the merge queue service; an outcome is the HTTP status, "
            "unreachable (did not arrive) or lost (no answer)"
        ),
        ["endpoint", "outcome"],
    ),
    Count.SERVICE_RETRIES: ("Requests sent again", ["endpoint"]),
    Count.SERVICE_UNREADABLE_ANSWERS: (
        "Answers of the service that could not be read",
        ["endpoint"],
    ),
    Count.SERVICE_UNREADABLE_EVENTS: ("Events kept unread", ()),
    Count.SERVICE_UNREADABLE_METADATA: (
        "Events posted with less detail, because their metadata could not be read in full",
        (),
    ),
    Count.SERVICE_WAITS: ("Answers of the service that asked us to wait for its rate", ()),
    Count.SERVICE_WAIT_SECONDS: ("For how many seconds, added up", ()),
    Count.JOB_FAILURES: ("Runs of scheduled jobs that failed", ["task"]),
}


class Metrics(Measures):
    """Measures in memory; `render` returns them in Prometheus's text format.

    No label holds names of people or repositories, so the number of series depends only on the
    program.
    """

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        build = Info("mqbot_build", "The version that runs", registry=registry)
        build.info({"version": bot.__version__})
        self._times = {
            what: Histogram(f"mqbot_{what}", text, buckets=buckets, registry=registry)
            for what, (text, buckets) in _TIMES.items()
        }
        self._counts = {
            what: Counter(f"mqbot_{what}", text, labels, registry=registry)
            for what, (text, labels) in _COUNTS.items()
        }
        self._codes: set[tuple[str, ...]] = set()
        for outcome in PollOutcome:
            self.count(Count.POLLS, outcome, by=0)
        for problem in LogProblem:
            self.count(Count.LOG_PROBLEMS, problem, by=0)

    @override
    def count(self, what: Count, *labels: str, by: float = 1) -> None:
        if what is Count.SLACK_ERRORS:
            if labels not in self._codes and len(self._codes) >= MOST_CODES:
                labels = (OTHER, OTHER)
            self._codes.add(labels)
        counter = self._counts[what]
        (counter.labels(*labels) if labels else counter).inc(by)

    @override
    def time(self, what: Time, seconds: float) -> None:
        self._times[what].observe(max(0.0, seconds))

    def watch(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        """Add a gauge that is read when scraped."""
        Gauge(name, help_text, registry=self._registry).set_function(read)

    def watch_outbox(self, read: Callable[[], "OutboxReading | None"]) -> None:
        """Add gauges of the outbox, absent while `read` returns None."""
        self._registry.register(_OutboxCollector(read))

    def render(self) -> bytes:
        return generate_latest(self._registry)


class OutboxReading(NamedTuple):
    """The unsettled deliveries at a point in time."""

    summary: OutboxSummary
    read_at: datetime


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
            "Age of the oldest of them in channels that Slack does not refuse",
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
