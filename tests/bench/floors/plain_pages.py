"""Reads all that the bot reads with httpx and pydantic, and keeps each page in sqlite3."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from pydantic import BaseModel, create_model

from tests.bench.contestant import attend

INSERT = "INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"


def optional(names_by_type: Mapping[Any, str]) -> dict[str, Any]:
    """Fields that may be missing, as `create_model` takes them."""
    return {
        name: (kind | None, None) for kind, names in names_by_type.items() for name in names.split()
    }


Check = create_model("Check", **optional({str: "name state url details_url"}))
CheckedCopy = create_model(
    "CheckedCopy",
    **optional({str: "checks_conclusion", list[int]: "pull_request_numbers"}),
    **optional({list[Check]: "unsuccessful_checks"}),
)
Person = create_model("Person", **optional({str: "name login"}))
Freeze = create_model(
    "Freeze",
    **optional({str: "reason start end timezone"}),
    **optional({list[str]: "matching_conditions exclude_conditions"}),
)

# All that the bot reads, by the service's names (`bot.merge_queue.event_records`).
METADATA: Mapping[Any, str] = {
    str: (
        "session_id queue_name dequeue_code abort_code reason abort_reason abort_status conclusion"
        " batch_id train_car_id to message branch workflow title review_type reviewer job_name"
        " rule_name new_name outcome product"
    ),
    datetime: "queued_at",
    bool: "merged aborted culprit_found conflicts draft",
    int: "size running_checks pull_request_number retry_attempt max_retry",
    list[int]: (
        "blocking_pull_request_numbers original_batch_pr_numbers culprit_pr_numbers"
        " dropped_unverified_pr_numbers remaining_pr_numbers"
    ),
    list[str]: "added removed users reviewers team_reviewers",
    list[Check]: "checks unsuccessful_checks",
    CheckedCopy: "speculative_check_pull_request",
    Person: "created_by updated_by deleted_by author",
    Freeze: (
        "scheduled_freeze_attributes scheduled_freeze_attributes_before"
        " scheduled_freeze_attributes_after"
    ),
}
Metadata = create_model("Metadata", **optional(METADATA))


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
            url = first
            events = 0
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
