"""One try of a transaction: what it runs on, how it is broken off, whether to try again."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

_TRANSIENT = {"40001", "40P01"}
"""PostgreSQL's codes of a serialization failure and a deadlock."""


class Attempt:
    """One try of a transaction, which the event loop breaks off when it takes too long.

    A server that is frozen answers nothing, so no setting of its own ends a statement.
    """

    def __init__(self) -> None:
        self.is_committing = False
        self._driver: Any = None
        self._changing = threading.Lock()

    @contextmanager
    def on(self, connection: Connection) -> Iterator[None]:
        """`connection` is in use by this attempt for as long as the context lasts."""
        if not connection.invalidated:
            self._driver = connection.connection.driver_connection
        try:
            yield
        finally:
            with self._changing:
                self._driver = None

    def break_off(self) -> None:
        """Shut the socket down: the thread that waits for the server's answer gets an error."""
        with self._changing:
            if self._driver is None or self._driver.closed:
                return
            with socket.socket(fileno=os.dup(self._driver.fileno())) as copied:
                copied.shutdown(socket.SHUT_RDWR)


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
