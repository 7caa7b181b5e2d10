"""Commands as processes: signals, and errors without a traceback."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import click

from bot.config.file import CONFIG_FILE
from bot.config.reading import load_database_url, unused_file
from bot.config.settings import default_database_url
from bot.kernel.clock import Clock
from bot.kernel.errors import AddressInUse, ConfigurationError
from bot.runtime.clock import SystemClock
from bot.runtime.logs import redact, visible
from bot.runtime.signals import STOPPING
from bot.store.errors import StoreUnavailable, StoreUnusable

logger = logging.getLogger(__name__)

CONFIGURATION_EXIT = 2
"""A setting, an argument or the database is of no use to this program: trying again is no help."""

UNAVAILABLE_EXIT = 1
"""A temporary failure: a supervisor may restart the process."""


def say(text: str, *, is_complaint: bool = False) -> None:
    """Print text that holds what others wrote: a terminal would obey its control characters."""
    click.echo(visible(text), err=is_complaint)


def clock() -> Clock:
    """The clock of the command that runs; a test gives its own as the object of click's context."""
    given: Clock | None = click.get_current_context().obj
    return SystemClock() if given is None else given


@contextmanager
def complaining(url: str = "", command: str | None = None) -> Iterator[None]:
    """Print invalid settings and database errors, a line each, on standard error, and exit.

    With CONFIGURATION_EXIT, or UNAVAILABLE_EXIT if the database's error, or a port in use, may be
    temporary.

    A `command` that also has a file of its own is named instead of the setting.
    """
    try:
        yield
    except ConfigurationError as error:
        problems = error.problems
        code = UNAVAILABLE_EXIT if isinstance(error, AddressInUse) else CONFIGURATION_EXIT
    except StoreUnavailable as error:
        # The driver doesn't name the file, which people can't know if none is configured.
        file = url.removeprefix("sqlite:///") if url.startswith("sqlite:") else ""
        where = f"{file}: " if file and file not in error.cause else ""
        problems = {"DATABASE_URL": f"can't be used: {where}{error.cause}"}
        if command is not None:
            problems = {command: error.cause}
        code = CONFIGURATION_EXIT if isinstance(error, StoreUnusable) else UNAVAILABLE_EXIT
    else:
        return
    for name, problem in problems.items():
        say(f"mqbot: {name}: {redact(problem)}", is_complaint=True)
    raise SystemExit(code)


@contextmanager
def with_database(command: str | None = None) -> Iterator[str]:
    """The database's address, for a command that needs nothing else; reports all errors."""
    with complaining():
        url = load_database_url()
    forgotten = unused_file()
    if forgotten is not None and url == default_database_url():
        path = url.removeprefix("sqlite:///")
        hint = f"isn't set, so {forgotten} isn't read, and this is about the default database"
        say(f"mqbot: {CONFIG_FILE}: {hint} {path}", is_complaint=True)
    with complaining(url, command):
        try:
            yield url
        except ValueError as error:
            raise ConfigurationError({"DATABASE_URL": str(error)}) from None


@asynccontextmanager
async def cancelled_by_signals() -> AsyncIterator[None]:
    """Cancel the block on a signal to stop; a second signal ends the process immediately."""
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()
    is_asked = False

    def stop() -> None:
        nonlocal is_asked
        is_asked = True
        logger.info("asked to stop", extra={"action": "stopping"})
        for number in STOPPING:
            loop.remove_signal_handler(number)
            # Removing that of SIGINT brings Python's own back, which lets all closers finish.
            signal.signal(number, signal.SIG_DFL)
        if main is not None:
            main.cancel()

    for number in STOPPING:
        loop.add_signal_handler(number, stop)
    try:
        yield
    except asyncio.CancelledError:
        if not is_asked:
            raise
    finally:
        for number in STOPPING:
            loop.remove_signal_handler(number)


async def forever() -> None:
    """Wait until cancelled."""
    await asyncio.Event().wait()
