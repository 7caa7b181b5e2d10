"""How many requests one person may send: one budget in all processes on one database."""

from collections.abc import Mapping

import pytest

from bot.store.paces import Paces, share
from bot.store.slack_limits import SharedPaces
from bot.store.transactions import Store
from tests.support.clock import FakeClock
from tests.support.databases import TestDatabase

BURST = 8


class Process:
    """A process that answers people."""

    def __init__(self, database: TestDatabase, clock: FakeClock | None = None) -> None:
        clock = clock or FakeClock()
        self.store: Store = database.open_store()
        self.people = Paces("person", BURST, 10.0, clock)
        self.machines = Paces("machine", BURST, 10.0, clock)

    async def share(self) -> None:
        await share(self.store, [self.people, self.machines])


def let_through(process: Process, name: str, tries: int = BURST) -> int:
    return sum(process.people.admits(name) for _ in range(tries))


async def stored(process: Process) -> Mapping[str, float]:
    return await process.store.read(lambda transaction: SharedPaces(transaction).ahead())


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


async def test_all_processes_together_keep_the_rate(database: TestDatabase) -> None:
    """However many there are: the budget of a minute is that of one process."""
    clock = FakeClock()
    processes = [Process(database, clock) for _ in range(3)]
    for process in processes:
        process.people = Paces("person", BURST, 1.0, clock)
    admitted = 0
    # The database's clock stands still meanwhile, so its budget isn't refilled.
    for _ in range(20):
        clock.advance(1)
        for process in processes:
            admitted += let_through(process, "U0EVE", 10)
            await process.share()
    assert admitted <= len(processes) * BURST + 20


async def test_ordinary_use_writes_nothing(database: TestDatabase) -> None:
    process = Process(database)
    for name in ("U0ADA", "U0BOB", "U0EVE"):
        assert let_through(process, name, 2) == 2
    await process.share()
    assert await stored(process) == {}
    assert let_through(process, "U0EVE", 2) == 2
    await process.share()
    assert set(await stored(process)) == {"person U0EVE"}


async def test_a_request_during_a_slow_exchange_counts_once(database: TestDatabase) -> None:
    """A busy database would otherwise use up the budget of a person who is slow enough."""
    process = Process(database)
    assert let_through(process, "U0EVE", 4) == 4
    assert process.people.take_unshared() == {"person U0EVE": pytest.approx(40.0, abs=1.0)}
    assert let_through(process, "U0EVE", 1) == 1
    assert process.people.take_unshared() == {"person U0EVE": 10.0}


async def test_names_are_bounded(database: TestDatabase) -> None:
    process = Process(database)
    process.people = Paces("person", BURST, 10.0, FakeClock(), most_names=3)
    for number in range(10):
        assert process.people.admits(f"U{number}")
    assert let_through(process, "U9") == BURST - 1
    assert let_through(process, "U0") == BURST
