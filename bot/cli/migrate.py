"""`mqbot migrate`: the release step."""

import asyncio
import os

import click

from bot.cli.process import CONFIGURATION_EXIT, complain
from bot.config import load_database_url
from bot.domain.errors import ConfigurationError, StoreUnavailable
from bot.storage import migrate


@click.command()
def command() -> None:
    """Bring the database to this version's schema; safe to repeat."""
    try:
        url = load_database_url(os.environ)
        asyncio.run(migrate.upgrade(url))
    except ConfigurationError as error:
        complain(error)
        raise SystemExit(CONFIGURATION_EXIT) from None
    except (StoreUnavailable, ValueError) as error:
        complain(ConfigurationError({"DATABASE_URL": f"cannot be used: {error}"}))
        raise SystemExit(CONFIGURATION_EXIT) from None
    click.echo(f"the database is at revision {migrate.head_revision()}")
