"""Copies of databases: backing up and restoring SQLite files, and noticing who uses one."""

import fcntl
import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager
from datetime import timedelta
from pathlib import Path

from sqlalchemy import func, text, update

from bot.domain.deliveries import DeliveryState
from bot.domain.errors import StoreUnavailable, StoreUnusable
from bot.ports import Clock
from bot.store import migrate
from bot.store.engines import APPLICATION, as_store_errors, opened, sqlite_path
from bot.store.schema import EPOCH
from bot.store.statements import ResultRow
from bot.store.tables import UNSETTLED, deliveries, leases
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

WAIT_SECONDS = 60.0
ENDING_SECONDS = 3.0
"""PostgreSQL needs a moment to end the connections of a process that has ended."""

CHECK_SECONDS = 0.1
NAMED = 5
REPLACED = ".before-restore"
_SIDES = ("", "-wal", "-shm")
"""SQLite's files beside the database, with changes not yet merged into it."""

_CONNECTED = text(
    "SELECT pid, coalesce(host(client_addr), 'a local socket') AS address FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = :name AND pid <> pg_backend_pid()"
    " ORDER BY address, pid"
)


@contextmanager
def presence(database: Path) -> Iterator[bool]:
    """A shared lock on a file beside a SQLite database, for as long as a process uses it.

    Yields whether no other process had it. The operating system releases it when a process dies,
    but not when it is stopped. Raises OSError at the start if nobody can know, as in a read-only
    directory.
    """
    path = database.with_name(f"{database.name}.in-use")
    path.touch(0o600)
    with path.open("a+") as file:
        # `mqbot restore` as root must not lock the bot out.
        _give_to_owner(path, path.parent)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_alone = True
        except BlockingIOError:
            is_alone = False
        # Waits only a moment: the exclusive lock is never held long.
        fcntl.flock(file, fcntl.LOCK_SH)
        yield is_alone


async def take_over(store: Store, url: str, stack: AsyncExitStack) -> None:
    """End the leases of a process that died, if no other process uses the SQLite file.

    A restarted bot doesn't wait for them. The lock lasts until `stack` is closed.
    """
    if not url.startswith("sqlite:"):
        return
    try:
        is_alone = stack.enter_context(presence(sqlite_path(url)))
    except OSError as error:
        logger.info("no file locks", extra={"action": "presence_unknown", "error": str(error)})
        return
    if is_alone:
        await store.run(lambda transaction: transaction.leases.end_all())


def back_up(url: str, file: Path) -> None:
    """Write one consistent copy to `file`, whole or not at all; the bot may write meanwhile.

    Raises StoreUnavailable, StoreUnusable when there is nothing to copy, and ValueError for an
    address that is not SQLite's.
    """
    source = sqlite_path(url)
    if not source.exists():
        raise StoreUnusable(f"there is no database {source}")
    with _beside(file) as copy:
        _copy(source, copy)
        _replace(copy, file)


def restore(url: str, file: Path) -> Path | None:
    """Replace the database by the copy, migrated to this program's schema.

    Returns the path at which the replaced database is kept, if there was one. Raises StoreUnusable
    if `file` isn't such a copy, and StoreUnavailable if a process uses the database; then nothing
    has changed.
    """
    target = sqlite_path(url)
    if not file.is_file():
        raise StoreUnusable(f"there is no file {file}")
    with as_store_errors():
        target.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            is_alone = stack.enter_context(presence(target))
        except OSError as error:
            unknown = f"whether the bot uses the database is not known: {error}"
            raise StoreUnavailable(unknown) from error
        if not is_alone:
            raise StoreUnavailable("the database is in use: stop the bot first")
        copy = stack.enter_context(_beside(target))
        _copy(file, copy)
        _give_to_owner(copy, target if target.exists() else target.parent)
        _prepare(f"sqlite:///{copy}", f"{file} is no database of mqbot")
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
        kept = _set_aside(target)
        _replace(copy, target)
        return kept


async def make_ready(url: str, clock: Clock) -> None:
    """Prepare a database restored by pg_restore, before the bot posts.

    Migrates it to this program's schema. Raises StoreUnavailable, also if a process uses the
    database, and StoreUnusable if it holds no such copy; then nothing has changed.
    """
    deadline = clock.now() + timedelta(seconds=ENDING_SECONDS)
    while others := _connected(url):
        if clock.now() >= deadline:
            where = ", ".join(f"{one.address} (backend {one.pid})" for one in others[:NAMED])
            raise StoreUnavailable(
                f"the bot has the database in use, from {where}: stop every process first;"
                " a connection that outlived its process ends by"
                f" SELECT pg_terminate_backend({others[0].pid})"
            )
        await clock.sleep(CHECK_SECONDS)
    _prepare(url, "there is no database of mqbot")


def _connected(url: str) -> Sequence[ResultRow]:
    with opened(url) as connection:
        return connection.execute(_CONNECTED, {"name": APPLICATION}).all()


def _prepare(url: str, otherwise: str) -> None:
    """Migrate a restored database, and have the bot check Slack's history before it posts.

    Unsettled deliveries may have been posted since, so they are in doubt. Old leases end.
    """
    if migrate.current_revision(url) is None:
        raise StoreUnusable(otherwise)
    migrate.upgrade(url)
    attempted_at = func.coalesce(deliveries.c.attempted_at, deliveries.c.created_at)
    in_doubt = update(deliveries).where(UNSETTLED)
    with opened(url) as connection:
        connection.execute(in_doubt.values(state=DeliveryState.IN_DOUBT, attempted_at=attempted_at))
        connection.execute(update(leases).values(expires_at=EPOCH))


@contextmanager
def _beside(file: Path) -> Iterator[Path]:
    """The path of an unfinished file in the same folder, which is deleted in the end."""
    unfinished = file.with_name(f".{file.name}.part")
    with as_store_errors():
        try:
            yield unfinished
        finally:
            for side in _SIDES:
                Path(f"{unfinished}{side}").unlink(missing_ok=True)


def _copy(source: Path, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    # Only the owner may read it: it holds people's texts.
    copy.touch(0o600, exist_ok=False)
    with closing(sqlite3.connect(source, timeout=WAIT_SECONDS)) as reading:
        found = reading.execute("PRAGMA quick_check").fetchone()
        if found != ("ok",):
            raise StoreUnusable(f"{source} is damaged: {found[0]}")
        reading.execute("VACUUM INTO ?", [str(copy)])
    with copy.open("rb") as written:
        os.fsync(written.fileno())


def _give_to_owner(file: Path, like: Path) -> None:
    """Keep the file's owner, so that a restore as root doesn't lock the bot out."""
    if os.geteuid() == 0:
        owner = like.stat()
        os.chown(file, owner.st_uid, owner.st_gid)


def _set_aside(target: Path) -> Path | None:
    kept = target.with_name(f"{target.name}{REPLACED}")
    for side in _SIDES:
        Path(f"{kept}{side}").unlink(missing_ok=True)
    if not target.exists():
        return None
    for side in reversed(_SIDES):
        beside = Path(f"{target}{side}")
        if beside.exists():
            beside.replace(f"{kept}{side}")
    return kept


def _replace(file: Path, target: Path) -> None:
    """Put `file` in the place of `target`, on disk when this returns."""
    file.replace(target)
    descriptor = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
