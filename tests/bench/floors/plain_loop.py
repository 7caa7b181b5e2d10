"""The plainest loop that can report each event once: read each log in turn, store, post, store.

It keeps no order, shares nothing with a second process and looks in no history.
"""

import asyncio
import os
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import aiohttp
import httpx
from slack_sdk.web.async_client import AsyncWebClient

from tests.bench.contestant import attend, only_observed

Event = Mapping[str, Any]

TABLES = """
CREATE TABLE events (
    repository TEXT, id INTEGER, event TEXT, PRIMARY KEY (repository, id)
) WITHOUT ROWID;
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY, repository TEXT, event INTEGER, channel TEXT, state TEXT, ts TEXT,
    UNIQUE (repository, event, channel)
);
"""


class Database:
    """The standard library's sqlite3, as durable as the bot's own file."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.executescript(TABLES)

    def sending(self, repository: str, channel: str, event: Event) -> int | None:
        """Its row in the outbox; None when the event was there already."""
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

    def delivered(self, row: int, ts: str | None) -> None:
        with self._database as stored:
            stored.execute("UPDATE outbox SET state = 'delivered', ts = ? WHERE id = ?", (ts, row))


async def look(
    client: httpx.AsyncClient,
    slack: AsyncWebClient,
    database: Database,
    repository: str,
    channel: str,
) -> None:
    for event in await events_of(client, repository):
        name = await name_of(client, repository, event["pull_request"])
        row = database.sending(repository, channel, event)
        if row is not None:
            text = f"{name} entered the queue of {repository}"
            block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
            posted = await slack.chat_postMessage(channel=channel, text=text, blocks=[block])
            database.delivered(row, posted.get("ts"))


async def events_of(client: httpx.AsyncClient, repository: str) -> Sequence[Event]:
    url = f"{os.environ['MQBOT_API_URL']}/repos/{repository}/logs"
    found: Sequence[Event] = (await client.get(url, params={"per_page": 100})).json()["events"]
    return found


async def name_of(client: httpx.AsyncClient, repository: str, number: int) -> str:
    """A link with the title. Events carry numbers only: the queue's status says the rest."""
    url = f"{os.environ['MQBOT_API_URL']}/repos/{repository}/merge-queue/status"
    status = (await client.get(url)).json()
    queued = [*status["waiting_pull_requests"]]
    for batch in status["batches"]:
        queued += batch["pull_requests"]
    for pull_request in queued:
        if pull_request["number"] == number:
            return f"<{pull_request['url']}|#{number} {pull_request['title']}>"
    return f"#{number}"


async def poll(repositories: int, seconds: float) -> None:
    database = Database(f"{os.environ['MQBOT_BENCH_FOLDER']}/loop.sqlite3")
    async with (
        httpx.AsyncClient(trust_env=False, limits=httpx.Limits(keepalive_expiry=90)) as client,
        aiohttp.ClientSession() as session,
    ):
        slack = AsyncWebClient(
            token="xoxb-bench", base_url=os.environ["SLACK_API_URL"], session=session
        )
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for turn in count(1):
            for number in range(repositories):
                await look(client, slack, database, f"acme/r{number}", f"C{number}")
            await asyncio.sleep(begun + turn * seconds - loop.time())


async def main() -> None:
    polling = asyncio.create_task(poll(int(sys.argv[1]), float(sys.argv[2])))
    await attend(only_observed)
    polling.cancel()


if __name__ == "__main__":
    asyncio.run(main())
