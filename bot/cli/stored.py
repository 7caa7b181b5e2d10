"""The store, for commands that read or change a migrated database beside the bot."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager

from bot.acts.rows import Audit
from bot.blocks.text import listed
from bot.cli.process import clock
from bot.kernel.errors import ConfigurationError
from bot.kernel.repository import RepositoryName
from bot.runtime.upkeep.renaming_rows import Renaming
from bot.store import migrate
from bot.store.backup import keep_others_out, taking_part
from bot.store.engines import create_engine, sqlite_path
from bot.store.transaction import Transaction
from bot.store.transactions import Store

LONGEST_CHANGE_SECONDS = 600.0
"""For one transaction of a person's command, such as all rows of a large repository; they can stop
it themselves."""


@asynccontextmanager
async def reading_store(url: str) -> AsyncIterator[Store]:
    """Closed at the end. Raises ConfigurationError for a database that isn't migrated."""
    _require_used(url)
    _require_migrated(url)
    store = Store(create_engine(url, command_seconds=LONGEST_CHANGE_SECONDS))
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def changing_store(url: str, *, alone_for: str | None = None) -> AsyncIterator[Store]:
    """As `reading_store`, for changes, which may take long.

    `alone_for`: the command that keeps others out meanwhile. Any other is used beside the bot, and
    raises StoreUnavailable while a command keeps others out.
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
        yield store


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
