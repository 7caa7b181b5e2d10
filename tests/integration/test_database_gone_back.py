"""The database goes back to an earlier state: forgotten posts are found in Slack, not repeated."""

import asyncio
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from bot.store import migrate
from bot.store.engines import sqlite_path
from tests.support.bot_tester import MERGE_QUEUE, RELEASES, BotTester
from tests.support.postgres import PostgresServer, a_server
from tests.support.waiting import until

HEARING = f"acme/site={RELEASES}:enter;acme/site={MERGE_QUEUE}:pause"


def _copy(url: str, copy: Path) -> None:
    """A plain copy of the files of an unused database."""
    copy.mkdir()
    path = sqlite_path(url)
    for file in path.parent.glob(f"{path.name}*"):
        shutil.copy2(file, copy / file.name)


def _put_back(url: str, copy: Path) -> None:
    path = sqlite_path(url)
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
    for file in copy.iterdir():
        shutil.copy2(file, path.parent / file.name)


def _unsettled(url: str) -> bool:
    query = "SELECT 1 FROM deliveries WHERE settled_at IS NULL"
    with closing(sqlite3.connect(sqlite_path(url))) as database:
        return bool(database.execute(query).fetchall())


def _lines(bot: BotTester, channel: str) -> list[str]:
    return [post.line for post in bot.posts(channel)]


def _once(bot: BotTester, *numbers: int) -> None:
    lines = _lines(bot, RELEASES)
    # A title may be among what the database lost.
    posts = [[line for line in lines if re.search(rf"#{number}\b", line)] for number in numbers]
    assert [len(found) for found in posts] == [1] * len(numbers), lines


async def test_posts_made_since_a_plain_copy_are_found_and_not_repeated(
    sqlite_url: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    async with BotTester(sqlite_url, channels=HEARING) as bot:
        first = bot.enqueue()
        await bot.wait_for_post(f"#{first}", RELEASES)
        await bot.stop_bot()
        _copy(sqlite_url, copy)

        await bot.start_bot()
        since = [bot.enqueue(), bot.enqueue()]
        for number in since:
            await bot.wait_for_post(f"#{number}", RELEASES)
        await bot.type("/mq pause now acme/site CI is down")
        await bot.wait_for_post("CI is down", MERGE_QUEUE)
        await bot.stop_bot()
        before = {channel: _lines(bot, channel) for channel in (RELEASES, MERGE_QUEUE)}
        posted = len(bot.calls("chat.postMessage"))

        meanwhile = bot.enqueue()
        _put_back(sqlite_url, copy)
        await bot.start_bot()
        await bot.wait_for_post(f"#{meanwhile}", RELEASES)
        await bot.next_poll()
        await until(lambda: not _unsettled(sqlite_url), "everything settled")

        notice = await bot.wait_for_post("stays paused until someone resumes it", MERGE_QUEUE)
        assert "CI is down" in notice
        _once(bot, first, *since, meanwhile)
        assert len(_lines(bot, RELEASES)) == len(before[RELEASES]) + 1
        # Nothing but that the pause is known again, and its end isn't.
        assert len(_lines(bot, MERGE_QUEUE)) == len(before[MERGE_QUEUE]) + 1
        assert len(bot.calls("chat.postMessage")) == posted + 2


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server for this test alone, which kills it."""
    with a_server() as server:
        yield server


async def _post_around_a_copy(bot: BotTester, server: PostgresServer, copy: Path) -> Sequence[int]:
    """Pull requests that are posted: the first before the data directory is copied, two after."""
    first = bot.enqueue()
    await bot.wait_for_post(f"#{first}", RELEASES)
    await asyncio.to_thread(server.copy_to, copy)

    since = [bot.enqueue(), bot.enqueue()]
    for number in since:
        await bot.wait_for_post(f"#{number}", RELEASES)
    return [first, *since]


@pytest.mark.postgres
@pytest.mark.parametrize("restarts", [False, True])
async def test_a_bot_repeats_nothing_after_its_server_lost_a_second(
    own_server: PostgresServer, tmp_path: Path, *, restarts: bool
) -> None:
    copy = tmp_path / "copy"
    database = own_server.create_database()
    url = own_server.url(database)
    await asyncio.to_thread(migrate.upgrade, url)
    async with BotTester(url, channels=HEARING) as bot:
        numbers = await _post_around_a_copy(bot, own_server, copy)
        if restarts:
            await bot.stop_bot()
        await asyncio.to_thread(own_server.go_back, copy)
        if restarts:
            # Of the process that ended: a bot would wait until they expire.
            own_server.execute("DELETE FROM leases", database)
            await bot.start_bot()

        later = bot.enqueue()
        await bot.wait_for_post(f"#{later}", RELEASES)
        await bot.next_poll()
        count = "SELECT count(*) FROM deliveries WHERE settled_at IS NULL"
        await until(lambda: own_server.execute(count, database) == [(0,)], "everything settled")
        _once(bot, *numbers, later)
