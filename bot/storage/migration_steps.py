"""Alembic, driven from code; imported only where there is something to migrate."""

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from bot.domain.errors import StoreUnavailable
from bot.storage.versions import MIGRATIONS


def apply(connection: Connection, revision: str) -> None:
    """Bring the database to `revision`; StoreUnavailable when it is at one that is not known."""
    configuration = _configuration()
    known = {each.revision for each in ScriptDirectory.from_config(configuration).walk_revisions()}
    current = MigrationContext.configure(connection).get_current_revision()
    if current is not None and current not in known:
        raise StoreUnavailable(
            f"the database is at revision {current}, made by a newer version of this program"
        )
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, revision)


def _configuration() -> Config:
    configuration = Config()
    # The option is read with interpolation: a percent sign in the path would be taken for one.
    configuration.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return configuration
