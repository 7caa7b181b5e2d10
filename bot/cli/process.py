"""Commands as processes: signals, and errors without a traceback."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import unquote, urlsplit

import click
from pydantic import SecretStr

from bot.config import load_database_url
from bot.config.policies import own_tokens
from bot.config.settings import Settings
from bot.domain.errors import ConfigurationError, StoreUnavailable, StoreUnusable
from bot.logs import redact

logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)

CONFIGURATION_EXIT = 2
"""A setting, an argument or the database is of no use to this program: trying again is no help."""

UNAVAILABLE_EXIT = 1
"""A temporary failure: a supervisor may restart the process."""


@contextmanager
def complaining(url: str = "", command: str | None = None) -> Iterator[None]:
    """Print invalid settings and database errors, a line each, on standard error, and exit.

    With CONFIGURATION_EXIT, or UNAVAILABLE_EXIT if the database's error may be temporary.

    A `command` that also has a file of its own is named instead of the setting.
    """
    try:
        yield
    except ConfigurationError as error:
        problems, code = error.problems, CONFIGURATION_EXIT
    except StoreUnavailable as error:
        # The driver doesn't name the file, which people can't know if none is configured.
        file = url.removeprefix("sqlite:///") if url.startswith("sqlite:") else ""
        where = f"{file}: " if file and file not in error.cause else ""
        problems = {"DATABASE_URL": f"cannot be used: {where}{error.cause}"}
        if command is not None:
            problems = {command: error.cause}
        code = CONFIGURATION_EXIT if isinstance(error, StoreUnusable) else UNAVAILABLE_EXIT
    else:
        return
    for name, problem in problems.items():
        click.echo(f"mqbot: {name}: {redact(problem)}", err=True)
    raise SystemExit(code)


@contextmanager
def with_database(command: str | None = None) -> Iterator[str]:
    """The database's address, for a command that needs nothing else; reports all errors."""
    with complaining():
        url = load_database_url()
    with complaining(url, command):
        try:
            yield url
        except ValueError as error:
            raise ConfigurationError({"DATABASE_URL": str(error)}) from None


def secrets_of(settings: Settings) -> frozenset[str]:
    """Every secret value, including the password in the database's address."""
    given = {one for one in vars(settings).values() if isinstance(one, SecretStr)}
    shown = {one.get_secret_value() for one in given}
    own = {one.secret.get_secret_value() for one in own_tokens(settings).values()}
    return frozenset({*shown, *own, *settings.machines, *_passwords(settings)})


def _passwords(settings: Settings) -> set[str]:
    try:
        password = urlsplit(settings.database_url.get_secret_value()).password
    except ValueError:  # invalid; opening the database reports it
        return set()
    return {password, unquote(password)} if password else set()


@asynccontextmanager
async def cancelled_by_signals() -> AsyncIterator[None]:
    """Cancel the block on SIGINT or SIGTERM; a second signal ends the process immediately."""
    loop, main = asyncio.get_running_loop(), asyncio.current_task()
    is_asked = False

    def stop() -> None:
        nonlocal is_asked
        is_asked = True
        logger.info("asked to stop", extra={"action": "stopping"})
        for one in SIGNALS:
            loop.remove_signal_handler(one)
        if main is not None:
            main.cancel()

    for one in SIGNALS:
        loop.add_signal_handler(one, stop)
    try:
        yield
    except asyncio.CancelledError:
        if not is_asked:
            raise
    finally:
        for one in SIGNALS:
            loop.remove_signal_handler(one)


async def forever() -> None:
    """Wait until cancelled."""
    await asyncio.Event().wait()
