"""What went wrong in the database, in the words of the exception tree."""

import sqlite3
import sys
from types import TracebackType

from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    SQLAlchemyError,
    StatementError,
)

from bot.domain.errors import StoreUnavailable, StoreUnusable

_OUTSIDE: tuple[type[Exception], ...] = (
    SQLAlchemyError,
    sqlite3.Error,
    OSError,
    TimeoutError,
)
"""Drivers let errors of the operating system through when they connect and when they read."""


_NEVER_OURS = {"SQLITE_NOTADB", "SQLITE_CANTOPEN"}
"""No database, or a path at which we may have none."""


def _is_outside(error: Exception) -> bool:
    # Of a driver that nobody imported, nothing was raised.
    driver = sys.modules.get("asyncpg")
    of_driver = (driver.PostgresError, driver.InterfaceError) if driver is not None else ()
    return isinstance(error, (*_OUTSIDE, *of_driver))


class _AsStoreErrors:
    """Not of `contextmanager`: there is one around each statement."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(exc_value, Exception):
            _raise_as_store_error(exc_value)


_AS_STORE_ERRORS = _AsStoreErrors()


def as_store_errors() -> _AsStoreErrors:
    """Raise StoreUnavailable for whatever the database or the way to it did.

    It is StoreUnusable where a SQLite file is no database or may not be opened.
    IntegrityError and DataError pass: they show a mistake of this program, not of the database's
    condition. So does what a column type refuses, a naive time for one, as the ValueError it is.
    """
    return _AS_STORE_ERRORS


def _raise_as_store_error(error: Exception) -> None:
    """Return for what passes as it is."""
    if isinstance(error, (IntegrityError, DataError)) or not _is_outside(error):
        return
    if isinstance(error, StatementError) and not isinstance(error, DBAPIError):
        raise (error.orig or error) from None
    inner = _innermost(error)
    is_for_good = getattr(inner, "sqlite_errorname", None) in _NEVER_OURS
    raise (StoreUnusable if is_for_good else StoreUnavailable)(_cause(inner)) from error


_UNHEARD = "cannot switch to state"
"""What asyncpg says of a statement that follows what the server said between two of them.

That can only be that it ends the connection, and why; asyncpg reads it and tells nobody.
"""

_ENDED = "the server ended the connection, as it does when a transaction is silent for too long"


def _innermost(error: BaseException) -> BaseException:
    """What the driver raised: SQLAlchemy's own wrapping of asyncpg puts a class name before it."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        return error.orig.__cause__ or error.orig
    return error


def _cause(error: BaseException) -> str:
    """The driver's own words; it is never told the password in a way that it repeats."""
    text = str(error).strip() or type(error).__name__
    return _ENDED if text.startswith(_UNHEARD) else text.splitlines()[0]
