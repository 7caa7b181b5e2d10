"""The plainest loop with a store: each event is stored before its post, and its post after it.

It asks for no titles, has no order to keep, no second process and no history to look in: what is
stored is what no loop can do without that is to tell each event once.
"""

import asyncio
import os
import sqlite3
from collections.abc import Mapping
from typing import Any

import httpx
from slack_sdk.web.async_client import AsyncWebClient

from tests.bench.floors.plain_loop import main

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

    async def look(self, client: httpx.AsyncClient, slack: AsyncWebClient, number: int) -> None:
        url = f"{os.environ['MQBOT_API_URL']}/repos/acme/r{number}/logs"
        answer = await client.get(url, params={"per_page": 100})
        for event in answer.json()["events"]:
            await self._tell(slack, f"acme/r{number}", f"C{number}", event)

    async def _tell(
        self, slack: AsyncWebClient, repository: str, channel: str, event: Mapping[str, Any]
    ) -> None:
        number = event["id"]
        with self._database as stored:
            new = stored.execute(
                "INSERT INTO events VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (repository, number, str(event)),
            )
            if not new.rowcount:
                return
            row = stored.execute(
                "INSERT INTO outbox (repository, event, channel, state) "
                "VALUES (?, ?, ?, 'sending')",
                (repository, number, channel),
            )
        text = f"#{event['pull_request']} entered the queue of {repository}"
        block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
        told = await slack.chat_postMessage(channel=channel, text=text, blocks=[block])
        with self._database as stored:
            stored.execute(
                "UPDATE outbox SET state = 'delivered', ts = ? WHERE id = ?",
                (told.get("ts"), row.lastrowid),
            )


if __name__ == "__main__":
    asyncio.run(main(StoredLoop(f"{os.environ['MQBOT_BENCH_FOLDER']}/loop.sqlite3").look))
