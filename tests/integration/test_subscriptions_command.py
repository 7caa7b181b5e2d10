"""`mqbot subscriptions`: what every channel gets; `mqbot unsubscribe`: an operator ends it."""

import asyncio
import json
from dataclasses import replace
from datetime import time, timedelta

import pytest
from click.testing import CliRunner, Result

from bot.acts.record import Action, ActResult
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Style, SubscriptionSource, read_options
from bot.cli.main import main
from bot.kernel.actor import Origin
from bot.kernel.cron import DigestTime
from bot.kernel.metrics import SuspendedChannel
from bot.kernel.repository import RepositoryName
from bot.log.position import LastPoll
from bot.log.rows import Positions
from bot.posts.delivery import NewDelivery, Subject, SubjectKind
from bot.posts.outbox import Outbox
from bot.runtime.clock import SystemClock
from bot.store import migrate
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
from tests.support.make import API, SITE, make_subscription
from tests.support.stored import NOW
from tests.support.transactions import begin

GONE = "C0GONE"
OTHER = "C0OTHER"


def mqbot(url: str, *arguments: str) -> Result:
    environ = {"DATABASE_URL": url, "MQBOT_API_URL": "", "SLACK_BOT_TOKEN": ""}
    return CliRunner(env=environ).invoke(main, arguments, prog_name="mqbot")


def run(url: str, *arguments: str) -> Result:
    return mqbot(url, "subscriptions", *arguments)


@pytest.fixture
def url(database: TestDatabase) -> str:
    asyncio.run(fill(database.url))
    return database.url


async def fill(url: str) -> None:
    migrate.upgrade(url)
    store = Store(create_engine(url))
    digest = make_subscription("merge", channel_id=OTHER, repository=API, style=Style.DIGEST)
    digest = replace(digest, digest=DigestTime(time(9), "Europe/Paris"), through="@release")
    with begin(store) as transaction:
        typed = make_subscription("enter", "failure", channel_id=GONE, repository=SITE)
        typed = replace(typed, branches=frozenset({"main"}), created_by="U0BOB", created_at=NOW)
        Subscriptions(transaction).save(typed, digest)
        configured = make_subscription("pause", channel_id=OTHER, repository=SITE)
        source = SubscriptionSource.CONFIGURATION
        Subscriptions(transaction).replace_configured([replace(configured, source=source)])
        about = Subject(SubjectKind.EVENT, SITE, 1)
        Outbox(transaction).add([NewDelivery("d", GONE, about, NOW, kind="enter")])
        Outbox(transaction).suspend(SuspendedChannel(GONE, "is_archived", NOW, NOW))
        now = SystemClock().now()
        Positions(transaction).save_polls({SITE: LastPoll(now - timedelta(minutes=1), frozenset())})
    await store.close()


def test_each_is_shown_with_where_it_comes_from(url: str) -> None:
    done = run(url)
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.output.splitlines()]
    (typed,) = [one for one in lines if one[:2] == [GONE, SITE]]
    assert typed[2:5] == ["command", "2026-03-01", "U0BOB"]
    assert typed[5:] == ["enter", "failure", "branch:main", "style:feed"]
    (configured,) = [one for one in lines if one[:2] == [OTHER, SITE]]
    assert configured[2] == "MQBOT_CHANNELS"
    (digest,) = [one for one in lines if one[:2] == [OTHER, "@release"]]
    assert digest[2:5] == ["(1", "repository)", "command"]
    assert "digest:09:00" in digest
    assert "3 subscriptions of 2 channels to 2 repositories" in done.output


