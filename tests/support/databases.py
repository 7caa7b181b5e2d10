"""A migrated database for each test, quickly."""

import shutil
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import delete

from bot.acts.tables import audit
from bot.store.engines import create_engine
from bot.store.schema import metadata
from bot.store.transactions import Store

PATIENT = {"wait_seconds": 60.0, "idle_seconds": 120.0, "command_seconds": 120.0}
"""For what has to come about: no part of it must be given up because the machine is busy."""

_DELETABLE = [table for table in reversed(metadata.sorted_tables) if table is not audit]
EMPTY_POSTGRES = "; ".join(
    [
        # It makes new files for a table and its indexes, so it takes longer for all of them.
        "TRUNCATE audit RESTART IDENTITY",
        *(str(delete(table)) for table in _DELETABLE),
        *(
            f"SELECT setval(pg_get_serial_sequence('{table.name}', '{column.name}'), 1, false)"
            for table in _DELETABLE
            if (column := table.autoincrement_column) is not None
        ),
    ]
)
"""Deletes all rows; numbers begin at 1 again."""


@dataclass
class TestDatabase:
    """One database and the stores a test opened on it."""

    __test__ = False

    kind: str
    url: str
    opened: AsyncExitStack = field(default_factory=AsyncExitStack)

    def open_store(self) -> Store:
        """Another store on the same database, as another process would have one."""
        store = Store(create_engine(self.url, **PATIENT))
        self.opened.push_async_callback(store.close)
        return store


def sqlite_copy(template: Path, folder: Path) -> str:
    """The address of a copy of a migrated file that nobody has open."""
    copied = folder / "bot.sqlite3"
    shutil.copy(template, copied)
    return f"sqlite:///{copied}"
