"""The revisions of the schema, by the names of their files: known without reading them."""

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from bot.domain.errors import StoreUnavailable, StoreUnusable

MIGRATIONS = Path(__file__).parent / "migrations"


def known_revisions() -> Sequence[str]:
    """All that this program knows, the oldest first."""
    names = sorted(path.name for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
    if not names:
        raise StoreUnavailable("the migrations are not installed with the program")
    return [name.partition("_")[0] for name in names]


def head_revision() -> str:
    """The revision this program was written for."""
    return known_revisions()[-1]


def refuse_newer(revision: str | None) -> None:
    """Raise StoreUnusable for a revision that this program does not know."""
    if revision is not None and revision not in known_revisions():
        raise StoreUnusable(
            f"the database is at revision {revision}, made by a newer version of this program"
        )


def revision_of(connection: Connection) -> str | None:
    """The revision the database says it is at; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found
