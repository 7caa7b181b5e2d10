"""Alerts about queues, failures in a row, and event logs that cannot be read."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import delete, func, select, update

from bot.domain.alerts import Alert
from bot.domain.queue_condition import FailureStreak
from bot.domain.repository import RepositoryName
from bot.domain.staleness import Staleness
from bot.storage.statements import Part, ResultRow, as_row, from_row, slices
from bot.storage.tables import alerts, failure_streaks, stalenesses


class SqlQueueCondition(Part):
    """One row per alert; a repository has one of a kind at a time."""

    def begin(self, alert: Alert) -> int | None:
        added = self._statements.run(
            self._statements.insert(alerts)
            .values(as_row(alerts, alert))
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
        return [from_row(Alert, row) for row in rows]

    def get(self, alert_ids: Collection[int]) -> Mapping[int, Alert]:
        rows = self._statements.by_keys(select(alerts), alerts.c.alert_id, alert_ids)
        return {row.alert_id: from_row(Alert, row) for row in rows}

    def streak(self, repository: RepositoryName) -> FailureStreak:
        rows = self._statements.run(
            select(failure_streaks).where(failure_streaks.c.repository == repository)
        )
        found = rows.one_or_none()
        return from_row(FailureStreak, found) if found is not None else FailureStreak()

    def save_streak(self, repository: RepositoryName, streak: FailureStreak) -> None:
        row = as_row(failure_streaks, streak, repository=repository)
        self._statements.put(failure_streaks, row)

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


class SqlStalenesses(Part):
    """One row for the event logs that became stale together."""

    def hold(self) -> None:
        self._statements.hold(stalenesses.name)

    def add(self, begun: Staleness) -> int:
        return self._statements.add_numbered(stalenesses, _staleness_row(begun))

    def save(self, changed: Staleness) -> bool:
        saved = self._statements.run(
            update(stalenesses)
            .where(
                stalenesses.c.staleness_id == changed.staleness_id,
                stalenesses.c.ended_at.is_(None),
            )
            .values(_staleness_row(changed))
        )
        return saved.rowcount > 0

    def active(self) -> Sequence[Staleness]:
        rows = self._statements.run(
            select(stalenesses)
            .where(stalenesses.c.ended_at.is_(None))
            .order_by(stalenesses.c.staleness_id)
        )
        return [_staleness(row) for row in rows]

    def last_end(self) -> datetime | None:
        rows = self._statements.run(select(func.max(stalenesses.c.ended_at)))
        ended_at: datetime | None = rows.scalar_one()
        return ended_at

    def get(self, staleness_ids: Collection[int]) -> Mapping[int, Staleness]:
        rows = self._statements.by_keys(
            select(stalenesses), stalenesses.c.staleness_id, staleness_ids
        )
        return {row.staleness_id: _staleness(row) for row in rows}


def _staleness_row(staleness: Staleness) -> dict[str, object]:
    return as_row(
        stalenesses,
        staleness,
        repositories=list(staleness.repositories),
        read_again={name: at.isoformat() for name, at in staleness.read_again.items()},
    )


def _staleness(row: ResultRow) -> Staleness:
    return from_row(
        Staleness,
        row,
        repositories=tuple(RepositoryName(name) for name in row.repositories),
        read_again={
            RepositoryName(name): datetime.fromisoformat(at)
            for name, at in (row.read_again or {}).items()
        },
    )
