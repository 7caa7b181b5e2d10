"""`mqbot rename` and `mqbot forget-repository`: nothing of a repository is lost, or all of it."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select, type_coerce
from sqlalchemy.types import Text, TypeDecorator

from bot.acts.tables import audit
from bot.channels.rows import ChannelDefaults, Subscriptions
from bot.cli.main import main
from bot.cli.stored import changing_store
from bot.log.rows import Events, Positions
from bot.pauses.pause import PauseLine, PauseRecord
from bot.pauses.rows import Pauses, ResumeWatchers
from bot.posts.delivery import NewDelivery, Subject, SubjectKind
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.runtime.clock import SystemClock
from bot.store import migrate
from bot.store.backup import presence
from bot.store.engines import COMMAND_LIMIT, COMMAND_SECONDS, create_engine, opened, sqlite_path
from bot.store.schema import metadata
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.integration.test_migrations import make_first_release, statements_of
from tests.support.bot_tester import ALICE, GENERAL, RELEASES, BotTester
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, TestDatabase
from tests.support.make import make_subscription
from tests.support.postgres import PostgresServer
from tests.support.stored import NOW, SHOP, SITE, claim, make_event
from tests.support.transactions import begin

NEW = "acme/shop-front"


def run(url: str, *arguments: str, **settings: str) -> Result:
    environ = {"DATABASE_URL": url, "MQBOT_API_URL": "", "SLACK_BOT_TOKEN": "", **settings}
    # Time passes as soon as a command waits.
    clock = FakeClock(SystemClock().now())
    return CliRunner(env=environ).invoke(main, arguments, prog_name="mqbot", obj=clock)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def full_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """At least one row of every table, most of them of acme/site."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/full/bot.sqlite3"
        fill(url)
        yield url
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = server.create_database()
    fill(server.url(name))
    yield server.url(name)
    server.drop_database(name)


def fill(url: str) -> None:
    make_first_release(url)
    for revision in migrate.known_revisions():
        migrate.upgrade(url, revision)
        with opened(url) as connection:
            for statement in statements_of(revision):
                connection.exec_driver_sql(statement)


def naming(url: str, name: str) -> set[str]:
    """The columns in which the name stands, whole or in a list."""
    found: set[str] = set()
    with opened(url) as connection:
        for table in metadata.sorted_tables:
            for column in table.columns:
                kind = column.type
                kind = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
                if not isinstance(kind, Text):
                    continue
                text = type_coerce(column, Text)
                values = connection.execute(select(text)).scalars().all()
                if any(value == name or f'"{name}"' in (value or "") for value in values):
                    found.add(f"{table.name}.{column.name}")
    return found


def change(url: str, body: Callable[[Transaction], Any]) -> Any:
    store = Store(create_engine(url, **PATIENT))
    with begin(store) as transaction:
        result = body(transaction)
    asyncio.run(store.close())
    return result


def test_nothing_keeps_the_old_name(full_url: str) -> None:
    before = naming(full_url, SITE)
    assert {"subscriptions.repository", "audit.repository", "group_acts.repositories"} <= before
    change(full_url, lambda one: ChannelDefaults(one).set("C1", SITE))
    done = run(full_url, "rename", SITE, NEW)
    assert done.exit_code == 0, done.output
    assert f"renamed {SITE} to {NEW}" in done.output
    assert naming(full_url, SITE) <= {"leases.name"}
    assert before <= naming(full_url, NEW)
    assert change(full_url, lambda one: ChannelDefaults(one).of("C1")) == NEW
    records = [json.loads(line) for line in run(full_url, "audit", "--json").output.splitlines()]
    assert records[-1]["action"] == "rename"
    assert records[-1]["repository"] == NEW
    assert SITE in records[-1]["detail"]
    # The audit is as protected as before.
    engine = create_engine(full_url)
    with pytest.raises(Exception, match="only ever added"), engine.begin() as connection:
        connection.execute(audit.update().values(detail="changed"))
    engine.dispose()
    again = run(full_url, "rename", SITE, NEW)
    assert again.exit_code == 2
    assert f"nothing is stored about {SITE}" in again.stderr
    assert NEW in again.stderr


