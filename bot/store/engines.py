"""SQLAlchemy engines whose transactions lose no update, and the errors of databases."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import URL, Connection, Engine, create_engine as new_engine, exc
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import PoolProxiedConnection, QueuePool
from typing_extensions import override

from bot.domain.errors import StoreUnavailable, StoreUnusable

SQLITE_MINIMUM = (3, 35, 0)
"""The first version with RETURNING, https://www.sqlite.org/lang_returning.html."""

APPLICATION = "mqbot"
COMMAND_LIMIT = "mqbot_command_seconds"
DATABASE_CLOCK = "mqbot_database_clock"
"""Execution options of an engine: its `command_seconds`, and whether processes compare times by
the database's clock."""

WAIT_SECONDS = 5
"""How long a transaction waits for another process's lock before it gives up."""

COMMAND_SECONDS = 8
"""How long one transaction may take before its server counts as gone; PostgreSQL only."""

IDLE_SECONDS = 6
"""PostgreSQL ends a transaction that is idle for this long.

Other processes take over later, so a process stopped inside a transaction doesn't block them.
"""

CONNECTIONS, KEPT_OPEN, READERS = 15, 5, 1
"""The most connections for writing in one process to PostgreSQL, the idle ones that stay open,
and the additional ones for long reads on either database."""

_POSTGRESQL_SCHEMES = {"postgresql", "postgres", "postgresql+psycopg"}
_SQLITE_PREFIX = "sqlite:///"

_NEVER_OURS = {"SQLITE_NOTADB", "SQLITE_CANTOPEN"}
"""SQLite's codes for a file that isn't a database or can't be opened."""

_TRANSIENT = {"40001", "40P01"}
"""PostgreSQL's codes of a serialization failure and a deadlock."""


def create_engine(
    url: str,
    *,
    wait_seconds: float = WAIT_SECONDS,
    idle_seconds: float = IDLE_SECONDS,
    command_seconds: float = COMMAND_SECONDS,
) -> Engine:
    """The engine for `sqlite:///path` or `postgresql://user:password@host/database`.

    Doesn't connect yet. Raises ValueError, which never repeats the address, if the address is
    neither or the driver is missing.
    """
    if url.startswith("sqlite:"):
        if sqlite3.sqlite_version_info < SQLITE_MINIMUM:
            raise ValueError(
                f"SQLite 3.35 or newer is needed; this Python has {sqlite3.sqlite_version}"
            )
        return _sqlite("sqlite+writing", sqlite_path(url), wait_seconds)
    scheme, _, rest = url.partition("://")
    if scheme in _POSTGRESQL_SCHEMES:
        engine = _postgresql(f"postgresql://{rest}", wait_seconds, idle_seconds)
        engine.update_execution_options(**{COMMAND_LIMIT: command_seconds})
        return engine
    raise ValueError("a database address starts with sqlite:/// or postgresql://")


def with_database_clock(engine: Engine) -> Engine:
    """The engine, with leases that use the database's clock instead of each caller's."""
    engine.update_execution_options(**{DATABASE_CLOCK: True})
    return engine


def sqlite_path(url: str) -> Path:
    """The file of a SQLite address. Raises ValueError if there is none."""
    path = url.removeprefix(_SQLITE_PREFIX)
    if path == url or path in {"", ":memory:"} or "?" in path or "\0" in path:
        raise ValueError("a SQLite address is sqlite:///path: a file, without options")
    return Path(path)


class WritingSQLite(SQLiteDialect_pysqlite):
    """Makes commits durable and lets no transaction overwrite another's update.

    The driver begins transactions late and as readers: two of them then read the same row, and one
    of the two updates is lost without an error. These take the write lock first,
    https://docs.sqlalchemy.org/en/21/dialects/sqlite.html. The driver's connections need
    `isolation_level=None`.

    Not a listener of engine events: with one, each statement takes a fifth longer.
    """

    supports_statement_cache = True
    begin = "BEGIN IMMEDIATE"
    pragmas: Sequence[str] = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")

    @override
    def do_begin(self, dbapi_connection: PoolProxiedConnection) -> None:
        dbapi_connection.cursor().execute(self.begin)

    @override
    def on_connect(self) -> Callable[[DBAPIConnection], None]:
        return self._prepare

    def _prepare(self, connection: DBAPIConnection) -> None:
        for pragma in self.pragmas:
            connection.cursor().execute(f"PRAGMA {pragma}")


