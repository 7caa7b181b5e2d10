"""Migrated databases for tests, one a test, quickly."""

import shutil
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bot.ports import Store
from bot.storage.engines import create_engine
from bot.storage.transactions import SqlStore
from tests.support.store import InMemoryDatabase, InMemoryStore

PATIENT = {"wait_seconds": 60.0, "idle_seconds": 120.0, "command_seconds": 120.0}
"""For what has to come about: no part of it must be given up because the machine is busy."""


@dataclass
class TestDatabase:
    """One database and the stores a test opened on it; `url` is empty for the one in memory."""

    __test__ = False

    kind: str
    new_store: Callable[[], Store]
    url: str = ""
    opened: AsyncExitStack = field(default_factory=AsyncExitStack)

    def open_store(self) -> Store:
        """Another store on the same database, as another process would have one."""
        store = self.new_store()
        if isinstance(store, SqlStore):
            self.opened.push_async_callback(store.close)
        return store


def in_memory() -> TestDatabase:
    database = InMemoryDatabase()
    return TestDatabase("memory", lambda: InMemoryStore(database))


def by_url(kind: str, url: str) -> TestDatabase:
    return TestDatabase(kind, lambda: SqlStore(create_engine(url, **PATIENT)), url)


def sqlite_copy(template: Path, folder: Path) -> str:
    """The address of a copy of a migrated file that nobody has open."""
    copied = folder / "bot.sqlite3"
    shutil.copy(template, copied)
    return f"sqlite:///{copied}"