def test_what_the_new_name_has_already_stays_and_a_pause_keeps_its_person(full_url: str) -> None:
    """Somebody changed the settings first, and a bot ran with them."""

    def both(transaction: Transaction) -> int:
        newer = make_subscription("failure", channel_id="C1", repository=SHOP)
        Subscriptions(transaction).save(newer)
        Events(transaction).add_new(
            [make_event(1, repository=SHOP), make_event(7, repository=SHOP)]
        )
        for queue, event_id in (("C1", 1), ("C1", 7)):
            about = Subject(SubjectKind.EVENT, SHOP, event_id)
            Outbox(transaction).add([NewDelivery(f"shop {event_id}", queue, about, NOW)])
        (pause,) = Pauses(transaction).open([SITE])
        found = PauseRecord(
            SHOP,
            PauseLine(pause.line.paused_at, pause.line.stored_reason, pause.line.stored_reason),
        )
        again = Pauses(transaction).save(found)
        ResumeWatchers(transaction).add(again, "U9")
        card = LiveSubject(LiveKind.PAUSE, SHOP, str(again))
        LiveMessages(transaction).add(card, "C7", now=NOW)
        return pause.pause_id

    kept = change(full_url, both)
    done = run(full_url, "rename", SITE, SHOP)
    assert done.exit_code == 0, done.output

    def check(transaction: Transaction) -> None:
        (pause,) = Pauses(transaction).open([SHOP, SITE])
        assert pause.pause_id == kept
        assert pause.timer is not None
        assert ResumeWatchers(transaction).waiting([kept]) == {"U2", "U9"}
        here = Subscriptions(transaction).of_channel("C1")
        assert [subscription.topics for subscription in here] == [{"failure"}]
        summary = Outbox(transaction).summary()
        assert summary.pending >= 1
        watermark = Positions(transaction).watermark(SHOP)
        assert watermark is not None
        # The queue's head is right: all that waits can be claimed.
        assert claim(transaction, NOW.replace(year=2027), channels=9)

    change(full_url, check)


def test_open_messages_are_edited_to_the_new_name(full_url: str) -> None:
    """Their buttons have the old one, which nobody knows any more."""

    def all_are_up_to_date(transaction: Transaction) -> None:
        now = SystemClock().now()
        (card,) = LiveMessages(transaction).due(now, 9)
        LiveMessages(transaction).showed(card.message_id, card.wanted)
        assert LiveMessages(transaction).due(now, 9) == []

    change(full_url, all_are_up_to_date)
    assert run(full_url, "rename", SITE, NEW).exit_code == 0
    now = SystemClock().now()
    (card,) = change(full_url, lambda one: LiveMessages(one).due(now, 9))
    assert card.subject.repository == NEW


def test_the_settings_to_change_are_named(full_url: str, tmp_path: Path) -> None:
    file = tmp_path / "mqbot.toml"
    names = tmp_path / "names"
    names.write_text(f"# ours\n{SITE}\nacme/site-two\n")
    file.write_text(f'MQBOT_REPOSITORIES = "@{names}"\n[channels]\n"acme/site" = "C1"\n')
    settings = {"MQBOT_CONFIG": str(file), "MQBOT_GROUPS": f"release={SITE},acme/shop"}
    done = run(full_url, "rename", SITE, NEW, **settings)
    assert done.exit_code == 0, done.output
    assert "MQBOT_GROUPS in the environment" in done.output
    assert f"{file}, line 3" in done.output
    assert f"{names}, line 2" in done.output
    assert "line 1\n" not in done.output
    assert f"{names}, line 3" not in done.output


def test_lists_in_a_list_are_looked_into(full_url: str, tmp_path: Path) -> None:
    file = tmp_path / "mqbot.toml"
    (tmp_path / "names").write_text(f"# ours\n{SITE}\n")
    file.write_text('MQBOT_REPOSITORIES = ["acme/other", "@names"]\n')
    done = run(full_url, "rename", SITE, NEW, MQBOT_CONFIG=str(file))
    assert done.exit_code == 0, done.output
    assert f"{tmp_path / 'names'}, line 2" in done.output


def test_a_list_that_cannot_be_read_is_named(full_url: str, tmp_path: Path) -> None:
    latin = tmp_path / "names"
    latin.write_bytes("# für uns\n".encode("latin-1"))
    missing = tmp_path / "missing"
    settings = {"MQBOT_REPOSITORIES": f"@{latin}", "MQBOT_LOGINS": f"@{missing}"}
    done = run(full_url, "rename", SITE, NEW, **settings)
    assert done.exit_code == 0, done.output
    assert f"{latin}, which can't be read here" in done.output
    assert f"{missing}, which can't be read here" in done.output


def test_a_running_bot_is_refused(sqlite_url: str) -> None:
    with presence(sqlite_path(sqlite_url)):
        refused = run(sqlite_url, "rename", SITE, NEW)
    assert (refused.exit_code, refused.stderr) == (
        1,
        "mqbot: rename: the database is in use: stop the bot first\n",
    )


@pytest.mark.postgres
def test_a_running_bot_on_postgresql_is_refused(postgres_url: str) -> None:
    engine = create_engine(postgres_url)
    with engine.connect():
        refused = run(postgres_url, "rename", SITE, NEW)
    engine.dispose()
    assert refused.exit_code == 1
    assert "the bot has the database in use" in refused.stderr


