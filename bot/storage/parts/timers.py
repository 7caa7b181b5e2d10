"""Pauses that lift themselves."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, delete, select, tuple_

from bot.domain.repository import RepositoryName
from bot.domain.snapshots import SAME_PAUSE
from bot.domain.timers import Timer, TimerState
from bot.storage.statements import PRUNE_SLICE, Prepared, Statements, slices
from bot.storage.tables import pause_timers


class SqlTimers:
    """A row a timed pause; those that run are few and have an index of their own."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def save(self, timer: Timer) -> None:
        self._statements.put(pause_timers, ("repository", "paused_at"), [asdict(timer)])

    def of(self, repository: RepositoryName, paused_at: datetime) -> Timer | None:
        return self._of(_of_pause(repository, paused_at))

    def locked(self, repository: RepositoryName, paused_at: datetime) -> Timer | None:
        return self._of(_of_pause(repository, paused_at).with_for_update())

    def _of(self, wanted: Select[Any]) -> Timer | None:
        row = (self._statements.run(wanted)).mappings().first()
        return None if row is None else Timer(**row)

    def due(self, now: datetime, limit: int) -> Sequence[Timer]:
        rows = self._statements.rows(_DUE, now=now, most=limit)
        return [Timer(**row._asdict()) for row in rows]

    def running(self, repositories: Collection[RepositoryName]) -> Sequence[Timer]:
        found: list[Timer] = []
        for some in slices(sorted(set(repositories))):
            rows = self._statements.run(
                select(pause_timers).where(
                    pause_timers.c.state == TimerState.RUNNING,
                    pause_timers.c.repository.in_(some),
                )
            )
            found += [Timer(**row) for row in rows.mappings()]
        return sorted(found, key=lambda one: (one.lifts_at, one.repository))

    def delete_before(self, lifts_before: datetime) -> int:
        old = (
            select(pause_timers.c.repository, pause_timers.c.paused_at)
            .where(
                pause_timers.c.state != TimerState.RUNNING, pause_timers.c.lifts_at < lifts_before
            )
            .limit(PRUNE_SLICE)
        )
        key = tuple_(pause_timers.c.repository, pause_timers.c.paused_at)
        deleted = self._statements.run(delete(pause_timers).where(key.in_(old)))
        return deleted.rowcount


def _of_pause(repository: RepositoryName, paused_at: datetime) -> Select[Any]:
    """One that runs before one that is over, such as a timer that moved by a moment."""
    return (
        select(pause_timers)
        .where(
            pause_timers.c.repository == repository,
            pause_timers.c.paused_at > paused_at - SAME_PAUSE,
            pause_timers.c.paused_at < paused_at + SAME_PAUSE,
        )
        .order_by(pause_timers.c.state != TimerState.RUNNING)
    )


_DUE = Prepared(
    lambda _: (
        select(pause_timers)
        .where(
            pause_timers.c.state == TimerState.RUNNING,
            pause_timers.c.due_at <= bindparam("now"),
        )
        .order_by(pause_timers.c.due_at, pause_timers.c.repository)
        .limit(bindparam("most"))
    )
)
