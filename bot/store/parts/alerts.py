"""Alerts about queue health, failures in a row, and outages."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import func, select, update

from bot.domain.outages import Outage
from bot.domain.queue_health import Alert, FailureStreak
from bot.domain.repository import RepositoryName
from bot.store.statements import Part, ResultRow, as_row, from_row, slices
from bot.store.tables import IS_OUTAGE, alerts, repositories


class Alerts(Part):
    """One row per alert about queue health; a repository has one of a kind at a time."""

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
            .where(alerts.c.repository == repository, alerts.c.ended_at.is_(None), ~IS_OUTAGE)
            .order_by(alerts.c.alert_id)
        )
        return [from_row(Alert, row) for row in rows]

    def get(self, alert_ids: Collection[int]) -> Mapping[int, Alert]:
        rows = self._statements.by_keys(
            select(alerts).where(~IS_OUTAGE), alerts.c.alert_id, alert_ids
        )
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
                .where(alerts.c.repository.in_(some), alerts.c.ended_at.is_(None), ~IS_OUTAGE)
                .values(ended_at=at)
            )
            self._statements.run(
                update(repositories)
                .where(repositories.c.repository.in_(some), repositories.c.failures.is_not(None))
                .values(failures=None, failed_pull_request=None)
            )


class Outages(Part):
    """One row for the event logs that stopped being read together; it has no kind."""

    def hold(self) -> None:
        """No other process adds or changes any until this transaction ends."""
        self._statements.hold("outages")

    def add(self, begun: Outage) -> int:
        """Store it and return its id."""
        return self._statements.add_numbered(alerts, _outage_row(begun))

    def save(self, changed: Outage) -> bool:
        """Replace one that lasts; whether it still did."""
        saved = self._statements.run(
            update(alerts)
            .where(alerts.c.alert_id == changed.alert_id, alerts.c.ended_at.is_(None))
            .values(_outage_row(changed))
        )
        return saved.rowcount > 0

    def active(self) -> Sequence[Outage]:
        """Those that last, the oldest first."""
        rows = self._statements.run(_LASTING_OUTAGES)
        return [_outage(row) for row in rows]

    def last_end(self) -> datetime | None:
        """When the latest of those ended that have."""
        rows = self._statements.run(select(func.max(alerts.c.ended_at)).where(IS_OUTAGE))
        ended_at: datetime | None = rows.scalar_one()
        return ended_at

    def get(self, alert_ids: Collection[int]) -> Mapping[int, Outage]:
        outages = select(alerts).where(IS_OUTAGE)
        rows = self._statements.by_keys(outages, alerts.c.alert_id, alert_ids)
        return {row.alert_id: _outage(row) for row in rows}


_LASTING_OUTAGES = (
    select(alerts).where(IS_OUTAGE, alerts.c.ended_at.is_(None)).order_by(alerts.c.alert_id)
)


def _outage_row(outage: Outage) -> dict[str, object]:
    return as_row(
        alerts,
        outage,
        repository=outage.repositories[0],
        repositories=list(outage.repositories),
        recovered={name: at.isoformat() for name, at in outage.recovered.items()},
    )


def _outage(row: ResultRow) -> Outage:
    return from_row(
        Outage,
        row,
        repositories=tuple(RepositoryName(name) for name in row.repositories),
        recovered={
            RepositoryName(name): datetime.fromisoformat(at) for name, at in row.recovered.items()
        },
    )
