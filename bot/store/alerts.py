"""Alerts about queue health, failures in a row, and outages."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import func, select

from bot.domain.outages import Outage
from bot.domain.queue_health import Alert, FailureStreak
from bot.domain.repository import RepositoryName
from bot.store.statements import Numbered, as_row
from bot.store.tables import IS_OUTAGE, LASTS, alerts, repositories


class Alerts(Numbered[Alert]):
    """Alerts about queue health; a repository has one of a kind at a time."""

    kind, rows, number = Alert, select(alerts).where(~IS_OUTAGE), alerts.c.alert_id

    def begin(self, alert: Alert) -> int | None:
        """Store an alert and return its id; None if one of its kind is active."""
        return next(iter(self._add_new(alerts, as_row(alerts, alert))), None)

    def end(self, alert_id: int, at: datetime) -> bool:
        """End an alert; False if it had ended already."""
        return self._change(alerts, alerts.c.alert_id == alert_id, LASTS, ended_at=at) > 0

    def active(self, repository: RepositoryName) -> Sequence[Alert]:
        active = self.rows.where(alerts.c.repository == repository, LASTS)
        return self._records(Alert, active.order_by(alerts.c.alert_id))

    def streak(self, repository: RepositoryName) -> FailureStreak:
        """The failures in a row; none if nothing is stored."""
        columns = repositories.c
        counted = columns.repository == repository, columns.failures.is_not(None)
        streak = select(columns.failures, columns.failed_pull_request).where(*counted)
        return FailureStreak(*(self._run(streak).one_or_none() or ()))

    def save_streak(self, repository: RepositoryName, streak: FailureStreak) -> None:
        row: dict[str, object] = {"repository": repository, "failures": streak.failures}
        self._put(repositories, row | {"failed_pull_request": streak.pull_request})

    def forget(self, names: Collection[RepositoryName], at: datetime) -> None:
        """End active alerts and reset the counts of queues that no channel is subscribed to."""
        of_these = alerts.c.repository.in_(sorted(names))
        self._change(alerts, of_these, LASTS, ~IS_OUTAGE, ended_at=at)
        these = repositories.c.repository.in_(sorted(names))
        counted = repositories.c.failures.is_not(None)
        self._change(repositories, these, counted, failures=None, failed_pull_request=None)


class Outages(Numbered[Outage]):
    """What can't be read: event logs together, or Slack; an outage has no kind.

    Processes that notify of outages of event logs take the lock `hold("outages")` first.
    """

    kind, rows, number = Outage, select(alerts).where(IS_OUTAGE), alerts.c.alert_id

    def add(self, begun: Outage) -> int:
        return self._add(alerts, _outage_row(begun))

    def save(self, changed: Outage) -> bool:
        """Replace an active outage; False if it has ended."""
        this = alerts.c.alert_id == changed.alert_id
        return self._change(alerts, this, LASTS, **_outage_row(changed)) > 0

    def active(self) -> Sequence[Outage]:
        """Active outages, oldest first."""
        return self._records(Outage, self.rows.where(LASTS).order_by(alerts.c.alert_id))

    def last_end(self) -> datetime | None:
        """When the last outage of event logs ended; None if none has."""
        is_of_logs = alerts.c.repository.is_not(None)
        ended = self._run(select(func.max(alerts.c.ended_at)).where(IS_OUTAGE, is_of_logs))
        last: datetime | None = ended.scalar_one()
        return last


def _outage_row(outage: Outage) -> dict[str, object]:
    return as_row(alerts, outage, repository=next(iter(outage.repositories), None))
