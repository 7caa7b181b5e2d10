"""Every message of an alert, with outside text wherever it can occur."""

from collections.abc import Mapping
from datetime import timedelta

from bot.domain.message import Message
from bot.domain.queue_health import Alert, AlertKind
from bot.domain.repository import RepositoryName
from bot.messages import alerts
from tests.support.clock import NOON
from tests.support.make import SITE, make_pull_request_record

VALUES = {
    AlertKind.HEAD: (5460, 5400),
    AlertKind.BATCH: (3605, 3600),
    AlertKind.DEPTH: (51, 50),
    AlertKind.FAILURES: (5, 5),
}


def make_alert(
    kind: AlertKind = AlertKind.HEAD,
    *,
    repository: RepositoryName = SITE,
    batch: str = "B12",
    alert_id: int = 0,
) -> Alert:
    """Just over the threshold."""
    value, threshold = VALUES[kind]
    about = None if kind is AlertKind.DEPTH else 42
    named = batch if kind is AlertKind.BATCH else None
    return Alert(repository, kind, value, threshold, NOON, about, named, alert_id=alert_id)


def messages_of_alerts(text: str, url: str) -> Mapping[str, Message]:
    seen = make_pull_request_record(title=text, url=url, author=text)
    lasted = Alert(SITE, AlertKind.BATCH, 1, 1, NOON, 42, text, NOON + timedelta(minutes=25))
    return {
        **{f"alert {kind}": alerts.alert(make_alert(kind, batch=text), seen) for kind in AlertKind},
        "alert without a title": alerts.alert(make_alert()),
        "alert over": alerts.over(lasted),
    }
