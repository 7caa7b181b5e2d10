"""Backups: copies a SQLite database in use, restores copies, and prepares restored databases."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, Row, func, text, update

from bot.domain.deliveries import DeliveryState
from bot.domain.errors import StoreUnavailable, StoreUnusable
from bot.ports import Clock
from bot.store import migrate
from bot.store.channel_queues import UNSETTLED, deliveries
from bot.store.column_types import EPOCH
from bot.store.engines import APPLICATION, create_engine, sqlite_path
from bot.store.failures import as_store_errors
from bot.store.leases import leases
from bot.store.presence import Presence

WAIT_SECONDS = 60.0
ENDING_SECONDS = 3.0
"""PostgreSQL needs a moment to end the connections of a process that has ended."""

CHECK_SECONDS = 0.1
NAMED = 5
REPLACED = ".before-restore"
_SIDES = ("", "-wal", "-shm")
"""SQLite's files beside the database, with changes not yet merged into it."""


def back_up(url: str, file: Path) -> None:
    """Write one consistent copy to `file`, whole or not at all; the bot may write meanwhile.

    Raises StoreUnavailable, StoreUnusable when there is nothing to copy, and ValueError for an
    address that is not SQLite's.
    """
    source = sqlite_path(url)
    if not source.exists():
        raise StoreUnusable(f"there is no database {source}")
    beside = file.with_name(f".{file.name}.part")
    with as_store_errors():
        try:
            _copy(source, beside)
            beside.replace(file)
            _flush_folder(file)
        finally:
            beside.unlink(missing_ok=True)


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
    presence = Presence(target)
    try:
        if not presence.begin():
            unknown = presence.unknown
            if unknown is not None:
                raise StoreUnavailable(f"whether the bot uses the database is not known: {unknown}")
            raise StoreUnavailable("the database is in use: stop the bot first")
        return _put(file, target)
    finally:
        presence.end()


async def make_ready(url: str, clock: Clock) -> None:
    """Prepare a database restored by pg_restore, before the bot posts.

    Migrates it to this program's schema. Raises StoreUnavailable, also if a process uses the
    database, and StoreUnusable if it holds no such copy; then nothing has changed.
    """
    await _refuse_in_use(url, clock)
    _prepare(url, "there is no database of mqbot")


def _put(file: Path, target: Path) -> Path | None:
    beside = target.with_name(f".{target.name}.part")
    with as_store_errors():
        try:
            _copy(file, beside)
            _give_to_owner(beside, target if target.exists() else target.parent)
            _prepare(f"sqlite:///{beside}", f"{file} is no database of mqbot")
            with closing(sqlite3.connect(beside)) as connection:
                connection.execute("PRAGMA journal_mode=DELETE")
            kept = _set_aside(target)
            beside.replace(target)
            _flush_folder(target)
        finally:
            for side in _SIDES:
                Path(f"{beside}{side}").unlink(missing_ok=True)
    return kept


def _prepare(url: str, otherwise: str) -> None:
    if migrate.current_revision(url) is None:
        raise StoreUnusable(otherwise)
    migrate.upgrade(url)
    _distrust(url)


async def _refuse_in_use(url: str, clock: Clock) -> None:
    """Raise StoreUnavailable if processes stay connected."""
    engine = create_engine(url)
    try:
        with as_store_errors():
            deadline = clock.now() + timedelta(seconds=ENDING_SECONDS)
            while (connected := _connections(engine)) and clock.now() < deadline:
                await clock.sleep(CHECK_SECONDS)
    finally:
        engine.dispose()
    if connected:
        where = ", ".join(f"{one.address} (backend {one.pid})" for one in connected[:NAMED])
        raise StoreUnavailable(
            f"the bot has the database in use, from {where}: stop every process first; a connection"
            f" that outlived its process ends by SELECT pg_terminate_backend({connected[0].pid})"
        )


def _connections(engine: Engine) -> Sequence[Row[Any]]:
    with engine.connect() as connection:
        return connection.execute(_CONNECTED, {"name": APPLICATION}).all()


_CONNECTED = text(
    "SELECT pid, coalesce(host(client_addr), 'a local socket') AS address FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = :name AND pid <> pg_backend_pid()"
    " ORDER BY address, pid"
)


def _distrust(url: str) -> None:
    """Have the bot check Slack's history before it posts from a restored database.

    Deliveries that weren't settled in the copy may have been posted since, so they are in doubt.
    Old leases end.
    """
    engine = create_engine(url)
    try:
        with as_store_errors(), engine.begin() as connection:
            connection.execute(
                update(deliveries)
                .where(UNSETTLED)
                .values(
                    state=DeliveryState.IN_DOUBT,
                    attempted_at=func.coalesce(deliveries.c.attempted_at, deliveries.c.created_at),
                )
            )
            connection.execute(update(leases).values(expires_at=EPOCH))
    finally:
        engine.dispose()


def _copy(source: Path, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    # Only the owner may read it: it holds people's texts.
    os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with (
        closing(sqlite3.connect(source, timeout=WAIT_SECONDS)) as reading,
        closing(sqlite3.connect(copy)) as writing,
    ):
        # In one step: a write between steps restarts the copy, for ever in a busy database.
        reading.backup(writing)
        writing.execute("PRAGMA journal_mode=DELETE")
        found = writing.execute("PRAGMA quick_check").fetchone()
    if found != ("ok",):
        raise StoreUnusable(f"{source} is damaged: {found[0]}")
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


def _flush_folder(file: Path) -> None:
    descriptor = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
