"""Bringing a database to this program's schema: Alembic, driven from code."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.errors import StoreUnavailable
from bot.storage.engine import create_engine, sqlite_path
from bot.storage.failures import as_store_errors

_MIGRATIONS = Path(__file__).parent / "migrations"

_LOCK_KEY = 0x6D71626F74
"""PostgreSQL's advisory locks have numbers for names; this one is "mqbot" in ASCII."""


async def upgrade(url: str, revision: str = "head") -> None:
    """Apply what is missing up to `revision`, all of it or, when a step fails, nothing.

    Two processes that call this at once wait for each other. A SQLite file and its folder are
    made when they do not exist. Raises StoreUnavailable, also when the database was made by a
    newer version of this program, and ValueError for a bad address.
    """
    _make_folder(url)
    async with _open(url) as connection:
        if connection.dialect.name == "postgresql":
            # Waiting for another process's migration may take longer than a transaction may.
            await connection.execute(text("SET LOCAL lock_timeout = 0"))
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK_KEY})"))
        await connection.run_sync(_apply, revision)


async def current_revision(url: str) -> str | None:
    """The revision the database is at; None for an empty one. Nothing is created."""
    if url.startswith("sqlite:") and not sqlite_path(url).exists():
        return None
    async with _open(url) as connection:
        return await connection.run_sync(_revision_of)


def head_revision() -> str:
    """The revision this program was written for."""
    revision = ScriptDirectory.from_config(_configuration()).get_current_head()
    if revision is None:
        raise StoreUnavailable("the migrations are not installed with the program")
    return revision


async def is_current(url: str) -> bool:
    """Whether the database has exactly the schema this program was written for."""
    return await current_revision(url) == head_revision()


@asynccontextmanager
async def _open(url: str) -> AsyncIterator[AsyncConnection]:
    # A migration takes the time it takes.
    engine = create_engine(url, command_seconds=None)
    try:
        with as_store_errors():
            # On SQLite a transaction begins IMMEDIATE, which is the lock between processes.
            async with engine.begin() as connection:
                yield connection
    finally:
        await engine.dispose()


def _apply(connection: Connection, revision: str) -> None:
    configuration = _configuration()
    known = {each.revision for each in ScriptDirectory.from_config(configuration).walk_revisions()}
    current = _revision_of(connection)
    if current is not None and current not in known:
        raise StoreUnavailable(
            f"the database is at revision {current}, made by a newer version of this program"
        )
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, revision)


def _revision_of(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _configuration() -> Config:
    configuration = Config()
    # The option is read with interpolation: a percent sign in the path would be taken for one.
    configuration.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return configuration


def _make_folder(url: str) -> None:
    if url.startswith("sqlite:"):
        with as_store_errors():
            sqlite_path(url).parent.mkdir(parents=True, exist_ok=True)
