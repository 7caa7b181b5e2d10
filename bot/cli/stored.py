"""The store, for commands that read or change a migrated database beside the bot."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager

from bot.acts.rows import Audit
from bot.blocks.text import listed
from bot.cli.process import clock, say
from bot.kernel.errors import ConfigurationError
from bot.kernel.repository import RepositoryName
from bot.runtime.upkeep.renaming_rows import Renaming
from bot.store import migrate
from bot.store.backup import keep_others_out, taking_part
from bot.store.engines import COMMAND_SECONDS, create_engine, sqlite_path
from bot.store.transaction import Transaction
from bot.store.transactions import Store

LONGEST_CHANGE_SECONDS = 600.0
"""For one transaction of a person's command, such as all rows of a large repository; they can stop
it themselves."""

STILL_WAITING = (
    "mqbot: still waiting for the database, which may need minutes for many rows;"
    " press Ctrl+C to give up"
)


@asynccontextmanager
async def reading_store(url: str) -> AsyncIterator[Store]:
    """Closed at the end. Raises ConfigurationError for a database that isn't migrated."""
    _require_used(url)
    _require_migrated(url)
    store = Store(create_engine(url))
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def changing_store(url: str, *, alone_for: str | None = None) -> AsyncIterator[Store]:
    """As `reading_store`, for a change. If it takes long, the person reads that it goes on.

    `alone_for`: the command that keeps others out meanwhile. None for one that may run beside the
    bot; it raises StoreUnavailable while another command keeps others out.
    """
    _require_used(url)
    async with AsyncExitStack() as stack:
        if alone_for is not None:
            alone = stack.enter_context(ExitStack())
            await keep_others_out(url, alone_for, clock(), alone)
        else:
            stack.enter_context(taking_part(url))
        _require_migrated(url)
        store = Store(create_engine(url, command_seconds=LONGEST_CHANGE_SECONDS))
        stack.push_async_callback(store.close)
        notice = asyncio.get_running_loop().call_later(
            COMMAND_SECONDS, lambda: say(STILL_WAITING, is_complaint=True)
        )
        stack.callback(notice.cancel)
        stack.enter_context(_ended_by_interrupt())
        yield store


@contextmanager
def _ended_by_interrupt() -> Iterator[None]:
    """Let Ctrl+C end the process at once; the database undoes what isn't committed.

    asyncio would wait for the transaction's thread, which waits for the database.
    """
    if threading.current_thread() is not threading.main_thread():
        # Python allows handlers in the main thread only. A command runs there.
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def stored_name(
    transaction: Transaction, typed: RepositoryName, where: str = "--repository"
) -> RepositoryName:
    """The repository about which something is stored, whatever the case of the typed letters.

    Raises ConfigurationError, about what was typed `where`, if nothing is.
    """
    known = {*Renaming(transaction).names(), *Audit(transaction).repositories()}
    if typed in known:
        return typed
    alike = sorted(name for name in known if name.casefold() == typed.casefold())
    if not alike:
        named = listed(sorted(known), most=10) if known else "none"
        raise ConfigurationError({where: f"nothing is stored about {typed}; known are {named}"})
    return alike[0]


def _require_used(url: str) -> None:
    """A new SQLite file is most likely the default one, of a person without the bot's settings."""
    if url.startswith("sqlite:") and migrate.current_revision(url) is None:
        problem = (
            f"names {sqlite_path(url)}, which no bot has used yet; set it, or MQBOT_CONFIG, as the "
            "bot has it, or run mqbot migrate"
        )
        raise ConfigurationError({"DATABASE_URL": problem})


def _require_migrated(url: str) -> None:
    if not migrate.is_current(url):
        raise ConfigurationError({"DATABASE_URL": "is not migrated; run mqbot migrate"})