def test_what_follows_a_group_or_all_is_one_line_however_many_repositories_there_are(
    url: str,
) -> None:
    async def follow() -> None:
        store = Store(create_engine(url))
        with begin(store) as transaction:
            for number in range(40):
                name = RepositoryName(f"acme/service-{number:03d}")
                of_all = make_subscription("merge", channel_id="C0ALL", repository=name)
                later = NOW + timedelta(days=number)
                of_all = replace(of_all, through="all", created_by="U0BOB", created_at=later)
                Subscriptions(transaction).save(of_all)
                if number < 3:
                    of_group = replace(of_all, channel_id="C0GROUP", through="@release")
                    Subscriptions(transaction).save(of_group)
            alone = make_subscription("merge", channel_id="C0ALL", repository=SITE)
            Subscriptions(transaction).save(replace(alone, created_by="U0BOB"))
        await store.close()

    asyncio.run(follow())
    lines = [" ".join(line.split()) for line in run(url).output.splitlines()]
    of_all = [line for line in lines if line.startswith("C0ALL")]
    assert "C0ALL all (40 repositories) command 2026-03-01 U0BOB merge style:feed" in of_all
    assert len(of_all) == 2
    assert [line for line in lines if line.startswith("C0GROUP")] == [
        "C0GROUP @release (3 repositories) command 2026-03-01 U0BOB merge style:feed"
    ]
    each = [json.loads(line) for line in run(url, "--json").output.splitlines()]
    assert len([one for one in each if one["channel"] == "C0ALL"]) == 41


def test_what_ends_or_moves_one_is_said(url: str) -> None:
    output = run(url).output
    assert f"mqbot unsubscribe {GONE}" in output
    assert "is_archived" in output
    assert "/mq unsubscribe" in output
    assert "MQBOT_CHANNELS" in output
    assert "mqbot rename OLD NEW" in output
    # Nobody reads its event log.
    assert f"{API} was never read" in output
    assert f"{SITE} was" not in output


def test_the_words_can_be_typed_again(url: str) -> None:
    """As JSON: for a script that moves them."""
    done = run(url, "--json")
    assert done.exit_code == 0, done.output
    found = [json.loads(line) for line in done.output.splitlines()]
    assert {(one["channel"], one["repository"], one["source"]) for one in found} == {
        (GONE, SITE, "command"),
        (OTHER, SITE, "configuration"),
        (OTHER, API, "command"),
    }
    for one in found:
        read_options(one["words"].split())
        assert one["through"] == ("@release" if one["repository"] == API else None)
        assert (one["suspended"] == "is_archived") is (one["channel"] == GONE)


def test_without_any_it_says_so(sqlite_url: str) -> None:
    assert "no channel is subscribed" in run(sqlite_url).output
    assert run(sqlite_url, "--json").output == ""


def test_a_database_that_is_not_migrated_is_refused(tmp_path: object) -> None:
    """It is named, because without the bot's settings it is the default one."""
    refused = run(f"sqlite:///{tmp_path}/new.sqlite3")
    assert refused.exit_code == 2
    assert f"names {tmp_path}/new.sqlite3, which no bot has used yet" in refused.output
    assert "run mqbot migrate" in refused.output


def test_tables_of_another_version_are_named_as_that(url: str) -> None:
    engine = create_engine(url)
    rename = "ALTER TABLE subscriptions RENAME COLUMN {} TO {}"
    with engine.begin() as connection:
        connection.exec_driver_sql(rename.format("created_by", "made_by"))
    try:
        refused = run(url)
    finally:
        # The server's database is every test's.
        with engine.begin() as connection:
            connection.exec_driver_sql(rename.format("made_by", "created_by"))
        engine.dispose()
    assert refused.exit_code != 0
    assert "a column is missing: another version of mqbot made its tables" in refused.output


# What an operator ends


@pytest.fixture
def refused_url(database: TestDatabase) -> str:
    """A migrated database of either kind, in which Slack refuses one of two channels."""
    asyncio.run(refuse_one(database.url))
    return database.url


async def refuse_one(url: str) -> None:
    migrate.upgrade(url)
    store = Store(create_engine(url))
    with begin(store) as transaction:
        for channel in (GONE, OTHER):
            for name in (SITE, API):
                one = make_subscription("enter", channel_id=channel, repository=name)
                Subscriptions(transaction).save(one)
                about = Subject(SubjectKind.EVENT, name, 1)
                delivery = NewDelivery(f"{channel} {name}", channel, about, NOW, kind="enter")
                Outbox(transaction).add([delivery])
        about_act = Subject(SubjectKind.ACT, SITE, 7)
        Outbox(transaction).add([NewDelivery("act", GONE, about_act, NOW, urgent=True)])
        Outbox(transaction).suspend(SuspendedChannel(GONE, "is_archived", NOW, NOW))
    await store.close()


