"""Commands as processes: signals, and errors without a traceback."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import NoReturn
from urllib.parse import unquote, urlsplit

import click
from pydantic import SecretStr

from bot.config import Settings, load_database_url
from bot.config.policies import own_tokens
from bot.domain.errors import ConfigurationError, StoreUnavailable, StoreUnusable
from bot.logs import redact

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
def using_database(url: str) -> Iterator[None]:
    """Exit on database errors, with UNAVAILABLE_EXIT if they may be temporary."""
    try:
        yield
    except StoreUnavailable as error:
        # The driver doesn't name the file, which people can't know if none is configured.
        file = url.removeprefix("sqlite:///") if url.startswith("sqlite:") else ""
        where = f"{file}: " if file and file not in error.cause else ""
        problem = f"cannot be used: {where}{error.cause}"
        _end_for_database(error, "DATABASE_URL", problem)


@contextmanager
def with_database(command: str | None = None) -> Iterator[str]:
    """The database's address, for a command that needs nothing else.

    Reports errors like `complaining` and `using_database`; a `command` that also has a file of its
    own is named instead of the setting.
    """
    with complaining():
        url = load_database_url()
        try:
            with using_database(url) if command is None else _with_file(command):
                yield url
        except ValueError as error:
            raise ConfigurationError({"DATABASE_URL": str(error)}) from None


@contextmanager
def _with_file(command: str) -> Iterator[None]:
    try:
        yield
    except StoreUnavailable as error:
        _end_for_database(error, command, error.cause)


def _end_for_database(error: StoreUnavailable, named: str, problem: str) -> NoReturn:
    complain(ConfigurationError({named: problem}))
    is_for_good = isinstance(error, StoreUnusable)
    raise SystemExit(CONFIGURATION_EXIT if is_for_good else UNAVAILABLE_EXIT) from None


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


class Stop:
    """Ends the wait, or a start in progress, on SIGINT or SIGTERM."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._main = asyncio.current_task()
        self._waiting = False

    @property
    def is_asked(self) -> bool:
        return self._asked.is_set()

    async def wait(self) -> None:
        self._waiting = True
        await self._asked.wait()

    def ask(self) -> None:
        self._asked.set()
        if self._main is not None and not self._waiting:
            self._main.cancel()


@asynccontextmanager
async def until_stopped() -> AsyncIterator[Stop]:
    """Listen to SIGINT and SIGTERM; a second signal ends the process immediately."""
    stop = Stop()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def asked() -> None:
        stop.ask()
        for one in signals:
            loop.remove_signal_handler(one)

    for one in signals:
        loop.add_signal_handler(one, asked)
    try:
        yield stop
    except asyncio.CancelledError:
        if not stop.is_asked:
            raise
    finally:
        for one in signals:
            loop.remove_signal_handler(one)
