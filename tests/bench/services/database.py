"""A database with the bot's tables and nothing in them: migrated once in a run, then copied."""

import asyncio
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import bot.runtime.schema  # noqa: F401 - makes every table known
from bot.store import migrate

_ONE_AT_A_TIME = Lock()


async def make(path: Path) -> None:
    """Put one there; the bot that opens it has nothing to migrate, as at every start but one."""
    await asyncio.to_thread(_copy, path)


def _copy(path: Path) -> None:
    with _ONE_AT_A_TIME:
        content = _migrated()
    path.write_bytes(content)


@cache
def _migrated() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "new.sqlite3"
        migrate.upgrade(f"sqlite:///{path}")
        return path.read_bytes()
