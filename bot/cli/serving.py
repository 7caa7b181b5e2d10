"""How `mqbot run`, `web` and `worker` start, complain and stop."""

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

    What cannot be used is named on standard error and ends the process with CONFIGURATION_EXIT, a
    database that may be back later with UNAVAILABLE_EXIT.
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
    # Whoever reads the log of a process that is gone sees whether it ended in order.
    logger.info("stopped", extra={"action": "stopped"})


async def _ready_database(url: str) -> None:
    """A SQLite file belongs to this machine alone and is migrated at once.

    On PostgreSQL that is a step of its own: other machines may still run the version before.
    """
    try:
        if url.startswith("sqlite:"):
            migrate.upgrade(url)
        elif not migrate.is_current(url):
            raise ConfigurationError({"DATABASE_URL": "is not migrated; run mqbot migrate"})
    except ValueError as error:
        raise ConfigurationError({"DATABASE_URL": str(error)}) from None
