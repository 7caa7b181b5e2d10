"""`mqbot explain`: why a message is there, or why it isn't."""

import asyncio
import os
import re
import socket
from dataclasses import replace
from datetime import timedelta

import pytest
from click.testing import CliRunner, Result

from bot.acts.record import Action, ActResult, AuditRecord, SettingChange, Where
from bot.acts.rows import Audit
from bot.channels.rows import Subscriptions
from bot.channels.subscription import SubscriptionSource
from bot.cli.main import main
from bot.kernel.actor import Actor, Origin
from bot.log.position import LastPoll
from bot.log.rows import Events, Positions, PullRequests
from bot.posts.delivery import (
    NewDelivery,
    Subject,
    SubjectKind,
    attempted,
    delivered,
    failed,
    in_doubt,
)
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.runtime.clock import SystemClock
from bot.store import migrate
from bot.store.engines import create_engine
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.bot_tester import ALICE, MERGE_QUEUE, RELEASES, BotTester
from tests.support.databases import TestDatabase
from tests.support.make import API, SITE, make_subscription
from tests.support.shown import Shown
from tests.support.stored import NOW, claim, make_event, make_pull_request
from tests.support.transactions import begin
from tests.support.waiting import until_true

HERE = "C0HERE"
THERE = "C0THERE"


def explain(url: str, *words: str) -> Result:
    environ = {"DATABASE_URL": url, "MQBOT_API_URL": "", "SLACK_BOT_TOKEN": ""}
    return CliRunner(env=environ).invoke(main, ["explain", *words], prog_name="mqbot")


def said(url: str, *words: str) -> str:
    done = explain(url, *words)
    assert done.exit_code == 0, done.output
    return done.output


def permalink(channel_id: str, ts: str) -> str:
    return f"https://acme.slack.com/archives/{channel_id}/p{ts.replace('.', '')}"


def permalink_of(shown: Shown) -> str:
    return permalink(shown.channel, shown.ts)


@pytest.fixture
def url(database: TestDatabase) -> str:
    """Event 1 of #41 was posted to one of two channels."""
    asyncio.run(fill(database.url))
    return database.url


async def fill(url: str) -> None:
    migrate.upgrade(url)
    store = Store(create_engine(url))
    with begin(store) as transaction:
        Subscriptions(transaction).save(
            make_subscription("enter", channel_id=HERE),
            make_subscription("failure", channel_id=THERE),
        )
        Events(transaction).add_new([make_event(1)])
        Events(transaction).mark_routed(SITE, [1])
        PullRequests(transaction).save([make_pull_request(41)])
        about = Subject(SubjectKind.EVENT, SITE, 1)
        Outbox(transaction).add([NewDelivery("d" * 32, HERE, about, NOW, kind="enter")])
        (taken,) = claim(transaction)
        Outbox(transaction).record([delivered(taken, "1772368242.000100", NOW)])
        Positions(transaction).save_polls({SITE: LastPoll(NOW, ["action.queue.enter"])})
    await store.close()


def change(url: str, body: object) -> None:
    store = Store(create_engine(url))
    with begin(store) as transaction:
        body(transaction)  # type: ignore[operator]  # a function of the test's own
    asyncio.run(store.close())


@pytest.mark.parametrize(
    "words",
    [
        (permalink(HERE, "1772368242.000100"),),
        (f"<{permalink(HERE, '1772368242.000100')}?thread_ts=1.2&cid={HERE}>",),
        ("d" * 32,),
        ("acme/site", "event", "1"),
        ("event 1",),
        ("acme/site#41",),
        ("acme/site 41",),
        ("ACME/Site#41",),
        ("Acme/site event 1",),
        ("https://github.com/acme/site/pull/41",),
        ("#41",),
        ("41",),
    ],
)
def test_each_name_of_a_message_leads_to_its_event_and_post(url: str, words: tuple[str]) -> None:
    output = said(url, *words)
    assert "acme/site#41 “Add search” by ada" in output
    assert "event 1 action.queue.enter, into main" in output
    assert "counts as enter (topic enter)" in output
    assert f"{HERE}: posted 2026-03-01 12:30:15, ts 1772368242.000100" in output
    assert "delivery_id " + "d" * 32 in output
    assert f"{THERE}: no post of its own: not subscribed to enter" in output
    assert "only these types are read" in output


