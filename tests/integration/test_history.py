"""No statement that a bot runs, for people or by itself, costs more because much is stored.

Counted are the steps of SQLite's virtual machine, which no busy machine changes.
https://www.sqlite.org/c3ref/progress_handler.html
"""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.store import migrate
from tests.bench.rows.history import ACTS, PEOPLE, SHORT, bot_of, fill, idle

LONG = 100 * SHORT
MOST = 1.5
BESIDE = 100
"""Steps that differ with what happened to be there, such as a message to edit."""

BOUNDED = {
    "FROM audit WHERE audit.repository = ? AND audit.at >= ? AND audit.action IN (?)": 1_500,
    "FROM audit WHERE audit.repository = ? AND audit.at >= ? AND (audit.result": 1_000,
    "FROM events WHERE events.repository = ? AND events.type = ? AND events.received_at": 6_000,
}
"""Statements that read so many rows at most, and their most steps.

The last pauses or resumes of a queue; a page of its audit; the events of one type for a diagnosis
or an estimate. A short history has fewer of them.
"""


def most_steps(statement: str, of_short: int) -> float:
    """How many steps a statement may take with a long history."""
    words = " ".join(statement.split())
    bound = next((steps for part, steps in BOUNDED.items() if part in words), 0)
    return max(MOST * of_short + BESIDE, bound)


@dataclass
class Statements:
    """The most steps that one execution of each statement has taken."""

    most: dict[str, int] = field(default_factory=dict)
    _running: dict[int, tuple[str, int]] = field(default_factory=dict)
    _steps: dict[int, int] = field(default_factory=dict)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count in every connection that is opened meanwhile."""
        listeners = (
            (sa.Pool, "connect", self._watch),
            (sa.Engine, "before_cursor_execute", self._begin),
            (sa.Engine, "commit", self._end),
            (sa.Engine, "rollback", self._end),
        )
        for target, name, listener in listeners:
            sa.event.listen(target, name, listener)
        try:
            yield
        finally:
            for target, name, listener in listeners:
                sa.event.remove(target, name, listener)

    def _watch(self, connection: sqlite3.Connection, _: object) -> None:
        def count() -> int:
            thread = threading.get_ident()
            self._steps[thread] = self._steps.get(thread, 0) + 1
            return 0

        connection.set_progress_handler(count, 1)

    def _begin(  # as SQLAlchemy calls it
        self,
        connection: sa.Connection,
        _cursor: object,
        statement: str,
        parameters: Sequence[Any] | Mapping[str, Any],
        _context: object,
        is_many: bool,  # noqa: FBT001  # as SQLAlchemy calls it
    ) -> None:
        self._end(connection)
        times = len(parameters) if is_many else 1
        self._running[threading.get_ident()] = (statement, times)

    def _end(self, _: sa.Connection) -> None:
        """A statement's rows are read until the next one begins."""
        thread = threading.get_ident()
        steps = self._steps.pop(thread, 0)
        statement, times = self._running.pop(thread, ("", 1))
        self.most[statement] = max(self.most.get(statement, 0), steps // times)


async def statements_with(events: int, folder: Path) -> Mapping[str, int]:
    path = folder / f"{events}.sqlite3"
    migrate.upgrade(f"sqlite:///{path}")
    fill(path, events)
    statements = Statements()
    with statements.counting():
        async with bot_of(path) as bot:
            for act in ACTS.values():
                if act is not idle:
                    await act(bot, PEOPLE[0])
    return statements.most


@pytest.mark.e2e
async def test_no_statement_costs_more_with_a_longer_history(tmp_path: Path) -> None:
    short = await statements_with(SHORT, tmp_path)
    long = await statements_with(LONG, tmp_path)
    both = [statement for statement in short if statement in long]
    assert len(both) > 100
    assert {
        statement: (short[statement], long[statement])
        for statement in both
        if long[statement] > most_steps(statement, short[statement])
    } == {}
