"""Fixtures of databases, imported by the tests' conftest."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import Engine

import bot.runtime.schema  # noqa: F401 - makes every table known
from bot.store import migrate
from bot.store.engines import create_engine
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.databases import EMPTY_POSTGRES, PATIENT, TestDatabase, sqlite_copy
from tests.support.postgres import PostgresServer, a_server

MEMORY = Path("/dev/shm")  # noqa: S108 - a directory of this test's own is made in it
ROOM_BYTES = 2 * 1024**3


@contextmanager
def in_memory() -> Iterator[Path]:
    """A folder where commits wait for no disk, if the machine has room in memory."""
    has_room = MEMORY.is_dir() and disk_usage(MEMORY).free > ROOM_BYTES
    with TemporaryDirectory(prefix="mqbot-sqlite-", dir=MEMORY if has_room else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def sqlite_template() -> Iterator[Path]:
    with in_memory() as folder:
        path = folder / "template.sqlite3"
        migrate.upgrade(f"sqlite:///{path}")
        yield path


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with a_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_database(postgres_server: PostgresServer) -> str:
    return migrated(postgres_server)


def migrated(server: PostgresServer) -> str:
    """The name of a new database with today's tables."""
    name = server.create_database()
    migrate.upgrade(server.url(name))
    return name


@pytest.fixture
def sqlite_url(sqlite_template: Path) -> Iterator[str]:
    with in_memory() as folder:
        yield sqlite_copy(sqlite_template, folder)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, postgres_database: str) -> Iterator[str]:
    """Emptied rather than made anew."""
    yield postgres_server.url(postgres_database)
    postgres_server.execute(EMPTY_POSTGRES, postgres_database)


KINDS = ("sqlite", pytest.param("postgres", marks=pytest.mark.postgres))


@pytest.fixture(scope="session")
def sqlite_engine(sqlite_template: Path) -> Iterator[Engine]:
    with in_memory() as folder, disposed(sqlite_copy(sqlite_template, folder)) as engine:
        yield engine


@pytest.fixture(scope="session")
def postgres_engine(postgres_server: PostgresServer) -> Iterator[Engine]:
    """Its database is its own: some tests of others require that nobody is connected."""
    with disposed(postgres_server.url(migrated(postgres_server))) as engine:
        yield engine


@contextmanager
def disposed(url: str) -> Iterator[Engine]:
    engine = create_engine(url, **PATIENT)
    yield engine
    engine.dispose()


@pytest.fixture(params=KINDS)
def transaction(request: pytest.FixtureRequest) -> Iterator[Transaction]:
    """One on each kind of database in turn, of which nothing stays."""
    engine: Engine = request.getfixturevalue(f"{request.param}_engine")
    with engine.connect() as connection:
        connection.begin()
        yield Transaction(connection)


@pytest.fixture(params=KINDS)
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
