"""SQLAlchemy engines whose transactions lose no update, and the errors of databases."""

import errno
import logging
import re
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

from bot.store.cutoff import limited
from bot.store.errors import StoreUnavailable, StoreUnusable

logger = logging.getLogger(__name__)

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

UPGRADE_SECONDS = 3600
"""The same for one that upgrades a database, which may wait for another process that does so."""

IDLE_SECONDS = 6
"""PostgreSQL ends a transaction that is idle for this long.

Other processes take over later, so a process stopped inside a transaction doesn't block them.
"""

WRITING_CONNECTIONS = 15
KEPT_OPEN = 5
READERS = 1
"""The most connections for writing in one process to PostgreSQL, the idle ones that stay open,
and the additional ones for long reads on either database."""

_POSTGRESQL_SCHEMES = {"postgresql", "postgres", "postgresql+psycopg"}
_SQLITE_PREFIX = "sqlite:///"

SQLITE_SIDES = ("", "-wal", "-shm", "-journal")
"""The endings of a SQLite database, of its files with changes not yet merged into it, and of the
one with what an unfinished transaction has overwritten."""

_NEVER_OURS = {"SQLITE_NOTADB", "SQLITE_CANTOPEN"}
"""SQLite's codes for a file that isn't a database or can't be opened."""

_SQLITE_CAUSES = {
    "SQLITE_BUSY": "another process keeps it locked",
    "SQLITE_CANTOPEN": "SQLite is unable to open the file",
    "SQLITE_CORRUPT": "the file is damaged",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_IOERR": "the disk can't be read or written",
    "SQLITE_NOTADB": "the file is not a database",
    "SQLITE_READONLY": "mqbot's user may not write the file or its folder",
}
"""By the beginning of SQLite's codes."""

_POSTGRESQL_CAUSES = [
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (r"password authentication failed", "password authentication failed"),
        (r"no pg_hba\.conf entry", "it accepts no connections of this user from here"),
        (r'database "[^"]*" does not exist', "it has no database of this name"),
        (r'role "[^"]*" does not exist', "it has no user of this name"),
        (r"certificate", "its certificate isn't trusted; sslrootcert can name one that signed it"),
        (r"does not support SSL", "it doesn't speak TLS"),
        (r"connection refused", "it refuses connections"),
        (r"translate host name|not known|resolve", "its name can't be resolved"),
        (r"starting up", "it is starting"),
        (r"read-only transaction|during recovery|hot standby", "it is read-only, as a standby is"),
        (r"no space left on device|could not extend file", "its disk is full"),
        (r"permission denied", "its user may not write there"),
        (r"terminating connection", "it ended the connection"),
        (r"shutting down", "it is shutting down"),
        (r"connection slots|too many (clients|connections)", "it has no free connection"),
        (r"timeout|timed out", "no answer in time"),
        (
            r"closed the connection|connection is (closed|lost)|reset by peer",
            "the connection was lost",
        ),
    )
]
"""By the driver's words: a failed connection has no code of PostgreSQL's."""

A_TABLE_IS_MISSING = "a table is missing"
A_COLUMN_IS_MISSING = "a column is missing: another version of mqbot made its tables"
A_TABLE_IS_THERE = "it has a table already that was to be created"

_SQLITE_SAID = {
    "no such column": A_COLUMN_IS_MISSING,
    "has no column": A_COLUMN_IS_MISSING,
    "no such table": A_TABLE_IS_MISSING,
    "already exists": A_TABLE_IS_THERE,
}
"""By SQLite's words: these errors have no code of their own."""

