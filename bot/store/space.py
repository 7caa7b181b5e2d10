"""How much of a disk the database takes, and how much is left."""

import shutil
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from bot.store.engines import SQLITE_SIDES


class Space(NamedTuple):
    """Bytes on a disk."""

    database: int  #: what the database takes, with SQLite's files beside it
    free: int | None  #: left for its user; None on PostgreSQL, which doesn't tell


def space_of(connection: sa.Connection) -> Space:
    """The database behind a connection.

    https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADMIN-DBOBJECT
    """
    if connection.dialect.name != "sqlite":
        found = connection.execute(sa.text("SELECT pg_database_size(current_database())"))
        return Space(int(found.scalar_one()), None)
    path = Path(connection.engine.url.database or "")
    size = 0
    for side in SQLITE_SIDES:
        try:
            size += Path(f"{path}{side}").stat().st_size
        except FileNotFoundError:
            # SQLite removes those beside it with the last connection.
            continue
    return Space(size, shutil.disk_usage(path.parent).free)
