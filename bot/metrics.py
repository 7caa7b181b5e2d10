"""Metrics for Prometheus, in one registry of this process."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
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
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from typing_extensions import override

import bot
from bot.domain.deliveries import OutboxSummary
from bot.ports import LogProblem, Measures, PollOutcome, ServiceCounts

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

ACKNOWLEDGEMENT_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3)
"""Slack waits three seconds."""

LATENESS_SECONDS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300)
EVENT_SECONDS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 900, 3600)

MOST_CODES = 100
"""The most pairs of method and code counted separately; later ones count as `other`.

Slack has more codes than that, and another server may have any number.
"""

OTHER = "other"


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
        histogram = partial(Histogram, registry=registry)
        counter = partial(Counter, registry=registry)
        self._acknowledgements = histogram(
            "mqbot_slack_ack_seconds",
            "From reading a request of Slack to acknowledging it",
            buckets=ACKNOWLEDGEMENT_SECONDS,
        )
        self._lateness = histogram(
            "mqbot_poll_lateness_seconds",
            "From the time a poll of an event log was due to its first request",
            buckets=LATENESS_SECONDS,
        )
        self._posts = histogram(
            "mqbot_event_to_post_seconds",
            "From the service's own time of an event to its post in Slack",
            buckets=EVENT_SECONDS,
        )
        self._not_rendered = counter(
            "mqbot_messages_not_rendered",
            "Messages posted as plain text or not edited, because of a defect in the bot",
        )
        self._polls = counter("mqbot_polls", "Polls that ended, by outcome", ["outcome"])
        self._log_problems = counter(
            "mqbot_event_log_problems", "What was wrong with event logs, by kind", ["problem"]
        )
        self._waits = counter(
            "mqbot_slack_rate_limit_waits", "Times Slack closed a method to us for its rate"
        )
        self._waited = counter(
            "mqbot_slack_rate_limit_wait_seconds", "For how many seconds, added up"
        )
        self._slack_errors = counter(
            "mqbot_slack_errors",
            "Calls of Slack that failed, answers to people included",
            ["method", "code"],
        )
        self._job_failures = counter(
            "mqbot_job_failures", "Runs of scheduled jobs that failed", ["task"]
        )
        self._codes: set[tuple[str, str]] = set()
        for outcome in PollOutcome:
            self._polls.labels(outcome)
        for problem in LogProblem:
            self._log_problems.labels(problem)

    @override
    def acknowledged(self, seconds: float) -> None:
        self._acknowledgements.observe(seconds)

    @override
    def poll_started(self, late: timedelta) -> None:
        self._lateness.observe(_seconds(late))

    @override
    def poll_ended(self, outcome: PollOutcome) -> None:
        self._polls.labels(outcome).inc()

    @override
    def log_problem(self, problem: LogProblem) -> None:
        self._log_problems.labels(problem).inc()

    @override
    def posted(self, after: timedelta) -> None:
        self._posts.observe(_seconds(after))

    @override
    def not_rendered(self, count: int) -> None:
        self._not_rendered.inc(count)

    @override
    def slack_limited(self, seconds: float) -> None:
        self._waits.inc()
        self._waited.inc(seconds)

    @override
    def slack_failed(self, method: str, code: str) -> None:
        kind = (method, code)
        if kind not in self._codes and len(self._codes) >= MOST_CODES:
            kind = (OTHER, OTHER)
        self._codes.add(kind)
        self._slack_errors.labels(*kind).inc()

    @override
    def job_failed(self, job: str) -> None:
        self._job_failures.labels(job).inc()

    @override
    def job_known(self, job: str) -> None:
        self._job_failures.labels(job)

    def watch(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        """Add a gauge that is read when scraped."""
        Gauge(name, help_text, registry=self._registry).set_function(read)

    def watch_service(self, counts: ServiceCounts) -> None:
        self._registry.register(_ServiceCollector(counts))

    def watch_outbox(self, read: Callable[[], "OutboxReading | None"]) -> None:
        """Add gauges of the outbox, absent while `read` returns None."""
        self._registry.register(_OutboxCollector(read))

    def render(self) -> bytes:
        return generate_latest(self._registry)


class OutboxReading(NamedTuple):
    """The unsettled deliveries at a point in time."""

    summary: OutboxSummary
    read_at: datetime


_ENDPOINT = ("endpoint",)
_SERVICE: Mapping[str, tuple[str, str, Sequence[str]]] = {
    "outcomes": (
        "requests",
        (
            "Attempts of requests to the merge queue service; an outcome is the HTTP status, "
            "unreachable (did not arrive) or lost (no answer)"
        ),
        ("endpoint", "outcome"),
    ),
    "retries": ("retries", "Requests sent again", _ENDPOINT),
    "unreadable_answers": (
        "unreadable_answers",
        "Answers of the service that could not be read",
        _ENDPOINT,
    ),
    "unreadable_events": ("unreadable_events", "Events kept unread", ()),
    "unreadable_metadata": (
        "unreadable_metadata",
        "Events posted with less detail, because their metadata could not be read in full",
        (),
    ),
    "rate_limit_waits": (
        "rate_limit_waits",
        "Answers of the service that asked us to wait for its rate",
        (),
    ),
    "rate_limit_seconds": ("rate_limit_wait_seconds", "For how many seconds, added up", ()),
}
"""By field of ServiceCounts: the metric's name, text and labels."""


class _ServiceCollector(Collector):
    """Exports counters that the client increments."""

    def __init__(self, counts: ServiceCounts) -> None:
        self._counts = counts

    @override
    def collect(self) -> Iterator[Metric]:
        for field, (name, help_text, labels) in _SERVICE.items():
            family = CounterMetricFamily(f"mqbot_service_{name}", help_text, labels=labels)
            counted = getattr(self._counts, field)
            for values, count in counted.items() if labels else [((), counted)]:
                family.add_metric([values] if isinstance(values, str) else values, count)
            yield family


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
            age.add_metric([], _seconds(read_at - (summary.oldest_created_at or read_at)))
            suspended.add_metric([], len(summary.suspended))
        yield from (depth, age, suspended)


def _seconds(span: timedelta) -> float:
    return max(0.0, span.total_seconds())
