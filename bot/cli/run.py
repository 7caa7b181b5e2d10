"""`mqbot run`: the whole bot in one process."""

import asyncio
import os

import click

from bot import logs
from bot.cli.process import CONFIGURATION_EXIT, complain, secrets_of, until_stopped
from bot.config import ConfigurationError, Settings, load_settings
from bot.domain.errors import StoreUnavailable
from bot.runtime import build_runtime
from bot.storage import migrate


@click.command()
def command() -> None:
    """Run the bot: commands, polling and posting in one process."""
    try:
        settings = load_settings(os.environ)
        logs.configure(settings.log_level, settings.log_format, secrets_of(settings))
        asyncio.run(run(settings))
    except ConfigurationError as error:
        complain(error)
        raise SystemExit(CONFIGURATION_EXIT) from None
    except StoreUnavailable as error:
        complain(ConfigurationError({"DATABASE_URL": f"cannot be used: {error.cause}"}))
        raise SystemExit(CONFIGURATION_EXIT) from None


async def run(settings: Settings) -> None:
    """Run until SIGINT or SIGTERM."""
    await _ready_database(settings.database_url.get_secret_value())
    async with until_stopped() as stopped, build_runtime(settings):
        await stopped.wait()


async def _ready_database(url: str) -> None:
    """A SQLite file belongs to this process alone and is migrated at once.

    On PostgreSQL that is a step of its own: other machines may still run the version before.
    """
    try:
        if url.startswith("sqlite:"):
            await migrate.upgrade(url)
        elif not await migrate.is_current(url):
            raise ConfigurationError({"DATABASE_URL": "is not migrated; run mqbot migrate"})
    except ValueError as error:
        raise ConfigurationError({"DATABASE_URL": str(error)}) from None
