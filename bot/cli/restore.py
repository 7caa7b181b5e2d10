"""`mqbot restore`: restores a database and has uncertain posts checked before they are sent."""

import asyncio
from pathlib import Path

import click

from bot.cli.process import with_database
from bot.clock import SystemClock
from bot.domain.errors import ConfigurationError
from bot.store import backup


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
def command(file: Path | None) -> None:
    """Put FILE, made by `mqbot backup`, in the place of the SQLite database; stop the bot first.

    Unsettled deliveries are looked up in Slack before they are posted. After pg_restore on
    PostgreSQL, run it without FILE for that part alone.
    """
    with with_database("restore") as url:
        kept = _restore(url, file)
    click.echo("the database is ready; unsettled deliveries are looked up before they are posted")
    if kept is not None:
        click.echo(f"the database that was there is kept as {kept}")


def _restore(url: str, file: Path | None) -> Path | None:
    is_sqlite = url.startswith("sqlite:")
    if file is not None and is_sqlite:
        return backup.restore(url, file)
    if file is None and not is_sqlite:
        asyncio.run(backup.make_ready(url, SystemClock()))
        return None
    problem = "a SQLite database needs FILE" if is_sqlite else "PostgreSQL takes no FILE"
    raise ConfigurationError({"restore": problem})
