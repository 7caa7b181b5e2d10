"""Translates database errors into this program's exceptions."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    StatementError,
    TimeoutError as PoolTimeout,
)

from bot.domain.errors import StoreUnavailable, StoreUnusable

_NEVER_OURS = {"SQLITE_NOTADB", "SQLITE_CANTOPEN"}
"""SQLite's codes for a file that isn't a database or can't be opened."""

_TRANSIENT = {"40001", "40P01"}
"""PostgreSQL's codes of a serialization failure and a deadlock."""


@contextmanager
def as_store_errors() -> Iterator[None]:
    """Raise StoreUnavailable for errors of the database or the connection.

    Raises StoreUnusable if a SQLite file isn't a database or can't be opened. IntegrityError,
    DataError and the ValueError of a column type pass unchanged: they are bugs of this program.
    """
    try:
        yield
    except (IntegrityError, DataError):
        raise
    except (DBAPIError, PoolTimeout, sqlite3.Error, OSError) as error:
        inner = error.orig if isinstance(error, DBAPIError) and error.orig else error
        is_for_good = getattr(inner, "sqlite_errorname", None) in _NEVER_OURS
        raise (StoreUnusable if is_for_good else StoreUnavailable)(_cause(inner)) from error
    except StatementError as error:
        raise (error.orig or error) from None


def _cause(error: BaseException) -> str:
    """The first line of the driver's message, which never contains the password."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def roll_back(connection: Connection) -> None:
    """Roll back; an error here must not hide the first one."""
    try:
        connection.rollback()
    except DBAPIError:
        connection.invalidate()


def is_transient(cause: BaseException | None) -> bool:
    if not isinstance(cause, DBAPIError):
        return False
    return cause.connection_invalidated or getattr(cause.orig, "sqlstate", None) in _TRANSIENT
