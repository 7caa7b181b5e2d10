"""Moving everything from a SQLite database to a PostgreSQL one, or back."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.types import TypeDecorator

from bot.kernel.clock import Clock
from bot.store import migrate
from bot.store.backup import give_to_owner, keep_others_out
from bot.store.cutoff import limited
from bot.store.engines import (
    COMMAND_SECONDS,
    SQLITE_SIDES,
    UPGRADE_SECONDS,
    as_store_errors,
    create_engine,
    sqlite_path,
)
from bot.store.errors import StoreUnavailable, StoreUnusable
from bot.store.schema import EPOCH, metadata, require_all_tables
from bot.store.statements import ResultRow
from bot.store.tables import leases, write_checks

SOURCE = "FROM"
TARGET = "TO"
"""What the command calls the database to read, and the one to fill."""

COPY = "copy-database"
"""The command's name, which those that it keeps out hear too."""

PART = 1000
"""Rows in memory at a time."""


async def copy_database(source: str, target: str, clock: Clock) -> Mapping[str, int]:
    """Copy all rows, and the last number that each table gave; return how many rows, by table.

    Both get this program's schema; otherwise the source stays as it is. Nobody can write to either
    meanwhile. Leases end, because the processes that had them are gone.

    Raises ValueError for a bad address, StoreUnavailable, also if a process uses one of the two,
    and StoreUnusable if the source isn't mqbot's, the target isn't empty or both are of one kind.
    Nothing is copied then. The error names the database.
    """
    for name, url in ((SOURCE, source), (TARGET, target)):
        with _errors_about(name):
            create_engine(url).dispose()
    if _is_sqlite(source) is _is_sqlite(target):
        raise StoreUnusable(
            "of FROM and TO, one must be SQLite and the other PostgreSQL; between two of a kind,"
            " use mqbot backup and restore, or pg_dump and pg_restore"
        )
    with ExitStack() as stack:
        with _errors_about(SOURCE):
            is_ours = migrate.current_revision(source) is not None
        if not is_ours:
            raise StoreUnusable(f"{SOURCE} holds no database of mqbot")
        with _errors_about(SOURCE):
            await keep_others_out(source, COPY, clock, stack)
            migrate.upgrade(source)
        is_new = _is_sqlite(target) and not sqlite_path(target).exists()
        with _errors_about(TARGET):
            await keep_others_out(target, COPY, clock, stack)
            migrate.upgrade(target)
        copied = _copy_all(source, target)
        if is_new:
            with _errors_about(TARGET), as_store_errors():
                _give_to_owner(target)
    return copied


def _is_sqlite(url: str) -> bool:
    return url.startswith("sqlite:")


@contextmanager
def _errors_about(name: str) -> Iterator[None]:
    """Say in an error which of the two databases it is about."""
    try:
        yield
    except StoreUnavailable as error:
        raise type(error)(f"{name}: {error.cause}") from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _give_to_owner(url: str) -> None:
    path = sqlite_path(url)
    for side in SQLITE_SIDES:
        file = path.with_name(f"{path.name}{side}")
        if file.exists():
            give_to_owner(file, path.parent)


