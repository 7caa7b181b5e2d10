"""Alerts about queues, and failures in a row."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import delete, select, update

from bot.domain.alerts import Alert
from bot.domain.queue_condition import FailureStreak
from bot.domain.repository import RepositoryName
from bot.storage.statements import Statements, slices
from bot.storage.tables import alerts, failure_streaks


class SqlQueueCondition:
    """A row an alert; an index holds those that last, one of a kind for a repository."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def begin(self, alert: Alert) -> int | None:
        values = asdict(alert)
        del values["alert_id"]
        added = self._statements.run(
            self._statements.insert(alerts)
            .values(**values)
            .on_conflict_do_nothing(
                index_elements=[alerts.c.repository, alerts.c.kind],
                index_where=alerts.c.ended_at.is_(None),
            )
            .returning(alerts.c.alert_id)
        )
        alert_id: int | None = added.scalar_one_or_none()
        return alert_id

    def end(self, alert_id: int, at: datetime) -> bool:
        ended = self._statements.run(
            update(alerts)
            .where(alerts.c.alert_id == alert_id, alerts.c.ended_at.is_(None))
            .values(ended_at=at)
        )
        return ended.rowcount > 0

    def active(self, repository: RepositoryName) -> Sequence[Alert]:
        rows = self._statements.run(
            select(alerts)
            .where(alerts.c.repository == repository, alerts.c.ended_at.is_(None))
            .order_by(alerts.c.alert_id)
        )
        return [Alert(**row) for row in rows.mappings()]

    def get(self, alert_ids: Collection[int]) -> Mapping[int, Alert]:
        found: dict[int, Alert] = {}
        for some in slices(sorted(set(alert_ids))):
            rows = self._statements.run(select(alerts).where(alerts.c.alert_id.in_(some)))
            found |= {row["alert_id"]: Alert(**row) for row in rows.mappings()}
        return found

    def streak(self, repository: RepositoryName) -> FailureStreak:
        rows = self._statements.run(
            select(failure_streaks.c.failures, failure_streaks.c.pull_request).where(
                failure_streaks.c.repository == repository
            )
        )
        found = rows.one_or_none()
        return FailureStreak(*found) if found is not None else FailureStreak()

    def save_streak(self, repository: RepositoryName, streak: FailureStreak) -> None:
        row = {"repository": repository, **asdict(streak)}
        self._statements.put(failure_streaks, ("repository",), [row])

    def forget(self, repositories: Collection[RepositoryName], at: datetime) -> None:
        for some in slices(sorted(set(repositories))):
            self._statements.run(
                update(alerts)
                .where(alerts.c.repository.in_(some), alerts.c.ended_at.is_(None))
                .values(ended_at=at)
            )
            self._statements.run(
                delete(failure_streaks).where(failure_streaks.c.repository.in_(some))
            )

    def delete_before(self, ended_before: datetime) -> int:
        deleted = self._statements.run(delete(alerts).where(alerts.c.ended_at < ended_before))
        return deleted.rowcount
