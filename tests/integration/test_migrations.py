"""Migrations: every revision, on the data of the ones before it, on both databases.

A new database never takes these steps. The schema that the first of them starts from is kept in
`migration_data`, as statements.
"""

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import time, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, func, select, text, update
from sqlalchemy.exc import IntegrityError

import bot
from bot.acts.asked import Asked
from bot.acts.group_acts import GroupActs
from bot.acts.rows import Audit
from bot.acts.unanswered_rows import UnansweredRequests
from bot.boards.rows import Boards
from bot.channels.rows import ChannelDefaults, Subscriptions
from bot.channels.subscription import Style
from bot.desk.question import Asker
from bot.desk.rows import Questions
from bot.feed.rows import Bisections, QueueEntries
from bot.health.outage_rows import Outages, SlackOutages
from bot.health.rows import Alerts
from bot.kernel.cron import DigestTime
from bot.kernel.durations import For
from bot.kernel.logins import BotLogins
from bot.log.position import Walk
from bot.log.rows import Events, Positions, PullRequests
from bot.merge_queue.event_records import EventDetails
from bot.merge_queue.features import ServiceFeature
from bot.merge_queue.window import Window
from bot.pauses.pause import ReminderPlan
from bot.pauses.rows import Pauses, ResumeWatchers
from bot.people.notices import Notice
from bot.people.rows import People
from bot.posts.delivery import delivered
from bot.posts.events import events_about
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.posts.tables import deliveries
from bot.store import migrate
from bot.store.coordination import Leases
from bot.store.engines import create_engine, sqlite_path
from bot.store.errors import StoreUnavailable, StoreUnusable
from bot.store.handled_requests import HandledRequests
from bot.store.installation import ProgramLogins, ServiceFeatures
from bot.store.processes import ClockJumps, PendingRestarts, ProcessConnections
from bot.store.schema import EPOCH, MICROSECOND, metadata
from bot.store.slack_limits import SlackLimits
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.databases import PATIENT
from tests.support.postgres import PostgresServer
from tests.support.stored import NOW, SHOP, SITE, add, event_subject, make_new

DATA = Path(__file__).parent / "migration_data"
PACKAGE = Path(bot.__file__).parent


def statements_of(name: str) -> list[str]:
    lines = (DATA / f"{name}.sql").read_text().splitlines()
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
    server: PostgresServer = request.getfixturevalue("postgres_server")
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


def make_first_release(url: str) -> None:
    """The database as the first revision describes it, whatever the program's tables are now."""
    if url.startswith("sqlite"):
        sqlite_path(url).parent.mkdir()
    with connected(url) as connection:
        for statement in statements_of(f"first_release/{connection.dialect.name}"):
            connection.exec_driver_sql(statement)


def migrate_with_data(url: str) -> None:
    """Each revision on the data of the one before; a new one brings a file for what it adds."""
    make_first_release(url)
    for revision in migrate.known_revisions():
        migrate.upgrade(url, revision)
        assert migrate.current_revision(url) == revision
        with connected(url) as connection:
            for statement in statements_of(revision):
                connection.exec_driver_sql(statement)
    assert migrate.is_current(url)


def has_log_positions(transaction: Transaction) -> None:
    positions = Positions(transaction).load([SITE, SHOP])
    assert positions[SITE].walk == Walk(
        Window(at(1772368100000000), at(1772371845123456)), "opaque==", at(1772368244000000)
    )
    assert positions[SHOP].walk is None
    assert len(Positions(transaction).polls([SITE])[SITE].polled_types) == 2
    (unrouted,) = Events(transaction).unrouted(SITE)
    assert unrouted == events_about(transaction, [event_subject(2)])[event_subject(2)]
    assert unrouted.details == EventDetails(queue_name="default", reason="merged é")
    assert PullRequests(transaction).get(SITE, [41])[41].title == "Add search"
    entry = QueueEntries(transaction).one(SITE, "41-1")
    assert entry is not None
    assert entry.entered
    bisection = Bisections(transaction).one(SITE, "9001")
    assert bisection is not None
    assert bisection.pull_requests == {41, 42}
    (outage,) = Outages(transaction).active()
    assert outage.notified_at == at(1772368905123456)
    assert SlackOutages(transaction).active() is not None
    (alert,) = Alerts(transaction).active(SITE)
    assert alert.value == 5460
    assert Alerts(transaction).streak(SITE).failures == 3