class _Side:
    """An open transaction in one of the two databases, whose errors name it."""

    def __init__(self, name: str, connection: sa.Connection) -> None:
        self.name = name
        self._connection = connection
        self._is_sqlite = connection.dialect.name == "sqlite"

    @contextmanager
    def _watched(self) -> Iterator[None]:
        limit = limited(self._connection, UPGRADE_SECONDS)
        with _errors_about(self.name), limit, as_store_errors():
            yield

    def commit(self) -> None:
        with self._watched():
            self._connection.commit()

    def run(
        self, statement: sa.Executable, parameters: Sequence[Mapping[str, Any]] | None = None
    ) -> sa.CursorResult[*tuple[Any, ...]]:
        with self._watched():
            return self._connection.execute(statement, parameters)

    def parts(self, rows: sa.Executable) -> Iterator[Sequence[ResultRow]]:
        """The rows, a part at a time."""
        with self._watched():
            found = self._connection.execution_options(stream_results=True).execute(rows)
        while True:
            with self._watched():
                part = found.fetchmany(PART)
            if not part:
                return
            yield part

    def lock(self) -> None:
        """Let nobody else write until the end; a SQLite transaction does so from its beginning."""
        if not self._is_sqlite:
            names = ", ".join(table.name for table in metadata.sorted_tables)
            self.run(sa.text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))

    def count(self, table: sa.Table) -> int:
        rows = sa.select(sa.func.count()).select_from(table)
        return int(self.run(rows).scalar_one())

    def last_number(self, column: sa.Column[Any]) -> int:
        """The last number that the column's table gave to a row, which may be deleted; 0 if none.

        https://www.sqlite.org/autoinc.html,
        https://www.postgresql.org/docs/current/functions-sequence.html.
        """
        given = sa.text("SELECT seq FROM sqlite_sequence WHERE name = :table")
        values: dict[str, Any] = {"table": column.table.name}
        if not self._is_sqlite:
            name = self._sequence(column)
            given = sa.text(f"SELECT CASE WHEN is_called THEN last_value END FROM {name}")  # noqa: S608  # PostgreSQL's own name of it
            values = {}
        last = self.run(given.bindparams(**values)).scalar()
        newest = self.run(sa.select(sa.func.max(column))).scalar()
        return max(last or 0, newest or 0)

    def go_on_after(self, column: sa.Column[Any], last: int) -> None:
        """Give new rows the numbers after `last`."""
        if not last:
            return
        if not self._is_sqlite:
            name = self._sequence(column)
            self.run(sa.select(sa.func.setval(name, last)))
            return
        # It has a row for the table only if one was inserted.
        values: dict[str, Any] = {"table": column.table.name}
        removal = sa.text("DELETE FROM sqlite_sequence WHERE name = :table")
        self.run(removal.bindparams(**values))
        addition = sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :last)")
        self.run(addition.bindparams(**values, last=last))

    def _sequence(self, column: sa.Column[Any]) -> str:
        name = sa.func.pg_get_serial_sequence(column.table.name, column.name)
        return str(self.run(sa.select(name)).scalar_one())


@contextmanager
def _transaction(name: str, url: str) -> Iterator[_Side]:
    """Committed at the end; an error takes all of it back."""
    # One of the two may be idle for as long as the other works on a part.
    engine = create_engine(url, idle_seconds=0)
    try:
        with _errors_about(name), limited(engine, COMMAND_SECONDS), as_store_errors():
            connection = engine.connect()
            connection.begin()
        with connection:
            side = _Side(name, connection)
            side.lock()
            yield side
            side.commit()
    finally:
        engine.dispose()


def _copy_all(source: str, target: str) -> Mapping[str, int]:
    require_all_tables()
    with _transaction(SOURCE, source) as reading, _transaction(TARGET, target) as writing:
        _require_empty(writing)
        for table in metadata.sorted_tables:
            raw = _raw(table)
            for part in reading.parts(sa.select(raw)):
                writing.run(sa.insert(raw), [row._asdict() for row in part])
            if table.autoincrement_column is not None:
                last = reading.last_number(table.autoincrement_column)
                writing.go_on_after(table.autoincrement_column, last)
        copied = _row_counts(reading, writing)
        writing.run(sa.update(leases).values(expires_at=EPOCH))
    return copied


def _require_empty(writing: _Side) -> None:
    # `mqbot check` leaves one.
    writing.run(sa.delete(write_checks))
    for table in metadata.sorted_tables:
        count = writing.count(table)
        if count:
            rows = "1 row" if count == 1 else f"{count:,} rows"
            raise StoreUnusable(
                f"{TARGET} isn't empty ({table.name}: {rows}): name a new, empty database"
            )


def _raw(table: sa.Table) -> sa.TableClause:
    """The table with values as they are stored, which needs no reading of any."""
    return sa.table(table.name, *map(_raw_column, table.columns))


def _raw_column(column: sa.Column[Any]) -> sa.ColumnClause[Any]:
    stored = column.type
    if isinstance(stored, TypeDecorator):
        stored = stored.impl_instance
    return sa.column(column.name, stored)


def _row_counts(reading: _Side, writing: _Side) -> Mapping[str, int]:
    counted: dict[str, int] = {}
    for table in metadata.sorted_tables:
        expected = reading.count(table)
        found = writing.count(table)
        if found != expected:
            raise StoreUnavailable(
                f"{table.name}: {expected:,} rows in {SOURCE}, {found:,} in {TARGET}:"
                " nothing was copied"
            )
        counted[table.name] = expected
    return counted
