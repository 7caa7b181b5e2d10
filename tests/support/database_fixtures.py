"""Fixtures of databases, imported by the tests' conftest."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory

import psycopg
import pytest

from bot.store import migrate
from bot.store.transactions import Store
from tests.support.databases import EMPTY_POSTGRES, TestDatabase, sqlite_copy
from tests.support.postgres import PostgresServer, postgres_or_skip

MEMORY = Path("/dev/shm")  # noqa: S108 - a directory of this test's own is made in it
ROOM_BYTES = 2 * 1024**3


@pytest.fixture(scope="session")
def sqlite_template() -> Iterator[Path]:
    with TemporaryDirectory(prefix="mqbot-sqlite-") as folder:
        path = Path(folder) / "template.sqlite3"
        migrate.upgrade(f"sqlite:///{path}")
        yield path


@pytest.fixture(scope="session")
def postgres_server() -> PostgresServer:
    return postgres_or_skip()


@pytest.fixture(scope="session")
def postgres_database(postgres_server: PostgresServer) -> str:
    name = postgres_server.create_database()
    migrate.upgrade(postgres_server.url(name))
    return name


@pytest.fixture
def sqlite_url(sqlite_template: Path) -> Iterator[str]:
    """Where commits wait for no disk, if the machine has room in memory."""
    has_room = MEMORY.is_dir() and disk_usage(MEMORY).free > ROOM_BYTES
    with TemporaryDirectory(prefix="mqbot-sqlite-", dir=MEMORY if has_room else None) as folder:
        yield sqlite_copy(sqlite_template, Path(folder))


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, postgres_database: str) -> Iterator[str]:
    url = postgres_server.url(postgres_database)
    yield url
    # Emptied rather than made anew, and not by another process: psql takes longer than the rest.
    with psycopg.connect(url) as connection:
        connection.execute(EMPTY_POSTGRES.encode())


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def any_database(request: pytest.FixtureRequest) -> TestDatabase:
    return TestDatabase(request.param, request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
async def database(any_database: TestDatabase) -> AsyncIterator[TestDatabase]:
    """Each kind of database in turn."""
    async with any_database.opened:
        yield any_database


@pytest.fixture
def store(database: TestDatabase) -> Store:
    return database.open_store()
