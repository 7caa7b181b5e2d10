"""All of the bot, composed as `mqbot run` (`socket`) or `mqbot web` (`http`) composes it."""

import asyncio
import os
import sys

from bot.cli.imports import imported_for_serving
from tests.bench.contestant import attend, only_observed

with imported_for_serving():
    from bot import logs
    from bot.cli.process import secrets_of
    from bot.config import load_settings
    from bot.runtime import build_runtime, build_web
    from bot.slack import tracing
    from bot.store import migrate


async def main(mode: str) -> None:
    settings = load_settings(os.environ)
    logs.configure(settings.log_level, settings.log_format, secrets_of(settings), tracing.fields)
    migrate.upgrade(settings.database_url.get_secret_value())
    if mode == "http":
        async with build_web(settings) as web:
            await attend(only_observed, port=web.port)
    else:
        async with build_runtime(settings):
            await attend(only_observed)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
