"""Alerts about queues, failures in a row, and event logs that cannot be read."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import func, select, update

from bot.domain.alerts import Alert
from bot.domain.queue_condition import FailureStreak
from bot.domain.repository import RepositoryName
from bot.domain.staleness import Staleness
from bot.store.statements import Part, ResultRow, as_row, from_row, slices
from bot.store.tables import alerts, repositories, stalenesses


class QueueCondition(Part):
    """One row per alert; a repository has one of a kind at a time."""

    def begin(self, alert: Alert) -> int | None:
        """Store it and return its id; None when one of its kind lasts already."""
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
        """Whether it lasted until now."""
        ended = self._statements.run(
            update(alerts)
            .where(alerts.c.alert_id == alert_id, alerts.c.ended_at.is_(None))
            .values(ended_at=at)
        )
        return ended.rowcount > 0

    def active(self, repository: RepositoryName) -> Sequence[Alert]:
        """Those that last, in the order in which they began."""
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
        """None in a row where nothing is stored."""
        rows = self._statements.run(
            select(repositories.c.failures, repositories.c.failed_pull_request).where(
                repositories.c.repository == repository, repositories.c.failures.is_not(None)
            )
        )
        found = rows.one_or_none()
        return FailureStreak(*found) if found is not None else FailureStreak()

    def save_streak(self, repository: RepositoryName, streak: FailureStreak) -> None:
        self._statements.put(
            repositories,
            {
                "repository": repository,
                "failures": streak.failures,
                "failed_pull_request": streak.pull_request,
            },
        )

    def forget(self, names: Collection[RepositoryName], at: datetime) -> None:
        """End what lasts and begin to count anew: nobody hears of these queues any more."""
        for some in slices(sorted(set(names))):
            self._statements.run(
                update(alerts)
                .where(alerts.c.repository.in_(some), alerts.c.ended_at.is_(None))
                .values(ended_at=at)
            )
            self._statements.run(
                update(repositories)
                .where(repositories.c.repository.in_(some), repositories.c.failures.is_not(None))
                .values(failures=None, failed_pull_request=None)
            )


class Stalenesses(Part):
    """One row for the event logs that became stale together."""

    def hold(self) -> None:
        """Nobody else adds or changes any until this transaction ends."""
        self._statements.hold(stalenesses.name)

    def add(self, begun: Staleness) -> int:
        """Store it and return its id."""
        return self._statements.add_numbered(stalenesses, _staleness_row(begun))

    def save(self, changed: Staleness) -> bool:
        """Replace one that lasts; whether it still did."""
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
        """Those that last, the oldest first."""
        rows = self._statements.run(
            select(stalenesses)
            .where(stalenesses.c.ended_at.is_(None))
            .order_by(stalenesses.c.staleness_id)
        )
        return [_staleness(row) for row in rows]

    def last_end(self) -> datetime | None:
        """When the latest of those ended that have."""
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
