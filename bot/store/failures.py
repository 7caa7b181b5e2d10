"""Database errors in the words of the exception tree."""

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
"""The file is no database, or the path is one where we may have none."""

_TRANSIENT = {"40001", "40P01"}
"""PostgreSQL's codes of a serialization failure and a deadlock."""


@contextmanager
def as_store_errors() -> Iterator[None]:
    """Raise StoreUnavailable for what the database, or the way to it, did.

    Raises StoreUnusable where a SQLite file is no database or may not be opened. IntegrityError and
    DataError pass unchanged: they are bugs of this program. So does what a column type refuses, a
    naive time for example, as the ValueError it is.
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
    """The first line of the driver's own words, which never contain the password."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def roll_back(connection: Connection) -> None:
    """Undo what was not committed; what goes wrong here must not hide what went wrong before."""
    try:
        connection.rollback()
    except DBAPIError:
        connection.invalidate()


def is_transient(cause: BaseException | None) -> bool:
    if not isinstance(cause, DBAPIError):
        return False
    return cause.connection_invalidated or getattr(cause.orig, "sqlstate", None) in _TRANSIENT
