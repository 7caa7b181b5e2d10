"""The messages of alerts, compared with the JSON files in `snapshots/`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.message import Message
from bot.domain.queue_health import AlertKind
from bot.messages import alerts
from tests.support.alert_messages import make_alert
from tests.support.clock import NOON
from tests.support.make import make_pull_request_record
from tests.support.snapshots import Snapshots

SEEN = make_pull_request_record(42)


def over(kind: AlertKind) -> Message:
    return alerts.over(replace(make_alert(kind), ended_at=NOON + timedelta(minutes=25)))


MESSAGES: Mapping[str, Callable[[], Message]] = {
    "head": lambda: alerts.alert(make_alert(AlertKind.HEAD), SEEN),
    "head_without_a_title": lambda: alerts.alert(make_alert(AlertKind.HEAD)),
    "batch": lambda: alerts.alert(make_alert(AlertKind.BATCH), SEEN),
    "depth": lambda: alerts.alert(make_alert(AlertKind.DEPTH)),
    "failures": lambda: alerts.alert(make_alert(AlertKind.FAILURES), SEEN),
    "head_over": lambda: over(AlertKind.HEAD),
    "batch_over": lambda: over(AlertKind.BATCH),
    "depth_over": lambda: over(AlertKind.DEPTH),
    "failures_over": lambda: over(AlertKind.FAILURES),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_the_message_is_as_reviewed(name: str, snapshots: Snapshots) -> None:
    snapshots.check(name, MESSAGES[name]())


def test_every_snapshot_is_of_a_message(snapshots: Snapshots) -> None:
    snapshots.check_names(MESSAGES)


@pytest.mark.parametrize("kind", AlertKind)
def test_the_fallback_text_shows_the_problem_numbers_and_fix(kind: AlertKind) -> None:
    reported = alerts.alert(make_alert(kind), SEEN)
    shown, hint, _ = reported.blocks
    assert "acme/site" in reported.text
    assert "limit" in reported.text
    assert str(hint["elements"]).count(reported.text[-40:]) == 1
    assert "Queue alert" in str(shown)
