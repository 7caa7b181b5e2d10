"""Copies of databases: backing up and restoring SQLite files, and noticing who uses one."""

import asyncio
import fcntl
import logging
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    closing,
    contextmanager,
    suppress,
)
from itertools import chain, count
from pathlib import Path
from typing import IO, NamedTuple

from sqlalchemy import update

from bot.kernel.clock import Clock
from bot.store import migrate
from bot.store.connected import be_present, in_use_by, present, require_nobody_connected
from bot.store.coordination import Leases
from bot.store.engines import (
    APPLICATION,
    SQLITE_SIDES,
    UPGRADE_SECONDS,
    as_store_errors,
    opened,
    sqlite_path,
)
from bot.store.errors import StoreUnavailable, StoreUnusable
from bot.store.schema import EPOCH
from bot.store.tables import leases
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

COPY_WAIT_SECONDS = 60.0
FILE_SECONDS = 60.0
"""How often a process looks whether its SQLite file is still the same."""

REPLACED = ".before-restore"
IN_USE = ".in-use"


@contextmanager
def presence(database: Path) -> Iterator[bool]:
    """A shared lock on a file beside a SQLite database, for as long as a process uses it.

    Yields whether no other process had it; False if nobody can know, as in a read-only directory.
    The operating system releases it when a process dies, but not when it is stopped. Raises
    StoreUnavailable while a command keeps others out.
    """
    with ExitStack() as stack:
        try:
            database.parent.mkdir(parents=True, exist_ok=True)
            is_alone = _enter(stack.enter_context(_lock_file(database)))
        except OSError as error:
            extra = {"action": "presence_unknown", "error": str(error)}
            logger.info("file locks are not available", extra=extra)
            is_alone = False
        yield is_alone


def _enter(lock: IO[str]) -> bool:
    """Share the lock; return whether no other process had it."""
    is_alone = _got(lock, fcntl.LOCK_EX)
    if is_alone:
        # Of a command that was killed.
        lock.truncate(0)
    elif not _got(lock, fcntl.LOCK_SH):
        lock.seek(0)
        command = lock.read()
        if command:
            raise in_use_by(f"{APPLICATION} {command}")
    # Waits only a moment: for another process that looks whether it is alone.
    fcntl.flock(lock, fcntl.LOCK_SH)
    return is_alone


@contextmanager
def _lock_file(database: Path) -> Iterator[IO[str]]:
    path = database.with_name(f"{database.name}{IN_USE}")
    path.touch(0o600)
    with path.open("a+") as file:
        # `mqbot restore` as root must not lock the bot out.
        give_to_owner(path, path.parent)
        yield file


