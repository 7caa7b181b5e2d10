"""`mqbot copy-database`: a bot moves from SQLite to PostgreSQL, and back."""

import asyncio
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select, text, update
from sqlalchemy.exc import DBAPIError

from bot.acts.rows import Audit
from bot.acts.tables import audit
from bot.cli.main import main
from bot.cli.process import CONFIGURATION_EXIT, UNAVAILABLE_EXIT
from bot.kernel.clock import Clock
from bot.store import migrate
from bot.store.backup import presence
from bot.store.copying import PART
from bot.store.engines import create_engine, opened, sqlite_path
from bot.store.schema import metadata
from bot.store.transactions import Store
from tests.integration.test_migrations import make_first_release, statements_of
from tests.support.bot_tester import RELEASES, BotTester
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT
from tests.support.postgres import PASSWORD, PostgresServer
from tests.support.stored import make_record
from tests.support.transactions import begin

pytestmark = pytest.mark.postgres


def copy(source: str, target: str, clock: Clock | None = None) -> Result:
    arguments = ["copy-database", source, target]
    return CliRunner().invoke(main, arguments, prog_name="mqbot", obj=clock)


@pytest.fixture
def empty_postgres(postgres_server: PostgresServer) -> Iterator[str]:
    name = postgres_server.create_database()
    yield postgres_server.url(name)
    postgres_server.drop_database(name)


@pytest.fixture
def full_sqlite(tmp_path: Path) -> str:
    """At least one row of every table."""
    url = f"sqlite:///{tmp_path}/full/bot.sqlite3"
    make_first_release(url)
    for revision in migrate.known_revisions():
        migrate.upgrade(url, revision)
        with opened(url) as connection:
            for statement in statements_of(revision):
                connection.exec_driver_sql(statement)
    return url


def everything(url: str) -> Mapping[str, list[Any]]:
    """All rows as the program reads them; leases alone end when they are copied."""
    with opened(url) as connection:
        return {
            table.name: sorted(
                repr(row)
                for row in connection.execute(
                    select(*[one for one in table.c if one.name != "expires_at"])
                )
            )
            for table in metadata.sorted_tables
        }


def count(url: str) -> int:
    return sum(len(rows) for rows in everything(url).values())


def next_record(url: str) -> int:
    """The number that the next record of the audit gets."""
    store = Store(create_engine(url, **PATIENT))
    with begin(store) as transaction:
        number = Audit(transaction).add(make_record())
    asyncio.run(store.close())
    return number


def test_every_table_goes_to_postgresql_and_comes_back(
    full_sqlite: str, empty_postgres: str, tmp_path: Path
) -> None:
    before = everything(full_sqlite)
    assert all(before.values())

    there = copy(full_sqlite, empty_postgres)
    assert there.exit_code == 0, there.output
    assert everything(empty_postgres) == before
    assert f"{count(full_sqlite)} rows" in there.output
    assert "Set DATABASE_URL" in there.output
    assert PASSWORD not in there.output
    assert "correct" not in there.output

    back = f"sqlite:///{tmp_path}/back/bot.sqlite3"
    result = copy(empty_postgres, back)
    assert result.exit_code == 0, result.output
    assert everything(back) == before
    assert sqlite_path(back).stat().st_mode & 0o777 == 0o600
    assert everything(full_sqlite) == before


def test_numbers_go_on_after_the_last_one_ever_given(
    full_sqlite: str, empty_postgres: str, tmp_path: Path
) -> None:
    """A number of a deleted row must not come back: other rows and posts refer to it."""
    with opened(full_sqlite) as connection:
        connection.exec_driver_sql("UPDATE sqlite_sequence SET seq = 70 WHERE name = 'audit'")
        connection.exec_driver_sql("UPDATE sqlite_sequence SET seq = 9 WHERE name = 'unanswered'")
        connection.exec_driver_sql("DELETE FROM unanswered")
    assert copy(full_sqlite, empty_postgres).exit_code == 0
    back = f"sqlite:///{tmp_path}/back.sqlite3"
    assert copy(empty_postgres, back).exit_code == 0
    for url in (full_sqlite, empty_postgres, back):
        assert next_record(url) == 71
        row = "INSERT INTO unanswered (request, user_id, was_left, asked_at)"
        with opened(url) as connection:
            connection.exec_driver_sql(f"{row} VALUES ('r', 'U1', false, 1)")
            assert connection.scalar(text("SELECT number FROM unanswered")) == 10


