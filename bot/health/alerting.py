"""Begin and end alerts about a queue, and keep what they name as the cause up to date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic, subscribed_channels
from bot.doctor.diagnosis import QueueCause
from bot.health.alert import Alert, AlertKind, AlertRules, Measurement, changed_alerts, measurements
from bot.health.cause import (
    DETECTED,
    EXAMINED_AFTER,
    EXAMINED_FAILURES,
    CauseWatch,
    ToldCause,
)
from bot.health.rows import AlertCauses, Alerts
from bot.kernel.repository import RepositoryName
from bot.log.preceding import LONGEST_QUEUE_TIME
from bot.merge_queue.queue import QueueStatus
from bot.pauses.rows import Pauses
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent, open_live_messages, reply
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """What is measured of a queue, and the alerts that are active."""

    repository: RepositoryName
    measured: Mapping[AlertKind, Measurement]
    active: Sequence[Alert]
    is_paused: bool
    at: datetime

    def is_to_examine(self, rules: AlertRules, watch: CauseWatch) -> bool:
        """Whether its cause may have changed, or may begin an alert."""
        if self.is_paused or not watch.is_due(self.at):
            return False
        if self.active:
            return True
        if AlertKind.CAUSE not in rules.thresholds:
            return False
        head = self.measured.get(AlertKind.HEAD, Measurement())
        has_waited = timedelta(seconds=head.value) > EXAMINED_AFTER
        has_failed = self.measured[AlertKind.FAILURES].value >= EXAMINED_FAILURES
        return has_waited or has_failed or watch.found is not None

    def changes(self, rules: AlertRules, watch: CauseWatch) -> Sequence[Alert]:
        """The alerts that begin and end."""
        lasted = watch.lasted(DETECTED, self.at)
        found = {AlertKind.CAUSE: Measurement(int(lasted.total_seconds()))}
        measured = {**self.measured, **found}
        return changed_alerts(
            measured,
            self.active,
            rules.thresholds,
            self.repository,
            self.at,
            is_paused=self.is_paused,
        )

    def is_told(self, cause: QueueCause | None) -> bool:
        """Whether the active alerts show this cause in these words."""
        return all(alert.cause == cause for alert in self.active)

    def take_over(self, watch: CauseWatch) -> None:
        """Continue, in a process that has just started, from what the alerts show."""
        if watch.examined_at is not None or not self.active:
            return
        alert = next((a for a in self.active if a.kind is AlertKind.CAUSE), self.active[0])
        lasted = timedelta(seconds=alert.value) if alert.kind is AlertKind.CAUSE else timedelta()
        watch.begin_with(alert.cause, alert.began_at - lasted, self.at)


def measure(
    transaction: Transaction, repository: RepositoryName, status: QueueStatus, now: datetime
) -> QueueHealth:
    """The health of a queue with this status."""
    alerts = Alerts(transaction)
    pauses = Pauses(transaction).of(repository, now - LONGEST_QUEUE_TIME)
    is_paused = bool(status.paused) or any(pause.is_open for pause in pauses)
    measured = measurements(status, alerts.streak(repository), pauses, now)
    return QueueHealth(repository, measured, alerts.active(repository), is_paused, now)


def store_alerts(
    transaction: Transaction, rules: AlertRules, health: QueueHealth, watch: CauseWatch
) -> None:
    """Begin and end alerts, and show the cause in those that go on."""
    over: set[int] = set()
    for alert in health.changes(rules, watch):
        if alert.ended_at is None:
            _begin_alert(transaction, rules, alert, watch.cause)
        else:
            over.add(alert.alert_id)
            _end_alert(transaction, alert, health.at, is_told=alert.kind in rules.thresholds)
    if health.is_paused:
        return
    for alert in health.active:
        if alert.alert_id not in over and alert.cause != watch.cause:
            _show_cause(transaction, alert, watch.cause, health.at)


def _begin_alert(
    transaction: Transaction, rules: AlertRules, alert: Alert, cause: QueueCause | None
) -> None:
    begun = replace(alert, mention=rules.mention, cause=cause)
    alert_id = Alerts(transaction).begin(begun)
    if alert_id is None:
        return
    if cause is not None:
        AlertCauses(transaction).add(
            _told(replace(begun, alert_id=alert_id), cause, begun.began_at)
        )
    identity = _identity(begun)
    channels = _channels(transaction, begun.repository)
    subject = _subject(begun.repository, alert_id)
    open_live_messages(transaction, subject, channels, begun.began_at, identity=identity)


def _end_alert(transaction: Transaction, alert: Alert, now: datetime, *, is_told: bool) -> None:
    """`is_told`: its channels are notified; nobody is of an alert that was switched off."""
    if not Alerts(transaction).end(alert.alert_id, now):
        return
    subject = _subject(alert.repository, alert.alert_id)
    LiveMessages(transaction).mark(subject, due_at=now, closed=True)
    if is_told:
        about = Subject(SubjectKind.ALERT_OVER, alert.repository, alert.alert_id)
        channels = _channels(transaction, alert.repository)
        enqueue_urgent(transaction, about, channels, now, identity=_identity(alert))


def _show_cause(
    transaction: Transaction, alert: Alert, cause: QueueCause | None, now: datetime
) -> None:
    """Have the messages edited; their threads get a line for a verdict that is new to them."""
    if not Alerts(transaction).show(alert.alert_id, cause):
        return
    subject = _subject(alert.repository, alert.alert_id)
    messages = LiveMessages(transaction)
    messages.mark(subject, due_at=now)
    if cause is None:
        return
    cause_id = AlertCauses(transaction).add(_told(alert, cause, now))
    if cause_id is not None:
        about = Subject(SubjectKind.ALERT_CAUSE, alert.repository, cause_id)
        identity = f"{_identity(alert)} {cause.verdict}"
        reply(transaction, about, messages.of(subject), now, identity=identity)


def _told(alert: Alert, cause: QueueCause, now: datetime) -> ToldCause:
    return ToldCause(alert.alert_id, alert.repository, cause.verdict, cause.said, now)


def _subject(repository: RepositoryName, alert_id: int) -> LiveSubject:
    return LiveSubject(LiveKind.ALERT, repository, str(alert_id))


def _identity(alert: Alert) -> str:
    return f"{alert.kind} {alert.began_at.isoformat()}"


def _channels(transaction: Transaction, repository: RepositoryName) -> Sequence[str]:
    subscriptions = Subscriptions(transaction).of_repository(repository)
    return sorted(subscribed_channels(subscriptions, Topic.HEALTH))
