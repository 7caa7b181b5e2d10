"""`mqbot backup`: a copy of the SQLite database, made while the bot works."""

import os
from pathlib import Path

import click

from bot.cli.process import CONFIGURATION_EXIT, complain
from bot.config import load_database_url
from bot.domain.errors import ConfigurationError, StoreUnavailable
from bot.storage.backup import back_up


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def command(file: Path) -> None:
    """Copy the SQLite database to FILE, whole and consistent; the bot need not stop.

    A FILE that is there is replaced once the copy is complete. On PostgreSQL use pg_dump.
    """
    try:
        back_up(_sqlite_url(), file)
    except ConfigurationError as error:
        complain(error)
        raise SystemExit(CONFIGURATION_EXIT) from None
    except (StoreUnavailable, ValueError) as error:
        complain(ConfigurationError({"backup": str(error)}))
        raise SystemExit(1) from None
    click.echo(f"the database is copied to {file} ({file.stat().st_size} bytes)")


def _sqlite_url() -> str:
    url = load_database_url(os.environ)
    if not url.startswith("sqlite:"):
        problem = "names no SQLite file; a PostgreSQL database is backed up with pg_dump"
        raise ConfigurationError({"DATABASE_URL": problem})
    return url
