"""What channels are told of in threads: stays of pull requests in the queue, and bisections."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from bot.domain.bisections import Bisection
from bot.domain.cards import CardKind
from bot.domain.repository import RepositoryName
from bot.domain.stays import Stay
from bot.store.statements import Part, as_row, from_row
from bot.store.tables import threads


class Stays(Part):
    """One row per stay of a pull request in the queue."""

    def save(self, changed: Sequence[Stay]) -> None:
        """Insert, or replace those with the same key."""
        rows = [as_row(threads, one, kind=CardKind.STAY) for one in changed]
        self._statements.put(threads, *rows)

    def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[Stay]:
        """Those of the pull requests that something happened in since."""
        recent = _of(CardKind.STAY, repository).where(threads.c.last_at >= since)
        rows = self._statements.by_keys(recent, threads.c.pull_request, numbers)
        return [from_row(Stay, row) for row in rows]

    def lasting(self, repository: RepositoryName, since: datetime) -> Sequence[Stay]:
        """Those without an end that something happened in since."""
        rows = self._statements.run(
            _of(CardKind.STAY, repository)
            .where(threads.c.ended_at.is_(None), threads.c.last_at >= since)
            .order_by(threads.c.began_at, threads.c.key)
        )
        return [from_row(Stay, row) for row in rows]

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, Stay]:
        stays = _of(CardKind.STAY, repository)
        rows = self._statements.by_keys(stays, threads.c.key, keys)
        return {row.key: from_row(Stay, row) for row in rows}


class Bisections(Part):
    """One row per bisection of a batch."""

    def save(self, changed: Sequence[Bisection]) -> None:
        """Insert, or replace those with the same key."""
        rows = [as_row(threads, one, kind=CardKind.BISECTION) for one in changed]
        self._statements.put(threads, *rows)

    def since(self, repository: RepositoryName, since: datetime) -> Sequence[Bisection]:
        """Those of the repository whose last event is not older."""
        recent = _of(CardKind.BISECTION, repository).where(threads.c.last_at >= since)
        return [from_row(Bisection, row) for row in self._statements.run(recent)]

    def get(self, repository: RepositoryName, keys: Collection[str]) -> Mapping[str, Bisection]:
        bisections = _of(CardKind.BISECTION, repository)
        rows = self._statements.by_keys(bisections, threads.c.key, keys)
        return {row.key: from_row(Bisection, row) for row in rows}


def _of(kind: CardKind, repository: RepositoryName) -> Select[Any]:
    return select(threads).where(threads.c.kind == kind, threads.c.repository == repository)