@pytest.mark.parametrize("names", [(SITE, SITE), ("site", NEW), (SITE, "a b/c"), (SITE,)])
def test_wrong_names_are_refused(sqlite_url: str, names: tuple[str, ...]) -> None:
    assert run(sqlite_url, "rename", *names).exit_code == 2


def test_all_but_the_audit_is_forgotten(full_url: str) -> None:
    change(full_url, lambda one: ChannelDefaults(one).set("C1", SITE))
    refused = run(full_url, "forget-repository", SITE)
    assert refused.exit_code == 2
    assert f"{SITE} is paused by Ada until 2026-03-01 13:40 UTC" in refused.stderr
    assert f"/mq resume {SITE}" in refused.stderr
    assert "subscriptions.repository" in naming(full_url, SITE)

    done = run(full_url, "forget-repository", SITE, "--even-if-paused")
    assert done.exit_code == 0, done.output
    left = naming(full_url, SITE)
    assert left <= {
        "audit.repository",
        "outages.repositories",
        "group_acts.repositories",
        "group_acts.results",
        "leases.name",
    }
    assert "audit.repository" in left
    assert change(full_url, lambda one: ChannelDefaults(one).of("C1")) is None
    again = run(full_url, "forget-repository", SITE)
    assert again.exit_code == 2
    assert "nothing is stored" in again.stderr


def test_forgetting_names_the_settings_that_bring_it_back(sqlite_url: str) -> None:
    change(sqlite_url, lambda one: Subscriptions(one).save(make_subscription("enter")))
    done = run(sqlite_url, "forget-repository", SITE, MQBOT_REPOSITORIES=f"{SITE},acme/api")
    assert done.exit_code == 0, done.output
    assert "MQBOT_REPOSITORIES in the environment" in done.output


async def test_a_bot_goes_on_under_the_new_name(sqlite_url: str) -> None:
    """Its board is edited, the pause is resumed from its card, and the channel is still told."""
    old = "acme/site"
    new = "acme/docs"
    queues = {old: "quiet", new: "quiet"}
    async with BotTester(sqlite_url, queues, channels="") as bot:
        await bot.publish(f"/mq subscribe {old} only enter", "Subscribed", channel=RELEASES)
        board = await bot.publish(f"/mq board {old}", "acme/site", channel=GENERAL)
        await bot.stop_bot()
        assert (await asyncio.to_thread(run, sqlite_url, "forget-repository", new)).exit_code == 0
        done = await asyncio.to_thread(run, sqlite_url, "rename", old, new)
        assert done.exit_code == 0, done.output
        bot.environment = {"MQBOT_REPOSITORIES": new}
        await bot.start_bot()
        number = bot.enqueue(repository=new)
        await bot.wait_for_post(f"#{number}", RELEASES)
        await bot.wait_for_change(board, new)
        listed = await bot.ask("/mq subscriptions", by=ALICE, channel=RELEASES)
        assert new in listed.words


async def test_a_removed_repository_is_forgotten_while_the_bot_works(
    any_database: TestDatabase,
) -> None:
    old = "acme/site"
    kept = "acme/docs"
    queues = {old: "quiet", kept: "quiet"}
    async with BotTester(any_database.url, queues, channels="") as bot:
        await bot.publish(f"/mq subscribe {old} only enter", "Subscribed", channel=RELEASES)
        await bot.publish(f"/mq subscribe {kept} only enter", "Subscribed", channel=RELEASES)
        await bot.publish(f"/mq board {old}", old, channel=GENERAL)
        number = bot.enqueue(repository=old)
        await bot.wait_for_post(f"#{number}", RELEASES)
        await bot.stop_bot()
        bot.environment = {"MQBOT_REPOSITORIES": kept}
        await bot.start_bot()
        first = bot.enqueue(repository=kept)
        done = await asyncio.to_thread(run, any_database.url, "forget-repository", old)
        assert done.exit_code == 0, done.output
        assert await asyncio.to_thread(naming, any_database.url, old) <= {"audit.repository"}
        await bot.wait_for_post(f"#{first}", RELEASES)
        second = bot.enqueue(repository=kept)
        await bot.wait_for_post(f"#{second}", RELEASES)


@pytest.mark.postgres
async def test_a_large_repository_may_take_longer_than_a_transaction_of_the_bot(
    postgres_url: str,
) -> None:
    """500,000 events take ten seconds on PostgreSQL, where the bot gives a transaction eight."""
    async with changing_store(postgres_url) as store:
        limit = store.engine.get_execution_options()[COMMAND_LIMIT]
    assert limit >= 60 * COMMAND_SECONDS
