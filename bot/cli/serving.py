"""How `mqbot run`, `web` and `worker` start, fail and stop."""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager

from bot import logs
from bot.cli.process import complaining, secrets_of, until_stopped, using_database
from bot.config import Settings
from bot.domain.errors import ConfigurationError
from bot.store import migrate

logger = logging.getLogger(__name__)

Bot = AbstractAsyncContextManager[object]


def serve(bot: Bot, settings: Settings) -> None:
    """Run until SIGINT or SIGTERM.

    Invalid settings are printed on standard error and exit with CONFIGURATION_EXIT; a database
    that may be back later exits with UNAVAILABLE_EXIT.
    """
    secrets = secrets_of(settings)
    logs.configure(settings.log_level, settings.log_format, secrets)
    url = settings.database_url.get_secret_value()
    with complaining(), using_database(url):
        asyncio.run(_run(bot, settings))


async def _run(bot: Bot, settings: Settings) -> None:
    await _ready_database(settings.database_url.get_secret_value())
    async with until_stopped() as stopped, bot:
        await stopped.wait()
        logger.info("asked to stop", extra={"action": "stopping"})
    # Shows in the log that the process ended in order.
    logger.info("stopped", extra={"action": "stopped"})


async def _ready_database(url: str) -> None:
    """Migrate a SQLite file immediately, because it belongs to this machine alone.

    On PostgreSQL migrating is a separate step: other machines may still run the previous version.
    """
    try:
        if url.startswith("sqlite:"):
            migrate.upgrade(url)
        elif not migrate.is_current(url):
            raise ConfigurationError({"DATABASE_URL": "is not migrated; run mqbot migrate"})
    except ValueError as error:
        raise ConfigurationError({"DATABASE_URL": str(error)}) from None
