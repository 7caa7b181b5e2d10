"""Alerts about queue health, and failures in a row."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import select

from bot.health.alert import Alert, FailureStreak
from bot.health.tables import ALERT_LASTS, alerts, failures_in_a_row
from bot.kernel.repository import RepositoryName
from bot.store.statements import Numbered, as_row


class Alerts(Numbered[Alert]):
    """Alerts about queue health; a repository has one of a kind at a time."""

    kind = Alert
    rows = select(alerts)
    number = alerts.c.alert_id

    def begin(self, alert: Alert) -> int | None:
        """Store an alert and return its id; None if one of its kind is active."""
        added = self._add_new(alerts, as_row(alerts, alert))
        return added[0] if added else None

    def end(self, alert_id: int, at: datetime) -> bool:
        """End an alert; False if it had ended already."""
        return self._change(alerts, alerts.c.alert_id == alert_id, ALERT_LASTS, ended_at=at) > 0

    def active(self, repository: RepositoryName) -> Sequence[Alert]:
        active = self.rows.where(alerts.c.repository == repository, ALERT_LASTS)
        return self._records(Alert, active.order_by(alerts.c.alert_id))

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
