"""Reads typed pages with httpx and pydantic, and keeps each in one sqlite3 transaction."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import httpx
from pydantic import BaseModel, JsonValue

from tests.bench.contestant import attend

INSERT = "INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"


class Event(BaseModel):
    id: int
    received_at: datetime
    trigger: str
    repository: str
    pull_request: int | None
    base_ref: str | None
    type: str
    metadata: dict[str, JsonValue]


class Page(BaseModel):
    events: list[Event]
    size: int
    per_page: int


def open_database() -> sqlite3.Connection:
    database = sqlite3.connect(Path(os.environ["MQBOT_BENCH_FOLDER"]) / "floor.sqlite3")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute(
        "CREATE TABLE events (repository, id, received_at, type, pull_request, base_ref, metadata,"
        " PRIMARY KEY (repository, id))"
    )
    return database


def keep(database: sqlite3.Connection, page: Page) -> None:
    with database:
        database.executemany(
            INSERT,
            [
                (
                    event.repository,
                    event.id,
                    event.received_at.isoformat(),
                    event.type,
                    event.pull_request,
                    event.base_ref,
                    str(event.metadata),
                )
                for event in page.events
            ],
        )


async def main() -> None:
    first = f"{os.environ['BENCH_SERVICE']}/repos/acme/r0/logs?per_page=100"
    database = open_database()
    async with httpx.AsyncClient(trust_env=False) as client:

        async def walk() -> int:
            url, events = first, 0
            while True:
                answer = await client.get(url)
                page = Page.model_validate_json(answer.content)
                keep(database, page)
                events += len(page.events)
                if "next" not in answer.links:
                    return events
                url = f"{first}&cursor={httpx.URL(answer.links['next']['url']).params['cursor']}"

        async def play(amount: int) -> Mapping[str, float]:
            begun = time.process_time()
            events = sum([await walk() for _ in range(amount)])
            return {"rate": events / (time.process_time() - begun)}

        await attend(play)
    database.close()


if __name__ == "__main__":
    asyncio.run(main())
