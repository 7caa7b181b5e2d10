"""Reads all that the bot reads with httpx and pydantic, and keeps each page in sqlite3."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import httpx
from pydantic import BaseModel

from tests.bench.contestant import attend

INSERT = "INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"


class Check(BaseModel):
    name: str | None = None
    state: str | None = None
    url: str | None = None
    details_url: str | None = None


class CheckedCopy(BaseModel):
    checks_conclusion: str | None = None
    pull_request_numbers: list[int] | None = None
    unsuccessful_checks: list[Check] | None = None


class Person(BaseModel):
    name: str | None = None
    login: str | None = None


class Freeze(BaseModel):
    reason: str | None = None
    start: str | None = None
    end: str | None = None
    timezone: str | None = None
    matching_conditions: list[str] | None = None
    exclude_conditions: list[str] | None = None


class Metadata(BaseModel):
    """All that the bot reads, by the service's names (`bot.domain.event_records`)."""

    session_id: str | None = None
    queue_name: str | None = None
    queued_at: datetime | None = None
    dequeue_code: str | None = None
    abort_code: str | None = None
    reason: str | None = None
    abort_reason: str | None = None
    merged: bool | None = None
    aborted: bool | None = None
    abort_status: str | None = None
    conclusion: str | None = None
    speculative_check_pull_request: CheckedCopy | None = None
    unsuccessful_checks: list[Check] | None = None
    checks: list[Check] | None = None
    batch_id: str | None = None
    train_car_id: str | None = None
    blocking_pull_request_numbers: list[int] | None = None
    size: int | None = None
    running_checks: int | None = None
    original_batch_pr_numbers: list[int] | None = None
    culprit_found: bool | None = None
    culprit_pr_numbers: list[int] | None = None
    dropped_unverified_pr_numbers: list[int] | None = None
    remaining_pr_numbers: list[int] | None = None
    created_by: Person | None = None
    updated_by: Person | None = None
    deleted_by: Person | None = None
    author: Person | None = None
    scheduled_freeze_attributes: Freeze | None = None
    scheduled_freeze_attributes_before: Freeze | None = None
    scheduled_freeze_attributes_after: Freeze | None = None
    added: list[str] | None = None
    removed: list[str] | None = None
    to: str | None = None
    conflicts: bool | None = None
    message: str | None = None
    branch: str | None = None
    users: list[str] | None = None
    draft: bool | None = None
    workflow: str | None = None
    title: str | None = None
    reviewers: list[str] | None = None
    team_reviewers: list[str] | None = None
    review_type: str | None = None
    reviewer: str | None = None
    pull_request_number: int | None = None
    job_name: str | None = None
    rule_name: str | None = None
    new_name: str | None = None
    retry_attempt: int | None = None
    max_retry: int | None = None
    outcome: str | None = None
    product: str | None = None


class Event(BaseModel):
    id: int
    received_at: datetime
    trigger: str
    repository: str
    pull_request: int | None
    base_ref: str | None
    type: str
    metadata: Metadata


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
                    event.metadata.model_dump_json(exclude_unset=True),
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
