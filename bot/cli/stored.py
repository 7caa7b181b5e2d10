"""The store, for commands that read or change a migrated database beside the bot."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.acts.rows import Audit
from bot.blocks.text import listed
from bot.kernel.errors import ConfigurationError
from bot.kernel.repository import RepositoryName
from bot.runtime.upkeep.renaming_rows import Renaming
from bot.store import migrate
from bot.store.engines import create_engine, sqlite_path
from bot.store.transaction import Transaction
from bot.store.transactions import Store

LONGEST_STATEMENT_SECONDS = 600.0
"""For one transaction of a person's command, such as all rows of a large repository; they can stop
it themselves."""


@asynccontextmanager
async def opened_store(url: str) -> AsyncIterator[Store]:
    """Closed at the end. Raises ConfigurationError for a database that isn't migrated."""
    if not migrate.is_current(url):
        raise ConfigurationError({"DATABASE_URL": _not_migrated(url)})
    store = Store(create_engine(url, command_seconds=LONGEST_STATEMENT_SECONDS))
    try:
        yield store
    finally:
        await store.close()


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


def _not_migrated(url: str) -> str:
    """A new SQLite file is most likely the default one, of a person without the bot's settings."""
    if url.startswith("sqlite:") and migrate.current_revision(url) is None:
        return (
            f"names {sqlite_path(url)}, which no bot has used yet; set it, or MQBOT_CONFIG, as the "
            "bot has it, or run mqbot migrate"
        )
    return "is not migrated; run mqbot migrate"
