"""Engines for the two databases, with transactions that lose no update."""

import sqlite3
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from sqlalchemy import URL, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.storage.execution.sqlite_connection import BEGIN, SqliteConnection, open_file

if TYPE_CHECKING:
    from sqlalchemy import Connection

SQLITE_MINIMUM = (3, 35, 0)
"""The first with RETURNING, https://www.sqlite.org/lang_returning.html."""

APPLICATION = "mqbot"
"""What our connections to PostgreSQL are called there."""

WAIT_SECONDS = 5
"""How long a transaction waits for another process's before it gives up."""

COMMAND_SECONDS = 8
"""How long one statement may take before its server is taken for gone; PostgreSQL only."""

IDLE_SECONDS = 6
"""PostgreSQL ends a transaction whose process has been silent for so long.

Shorter than the time after which others take over what a process does, so that one that was stopped
inside a transaction finds it ended, and blocks nobody when they do.
"""

GOODBYE_SECONDS = 0.5
"""How long a server may take to hear that a connection is closed; PostgreSQL only."""

CONNECTIONS = 15
"""How many a process opens at most; PostgreSQL only."""

KEPT_OPEN = 5
"""Of these, those that stay open when nobody uses them."""

_POSTGRESQL_SCHEMES = {"postgresql", "postgres", "postgresql+asyncpg"}
_SQLITE_PREFIX = "sqlite:///"


def create_engine(
    url: str,
    *,
    wait_seconds: float = WAIT_SECONDS,
    idle_seconds: float = IDLE_SECONDS,
    command_seconds: float | None = COMMAND_SECONDS,
) -> AsyncEngine:
    """The engine for `sqlite:///path` or `postgresql://user:password@host/database`.

    Nothing is opened yet. Raises ValueError, which never repeats the address, when it is neither
    or this Python cannot talk to the database it names.
    """
    if url.startswith("sqlite:"):
        return _sqlite(sqlite_path(url), wait_seconds)
    scheme, _, rest = url.partition("://")
    if scheme in _POSTGRESQL_SCHEMES:
        return _postgresql(f"postgresql://{rest}", wait_seconds, idle_seconds, command_seconds)
    raise ValueError("a database address starts with sqlite:/// or postgresql://")


def sqlite_path(url: str) -> Path:
    """The file a SQLite address names; ValueError when it names none."""
    path = url.removeprefix(_SQLITE_PREFIX)
    if path == url or path in {"", ":memory:"} or "?" in path or "\0" in path:
        raise ValueError("a SQLite address is sqlite:///path: a file, without options")
    return Path(path)


def _sqlite(path: Path, wait_seconds: float) -> AsyncEngine:
    if sqlite3.sqlite_version_info < SQLITE_MINIMUM:
        raise ValueError(
            f"SQLite 3.35 or newer is needed; this Python has {sqlite3.sqlite_version}"
        )

    async def connect() -> SqliteConnection:
        connection = SqliteConnection(partial(open_file, path, wait_seconds))
        # Or a connection that nobody closed would keep the program from ending.
        connection._thread.daemon = True  # noqa: SLF001  # SQLAlchemy's own creator does the same
        try:
            _ = await connection
        except BaseException:
            await connection.has_stopped()
            raise
        return connection

    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(path)),
        async_creator=connect,
        # The store lets one transaction run at a time; more connections would only be locked out.
        pool_size=1,
        max_overflow=1,
        hide_parameters=True,
    )
    event.listen(engine.sync_engine, "begin", _begin_immediate)
    return engine


def _begin_immediate(connection: "Connection") -> None:
    driver = cast("SqliteConnection", connection.connection.driver_connection)
    # Or SQLAlchemy comes to a transaction that was begun without it.
    if not driver.in_transaction:
        connection.exec_driver_sql(BEGIN)


def _postgresql(
    dsn: str, wait_seconds: float, idle_seconds: float, command_seconds: float | None
) -> AsyncEngine:
    if find_spec("asyncpg") is None:
        raise ValueError("PostgreSQL needs asyncpg: install mqbot with its extra 'postgres'")
    _refuse_ambiguous(dsn)
    asyncpg = import_module("asyncpg")
    connection_class = _closed_in_a_moment(asyncpg.Connection)

    async def connect() -> Any:  # noqa: ANN401  # handed to SQLAlchemy, which types it so
        return await asyncpg.connect(
            dsn,
            connection_class=connection_class,
            timeout=wait_seconds,
            command_timeout=command_seconds,
            server_settings={
                "application_name": APPLICATION,
                "lock_timeout": f"{wait_seconds * 1000:.0f}ms",
                "idle_in_transaction_session_timeout": f"{idle_seconds * 1000:.0f}ms",
            },
        )

    # The address goes to asyncpg unread, so that all of libpq's spellings work (sslmode, sockets,
    # several hosts) and the engine has no password that it could show.
    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        pool_size=KEPT_OPEN,
        max_overflow=CONNECTIONS - KEPT_OPEN,
        pool_timeout=wait_seconds,
        hide_parameters=True,
    )


def _closed_in_a_moment(connection: Any) -> Any:  # noqa: ANN401  # a class of asyncpg, which is not typed
    """Closing, asyncpg waits as long as for a statement until the server has closed as well.

    One connection after the other, which a process that has to end does not have the time for when
    the server is frozen or cut off.
    """

    class ClosedInAMoment(connection):  # type: ignore[misc]  # see above
        async def close(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109  # asyncpg's own
            limit = GOODBYE_SECONDS if timeout is None else min(timeout, GOODBYE_SECONDS)
            # Whatever it was, asyncpg has closed our end by then.
            with suppress(TimeoutError):
                await super().close(timeout=limit)

    return ClosedInAMoment


def _refuse_ambiguous(dsn: str) -> None:
    """Refuse what asyncpg would quote in an error, a piece of the password included."""
    # Not with `user:password@` in front of the host: that is taken for a password, and redacted.
    problem = (
        "a PostgreSQL address is postgresql://, then user:password, then @host:port/database; "
    )
    try:
        parts = urlsplit(dsn)
        _ = parts.port
    except ValueError:
        parts = None
    if parts is None or parts.fragment or "@" in parts.path:
        raise ValueError(problem + "write special characters of the password as %XX")
