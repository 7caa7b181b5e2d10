"""Commands as processes: signals, and errors without a traceback."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import unquote, urlsplit

import click
from pydantic import SecretStr

from bot.config import Settings, load_database_url
from bot.config.policies import own_tokens
from bot.domain.errors import ConfigurationError, StoreUnavailable, StoreUnusable
from bot.logs import redact

logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)

CONFIGURATION_EXIT = 2
"""A setting, an argument or the database is of no use to this program: trying again is no help."""

UNAVAILABLE_EXIT = 1
"""A temporary failure: a supervisor may restart the process."""


def complain(error: ConfigurationError) -> None:
    """Print one line per variable on standard error."""
    for name, problem in error.problems.items():
        click.echo(f"mqbot: {name}: {redact(problem)}", err=True)


@contextmanager
def complaining() -> Iterator[None]:
    """Report invalid settings and exit with CONFIGURATION_EXIT."""
    try:
        yield
    except ConfigurationError as error:
        complain(error)
        raise SystemExit(CONFIGURATION_EXIT) from None


@contextmanager
def using_database(url: str, command: str | None = None) -> Iterator[None]:
    """Exit on database errors, with UNAVAILABLE_EXIT if they may be temporary.

    A `command` that also has a file of its own is named instead of the setting.
    """
    try:
        yield
    except StoreUnavailable as error:
        # The driver doesn't name the file, which people can't know if none is configured.
        file = url.removeprefix("sqlite:///") if url.startswith("sqlite:") else ""
        where = f"{file}: " if file and file not in error.cause else ""
        problems = {"DATABASE_URL": f"cannot be used: {where}{error.cause}"}
        complain(ConfigurationError(problems if command is None else {command: error.cause}))
        is_for_good = isinstance(error, StoreUnusable)
        raise SystemExit(CONFIGURATION_EXIT if is_for_good else UNAVAILABLE_EXIT) from None


@contextmanager
def with_database(command: str | None = None) -> Iterator[str]:
    """The database's address, for a command that needs nothing else; reports all errors."""
    with complaining():
        url = load_database_url()
        try:
            with using_database(url, command):
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
