"""Ending a wait for a PostgreSQL server that no longer answers."""

import errno
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection

from bot.store.errors import StoreUnavailable


class Cutoff:
    """Ends, from another thread, what a thread waits for.

    A frozen server doesn't answer, so none of its own timeouts works.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._driver: Any = None
        self._changing = threading.Lock()

    def use(self, driver: DBAPIConnection | None) -> None:
        """From now on, `cut` is about this connection."""
        with self._changing:
            self._driver = driver
            if self.is_over:
                self._shut_down()

    def cut(self) -> None:
        """Shut the socket down, so that the waiting thread gets an error."""
        with self._changing:
            self.is_over = True
            self._shut_down()

    def _shut_down(self) -> None:
        if self._driver is None or self._driver.closed:
            return
        with socket.socket(fileno=os.dup(self._driver.fileno())) as copied:
            try:
                copied.shutdown(socket.SHUT_RDWR)
            except OSError as error:
                # The server ended the connection, for example while this process stood still.
                if error.errno != errno.ENOTCONN:
                    raise


@contextmanager
def limited(used: Engine | Connection, seconds: float) -> Iterator[None]:
    """Raise StoreUnavailable if what the block does in the database takes longer; PostgreSQL only.

    Of an engine, its next connection counts from its login on: the engine asks a server about
    itself before it gives its first connection.
    """
    if used.dialect.name == "sqlite":
        yield
        return
    cutoff = Cutoff()

    def note(driver: DBAPIConnection, _record: object) -> None:
        cutoff.use(driver)

    if isinstance(used, Connection):
        cutoff.use(used.connection.driver_connection)
    else:
        event.listen(used, "connect", note, insert=True)
    timer = threading.Timer(seconds, cutoff.cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except StoreUnavailable as error:
        if cutoff.is_over:
            raise StoreUnavailable("no answer in time") from error
        raise
    finally:
        timer.cancel()
        # A timer that has just begun means no later use of the connection.
        cutoff.use(None)
