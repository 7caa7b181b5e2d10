"""The schema's revision: which one a database is at, and bringing it to this program's.

A new database gets today's tables and the newest revision; an older one gets the steps it lacks,
https://alembic.sqlalchemy.org/en/latest/cookbook.html#building-an-up-to-date-database-from-scratch.
"""

import errno
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

from sqlalchemy import Connection, inspect, text

from bot.store.engines import UPGRADE_SECONDS, file_problem, opened, sqlite_path
from bot.store.errors import StoreUnavailable, StoreUnusable
from bot.store.protection import AUDIT_REFUSES_CHANGES
from bot.store.schema import metadata, require_all_tables

HEAD = "head"

_MIGRATIONS = Path(__file__).parent / "migrations"

_FIRST_EDITION = re.compile(r"00\d\d")
"""The revisions of the first edition were bare numbers; today's have a word behind theirs."""

_LOCK_KEY = 0x6D71626F74
"""PostgreSQL's advisory locks have numbers for names; this one is "mqbot" in ASCII."""


def upgrade(url: str, revision: str = HEAD) -> None:
    """Bring the database to `revision`, or leave it as it is if a step fails.

    Two processes that call this at once wait for each other. Creates a missing SQLite file, for
    its owner alone, and its folder. Raises StoreUnavailable, StoreUnusable when the first edition
    or a newer version of this program made the database, and ValueError for a bad address.
    """
    if url.startswith("sqlite:"):
        _is_there(sqlite_path(url), make=True)
    if is_current(url):
        return
    # Slow to import: a start without a migration saves it, and nobody waits for the lock meanwhile.
    from alembic import command  # noqa: PLC0415 - see above
    from alembic.config import Config  # noqa: PLC0415 - see above

    # The option is read with interpolation: a percent sign in the path would be taken for one.
    configuration = Config()
    configuration.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    with opened(url, seconds=UPGRADE_SECONDS) as connection:
        configuration.attributes["connection"] = connection
        if connection.dialect.name == "postgresql":
            # Waiting for another process's migration may take longer than a transaction may.
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK_KEY})"))
        if _revision_of(connection) is None:
            _create_tables(connection)
            command.stamp(configuration, HEAD)
        else:
            command.upgrade(configuration, revision)


def _create_tables(connection: Connection) -> None:
    require_all_tables()
    if connection.dialect.name == "postgresql":
        # An index that got this when it was made would load SQLAlchemy's PostgreSQL side.
        for table in metadata.sorted_tables:
            for index in table.indexes:
                where = index.dialect_options["sqlite"]["where"]
                index.dialect_options["postgresql"]["where"] = where
    metadata.create_all(connection, checkfirst=False)
    for statement in AUDIT_REFUSES_CHANGES[connection.dialect.name]:
        connection.exec_driver_sql(statement)


def current_revision(url: str) -> str | None:
    """The revision the database is at; None for an empty one, or for a file that can be created.

    Raises as `upgrade` does, but creates nothing.
    """
    if url.startswith("sqlite:") and not _is_there(sqlite_path(url)):
        return None
    with opened(url) as connection:
        return _revision_of(connection)


def is_current(url: str) -> bool:
    """Whether the database has exactly this program's schema. Raises as `current_revision`."""
    return current_revision(url) == head_revision()


def head_revision() -> str:
    return known_revisions()[-1]


def known_revisions() -> Sequence[str]:
    """The revisions this program knows, the oldest first: the names of their files."""
    return sorted(path.stem for path in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def _revision_of(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    if revision is None or revision in known_revisions():
        return revision
    if _FIRST_EDITION.fullmatch(revision):
        advice = {
            "sqlite": "move the file away, and the bot starts with a new one",
            "postgresql": "create a new database and set DATABASE_URL to it",
        }
        raise StoreUnusable(
            f"the first edition of mqbot made this database (revision {revision}), and this version"
            f" can't use it: {advice[connection.dialect.name]}"
        )
    raise StoreUnusable(
        f"the database is at revision {revision}, made by a newer version of this program; use that"
        " version or a later one"
    )


def _may_be_opened(path: Path) -> None:
    """Raise an OSError that names the cause; SQLite only says that it can't open the file.

    It isn't opened here: closing it would end the locks of this process.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "", str(path))
    if path.exists() and not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, "", str(path))


def _is_there(path: Path, *, make: bool = False) -> bool:
    """Whether the file is there; `make` makes it, for its owner alone, and its folder.

    Raises StoreUnusable when it isn't there and can't be made either, because the path is wrong;
    only a full disk may have room again.
    """
    try:
        with suppress(FileNotFoundError):
            path.lstat()
            _may_be_opened(path)
            return True
        if make:
            path.parent.mkdir(parents=True, exist_ok=True)
            # It holds what people wrote; what SQLite puts beside it gets its mode.
            path.touch(0o600)
        else:
            nearest = next(folder for folder in path.absolute().parents if folder.exists())
            TemporaryFile(dir=nearest).close()
    except OSError as error:
        why = f"{file_problem(error)}: {path}"
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StoreUnavailable(why) from error
        raise StoreUnusable(why) from error
    return make
