"""Detects other processes of this machine that use the same SQLite file."""

import fcntl
import logging
import os
from contextlib import AsyncExitStack
from pathlib import Path

from bot.store.engines import sqlite_path
from bot.store.transactions import Store

logger = logging.getLogger(__name__)


class Presence:
    """A shared lock on a file beside the database, held for as long as a process uses it.

    The operating system releases the lock when a process dies, but not when it is stopped.
    PostgreSQL has nothing like it: `mqbot restore` asks for connections, which may outlive a
    process.
    """

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}.in-use")
        self._descriptor: int | None = None
        self.unknown: str | None = None
        """Why the last `begin` couldn't find out; None if it could."""

    def begin(self) -> bool:
        """Take the lock; True if no other process had it.

        False also if that is unknown: the directory is read-only or full, or the file system has
        no locks.
        """
        self.end()
        self.unknown = None
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if os.geteuid() == 0:
                # `mqbot restore` as root must not lock the bot out.
                owner = self._path.parent.stat()
                os.fchown(descriptor, owner.st_uid, owner.st_gid)
        except OSError as error:
            self.unknown = str(error)
            logger.info("no lock file", extra={"action": "presence_unknown", "error": str(error)})
            return False
        self._descriptor = descriptor
        try:
            alone = _locked(descriptor, fcntl.LOCK_EX)
            # Waits only a moment: the exclusive lock is never held long.
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        except OSError as error:
            self.unknown = str(error)
            logger.info("no file locks", extra={"action": "presence_unknown", "error": str(error)})
            return False
        return alone

    def end(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def take_over(store: Store, url: str, stack: AsyncExitStack) -> None:
    """End the leases of a process that died, if no other process uses the SQLite file.

    Otherwise a restarted bot would wait half a minute for them. The lock lasts until `stack` is
    closed.
    """
    if not url.startswith("sqlite:"):
        return
    presence = Presence(sqlite_path(url))
    stack.callback(presence.end)
    if presence.begin():
        await store.run(lambda transaction: transaction.leases.end_all())