@pytest.mark.parametrize(
    "words", ["", "hello", "acme/site", "https://github.com/acme/site", "acme/site#x", "9" * 30]
)
def test_what_names_nothing_is_refused_with_the_forms(url: str, words: str) -> None:
    refused = explain(url, words)
    assert refused.exit_code == 2
    assert "acme/site event 9001" in refused.output


def test_what_is_not_stored_says_why(url: str) -> None:
    other = said(url, permalink(HERE, "1772368242.000199"))
    assert "this message isn't a post in this database" in other
    assert "with a database of its own" in other
    assert "event 77 of any repository is stored" in said(url, "event 77")
    assert "log: read at 2026-03-01 12:30:15" in said(url, f"{SITE} event 77")
    unread = explain(url, f"{API}#41")
    assert unread.exit_code == 2
    assert f"WHAT: nothing is stored about {API}; known are {SITE}" in unread.output
    subscribed = make_subscription("enter", repository=API)
    change(url, lambda transaction: Subscriptions(transaction).save(subscribed))
    assert "log: never read to its end" in said(url, f"{API}#41")
    assert "events: none is stored" in said(url, f"{API}#41")
    unknown = said(url, "42")
    assert "no event of a pull request #42" in unknown
    # With its repository, the answer says who is subscribed there.
    assert f"Name its repository to see why, such as {SITE}#42" in " ".join(unknown.split())
    assert "no delivery with this id" in said(url, "e" * 32)


def test_why_a_channel_has_no_post(url: str) -> None:
    def subscribe(transaction: Transaction) -> None:
        newer = replace(
            make_subscription("enter", channel_id="C0NEWER"), created_at=SystemClock().now()
        )
        Subscriptions(transaction).save(
            newer,
            make_subscription("enter", channel_id="C0BRANCH", branches=frozenset({"release/*"})),
            make_subscription("enter", channel_id="C0EXCEPT", except_logins=frozenset({"ada"})),
            make_subscription("enter", channel_id="C0MATCH"),
        )
        source = SubscriptionSource.CONFIGURATION
        configured = make_subscription("enter", channel_id="C0MATCH")
        Subscriptions(transaction).replace_configured([replace(configured, source=source)])

    change(url, subscribe)
    output = said(url, "acme/site#41")
    for channel, why in (
        ("C0NEWER", "subscribed after it"),
        ("C0BRANCH", "only release/*, not main"),
        ("C0EXCEPT", "its author is left out (except:)"),
        ("C0MATCH", "it matches now, but the subscription was different then"),
    ):
        assert output.count(f"{channel}: no post of its own: {why}") == 1


def test_a_pull_request_without_events_names_who_ended_the_subscription(url: str) -> None:
    ended = AuditRecord(
        NOW,
        Actor("U0ALICE", "alice"),
        Action.UNSUBSCRIBE,
        Where(Origin.COMMAND, HERE),
        API,
        ActResult.DONE,
        setting=SettingChange("merge", ""),
    )
    change(url, lambda transaction: Audit(transaction).add(ended))
    output = said(url, f"{API}#41")
    assert "no channel is subscribed" in output
    assert f"by alice: {HERE}" in output
    assert "only with events that nobody was subscribed to" in output


def test_an_event_that_waits_says_so(url: str) -> None:
    change(url, lambda transaction: Events(transaction).add_new([make_event(2)]))
    output = said(url, "event 2")
    assert "not posted yet" in output
    assert "no post of its own" not in output


def test_each_state_of_a_delivery_is_said(url: str) -> None:
    about = Subject(SubjectKind.EVENT, SITE, 1)

    def add(transaction: Transaction) -> None:
        later = SystemClock().now() + timedelta(minutes=5)
        for channel in ("C0FAILED", "C0DOUBT", "C0SENDING", "U0ADA"):
            new = NewDelivery(f"of {channel}", channel, about, NOW, kind="enter")
            Outbox(transaction).add([new])
        claimed = {subscription.channel_id: subscription for subscription in claim(transaction)}
        Outbox(transaction).record([failed(claimed["C0FAILED"], "channel_not_found", NOW)])
        doubted = attempted(claimed["C0DOUBT"], NOW)
        Outbox(transaction).record([in_doubt(doubted, "timeout", NOW)])
        Outbox(transaction).record([delivered(claimed["U0ADA"], "1.2", NOW)])
        waits = NewDelivery("waits", "C0DIGEST", about, NOW, kind="enter", digest_at=later)
        Outbox(transaction).add([waits])

    change(url, add)
    output = said(url, "event 1")
    assert "C0FAILED: given up 2026-03-01 12:30:15: channel_not_found" in output
    assert "C0DOUBT: in doubt, last: timeout: Slack may have posted it" in output
    assert "C0SENDING: being sent" in output
    assert "U0ADA (a person): posted" in output
    assert "C0DIGEST: waits for its digest, next try" in output