def has_preferences_and_actions_of_people(transaction: Transaction) -> None:
    heard = Subscriptions(transaction).of_repository(SITE)
    assert [each.except_logins for each in heard] == [{"renovate[bot]"}, set(), set()]
    assert [each.style for each in heard] == [Style.THREAD, Style.THREAD, Style.DIGEST]
    assert heard[2].branches == {"main", "release/*"}
    assert heard[2].digest == DigestTime(time(9), "Europe/Paris")
    assert ChannelDefaults(transaction).of("C9") == SITE
    assert Audit(transaction).get([1])[1].actor.name == "Ada"
    assert People(transaction).logins(["U1"]) == {"U1": "ada"}
    assert People(transaction).chosen(["U1"]) == {
        "U1": {Notice.MENTION: False, Notice.FAILURE: True}
    }
    now = at(1772368800000000)
    until = at(1772369400000000)
    added = [
        HandledRequests(transaction).add(key, now=now, until=until)
        for key in ("8c4b1f", "e3b0c4", "d41d8c")
    ]
    assert added == [False, False, True]


def has_pauses_and_their_rows_in_other_tables(transaction: Transaction) -> None:
    (pause,) = Pauses(transaction).open([SITE, SHOP])
    assert (pause.line.reason, pause.line.group_act_id) == ("deploying 4.2", 1)
    assert pause.queue.waited == {44, 45}
    assert ResumeWatchers(transaction).waiting([pause.pause_id]) == {"U2"}
    assert pause.resumes_at == at(1772372445123456)
    assert pause.reminders == ReminderPlan(at(1772372445123456), sent=2)
    assert GroupActs(transaction).get([1])[1].asked == Asked("freeze", For(timedelta(hours=1)))
    assert Pauses(transaction).of_group("release") == [pause]
    (card,) = LiveMessages(transaction).due(at(1772368300000000), 9)
    assert (card.wanted, card.shown) == (2, 1)
    (board,) = Boards(transaction).open_of([SITE])
    assert board.made_by == "alice"
    state = Boards(transaction).state(SITE)
    assert state is not None
    assert state.read_at == at(1772368845123456)


def has_waiting_deliveries(transaction: Transaction) -> None:
    now = at(1772368900000000)
    before = Outbox(transaction).summary()
    assert (before.pending, before.in_doubt) == (2, 1)
    assert [suspended.channel_id for suspended in before.suspended] == ["C2"]
    claimed = Outbox(transaction).claim(
        now=now, claimed_until=now + timedelta(seconds=60), at_most=9, per_channel=9
    )
    assert [(delivery.delivery_id, delivery.progress.attempts) for delivery in claimed] == [
        ("d2", 3),
        ("d3", 1),
        ("d4", 2),
    ]
    assert claimed[0].progress.attempted_at == at(1772368250000000)
    Outbox(transaction).record([delivered(each, "1.1", now) for each in claimed])
    assert Outbox(transaction).summary().oldest_created_at is None


def has_shared_state_of_processes(transaction: Transaction) -> None:
    now = at(1772368900000000)
    lease = Leases(transaction).claim(
        "poll", holder="worker-2", now=now, lifetime=timedelta(seconds=30)
    )
    assert lease is not None
    assert lease.token == 5
    ((_, jump),) = ClockJumps(transaction).since(at(0))
    assert jump == timedelta(hours=-1)
    assert SlackLimits(transaction).closed().keys() == {"chat.postMessage C1"}
    assert ProcessConnections(transaction).of_others() == 1
    assert PendingRestarts(transaction).waiting() == ["DATABASE_URL"]
    assert ServiceFeatures(transaction).offers(ServiceFeature.FREEZES)
    assert ProgramLogins(transaction).all() == BotLogins(("*-bot",))
    (question,) = Questions(transaction).open(Asker("U1", "C1"), now)
    assert question.typed == "pause 1h"
    (owed,) = UnansweredRequests(transaction).due(now, 10)
    assert (owed.user_id, owed.typed) == ("U1", "pause now deploying 4.2")


async def test_all_data_is_there_after_all_migrations(empty_url: str) -> None:
    migrate_with_data(empty_url)
    with connected(empty_url) as connection:
        empty = [
            table.name
            for table in metadata.sorted_tables
            if not connection.scalar(select(func.count()).select_from(table))
        ]
    assert empty == []
    async with AsyncExitStack() as stack:
        store = Store(create_engine(empty_url, **PATIENT))
        stack.push_async_callback(store.close)
        await store.run(has_log_positions)
        await store.run(has_preferences_and_actions_of_people)
        await store.run(has_pauses_and_their_rows_in_other_tables)
        await store.run(has_waiting_deliveries)
        await store.run(has_shared_state_of_processes)


@pytest.mark.parametrize("state", ["delivered", "failed", "summarized"])
def test_settled_deliveries_have_a_time(transaction: Transaction, state: str) -> None:
    add(transaction, make_new(1))
    for wrong in ({"state": state}, {"settled_at": NOW}):
        with pytest.raises(IntegrityError), transaction.connection.begin_nested():
            transaction.connection.execute(update(deliveries).values(wrong))
    right = update(deliveries).values(state=state, settled_at=NOW)
    assert transaction.connection.execute(right).rowcount == 1