def test_an_empty_database_starts_its_numbers_at_one(empty_postgres: str, tmp_path: Path) -> None:
    source = f"sqlite:///{tmp_path}/new.sqlite3"
    migrate.upgrade(source)
    assert copy(source, empty_postgres).exit_code == 0
    assert next_record(empty_postgres) == 1
    back = f"sqlite:///{tmp_path}/back.sqlite3"
    assert copy(empty_postgres, back).exit_code == 0
    assert next_record(back) == 2


def test_the_audit_still_refuses_changes(
    full_sqlite: str, empty_postgres: str, tmp_path: Path
) -> None:
    back = f"sqlite:///{tmp_path}/back.sqlite3"
    assert copy(full_sqlite, empty_postgres).exit_code == 0
    assert copy(empty_postgres, back).exit_code == 0
    for url in (empty_postgres, back):
        engine = create_engine(url)
        with pytest.raises(DBAPIError, match="only ever added"), engine.begin() as connection:
            connection.execute(update(audit).values(detail="changed"))
        engine.dispose()


def test_both_are_migrated(tmp_path: Path, empty_postgres: str) -> None:
    source = f"sqlite:///{tmp_path}/old/bot.sqlite3"
    make_first_release(source)
    result = copy(source, empty_postgres)
    assert result.exit_code == 0, result.output
    assert migrate.is_current(source)
    assert migrate.is_current(empty_postgres)


def test_a_target_that_was_migrated_and_checked_is_still_empty(
    full_sqlite: str, empty_postgres: str
) -> None:
    migrate.upgrade(empty_postgres)
    store = Store(create_engine(empty_postgres))
    asyncio.run(store.ask())
    asyncio.run(store.close())
    assert copy(full_sqlite, empty_postgres).exit_code == 0
    assert count(empty_postgres) == count(full_sqlite)


def test_a_target_with_rows_is_refused_and_stays_as_it_is(
    full_sqlite: str, empty_postgres: str
) -> None:
    migrate.upgrade(empty_postgres)
    next_record(empty_postgres)
    before = everything(empty_postgres)
    result = copy(full_sqlite, empty_postgres)
    assert result.exit_code == CONFIGURATION_EXIT
    assert result.stderr == (
        "mqbot: copy-database: TO isn't empty (audit: 1 row): name a new, empty database\n"
    )
    assert everything(empty_postgres) == before
    result = copy(empty_postgres, full_sqlite)
    assert result.exit_code == CONFIGURATION_EXIT
    assert "TO isn't empty" in result.stderr


def test_a_running_bot_is_refused_on_either_side(
    full_sqlite: str, empty_postgres: str, tmp_path: Path
) -> None:
    new = f"sqlite:///{tmp_path}/new.sqlite3"
    for which, arguments in (
        ("FROM", (full_sqlite, empty_postgres)),
        ("TO", (empty_postgres, new)),
    ):
        if which == "TO":
            assert copy(full_sqlite, empty_postgres).exit_code == 0
        with presence(sqlite_path(arguments[0] if which == "FROM" else arguments[1])):
            result = copy(*arguments)
        assert result.exit_code == UNAVAILABLE_EXIT
        assert result.stderr == (
            f"mqbot: copy-database: {which}: the database is in use: stop the bot first\n"
        )
    engine = create_engine(empty_postgres)
    with engine.connect():
        result = copy(empty_postgres, new, FakeClock())
        assert "FROM: the bot has the database in use, from " in result.stderr
        result = copy(full_sqlite, empty_postgres, FakeClock())
        assert "TO: the bot has the database in use, from " in result.stderr
    engine.dispose()
    assert not sqlite_path(new).exists()


