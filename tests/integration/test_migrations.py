"""Migrations: every revision on the data of the one before it, on both databases."""

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import time, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

import bot
from bot.domain.audit import Action
from bot.domain.deliveries import delivered
from bot.domain.digests import DigestTime
from bot.domain.errors import StoreUnavailable, StoreUnusable
from bot.domain.event_log import Walk, Window
from bot.domain.subscriptions import Style
from bot.storage import migrate
from bot.storage.column_types import EPOCH, MICROSECOND
from bot.storage.engines import create_engine
from bot.storage.tables import metadata
from bot.storage.transactions import SqlStore
from tests.support.databases import PATIENT
from tests.support.postgres import PostgresServer, postgres_or_skip
from tests.support.stored import SHOP, SITE, event_subject

DATA = Path(__file__).parent / "migration_data"
PACKAGE = Path(bot.__file__).parent


def revisions() -> list[str]:
    configuration = Config()
    configuration.set_main_option("script_location", str(PACKAGE / "storage" / "migrations"))
    scripts = ScriptDirectory.from_config(configuration)
    return [each.revision for each in scripts.walk_revisions()][::-1]


def statements_of(revision: str) -> list[str]:
    lines = (DATA / f"{revision}.sql").read_text().splitlines()
    joined = "\n".join(line for line in lines if not line.startswith("--"))
    return [each.strip() for each in joined.split(";\n") if each.strip()]


def at(microseconds: int) -> Any:
    return EPOCH + microseconds * MICROSECOND


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database in which nothing was ever made."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/new folder/100%.sqlite3"
        return
    server: PostgresServer = postgres_or_skip()
    name = server.create_database()
    yield server.url(name)
    server.drop_database(name)


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine = create_engine(url, **PATIENT)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


async def migrate_with_data(url: str) -> None:
    for revision in revisions():
        migrate.upgrade(url, revision)
        assert migrate.current_revision(url) == revision
        with connected(url) as connection:
            for statement in statements_of(revision):
                connection.exec_driver_sql(statement)
    assert migrate.is_current(url)


async def test_every_revision_keeps_what_was_read_and_heard(empty_url: str) -> None:
    await migrate_with_data(empty_url)
    store = SqlStore(create_engine(empty_url, **PATIENT))
    async with store.begin() as transaction:
        positions = await transaction.positions.load([SITE, SHOP])
        events = await transaction.events.get([event_subject(2)])
        unrouted = await transaction.events.unrouted(SITE)
        pull_requests = await transaction.pull_requests.get(SITE, [41])
        heard = await transaction.subscriptions.of_repository(SITE)
        paused = await transaction.audit.latest(SITE, Action.PAUSE)
        default = await transaction.channel_defaults.of("C9")
    await store.close()

    window = Window(at(1772368100000000), at(1772371845123456))
    assert positions[SITE].walk == Walk(window, "opaque==", at(1772368244000000))
    assert positions[SHOP].walk is None
    assert unrouted == [events[event_subject(2)]]
    assert unrouted[0].details == {"queue_name": "default", "reason": "merged é"}
    assert pull_requests[41].title == "Add search"
    assert [each.except_logins for each in heard] == [{"renovate[bot]"}, set(), set()]
    assert [each.style for each in heard] == [Style.THREAD, Style.THREAD, Style.DIGEST]
    assert heard[2].branches == {"main", "release/*"}
    assert heard[2].digest == DigestTime(time(9), "Europe/Paris")
    assert default == SITE
    assert paused[0].actor.name == "Ada"


async def test_every_revision_keeps_what_waits_to_be_posted(empty_url: str) -> None:
    await migrate_with_data(empty_url)
    now = at(1772368900000000)
    later = now + timedelta(seconds=60)
    store = SqlStore(create_engine(empty_url, **PATIENT))
    async with store.begin() as transaction:
        summary = await transaction.outbox.summary()
        claimed = await transaction.outbox.claim(
            now=now, claimed_until=later, channels=9, per_channel=9
        )
        await transaction.outbox.record([delivered(each, "1.1", now) for each in claimed])
        settled = await transaction.outbox.summary()
        leases = await transaction.leases.claim(
            ["poll:acme/site"], holder="worker-2", now=now, lifetime=timedelta(seconds=30)
        )
    await store.close()

    assert (summary.pending, summary.in_doubt) == (2, 1)
    assert [parked.channel_id for parked in summary.parked] == ["C2"]
    assert [(each.delivery_id, each.attempts) for each in claimed] == [
        ("d2", 3),
        ("d3", 1),
        ("d4", 2),
    ]
    assert claimed[0].attempted_at == at(1772368250000000)
    assert settled.oldest_created_at is None
    assert leases["poll:acme/site"].token == 5


@pytest.mark.parametrize("state", ["delivered", "failed", "folded"])
async def test_what_is_settled_has_its_time_in_every_revision(empty_url: str, state: str) -> None:
    await migrate_with_data(empty_url)

    for wrong in ("state = :state", "settled_at = 1"):
        with pytest.raises(IntegrityError):
            await settle(empty_url, wrong, state)
    await settle(empty_url, "state = :state, settled_at = 1", state)