def subscribed(url: str, channel: str) -> set[str]:
    store = Store(create_engine(url))
    with begin(store) as transaction:
        found = {str(one.repository) for one in Subscriptions(transaction).of_channel(channel)}
    asyncio.run(store.close())
    return found


def suspended(url: str) -> list[str]:
    store = Store(create_engine(url))
    with begin(store) as transaction:
        found = [
            subscription.channel_id for subscription in Outbox(transaction).summary().suspended
        ]
    asyncio.run(store.close())
    return found


def test_a_refused_token_is_no_reason_to_end_subscriptions(url: str) -> None:
    store = Store(create_engine(url))
    with begin(store) as transaction:
        Outbox(transaction).suspend(SuspendedChannel(GONE, "token_revoked", NOW, NOW))
    asyncio.run(store.close())
    (line,) = [line for line in run(url).output.splitlines() if "token_revoked" in line]
    assert "mqbot unsubscribe" not in line
    assert "install the app again and set its SLACK_BOT_TOKEN" in line


def test_all_subscriptions_and_waiting_posts_of_the_channel_go(refused_url: str) -> None:
    assert suspended(refused_url) == [GONE]
    done = mqbot(refused_url, "unsubscribe", GONE)
    assert done.exit_code == 0, done.output
    assert f"{GONE} is no longer subscribed to {API}, {SITE}" in done.output
    assert subscribed(refused_url, GONE) == set()
    assert subscribed(refused_url, OTHER) == {SITE, API}
    assert suspended(refused_url) == []
    audit = mqbot(refused_url, "audit", "--json")
    acts = [json.loads(line) for line in audit.output.splitlines()]
    assert [action["repository"] for action in acts] == [API, SITE]
    for act in acts:
        assert act["action"] == Action.UNSUBSCRIBE
        assert act["where"] == Origin.OPERATOR
        assert act["result"] == ActResult.DONE
        assert act["channel"] == GONE
        assert "enter" in act["before"]["subscription"]
    again = mqbot(refused_url, "unsubscribe", GONE)
    assert again.exit_code == 0
    assert "nothing changed" in again.output


def test_one_repository_alone_may_be_ended(refused_url: str) -> None:
    done = mqbot(refused_url, "unsubscribe", GONE, "--repository", SITE.upper())
    assert done.exit_code == 0, done.output
    assert subscribed(refused_url, GONE) == {API}
    assert suspended(refused_url) == [GONE]
    again = mqbot(refused_url, "unsubscribe", GONE, "--repository", SITE)
    assert "nothing changed" in again.output
    unknown = mqbot(refused_url, "unsubscribe", GONE, "--repository", "acme/unknown")
    assert unknown.exit_code == 2
    assert f"nothing is stored about acme/unknown; known are {API}, {SITE}" in unknown.output


def test_what_the_settings_subscribe_stays_and_is_named(refused_url: str) -> None:
    store = Store(create_engine(refused_url))
    with begin(store) as transaction:
        one = make_subscription("merge", channel_id=GONE, repository=SITE)
        source = SubscriptionSource.CONFIGURATION
        Subscriptions(transaction).replace_configured([replace(one, source=source)])
    asyncio.run(store.close())
    done = mqbot(refused_url, "unsubscribe", GONE)
    assert f"MQBOT_CHANNELS still subscribes it to {SITE}" in done.output
    assert subscribed(refused_url, GONE) == {SITE}
    assert suspended(refused_url) == [GONE]


@pytest.mark.parametrize("channel", ["#general", "general", "U0BOB", "C0 GONE", ""])
def test_only_an_id_of_a_channel_is_taken(refused_url: str, channel: str) -> None:
    refused = mqbot(refused_url, "unsubscribe", channel)
    assert refused.exit_code == 2
    assert "looks like C012AB3CD" in refused.output
    assert subscribed(refused_url, GONE) == {SITE, API}


def test_a_wrong_repository_is_refused(refused_url: str) -> None:
    refused = mqbot(refused_url, "unsubscribe", GONE, "--repository", "site")
    assert refused.exit_code == 2
    assert subscribed(refused_url, GONE) == {SITE, API}