def _got(lock: IO[str], kind: int) -> bool:
    """Take a lock of this kind in place of the one that this process has, if that is possible."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def taking_part(url: str) -> Iterator[None]:
    """Use the database beside others, for as long as the block runs.

    Raises StoreUnavailable while a command keeps others out.
    """
    if url.startswith("sqlite:"):
        with presence(sqlite_path(url)):
            yield
    else:
        with present(url):
            yield


async def take_over_database(store: Store, url: str, stack: AsyncExitStack) -> bool:
    """Migrate the SQLite file; end the leases of a process that died, if no other process uses it.

    A restarted bot doesn't wait for them. Returns whether no other process uses it, which is
    unknown of other databases. The lock lasts until `stack` is closed; on PostgreSQL each
    connection of the store has one. Raises StoreUnavailable, also while a command keeps others out,
    and StoreUnusable as `migrate.upgrade` does.
    """
    if not url.startswith("sqlite:"):
        be_present(store.engine)
        return False
    is_alone = stack.enter_context(presence(sqlite_path(url)))
    # At once, because the file belongs to this machine alone.
    await asyncio.to_thread(migrate.upgrade, url)
    if is_alone:
        await store.run(lambda transaction: Leases(transaction).end_all())
    return is_alone


def back_up(url: str, file: Path) -> None:
    """Write one consistent copy to `file`, all of it or nothing; the bot may write meanwhile.

    Raises StoreUnavailable, StoreUnusable when there is nothing to copy, and ValueError for an
    address that is not SQLite's. Onto the database itself, by whatever name, is StoreUnusable: the
    bot would go on with the file that was there, and lose everything since at its next start.
    """
    source = sqlite_path(url)
    if not source.exists():
        raise StoreUnusable(f"there is no database {source}")
    try:
        str(file).encode()
    except UnicodeEncodeError:
        # SQLite takes it as text.
        problem = f"{file} isn't UTF-8: SQLite can't write a file of that name"
        raise StoreUnusable(problem) from None
    with as_store_errors():
        # Such as /dev/stdout, which root could replace for everybody.
        if file.exists() and not file.is_file():
            raise StoreUnusable(f"{file} isn't a plain file: name another file")
    own_files = [Path(f"{source}{side}") for side in (*SQLITE_SIDES, IN_USE)]
    if any(_is_same_file(file, own) for own in own_files):
        raise StoreUnusable(f"{file} is the database itself: name another file")
    with as_store_errors():
        # A link stays, with the copy where it leads.
        file = file.resolve()
        has_folder = file.parent.is_dir()
    if not has_folder:
        raise StoreUnavailable(f"there is no folder {file.parent}")
    with _errors_about(source):
        _require_sound(source)
    with _errors_about(file), _beside(file) as copy:
        _copy(source, copy)
        _replace(copy, file)


def _is_same_file(first: Path, other: Path) -> bool:
    """By whatever names: links, or other spellings of one path."""
    if first.exists() and other.exists():
        return first.samefile(other)
    return first.resolve() == other.resolve()


@asynccontextmanager
async def while_file_stays(url: str, clock: Clock) -> AsyncIterator[None]:
    """Cancel the block, and raise StoreUnusable, once the SQLite file is another one or gone.

    A process goes on writing to a file without a name, and all of it would be lost at its end.
    """
    if not url.startswith("sqlite:"):
        yield
        return
    path = sqlite_path(url)
    before = _identity(path)

    async def watch() -> None:
        while _identity(path) == before:
            await clock.sleep(FILE_SECONDS)
        # Which of both isn't known: SQLite makes a new file for the next connection.
        raise StoreUnusable(
            f"{path} was deleted or replaced while mqbot used it, so mqbot has stopped; what it"
            " stored since is gone. Put back a copy with mqbot restore, or start mqbot with what"
            " is there now"
        )

    try:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(watch(), name="watch the database's file")
            yield
            watching.cancel()
    except BaseExceptionGroup as raised:
        # Of the block or of the watch; never of both, because the watch's cancels the block.
        (first, *_) = raised.exceptions
        raise first from first.__cause__


class _FileIdentity(NamedTuple):
    """What a file keeps under any name."""

    device: int
    inode: int


def _identity(path: Path) -> _FileIdentity | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return _FileIdentity(found.st_dev, found.st_ino)


def restore(url: str, file: Path, put_in_doubt: Callable[[Transaction], None]) -> Path | None:
    """Replace the database by the copy, migrated to this program's schema.

    `put_in_doubt`: for what may have been posted since the copy was made.

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
        require_alone(target, "restore", stack)
        with _errors_about(file):
            _require_sound(file)
        with _errors_about(target):
            copy = stack.enter_context(_beside(target))
            _copy(file, copy)
        give_to_owner(copy, target if target.exists() else target.parent)
        with _errors_about(file):
            if migrate.current_revision(f"sqlite:///{copy}") is None:
                raise StoreUnusable(f"{file} is no database of mqbot")
        _prepare(f"sqlite:///{copy}", put_in_doubt)
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
        replaced = _set_aside(target)
        _replace(copy, target)
        return replaced


async def keep_others_out(url: str, command: str, clock: Clock, stack: ExitStack) -> None:
    """Keep others out of the database until the stack ends: they name the command.

    Raises StoreUnavailable if a process uses it.
    """
    if not url.startswith("sqlite:"):
        await require_nobody_connected(url, command, clock, stack)
        return
    path = sqlite_path(url)
    with as_store_errors():
        path.parent.mkdir(parents=True, exist_ok=True)
    require_alone(path, command, stack)


def require_alone(database: Path, command: str, stack: ExitStack) -> None:
    """Keep others out of the SQLite database until the stack ends: they name the command.

    Raises StoreUnavailable if a process uses it.
    """
    try:
        lock = stack.enter_context(_lock_file(database))
        if _got(lock, fcntl.LOCK_EX):
            stack.callback(lock.truncate, 0)
            lock.truncate(0)
            # Not through the file's buffer, which a full disk would refuse again at the end.
            os.write(lock.fileno(), command.encode())
            return
        _enter(lock)
    except OSError as error:
        path = f"{database}{IN_USE}"
        unknown = f"can't tell whether the bot uses the database: {path}: {error.strerror}"
        raise StoreUnavailable(unknown) from error
    raise StoreUnavailable("the database is in use: stop the bot first")