def test_revisions_are_named_like_their_files_and_each_has_sample_data() -> None:
    configuration = Config()
    configuration.set_main_option("script_location", str(PACKAGE / "store" / "migrations"))
    scripts = ScriptDirectory.from_config(configuration)
    revisions = [each.revision for each in scripts.walk_revisions()][::-1]
    assert list(migrate.known_revisions()) == revisions
    assert sorted(path.stem for path in DATA.glob("*.sql")) == revisions


def test_every_tables_comment_describes_a_row() -> None:
    assert [table.name for table in metadata.sorted_tables if not table.comment] == []


def differences(connection: Connection) -> list[Any]:
    options = {"compare_type": True, "compare_server_default": True}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, metadata))


def definitions(connection: Connection) -> list[tuple[str, list[str]]]:
    """Tables, indexes, constraints, triggers as the database itself words them, in any order."""
    if connection.dialect.name == "sqlite":
        asked = "SELECT name, sql FROM sqlite_master"
    else:
        asked = (
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' UNION "
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE connamespace = 'public'::regnamespace UNION "
            "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal UNION "
            "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
        )
    return sorted(
        (name, parts_of(definition or ""))
        for name, definition in connection.execute(text(asked))
        if "alembic" not in name
    )


def parts_of(definition: str) -> list[str]:
    """SQLite writes a column that is added later behind the others, without a line of its own."""
    parts = re.split(r"[\n,]", definition.strip().removesuffix(")"))
    return sorted(part.strip() for part in parts if part.strip())


async def test_a_migrated_database_is_like_a_new_one(empty_url: str) -> None:
    """Fails when the tables change and no migration does the same to an older database."""
    make_first_release(empty_url)
    migrate.upgrade(empty_url)
    with connected(empty_url) as connection:
        assert differences(connection) == []
        migrated = definitions(connection)
        remove_everything(connection)
    migrate.upgrade(empty_url)
    with connected(empty_url) as connection:
        made = definitions(connection)

    assert migrated == made
    assert len(migrated) > len(metadata.tables)


def remove_everything(connection: Connection) -> None:
    metadata.drop_all(connection)
    connection.execute(text("DROP TABLE alembic_version"))
    if connection.dialect.name == "postgresql":
        connection.execute(text("DROP FUNCTION audit_refuses_change"))


async def test_the_revision_is_read_without_a_change_and_reached_once(empty_url: str) -> None:
    assert migrate.current_revision(empty_url) is None
    assert not migrate.is_current(empty_url)
    if empty_url.startswith("sqlite"):
        assert not sqlite_path(empty_url).parent.exists()
    for _ in range(2):
        migrate.upgrade(empty_url)
        assert migrate.current_revision(empty_url) == migrate.head_revision()


async def test_two_processes_that_start_at_once_migrate_once(empty_url: str) -> None:
    script = "import sys, bot.runtime.schema; from bot.store import migrate\n"
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
        sqlite_path(empty_url).parent.mkdir()
    with connected(empty_url) as connection:
        connection.exec_driver_sql("CREATE TABLE subscriptions (in_the_way TEXT)")
    with pytest.raises(StoreUnavailable, match="a table already"):
        migrate.upgrade(empty_url)

    with connected(empty_url) as connection:
        names = connection.dialect.get_table_names(connection)
    assert names == ["subscriptions"]


async def test_a_database_of_another_program_is_refused_with_the_next_step(empty_url: str) -> None:
    migrate.upgrade(empty_url)
    advice = "move the file away" if empty_url.startswith("sqlite") else "create a new database"
    for revision in ("9999", "0001", "0026"):
        with connected(empty_url) as connection:
            changed = f"UPDATE alembic_version SET version_num = '{revision}'"  # noqa: S608  # words of this file
            connection.exec_driver_sql(changed)
        first_edition = rf"first edition of mqbot .*\(revision {revision}\).*: {advice}"
        sentence = "9999" if revision == "9999" else first_edition
        for refused in (migrate.current_revision, migrate.is_current, migrate.upgrade):
            if (revision, refused) != ("9999", migrate.current_revision):
                with pytest.raises(StoreUnusable, match=sentence):
                    refused(empty_url)


def test_a_file_of_the_first_edition_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite3"
    url = f"sqlite:///{tmp_path}/old.sqlite3"
    with connected(url) as connection:
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num TEXT)")
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('0026')")
    before = path.read_bytes()

    with pytest.raises(StoreUnusable, match="first edition"):
        migrate.upgrade(url)

    assert path.read_bytes() == before


def test_migrations_work_from_any_folder_the_program_is_installed_in(tmp_path: Path) -> None:
    installed = tmp_path / "100% installed"
    shutil.copytree(PACKAGE, installed / "bot", ignore=shutil.ignore_patterns("__pycache__"))
    script = "import sys, bot.runtime.schema; from bot.store import migrate\n"
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
