"""How many requests one person may send: one budget in all processes on one database."""

import asyncio

import pytest

from bot.store.paces import Paces, share
from bot.store.transactions import Store
from tests.support.databases import TestDatabase

BURST = 8


class Process:
    """A process that answers people."""

    def __init__(self, database: TestDatabase) -> None:
        self.store: Store = database.open_store()
        self.people = Paces("person", BURST, 10.0)
        self.machines = Paces("machine", BURST, 10.0)

    async def share(self) -> None:
        await share(self.store, [self.people, self.machines])


def let_through(process: Process, name: str, tries: int = BURST) -> int:
    return sum(process.people.admits(name) for _ in range(tries))


async def test_what_one_process_let_through_counts_in_all(database: TestDatabase) -> None:
    one = Process(database)
    other = Process(database)
    assert let_through(one, "U0EVE", 100) == BURST
    await one.share()
    await other.share()
    # A little time has passed.
    assert let_through(other, "U0EVE") <= 1
    assert let_through(other, "U0BOB") == BURST
    assert other.machines.admits("U0EVE")


async def test_all_processes_together_keep_the_rate(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are: the budget of a minute is that of one process."""
    loop = asyncio.get_running_loop()
    passed = 0.0
    begun = loop.time()
    monkeypatch.setattr(loop, "time", lambda: begun + passed)
    processes = [Process(database) for _ in range(3)]
    for process in processes:
        process.people = Paces("person", BURST, 1.0)
    admitted = 0
    # The database's clock stands still meanwhile, so its budget isn't refilled.
    for _ in range(20):
        passed += 1.0
        for process in processes:
            admitted += let_through(process, "U0EVE", 10)
            await process.share()
    assert admitted <= len(processes) * BURST + 20


async def test_ordinary_use_writes_nothing(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Process(database)
    written: list[object] = []

    async def run(*arguments: object) -> dict[str, float]:
        written.append(arguments)
        return {}

    monkeypatch.setattr(process.store, "run", run)
    for name in ("U0ADA", "U0BOB", "U0EVE"):
        assert let_through(process, name, 2) == 2
    await process.share()
    assert written == []
    assert let_through(process, "U0EVE", 2) == 2
    await process.share()
    assert written


async def test_names_are_bounded(database: TestDatabase) -> None:
    process = Process(database)
    process.people = Paces("person", BURST, 10.0, most_names=3)
    for number in range(10):
        assert process.people.admits(f"U{number}")
    assert let_through(process, "U9") == BURST - 1
    assert let_through(process, "U0") == BURST