async def make_ready(url: str, clock: Clock, put_in_doubt: Callable[[Transaction], None]) -> None:
    """Prepare a database restored by pg_restore, before the bot posts.

    Migrates it to this program's schema. Raises StoreUnavailable, also if a process uses the
    database, and StoreUnusable if it holds no such copy; then nothing has changed.
    """
    with ExitStack() as stack:
        await require_nobody_connected(url, "restore", clock, stack)
        if migrate.current_revision(url) is None:
            raise StoreUnusable("there is no database of mqbot")
        _prepare(url, put_in_doubt)


def _prepare(url: str, put_in_doubt: Callable[[Transaction], None]) -> None:
    """Migrate a restored database, and have the bot check Slack's history before it posts.

    Old leases end.
    """
    migrate.upgrade(url)
    with opened(url, seconds=UPGRADE_SECONDS) as connection:
        put_in_doubt(Transaction(connection))
        connection.execute(update(leases).values(expires_at=EPOCH))


@contextmanager
def _errors_about(file: Path) -> Iterator[None]:
    """Name the file in an error of SQLite's or of the operating system's."""
    try:
        with as_store_errors():
            yield
    except StoreUnavailable as error:
        if str(file) in error.cause:
            raise
        raise type(error)(f"{file}: {error.cause}") from error


@contextmanager
def _beside(file: Path) -> Iterator[Path]:
    """The path of an unfinished file in the same folder, which is deleted in the end."""
    unfinished = file.with_name(f".{file.name}.part")
    with as_store_errors():
        try:
            yield unfinished
        finally:
            for side in SQLITE_SIDES:
                Path(f"{unfinished}{side}").unlink(missing_ok=True)


def _require_sound(database: Path) -> None:
    with closing(sqlite3.connect(database, timeout=COPY_WAIT_SECONDS)) as reading:
        found = reading.execute("PRAGMA quick_check").fetchone()
    if found != ("ok",):
        raise StoreUnusable(f"{database} is damaged: {found[0]}")


def _copy(source: Path, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    # Only the owner may read it: it holds people's texts.
    copy.touch(0o600, exist_ok=False)
    with closing(sqlite3.connect(source, timeout=COPY_WAIT_SECONDS)) as reading:
        reading.execute("VACUUM INTO ?", [str(copy)])
    _write_to_disk(copy)


def give_to_owner(file: Path, like: Path) -> None:
    """Keep the file's owner, so that a restore as root doesn't lock the bot out."""
    if os.geteuid() == 0:
        owner = like.stat()
        os.chown(file, owner.st_uid, owner.st_gid)


def _set_aside(target: Path) -> Path | None:
    """Give the database a second name, so that there is always one at its first: old or new.

    Each replaced one is kept, because a second restore may be to undo a first one.
    """
    is_there = target.exists()
    if is_there:
        _merge(target)
    first = target.with_name(f"{target.name}{REPLACED}")
    later = (first.with_name(f"{first.name}-{number}") for number in count(2))
    aside = next(path for path in chain([first], later) if _is_free(path))
    present = [side for side in SQLITE_SIDES if Path(f"{target}{side}").exists()]
    for side in present:
        _keep(Path(f"{target}{side}"), Path(f"{aside}{side}"))
    for side in present:
        if side:
            # SQLite would take its changes for changes to the new file.
            Path(f"{target}{side}").unlink()
    return aside if is_there else None


def _merge(database: Path) -> None:
    """Let SQLite put into the main file what a killed process left beside it, if it can."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _keep(file: Path, name: Path) -> None:
    """Give the file another name too, or copy it where the file system gives no second name."""
    try:
        name.hardlink_to(file)
    except OSError:
        with _beside(name) as copy:
            copy.touch(0o600)
            shutil.copyfile(file, copy)
            shutil.copymode(file, copy)
            give_to_owner(copy, file)
            _write_to_disk(copy)
            _replace(copy, name)


def _is_free(path: Path) -> bool:
    return not any(Path(f"{path}{side}").exists() for side in SQLITE_SIDES)


def _replace(file: Path, target: Path) -> None:
    """Put `file` in the place of `target`, on disk when this returns."""
    file.replace(target)
    _write_to_disk(file.parent)


def _write_to_disk(path: Path) -> None:
    """A file's content, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
