"""The plain loop with a store: each event is stored before its post, and its post afterwards.

It has no order to keep, no second process and no history to look in: what it keeps is what no
program can do without that is to tell each event once.
"""

import asyncio
import os
import sqlite3

import httpx
from slack_sdk.web.async_client import AsyncWebClient

from tests.bench.floors.plain_loop import Event, events_of, main, name_of, post

TABLES = """
CREATE TABLE events (
    repository TEXT, id INTEGER, event TEXT, PRIMARY KEY (repository, id)
) WITHOUT ROWID;
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY, repository TEXT, event INTEGER, channel TEXT, state TEXT, ts TEXT,
    UNIQUE (repository, event, channel)
);
"""


class StoredLoop:
    """The standard library's sqlite3, as durable as the bot's own file."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.executescript(TABLES)

    async def look(
        self, client: httpx.AsyncClient, slack: AsyncWebClient, repository: str, channel: str
    ) -> None:
        for event in await events_of(client, repository):
            name = await name_of(client, repository, event["pull_request"])
            kept = self._kept(repository, channel, event)
            if kept is None:
                continue
            ts = await post(slack, channel, f"{name} entered the queue of {repository}")
            with self._database as stored:
                stored.execute(
                    "UPDATE outbox SET state = 'delivered', ts = ? WHERE id = ?", (ts, kept)
                )

    def _kept(self, repository: str, channel: str, event: Event) -> int | None:
        """Its row in the outbox; None when it was there already."""
        with self._database as stored:
            new = stored.execute(
                "INSERT INTO events VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (repository, event["id"], str(event)),
            )
            if not new.rowcount:
                return None
            return stored.execute(
                "INSERT INTO outbox (repository, event, channel, state) "
                "VALUES (?, ?, ?, 'sending')",
                (repository, event["id"], channel),
            ).lastrowid


if __name__ == "__main__":
    asyncio.run(main(StoredLoop(f"{os.environ['MQBOT_BENCH_FOLDER']}/loop.sqlite3").look))
