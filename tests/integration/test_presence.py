"""A bot restarted after a crash continues immediately; a suspended one keeps its leases."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from bot.store.backup import presence, require_alone, take_over_database
from bot.store.coordination import Leases
from bot.store.engines import create_engine, sqlite_path
from bot.store.errors import StoreUnavailable
from bot.store.lease_values import Lease
from bot.store.transactions import Store
from tests.support.stored import NOW
from tests.support.transactions import begin

HOLDER = """
import sys
from pathlib import Path
from bot.store.backup import presence
with presence(Path(sys.argv[1])) as is_alone:
    print(is_alone, flush=True)
    sys.stdin.read()
"""

RESTORE = """
import sys
from contextlib import ExitStack
from pathlib import Path
from bot.store.backup import require_alone
with ExitStack() as stack:
    require_alone(Path(sys.argv[1]), "restore", stack)
    print(True, flush=True)
    sys.stdin.read()
"""


@asynccontextmanager
async def another_process(
    database: Path, program: str = HOLDER
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        program,
        str(database),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), 60) == b"True\n"
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_suspended_process_is_present_and_a_killed_one_is_gone(tmp_path: Path) -> None:
    database = tmp_path / "bot.sqlite3"
    async with another_process(database) as process:
        with presence(database) as is_alone:
            assert not is_alone
        os.kill(process.pid, signal.SIGSTOP)
        with presence(database) as is_alone:
            assert not is_alone
        process.kill()
        await process.wait()

    with presence(database) as is_alone:
        assert is_alone


def test_two_processes_that_share_a_file_know_of_each_other(tmp_path: Path) -> None:
    database = tmp_path / "bot.sqlite3"
    one = ExitStack()
    two = ExitStack()
    three = ExitStack()
    assert one.enter_context(presence(database))
    assert not two.enter_context(presence(database))
    one.close()
    assert not three.enter_context(presence(database))
    two.close()
    three.close()
    with presence(database) as is_alone:
        assert is_alone


def test_of_many_that_start_at_once_all_get_in_and_one_is_alone(tmp_path: Path) -> None:
    database = tmp_path / "bot.sqlite3"
    many = 20
    together = threading.Barrier(many)

    def start() -> bool:
        with presence(database) as is_alone:
            together.wait(60)
            return is_alone

    with ThreadPoolExecutor(many) as threads:
        started = [threads.submit(start) for _ in range(many)]
    assert sum(one.result() for one in started) == 1


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
async def test_a_restore_keeps_others_out_until_it_ends_however_it_ends(
    tmp_path: Path, ending: signal.Signals
) -> None:
    database = tmp_path / "bot.sqlite3"
    said = "mqbot restore is using the database: try again when it has finished"
    async with another_process(database, RESTORE) as process:
        with pytest.raises(StoreUnavailable, match=said), presence(database):
            raise AssertionError
        with pytest.raises(StoreUnavailable, match=said), ExitStack() as stack:
            require_alone(database, "rename", stack)
        os.kill(process.pid, ending)
        await process.wait()
    with presence(database) as is_alone:
        assert is_alone
        with presence(database) as is_other_alone:
            assert not is_other_alone
        with pytest.raises(StoreUnavailable, match="stop the bot first"), ExitStack() as stack:
            require_alone(database, "rename", stack)


async def held(store: Store, holder: str) -> Lease | None:
    with begin(store) as transaction:
        return Leases(transaction).claim(
            "post", holder=holder, now=NOW, lifetime=timedelta(seconds=30)
        )


async def test_leases_of_dead_processes_end_and_others_continue(sqlite_url: str) -> None:
    store = Store(create_engine(sqlite_url))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        before = await held(store, "one that died")
        async with AsyncExitStack() as living:
            assert await take_over_database(store, sqlite_url, living)
            after = await held(store, "one that lives")
            assert before is not None
            assert after is not None
            assert after.token > before.token

            async with AsyncExitStack() as third:
                assert not await take_over_database(store, sqlite_url, third)
                assert await held(store, "a third") is None


async def test_without_lock_files_nobody_counts_as_dead(sqlite_url: str) -> None:
    database = sqlite_path(sqlite_url)
    database.with_name(f"{database.name}.in-use").mkdir()
    store = Store(create_engine(sqlite_url))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        assert await held(store, "one") is not None
        assert not await take_over_database(store, sqlite_url, stack)
        assert await held(store, "another") is None