async def settle(url: str, changes: str, state: str) -> None:
    """Change what waits to be posted since the first revision."""
    changing = text(f"UPDATE deliveries SET {changes} WHERE delivery_id = 'd3'")  # noqa: S608  # words of this file
    given = {"state": state} if ":state" in changes else {}
    with connected(url) as connection:
        connection.execute(changing, given)


async def test_every_revision_keeps_what_was_acted_upon(empty_url: str) -> None:
    await migrate_with_data(empty_url)
    now = at(1772368800000000)
    until = now + timedelta(minutes=10)
    store = SqlStore(create_engine(empty_url, **PATIENT))
    async with store.begin() as transaction:
        requests = transaction.seen_requests
        known = [await requests.add(key, now=now, until=until) for key in ("8c4b1f", "e3b0c4")]
        unknown = await requests.add("d41d8c", now=now, until=until)
    await store.close()

    assert known == [False, False]
    assert unknown


def test_every_revision_brings_data() -> None:
    assert sorted(path.stem for path in DATA.glob("*.sql")) == revisions()


def differences(connection: Connection) -> list[Any]:
    options = {"compare_type": True, "compare_server_default": True}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, metadata))


def definitions(connection: Connection) -> list[tuple[str, list[str]]]:
    """Tables, indexes and constraints as the database itself words them, in any order."""
    if connection.dialect.name == "sqlite":
        asked = "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index')"
    else:
        asked = (
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' UNION "
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE connamespace = 'public'::regnamespace"
        )
    return sorted(
        (name, parts_of(definition or ""))
        for name, definition in connection.execute(text(asked))
        if "alembic" not in name
    )


def parts_of(definition: str) -> list[str]:
    """SQLite writes a column that was added later behind the others, without a line of its own."""
    parts = re.split(r"[\n,]", definition.strip().removesuffix(")"))
    return sorted(part.strip() for part in parts if part.strip())


async def test_the_migrated_schema_is_the_one_the_program_was_written_for(empty_url: str) -> None:
    migrate.upgrade(empty_url)
    with connected(empty_url) as connection:
        assert differences(connection) == []
        migrated = definitions(connection)
        metadata.drop_all(connection)
        metadata.create_all(connection)
        made = definitions(connection)

    assert migrated == made
    assert len(migrated) > len(metadata.tables)


async def test_an_empty_database_has_no_revision_and_none_is_made_by_asking(
    empty_url: str,
) -> None:
    assert migrate.current_revision(empty_url) is None
    assert not migrate.is_current(empty_url)
    if empty_url.startswith("sqlite"):
        assert not Path(empty_url.removeprefix("sqlite:///")).parent.exists()


async def test_upgrading_again_changes_nothing(empty_url: str) -> None:
    migrate.upgrade(empty_url)
    migrate.upgrade(empty_url)

    assert migrate.current_revision(empty_url) == migrate.head_revision()


async def test_two_processes_that_start_at_once_migrate_once(empty_url: str) -> None:
    script = "import sys; from bot.storage import migrate\n"
    script += "migrate.upgrade(sys.argv[1])"
    started = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, empty_url, cwd=PACKAGE.parent, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    ended = await asyncio.gather(*(each.communicate() for each in started))

    assert [each.returncode for each in started] == [0, 0], ended
    assert migrate.is_current(empty_url)


async def test_an_upgrade_that_fails_leaves_the_database_as_it_was(empty_url: str) -> None:
    if empty_url.startswith("sqlite"):
        Path(empty_url.removeprefix("sqlite:///")).parent.mkdir()
    with connected(empty_url) as connection:
        connection.exec_driver_sql("CREATE TABLE subscriptions (in_the_way TEXT)")
    with pytest.raises(StoreUnavailable, match="already exists"):
        migrate.upgrade(empty_url)

    with connected(empty_url) as connection:
        names = connection.dialect.get_table_names(connection)
    assert names == ["subscriptions"]


async def test_a_database_of_a_newer_program_is_left_alone(empty_url: str) -> None:
    migrate.upgrade(empty_url)
    with connected(empty_url) as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(StoreUnusable, match="9999"):
        migrate.is_current(empty_url)
    with pytest.raises(StoreUnusable, match="9999"):
        migrate.upgrade(empty_url)


def test_migrations_work_from_any_folder_the_program_is_installed_in(tmp_path: Path) -> None:
    installed = tmp_path / "100% installed"
    shutil.copytree(PACKAGE, installed / "bot", ignore=shutil.ignore_patterns("__pycache__"))
    script = "import sys; from bot.storage import migrate\n"
    script += "migrate.upgrade(sys.argv[1]); print(migrate.__file__)\n"
    script += "print(migrate.is_current(sys.argv[1]))"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, "sqlite:///here.sqlite3"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed)},
        check=True,
        capture_output=True,
        text=True,
    )

    assert ran.stdout.splitlines()[0].startswith(str(installed))
    assert ran.stdout.splitlines()[1] == "True"
    assert (tmp_path / "here.sqlite3").exists()
