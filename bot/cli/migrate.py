"""`mqbot migrate`: the release step."""

import click

from bot.cli.process import with_database
from bot.store import migrate


@click.command()
def command() -> None:
    """Bring the database to this version's schema; safe to repeat."""
    with with_database() as url:
        migrate.upgrade(url)
    click.echo(f"the database is at revision {migrate.head_revision()}")
