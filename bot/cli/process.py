"""How the commands behave as processes: signals, and complaints without a traceback."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from bot.config import ConfigurationError
from bot.logs import redact

CONFIGURATION_EXIT = 2


def complain(error: ConfigurationError) -> None:
    """One line for each variable, on standard error."""
    for name, problem in error.problems.items():
        click.echo(f"mqbot: {name}: {redact(problem)}", err=True)


@asynccontextmanager
async def until_stopped() -> AsyncIterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set; a second signal ends the process at once."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def stop() -> None:
        stopped.set()
        for one in signals:
            loop.remove_signal_handler(one)

    for one in signals:
        loop.add_signal_handler(one, stop)
    try:
        yield stopped
    finally:
        for one in signals:
            loop.remove_signal_handler(one)
