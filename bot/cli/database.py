"""`mqbot migrate`, `backup` and `restore`: for a person at the database's machine."""

import asyncio
from pathlib import Path

import click

from bot.cli.process import with_database
from bot.clock import SystemClock
from bot.domain.errors import ConfigurationError
from bot.store import backup as copies, migrate as schema

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
def migrate() -> None:
    """Bring the database to this version's schema; safe to repeat."""
    with with_database() as url:
        schema.upgrade(url)
    click.echo(f"the database is at revision {schema.head_revision()}")


@click.command()
@click.argument("file", type=FILE)
def backup(file: Path) -> None:
    """Copy the SQLite database to FILE, whole and consistent; the bot need not stop.

    A FILE that is there is replaced once the copy is complete. On PostgreSQL use pg_dump.
    """
    with with_database("backup") as url:
        if not url.startswith("sqlite:"):
            problem = "names no SQLite file; a PostgreSQL database is backed up with pg_dump"
            raise ConfigurationError({"DATABASE_URL": problem})
        copies.back_up(url, file)
    click.echo(f"the database is copied to {file} ({file.stat().st_size} bytes)")


@click.command()
@click.argument("file", required=False, type=FILE)
def restore(file: Path | None) -> None:
    """Put FILE, made by `mqbot backup`, in the place of the SQLite database; stop the bot first.

    Unsettled deliveries are looked up in Slack before they are posted. After pg_restore on
    PostgreSQL, run it without FILE for that part alone.
    """
    kept: Path | None = None
    with with_database("restore") as url:
        is_sqlite = url.startswith("sqlite:")
        if (file is not None) is not is_sqlite:
            problem = "a SQLite database needs FILE" if is_sqlite else "PostgreSQL takes no FILE"
            raise ConfigurationError({"restore": problem})
        if file is not None:
            kept = copies.restore(url, file)
        else:
            asyncio.run(copies.make_ready(url, SystemClock()))
    click.echo("the database is ready; unsettled deliveries are looked up before they are posted")
    if kept is not None:
        click.echo(f"the database that was there is kept as {kept}")