class ReadingSQLite(WritingSQLite):
    """Reads beside the writer, https://www.sqlite.org/wal.html#concurrency."""

    supports_statement_cache = True
    begin = "BEGIN"
    pragmas: Sequence[str] = ("query_only=ON",)


registry.register("sqlite.writing", __name__, WritingSQLite.__name__)
registry.register("sqlite.reading", __name__, ReadingSQLite.__name__)


def _sqlite(dialect: str, path: Path, wait_seconds: float = WAIT_SECONDS) -> Engine:
    args = {"timeout": wait_seconds, "isolation_level": None, "check_same_thread": False}
    return new_engine(
        URL.create(dialect, database=str(path)),
        connect_args=args,
        poolclass=QueuePool,
        # There is one writer anyway; migrations may open a second connection.
        pool_size=1,
        max_overflow=1,
        hide_parameters=True,
    )


def reading_engine(engine: Engine) -> Engine:
    """The same database, for read-only transactions that see it as it was when they began."""
    if engine.dialect.name != "sqlite":
        return engine.execution_options(postgresql_readonly=True, isolation_level="REPEATABLE READ")
    return _sqlite("sqlite+reading", Path(engine.url.database or ""))


def _postgresql(dsn: str, wait_seconds: float, idle_seconds: float) -> Engine:
    if find_spec("psycopg") is None:
        raise ValueError("PostgreSQL needs psycopg: install mqbot with its extra 'postgres'")
    _refuse_ambiguous(dsn)
    connect = partial(
        import_module("psycopg").connect,
        dsn,
        application_name=APPLICATION,
        # In a database without an encoding (SQL_ASCII), psycopg would give bytes for texts.
        client_encoding="utf8",
        connect_timeout=max(2, round(wait_seconds)),
        options=f"-c lock_timeout={wait_seconds * 1000:.0f}ms"
        f" -c idle_in_transaction_session_timeout={idle_seconds * 1000:.0f}ms",
    )
    # The address goes to libpq unread, so that all of its spellings work (sslmode, sockets,
    # several hosts) and the engine has no password that it could show.
    return new_engine(
        "postgresql+psycopg://",
        creator=connect,
        isolation_level="READ COMMITTED",
        pool_size=KEPT_OPEN,
        max_overflow=CONNECTIONS + READERS - KEPT_OPEN,
        pool_timeout=wait_seconds,
        hide_parameters=True,
    )


def _refuse_ambiguous(dsn: str) -> None:
    """Refuse an address that libpq would quote, with part of the password, in an error."""
    try:
        parts = urlsplit(dsn)
        _ = parts.port  # Raises if it isn't a number.
        is_clear = not parts.fragment and "@" not in parts.path
    except ValueError:
        is_clear = False
    if not is_clear:
        # Without `user:password@` before the host, which would be redacted as a password.
        raise ValueError(
            "a PostgreSQL address is postgresql://, then user:password, then @host:port/database; "
            "write special characters of the password as %XX"
        )


@contextmanager
def opened(url: str) -> Iterator[Connection]:
    """A connection of its own, in one transaction; raises what `as_store_errors` does."""
    engine = create_engine(url)
    try:
        # On SQLite a transaction begins IMMEDIATE, which is the lock between processes.
        with as_store_errors(), engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


@contextmanager
def as_store_errors() -> Iterator[None]:
    """Raise StoreUnavailable for errors of the database or the connection.

    Raises StoreUnusable if a SQLite file isn't a database or can't be opened. IntegrityError,
    DataError and the ValueError of a column type pass unchanged: they are bugs of this program.
    """
    try:
        yield
    except (exc.IntegrityError, exc.DataError):
        raise
    except (exc.DBAPIError, exc.TimeoutError, sqlite3.Error, OSError) as error:
        inner = (error.orig if isinstance(error, exc.DBAPIError) else None) or error
        is_for_good = getattr(inner, "sqlite_errorname", None) in _NEVER_OURS
        # The first line of the driver's message, which never contains the password.
        cause = (str(inner).strip() or type(inner).__name__).splitlines()[0]
        raise (StoreUnusable if is_for_good else StoreUnavailable)(cause) from error
    except exc.StatementError as error:
        raise (error.orig or error) from None


def is_transient(cause: BaseException | None) -> bool:
    if not isinstance(cause, exc.DBAPIError):
        return False
    return cause.connection_invalidated or getattr(cause.orig, "sqlstate", None) in _TRANSIENT
