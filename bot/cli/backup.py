"""`mqbot backup`: a copy of the SQLite database, made while the bot works."""

from pathlib import Path

import click

from bot.cli.process import with_database
from bot.domain.errors import ConfigurationError
from bot.store.backup import back_up


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def command(file: Path) -> None:
    """Copy the SQLite database to FILE, whole and consistent; the bot need not stop.

    A FILE that is there is replaced once the copy is complete. On PostgreSQL use pg_dump.
    """
    with with_database("backup") as url:
        if not url.startswith("sqlite:"):
            problem = "names no SQLite file; a PostgreSQL database is backed up with pg_dump"
            raise ConfigurationError({"DATABASE_URL": problem})
        back_up(url, file)
    click.echo(f"the database is copied to {file} ({file.stat().st_size} bytes)")