_SQLSTATES = {
    "25006": "it is read-only, as a standby is",
    "28000": "it doesn't let this user in",
    "28P01": "password authentication failed",
    "3D000": "it has no database of this name",
    "42501": "its user may not use the tables",
    "42703": A_COLUMN_IS_MISSING,
    "42P01": A_TABLE_IS_MISSING,
    "42P07": A_TABLE_IS_THERE,
    "53100": "its disk is full",
    "53200": "it is out of memory",
    "53300": "it has no free connection",
    "55P03": "another process keeps it locked",
    "57014": "a statement took too long",
    "57P01": "it ended the connection",
    "57P02": "it ended the connection",
    "57P03": "it is starting",
}
"""By PostgreSQL's codes (https://www.postgresql.org/docs/current/errcodes-appendix.html)."""

_FILE_CAUSES = {
    errno.EACCES: "this user may not use the file",
    errno.EPERM: "this user may not use the file",
    errno.ENOENT: "the file or its folder isn't there",
    errno.ENOTDIR: "a part of the path isn't a folder",
    errno.EISDIR: "the path is a folder",
    errno.EROFS: "the disk is read-only",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk is full",
    errno.ENAMETOOLONG: "the path is too long",
    errno.EMFILE: "this process has too many files open",
}

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
    folder, _, _ = path.lstrip("/").partition("/")
    if folder == "~" or folder.startswith("$"):
        said = f"a SQLite address is taken as it is: write the folder in place of {folder}"
        raise ValueError(said)
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
        max_overflow=WRITING_CONNECTIONS + READERS - KEPT_OPEN,
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
def opened(url: str, *, seconds: float = COMMAND_SECONDS) -> Iterator[Connection]:
    """A connection of its own, in one transaction; raises what `as_store_errors` does.

    StoreUnavailable also if it takes so many seconds; PostgreSQL only.
    """
    engine = create_engine(url)
    try:
        # On SQLite a transaction begins IMMEDIATE, which is the lock between processes.
        with limited(engine, seconds), as_store_errors(), engine.begin() as connection:
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
        inner: BaseException = error
        if isinstance(error, exc.DBAPIError) and error.orig is not None:
            inner = error.orig
        cause = _driver_error_in_words(inner)
        if getattr(inner, "sqlite_errorname", None) in _NEVER_OURS:
            raise StoreUnusable(cause) from error
        raise StoreUnavailable(cause) from error
    except exc.StatementError as error:
        raise (error.orig or error) from None


def _driver_error_in_words(error: BaseException) -> str:
    """What is wrong, in our words; the driver's own go into the log.

    Their first line never contains the password.
    """
    said = str(error).strip() or type(error).__name__
    first_line = said.splitlines()[0]
    logger.debug("database error", extra={"action": "database_error", "said": first_line})
    if isinstance(error, OSError):
        return file_problem(error)
    if isinstance(error, sqlite3.Error):
        return _sqlite_cause(error, first_line)
    return _postgresql_cause(error)


def _sqlite_cause(error: sqlite3.Error, said: str) -> str:
    name: str = getattr(error, "sqlite_errorname", None) or "unknown"
    for code, cause in _SQLITE_CAUSES.items():
        if name.startswith(code):
            return cause
    for part, cause in _SQLITE_SAID.items():
        if part in said:
            return cause
    return f"SQLite's error is {name}"


def _postgresql_cause(error: BaseException) -> str:
    code = getattr(error, "sqlstate", None)
    if code in _SQLSTATES:
        return _SQLSTATES[code]
    for pattern, cause in _POSTGRESQL_CAUSES:
        if pattern.search(str(error)):
            return cause
    return "the connection failed" if code is None else f"PostgreSQL's error is {code}"


def file_problem(error: OSError) -> str:
    """Why a file can't be used, in our words."""
    if error.errno is None:
        return "the file can't be used"
    name = errno.errorcode.get(error.errno, error.errno)
    return _FILE_CAUSES.get(error.errno, f"the file can't be used ({name})")


def is_transient(cause: BaseException | None) -> bool:
    if not isinstance(cause, exc.DBAPIError):
        return False
    code = getattr(cause.orig, "sqlstate", None)
    return cause.connection_invalidated or code in _TRANSIENT
