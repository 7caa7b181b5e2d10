"""The plainest loop that tells each event once, and by its title.

Each event is stored before its post, and its post after it. It has no order to keep, no second
process and no history to look in: what it stores and asks for is what no loop can do without.
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
            title = await self._title(client, f"acme/r{number}", event["pull_request"])
            await self._tell(slack, f"acme/r{number}", f"C{number}", event, title)

    async def _title(self, client: httpx.AsyncClient, repository: str, number: int) -> str:
        """Events carry numbers only; the queue's status says what they are called."""
        url = f"{os.environ['MQBOT_API_URL']}/repos/{repository}/merge-queue/status"
        status = (await client.get(url)).json()
        queued = [*status["waiting_pull_requests"]]
        for batch in status["batches"]:
            queued += batch["pull_requests"]
        return next((one["title"] for one in queued if one["number"] == number), "")

    async def _tell(
        self,
        slack: AsyncWebClient,
        repository: str,
        channel: str,
        event: Mapping[str, Any],
        title: str,
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
        text = f"#{event['pull_request']} {title} entered the queue of {repository}"
        block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
        told = await slack.chat_postMessage(channel=channel, text=text, blocks=[block])
        with self._database as stored:
            stored.execute(
                "UPDATE outbox SET state = 'delivered', ts = ? WHERE id = ?",
                (told.get("ts"), row.lastrowid),
            )


if __name__ == "__main__":
    asyncio.run(main(StoredLoop(f"{os.environ['MQBOT_BENCH_FOLDER']}/loop.sqlite3").look))