async def test_messages_of_a_running_bot(sqlite_url: str) -> None:
    """A thread that is edited, a card of a pause, an answer that isn't stored."""
    async with BotTester(sqlite_url, channels="") as bot:
        await bot.publish(
            "/mq subscribe acme/site only enter,merge", "Subscribed", channel=RELEASES
        )
        number = bot.enqueue()
        root = await bot.wait_for_post(f"#{number}", RELEASES)
        await bot.wait_for_change(root, "Merged")
        await bot.has_posted()

        async def is_edit_known() -> bool:
            """Slack shows an edit before the bot has stored that it does."""
            output = await asyncio.to_thread(said, sqlite_url, permalink_of(root))
            return "up to date" in output or "closed" in output

        await until_true(is_edit_known, "the edit is stored")
        output = await asyncio.to_thread(said, sqlite_url, permalink_of(root))
        assert output.startswith("a message about acme/site: entry ")
        assert f"acme/site#{number}" in output
        assert f"{RELEASES}: enter merge (by {ALICE} since " in output
        assert "the message above shows it by an edit" in output
        assert "not subscribed to checks" in output
        assert "posts: " in output
        # The tests' bot runs here.
        assert f" · by process {socket.gethostname()}:{os.getpid()}:" in output

        card = await bot.pause("looking into it")
        await bot.has_posted()
        output = await asyncio.to_thread(said, sqlite_url, permalink_of(card))
        assert output.startswith("a message about acme/site: pause 1, edited as it changes")
        assert f"{MERGE_QUEUE}: posted" in output
        assert re.search(r"it tells of: .* pause +done .*alice.*looking into it", output)

        answer = await bot.ask("/mq status")
        output = await asyncio.to_thread(said, sqlite_url, permalink_of(answer))
        assert "an answer to a command, which isn't stored" in output


def test_a_direct_message_is_found_by_its_time(url: str) -> None:
    """Its address has a channel of its own, which isn't stored."""

    def add(transaction: Transaction) -> None:
        about = Subject(SubjectKind.EVENT, SITE, 1)
        Outbox(transaction).add([NewDelivery("direct", "U0ADA", about, NOW, kind="enter")])
        (taken,) = claim(transaction)
        Outbox(transaction).record([delivered(taken, "1772368300.000100", NOW)])

    change(url, add)
    output = said(url, permalink("D0ADA", "1772368300.000100"))
    assert "U0ADA (a person): posted" in output
    assert "isn't a post in this database" in said(url, permalink("D0ADA", "1772368242.000100"))


LIVE_KEYS = {
    LiveKind.REPEATED: "1 post",
    LiveKind.ENTRY: "41-1",
    LiveKind.BOARD: "1",
}


def test_every_kind_of_post_can_be_explained(url: str) -> None:
    """Also what it is about is gone already."""

    def add(transaction: Transaction) -> None:
        for number, kind in enumerate(SubjectKind):
            about = Subject(kind, SITE, 77)
            Outbox(transaction).add([NewDelivery(f"{number:032x}", f"C0KIND{number}", about, NOW)])
        for number, live in enumerate(LiveKind):
            subject = LiveSubject(live, SITE, LIVE_KEYS.get(live, "1"))
            message_id = LiveMessages(transaction).add(subject, f"C0LIVE{number}", now=NOW)
            assert message_id is not None
            LiveMessages(transaction).posted(message_id, f"17723682{number:02}.000000", 1)

    change(url, add)
    for number, kind in enumerate(SubjectKind):
        assert f"{SITE}: {kind} 77" in said(url, f"{number:032x}")
    for number, live in enumerate(LiveKind):
        ts = f"17723682{number:02}.000000"
        output = said(url, permalink(f"C0LIVE{number}", ts))
        assert output.startswith(f"a message about {SITE}: {live} ")
        assert "its first post isn't stored any more" in output
