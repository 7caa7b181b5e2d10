"""The exported metrics, with a bounded number of series."""

from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

import bot
from bot.kernel.metrics import (
    MOST_CODES,
    Metrics,
    OutboxReading,
    OutboxSummary,
    PollOutcome,
    SuspendedChannel,
)
from tests.support.clock import NOON

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(metrics: Metrics) -> Samples:
    families = text_string_to_metric_families(metrics.render().decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return samples(metrics)[name, tuple(sorted(labels.items()))]


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def test_the_version_and_times_in_seconds_are_reported(metrics: Metrics) -> None:
    assert value(metrics, "mqbot_build_info", version=bot.__version__) == 1
    metrics.acknowledgement.observe(0.02)
    metrics.poll_lateness.observe(0.3)
    metrics.event_to_post.observe(12)
    assert value(metrics, "mqbot_slack_ack_seconds_sum") == 0.02
    assert value(metrics, "mqbot_poll_lateness_seconds_bucket", le="0.25") == 0
    assert value(metrics, "mqbot_poll_lateness_seconds_bucket", le="0.5") == 1
    assert value(metrics, "mqbot_event_to_post_seconds_sum") == 12
    assert value(metrics, "mqbot_event_to_post_seconds_count") == 1


def test_counters_start_at_zero_so_that_the_first_event_shows(metrics: Metrics) -> None:
    metrics.job_failures.labels("post deliveries")
    assert value(metrics, "mqbot_job_failures_total", task="post deliveries") == 0
    assert value(metrics, "mqbot_polls_total", outcome="failed") == 0
    assert value(metrics, "mqbot_slack_rate_limit_waits_total") == 0
    assert value(metrics, "mqbot_messages_not_rendered_total") == 0
    metrics.job_failures.labels("post deliveries").inc()
    metrics.not_rendered.inc(2)
    metrics.polls.labels(PollOutcome.FAILED).inc()
    metrics.slack_waits.inc()
    metrics.slack_wait_seconds.inc(30)
    assert value(metrics, "mqbot_job_failures_total", task="post deliveries") == 1
    assert value(metrics, "mqbot_polls_total", outcome="failed") == 1
    assert value(metrics, "mqbot_slack_rate_limit_waits_total") == 1
    assert value(metrics, "mqbot_slack_rate_limit_wait_seconds_total") == 30
    assert value(metrics, "mqbot_messages_not_rendered_total") == 2
    # Another registry in the same process shares nothing.
    assert value(Metrics(), "mqbot_messages_not_rendered_total") == 0


def test_errors_of_slack_are_reported_by_kind_up_to_a_number_of_kinds(metrics: Metrics) -> None:
    for number in range(MOST_CODES + 50):
        metrics.count_slack_error("chat.postMessage", f"made_up_{number}")
    metrics.count_slack_error("chat.postMessage", "made_up_0")
    name = "mqbot_slack_errors_total"
    found = samples(metrics)
    assert len([one for one, _ in found if one == name]) == MOST_CODES + 1
    assert value(metrics, name, method="chat.postMessage", code="made_up_0") == 2
    assert value(metrics, name, method="other", code="other") == 50


def test_the_outbox_metrics_match_the_last_reading(metrics: Metrics) -> None:
    reading: OutboxReading | None = None
    metrics.watch_outbox(lambda: reading)
    assert "mqbot_outbox_deliveries" not in {name for name, _ in samples(metrics)}
    suspended = SuspendedChannel("C0SECRET", "is_archived", NOON, NOON)
    summary = OutboxSummary(5, 1, 2, NOON - timedelta(minutes=2), [suspended])
    reading = OutboxReading(summary, NOON)
    assert value(metrics, "mqbot_outbox_deliveries", state="pending") == 5
    assert value(metrics, "mqbot_outbox_deliveries", state="sending") == 1
    assert value(metrics, "mqbot_outbox_deliveries", state="in_doubt") == 2
    assert value(metrics, "mqbot_outbox_oldest_seconds") == 120
    assert value(metrics, "mqbot_outbox_suspended_channels") == 1
    assert "C0SECRET" not in metrics.render().decode()
