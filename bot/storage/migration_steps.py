"""Alembic, driven from code; imported only where there is something to migrate."""

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection

from bot.storage.versions import MIGRATIONS, refuse_newer


def apply(connection: Connection, revision: str) -> None:
    """Bring the database to `revision`; StoreUnusable when it is at one that is not known."""
    configuration = _configuration()
    refuse_newer(MigrationContext.configure(connection).get_current_revision())
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, revision)


def _configuration() -> Config:
    configuration = Config()
    # The option is read with interpolation: a percent sign in the path would be taken for one.
    configuration.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return configuration
