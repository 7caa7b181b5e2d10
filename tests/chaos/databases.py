"""The database of a chaos run, seen from outside the bot."""

import asyncio
import sqlite3
from abc import ABC, abstractmethod
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from typing_extensions import override

from tests.support.postgres import PostgresServer

Row = tuple[str, ...]


class Database(ABC):
    """`url` is for the bot; everything else uses the database's own tools."""

    url: str

    @abstractmethod
    def _rows(self, query: str) -> list[tuple[Any, ...]]: ...

    async def rows(self, query: str) -> list[Row]:
        """The rows of a query as texts; NULL is the empty one."""
        found = await asyncio.to_thread(self._rows, query)
        return [tuple("" if value is None else str(value) for value in row) for row in found]

    async def number(self, query: str) -> int:
        return int((await self.rows(query))[0][0])

    @abstractmethod
    def close(self) -> None:
        """Free all resources."""


class SqliteFile(Database):
    """A file in the run's folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bot.sqlite3"
        self.url = f"sqlite:///{self.path}"

    @override
    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=5)) as found:
            return found.execute(query).fetchall()

    @override
    def close(self) -> None:
        """Keep the file for inspection."""

    def integrity(self) -> str:
        """`ok`, or what SQLite finds wrong with the file."""
        return str(self._rows("PRAGMA integrity_check")[0][0])


class PostgresDatabase(Database):
    """A server for this run only, so that it can be killed."""

    def __init__(self) -> None:
        self.server = PostgresServer.started()
        self._name = self.server.create_database()
        self.url = self.server.url(self._name)

    @override
    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.server.execute(query, self._name)

    async def kill_for(self, seconds: float) -> None:
        await asyncio.to_thread(self.server.kill)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(self.server.start)

    @override
    def close(self) -> None:
        self.server.stop()


UNREADABLE = (sqlite3.Error, psycopg.Error)
"""Errors while the database is away or its tables don't exist yet."""
