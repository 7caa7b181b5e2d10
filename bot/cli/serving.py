"""`mqbot run`, `web` and `worker`: how they start, fail and stop."""

import asyncio
import gc
import logging
from contextlib import AbstractAsyncContextManager

import click

from bot.cli.main import keeping_imports
from bot.cli.process import cancelled_by_signals, complaining, forever
from bot.config.reading import load_settings, overridden, unknown_variables
from bot.config.secrets import secrets_of
from bot.config.settings import RunSettings, Settings, WebSettings
from bot.kernel.errors import ConfigurationError
from bot.runtime import logs

logger = logging.getLogger(__name__)

Bot = AbstractAsyncContextManager[object]


@click.command()
def run() -> None:
    """Run the bot over Socket Mode: commands, polling and posting in one process."""
    with complaining():
        settings = load_settings(RunSettings)
    # Imported late, because invalid settings need none of it.
    with keeping_imports():
        from bot.runtime.process import build_runtime

    serve(build_runtime(settings), settings)


@click.command()
def web() -> None:
    """Answer Slack over HTTP: commands, buttons, forms, the Home tab.

    Needs `mqbot worker` beside it, which posts. Serves /healthz and /readyz too.
    """
    with complaining():
        settings = load_settings(WebSettings)
    with keeping_imports():
        from bot.runtime.process import build_web

    serve(build_web(settings), settings)


@click.command()
def worker() -> None:
    """Poll the event logs and post, beside `mqbot web`. Opens no port for Slack."""
    with complaining():
        settings = load_settings(Settings)
    with keeping_imports():
        from bot.runtime.process import build_worker

    serve(build_worker(settings), settings)


def serve(bot: Bot, settings: Settings) -> None:
    """Run until SIGINT or SIGTERM.

    Invalid settings are printed on standard error and exit with CONFIGURATION_EXIT; a database
    that may be back later exits with UNAVAILABLE_EXIT.
    """
    logs.configure(settings.log_level, settings.log_format, secrets_of(settings))
    url = settings.database_url.get_secret_value()
    both = overridden()
    if both:
        extra = {"action": "settings_overridden", "settings": ", ".join(both)}
        logger.info(
            "the environment overrides settings in the file",
            extra={**extra, "in_file": ", ".join(both.values())},
        )
    unknown = unknown_variables()
    if unknown:
        # Somebody may rely on one, such as on a right that it seems to limit.
        extra = {"action": "settings_unknown", "variables": ", ".join(unknown)}
        logger.warning("variables that are named like settings and aren't", extra=extra)
    with complaining(url):
        asyncio.run(_run(bot, url))


async def _run(bot: Bot, url: str) -> None:
    _require_database(url)
    async with cancelled_by_signals(), bot:
        # What the start made lives as long as the process. Searches for garbage leave it out from
        # now on: a full one comes sooner and is short, so less garbage waits for it. What little
        # garbage the imports left stays: to find it takes longer than all else at this moment.
        gc.collect()
        gc.freeze()
        await forever()
    # Shows in the log that the process ended in order.
    logger.info("stopped", extra={"action": "stopped"})


def _require_database(url: str) -> None:
    """Raise ConfigurationError for a bad address, or a PostgreSQL database that isn't migrated.

    There, migrating is a separate step: other machines may still run the previous version.
    """
    from bot.store import migrate
    from bot.store.engines import create_engine

    try:
        create_engine(url).dispose()
        is_migrated = url.startswith("sqlite:") or migrate.is_current(url)
    except ValueError as error:
        raise ConfigurationError({"DATABASE_URL": str(error)}) from None
    if not is_migrated:
        raise ConfigurationError({"DATABASE_URL": "is not migrated; run mqbot migrate"})
