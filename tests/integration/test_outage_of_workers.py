"""Several workers on PostgreSQL notify each channel once of an outage and once of its end."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.health.tables import outages as stored_outages
from bot.store.engines import create_engine
from bot.store.lease_values import POLL_LEASE
from tests.support.databases import PATIENT
from tests.support.fleet import CHANNELS, Fleet, Leases
from tests.support.polls_seen import PollsSeen
from tests.support.waiting import until

REPOSITORIES = 12
"""Four for each channel."""

POSTED_SECONDS = 120.0
OVER_SECONDS = 180.0
"""A log that failed for a minute is asked for again after another."""


def reported(fleet: Fleet) -> list[list[str]]:
    """The outage notices in each channel, by the words that distinguish beginning and end."""
    return [
        [words for post in fleet.posts(channel) for words in WORDS if words in post.line]
        for channel in CHANNELS
    ]


WORDS = ("can't be read, last read", "can be read again, after")
NOTICE = [WORDS[0]]
END = list(WORDS)


async def outages(database_url: str) -> Sequence[bool]:
    """Of each outage that is stored, whether it is over."""
    engine = create_engine(database_url, **PATIENT)
    try:
        with engine.connect() as connection:
            rows = connection.execute(select(stored_outages.c.ended_at))
            return [row.ended_at is not None for row in rows]
    finally:
        engine.dispose()


async def begin_outage(fleet: Fleet) -> PollsSeen:
    seen = PollsSeen(fleet.merge_queue)
    await seen.all_again(fleet.repositories, 60)
    fleet.break_service("error", path="/logs", status=503)
    await until(lambda: reported(fleet) == [NOTICE] * 3, "a notice in each channel", POSTED_SECONDS)
    return seen


async def end_outage(fleet: Fleet, seen: PollsSeen, database_url: str) -> None:
    fleet.fix_service()
    await seen.all_again(fleet.repositories, OVER_SECONDS)
    await until(lambda: reported(fleet) == [END] * 3, "its end in each channel", OVER_SECONDS)
    await seen.all_again(fleet.repositories, OVER_SECONDS)
    assert reported(fleet) == [END] * 3
    assert await outages(database_url) == [True]


@pytest.mark.postgres
@pytest.mark.timeout(500)
async def test_two_workers_notify_each_channel_once_of_an_outage_and_of_its_end(
    postgres_url: str, tmp_path: Path
) -> None:
    fleet = Fleet.of(postgres_url, tmp_path, repositories=REPOSITORIES, workers=2)
    async with fleet:
        seen = await begin_outage(fleet)
        await end_outage(fleet, seen, postgres_url)


@pytest.mark.postgres
@pytest.mark.timeout(500)
async def test_an_outage_is_still_one_when_a_worker_is_killed(
    postgres_url: str, tmp_path: Path
) -> None:
    fleet = Fleet.of(postgres_url, tmp_path, repositories=REPOSITORIES, workers=2)
    async with Leases(postgres_url) as leases, fleet:
        seen = await begin_outage(fleet)
        killed = await leases.holder(POLL_LEASE, fleet.running("worker"))
        assert killed is not None
        await killed.process.kill()
        (heir,) = fleet.running("worker")
        await heir.logged("polling_begun")
        assert reported(fleet) == [NOTICE] * 3
        await end_outage(fleet, seen, postgres_url)