def test_what_cannot_be_copied_is_named(
    full_sqlite: str, empty_postgres: str, tmp_path: Path
) -> None:
    missing = f"sqlite:///{tmp_path}/missing.sqlite3"
    away = "postgresql://mqbot:s3same@127.0.0.1:1/mqbot"
    for arguments, said in (
        ((missing, empty_postgres), "FROM holds no database of mqbot"),
        ((empty_postgres, missing), "FROM holds no database of mqbot"),
        ((full_sqlite, missing), "one must be SQLite and the other PostgreSQL"),
        ((full_sqlite, full_sqlite), "one must be SQLite and the other PostgreSQL"),
        ((full_sqlite, "mysql://x"), "TO: a database address starts with"),
        ((str(sqlite_path(full_sqlite)), empty_postgres), "FROM: a database address starts with"),
        ((full_sqlite, away), "TO: it refuses connections"),
        ((away, missing), "FROM: it refuses connections"),
    ):
        result = copy(*arguments)
        assert result.exit_code in {CONFIGURATION_EXIT, UNAVAILABLE_EXIT}
        assert said in result.stderr
        assert "Traceback" not in result.output
        assert "s3same" not in result.output
        assert not sqlite_path(missing).exists()


def test_a_copy_that_lacks_a_row_is_undone(full_sqlite: str, empty_postgres: str) -> None:
    """A trigger of somebody else's may drop rows without an error."""
    migrate.upgrade(empty_postgres)
    with opened(empty_postgres) as connection:
        connection.exec_driver_sql(
            "CREATE FUNCTION drop_it() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RETURN NULL; END $$"
        )
        connection.exec_driver_sql(
            "CREATE TRIGGER drop_it BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION drop_it()"
        )
    result = copy(full_sqlite, empty_postgres)
    assert result.exit_code == UNAVAILABLE_EXIT
    assert "audit: 2 rows in FROM, 0 in TO: nothing was copied" in result.stderr
    assert count(empty_postgres) == 0


def test_many_rows_are_copied_in_parts(full_sqlite: str, empty_postgres: str) -> None:
    with closing(sqlite3.connect(sqlite_path(full_sqlite))) as database:
        database.executemany(
            "INSERT INTO handled_requests VALUES (?, 1)",
            [(f"many {number}",) for number in range(2 * PART + 1)],
        )
        database.commit()
    assert copy(full_sqlite, empty_postgres).exit_code == 0
    assert everything(empty_postgres) == everything(full_sqlite)


def test_an_address_with_a_password_may_stand_in_a_file(
    full_sqlite: str, empty_postgres: str, tmp_path: Path
) -> None:
    """Everybody on the machine sees the arguments of a process."""
    file = tmp_path / "to"
    file.write_text(f"{empty_postgres}\n")
    result = copy(full_sqlite, f"@{file}")
    assert result.exit_code == 0, result.output
    assert count(empty_postgres) == count(full_sqlite)
    result = copy(full_sqlite, f"@{tmp_path}/missing")
    assert result.exit_code == CONFIGURATION_EXIT
    assert result.stderr.startswith("mqbot: copy-database: TO names a file that can't be read")


async def test_the_bot_goes_on_where_it_was(sqlite_url: str, empty_postgres: str) -> None:
    """Posts made before the copy aren't repeated, and the pause keeps its end and its card."""
    async with BotTester(sqlite_url, channels=f"acme/site={RELEASES}:enter") as bot:
        first = bot.enqueue()
        await bot.wait_for_post(f"#{first}", RELEASES)
        card = await bot.pause("now 45m moving house")
        await bot.stop_bot()
        assert (await asyncio.to_thread(copy, sqlite_url, empty_postgres)).exit_code == 0
        bot.database_url = empty_postgres
        await bot.start_bot()
        second = bot.enqueue()
        await bot.wait_for_post(f"#{second}", RELEASES)
        lines = [post.line for post in bot.posts(RELEASES)]
        assert len([line for line in lines if f"#{first}" in line]) == 1
        status = await bot.ask("/mq status")
        assert "moving house" in status.words
        assert "resumes" in status.words
        await bot.resume()
        await bot.wait_for_change(card, "was paused")
        await bot.stop_bot()
