"""Bringing a database to this program's schema."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile

from sqlalchemy import Connection, text

from bot.domain.errors import StoreUnavailable, StoreUnusable
from bot.storage.engines import create_engine, sqlite_path
from bot.storage.failures import as_store_errors
from bot.storage.versions import head_revision, known_revisions, refuse_newer, revision_of

__all__ = ["current_revision", "head_revision", "is_current", "known_revisions", "upgrade"]

HEAD = "head"

_LOCK_KEY = 0x6D71626F74
"""PostgreSQL's advisory locks have numbers for names; this one is "mqbot" in ASCII."""


def upgrade(url: str, revision: str = HEAD) -> None:
    """Apply what is missing up to `revision`, all of it or, when a step fails, nothing.

    Two processes that call this at once wait for each other. A SQLite file, for its owner alone,
    and its folder are made when they do not exist. Raises StoreUnavailable, StoreUnusable when the
    database was made by a newer version of this program, and ValueError for a bad address.
    """
    _make_file(url)
    with _open(url) as connection:
        if connection.dialect.name == "postgresql":
            # Waiting for another process's migration may take longer than a transaction may.
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK_KEY})"))
        if revision == HEAD and revision_of(connection) == head_revision():
            return
        # A quarter of a second to import, for what most starts have no use for.
        steps = import_module("bot.storage.migration_steps")
        steps.apply(connection, revision)


def current_revision(url: str) -> str | None:
    """The revision the database is at; None for an empty one, or for a file that could be made.

    Raises StoreUnusable for one that could not. Nothing is created.
    """
    if url.startswith("sqlite:") and not _is_there(sqlite_path(url)):
        return None
    with _open(url) as connection:
        return revision_of(connection)


def is_current(url: str) -> bool:
    """Whether the database has exactly the schema this program was written for.

    Raises StoreUnusable when a newer version of this program made it.
    """
    revision = current_revision(url)
    refuse_newer(revision)
    return revision == head_revision()


@contextmanager
def _open(url: str) -> Iterator[Connection]:
    engine = create_engine(url)
    try:
        # On SQLite a transaction begins IMMEDIATE, which is the lock between processes.
        with as_store_errors(), engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def _is_there(path: Path) -> bool:
    """Raises StoreUnusable when it is not there and could not be made either."""
    with _as_unusable():
        try:
            path.lstat()
        except FileNotFoundError:
            nearest = next(folder for folder in path.absolute().parents if folder.exists())
            TemporaryFile(dir=nearest).close()
            return False
    return True


def _make_file(url: str) -> None:
    if url.startswith("sqlite:") and not _is_there(sqlite_path(url)):
        path = sqlite_path(url)
        with _as_unusable(), suppress(FileExistsError):
            path.parent.mkdir(parents=True, exist_ok=True)
            # It holds what people wrote; what SQLite puts beside it gets its mode.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


@contextmanager
def _as_unusable() -> Iterator[None]:
    """A file that may not be made is a wrong path; only a disk may have room again."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        raise (StoreUnavailable if is_full else StoreUnusable)(str(error)) from error
