"""Alerts about queue health, and failures in a row."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import select
from typing_extensions import override

from bot.doctor.diagnosis import QueueCause
from bot.health.alert import Alert, FailureStreak
from bot.health.cause import ToldCause
from bot.health.tables import ALERT_LASTS, alert_causes, alerts, failures_in_a_row
from bot.kernel.repository import RepositoryName
from bot.store.statements import Numbered, ResultRow, as_row, from_row


class AlertCauses(Numbered[ToldCause]):
    """The causes that the threads of alerts have named."""

    kind = ToldCause
    rows = select(alert_causes)
    number = alert_causes.c.cause_id

    def add(self, told: ToldCause) -> int | None:
        """Store one and return its id; None if the alert has named that verdict before."""
        added = self._add_new(alert_causes, as_row(alert_causes, told))
        return added[0] if added else None


class Alerts(Numbered[Alert]):
    """Alerts about queue health; a repository has one of a kind at a time."""

    kind = Alert
    rows = select(alerts)
    number = alerts.c.alert_id

    @override
    def _read(self, row: ResultRow) -> Alert:
        cause: QueueCause | None = None
        if row.verdict is not None:
            cause = QueueCause(row.verdict, row.cause, row.evidence)
        return from_row(Alert, row, cause=cause)

    def begin(self, alert: Alert) -> int | None:
        """Store an alert and return its id; None if one of its kind is active."""
        row = as_row(alerts, alert) | _columns_of(alert.cause)
        added = self._add_new(alerts, row)
        return added[0] if added else None

    def end(self, alert_id: int, at: datetime) -> bool:
        """End an alert; False if it had ended already."""
        return self._change(alerts, alerts.c.alert_id == alert_id, ALERT_LASTS, ended_at=at) > 0

    def show(self, alert_id: int, cause: QueueCause | None) -> bool:
        """Store what an active alert shows as its cause; False if it has ended."""
        this = alerts.c.alert_id == alert_id
        return self._change(alerts, this, ALERT_LASTS, **_columns_of(cause)) > 0

    def active(self, repository: RepositoryName) -> Sequence[Alert]:
        active = self.rows.where(alerts.c.repository == repository, ALERT_LASTS)
        return self._all(active.order_by(alerts.c.alert_id))

    def streak(self, repository: RepositoryName) -> FailureStreak:
        """The failures in a row; none if nothing is stored."""
        failed = failures_in_a_row.c
        streak = select(failed.pull_requests).where(failed.repository == repository)
        stored = self._run(streak).scalar_one_or_none()
        return FailureStreak(stored or ())

    def save_streak(self, repository: RepositoryName, streak: FailureStreak) -> None:
        row = {"repository": repository, "pull_requests": streak.pull_requests}
        self._put(failures_in_a_row, row)

    def forget(self, names: Collection[RepositoryName], at: datetime) -> None:
        """End active alerts and reset the counts of queues that no channel is subscribed to."""
        of_these = alerts.c.repository.in_(sorted(names))
        self._change(alerts, of_these, ALERT_LASTS, ended_at=at)
        self._remove(failures_in_a_row, failures_in_a_row.c.repository.in_(sorted(names)))


def _columns_of(cause: QueueCause | None) -> dict[str, object]:
    if cause is None:
        return {"verdict": None, "cause": None, "evidence": None}
    return {"verdict": cause.verdict, "cause": cause.said, "evidence": cause.evidence}
