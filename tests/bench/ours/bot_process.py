"""All of the bot, composed as `mqbot run` (`socket`) or `mqbot web` (`http`) composes it."""

import asyncio
import gc
import sys

import bot.runtime.schema  # noqa: F401 - makes every table known
from bot.cli.main import GARBAGE_THRESHOLD
from bot.config.reading import load_settings
from bot.config.secrets import secrets_of
from bot.config.settings import RunSettings, Settings, WebSettings
from bot.runtime import logs
from bot.runtime.process import build_runtime, build_web
from bot.store import migrate
from tests.bench.contestant import attend, only_observed


async def main(mode: str) -> None:
    gc.set_threshold(GARBAGE_THRESHOLD)
    if mode == "http":
        web_settings = load_settings(WebSettings)
        prepare(web_settings)
        async with build_web(web_settings) as web:
            await attend(only_observed, port=web.port)
    else:
        settings = load_settings(RunSettings)
        prepare(settings)
        async with build_runtime(settings):
            await attend(only_observed)


def prepare(settings: Settings) -> None:
    logs.configure(settings.log_level, settings.log_format, secrets_of(settings))
    migrate.upgrade(settings.database_url.get_secret_value())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
