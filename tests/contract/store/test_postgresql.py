"""Behaviour specific to PostgreSQL: restarts and concurrent transactions."""

import asyncio
import os
import socket
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import event, text

from bot.acts.record import ActResult, Circumstance
from bot.acts.rows import Audit
from bot.posts.delivery import NewDelivery, delivered
from bot.posts.outbox import Outbox
from bot.store import engines, migrate
from bot.store.coordination import Leases
from bot.store.engines import create_engine
from bot.store.errors import LeaseLost, StoreUnavailable
from bot.store.lease_values import Lease
from bot.store.slack_limits import SlackLimits
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.databases import EMPTY_POSTGRES, PATIENT
from tests.support.postgres import PASSWORD, PostgresServer, a_server
from tests.support.stored import NOW, add, after, claim, ids, make_new, make_record, record, stored
from tests.support.transactions import begin

pytestmark = pytest.mark.postgres

LIFETIME = timedelta(seconds=30)
THAWING_SECONDS = 60.0
SILENT_SECONDS = 2.0
"""Longer than a busy machine keeps a process that works from its next statement."""

Open = Callable[..., Store]


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """Opens stores that are closed when the test ends, however it ends."""
    async with AsyncExitStack() as stack:

        def open_store(url: str, **options: float) -> Store:
            store = Store(create_engine(url, **options))
            stack.push_async_callback(store.close)
            return store

        yield open_store


@pytest.fixture
def stores(postgres_url: str, opened: Open) -> tuple[Store, Store]:
    """Two processes' stores on one server, which a slow machine neither cuts off nor ends."""
    return opened(postgres_url, **PATIENT), opened(postgres_url, **PATIENT)


@pytest.fixture(scope="module")
def server_to_kill() -> Iterator[PostgresServer]:
    """With a migrated database."""
    with a_server() as server:
        migrate.upgrade(server.url())
        yield server


@pytest.fixture
def mortal_server(server_to_kill: PostgresServer) -> Iterator[PostgresServer]:
    """Each test that kills it starts it again."""
    yield server_to_kill
    server_to_kill.execute(EMPTY_POSTGRES)


async def lease_of(store: Store, holder: str, seconds: float = 0) -> Lease | None:
    with begin(store) as transaction:
        return Leases(transaction).claim(
            "poll", holder=holder, now=after(seconds), lifetime=LIFETIME
        )


async def test_a_dead_server_is_unavailable_until_it_recovers(
    mortal_server: PostgresServer, opened: Open
) -> None:
    store = opened(mortal_server.url())
    await store.run(add, make_new(1))

    def write_while_it_dies(transaction: Transaction) -> None:
        Outbox(transaction).add([make_new(2)])
        mortal_server.kill()
        Outbox(transaction).add([make_new(3)])

    with pytest.raises(StoreUnavailable):
        await store.run(write_while_it_dies)
    with pytest.raises(StoreUnavailable):
        await store.run(add, make_new(4))
    mortal_server.start()
    assert ids(await store.run(claim)) == ["C1-1"]

    def lose_the_lease(transaction: Transaction) -> None:
        Outbox(transaction).add([make_new(2)])
        mortal_server.kill()
        raise LeaseLost("poll")

    # The first error is reported.
    with pytest.raises(LeaseLost):
        await store.run(lose_the_lease)
    mortal_server.start()
    assert await store.run(add, make_new(2)) == 1


async def test_connections_that_a_restart_broke_while_idle_are_replaced_unnoticed(
    mortal_server: PostgresServer, opened: Open
) -> None:
    store = opened(mortal_server.url())
    both_open = threading.Barrier(2)

    def occupy(transaction: Transaction) -> None:
        Audit(transaction).add(make_record())
        both_open.wait()

    await asyncio.gather(store.run(occupy), store.run(occupy))
    mortal_server.kill()
    mortal_server.start()

    for number in range(1, 5):
        assert await store.run(add, make_new(number)) == 1


async def test_a_frozen_server_is_unavailable_until_it_recovers_and_delays_no_stop(
    mortal_server: PostgresServer, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    store = opened(mortal_server.url(), wait_seconds=0.5, command_seconds=0.5)
    other = opened(mortal_server.url(), command_seconds=3600)
    all_open = threading.Barrier(3)

    def occupy(_: Transaction) -> None:
        all_open.wait()

    await asyncio.gather(other.run(occupy), other.run(occupy), other.run(occupy))
    await until_added(store, make_new(1))
    mortal_server.freeze()
    try:
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                await store.run(add, make_new(2))
        # Otherwise a stopping process waits for each connection.
        async with asyncio.timeout(60):
            await other.close()
    finally:
        mortal_server.thaw()

    await until_added(store, make_new(2))
    assert await until_added(store, make_new(2)) == 0
    assert [event.getMessage() for event in caplog.records if event.levelname == "ERROR"] == []


async def test_a_server_that_freezes_while_the_first_connection_is_made_is_unavailable(
    mortal_server: PostgresServer, opened: Open
) -> None:
    """Between the login and what SQLAlchemy asks of a server that it doesn't know yet."""
    store = opened(mortal_server.url(), wait_seconds=0.5, command_seconds=0.5)
    frozen: list[object] = []

    def freeze(driver: object, _record: object) -> None:
        if not frozen:
            mortal_server.freeze()
        frozen.append(driver)

    event.listen(store.engine, "connect", freeze, insert=True)
    try:
        with pytest.raises(StoreUnavailable):
            async with asyncio.timeout(60):
                await store.run(add, make_new(1))
    finally:
        mortal_server.thaw()
    assert frozen
    assert await until_added(store, make_new(1)) == 1


def test_a_command_ends_when_its_server_freezes_in_its_transaction(
    mortal_server: PostgresServer,
) -> None:
    def freeze_in_it() -> None:
        with engines.opened(mortal_server.url(), seconds=0.5) as connection:
            mortal_server.freeze()
            connection.scalar(text("SELECT 1"))

    try:
        with pytest.raises(StoreUnavailable, match="no answer in time"):
            freeze_in_it()
    finally:
        mortal_server.thaw()


async def test_a_connection_that_is_gone_once_its_time_is_over_is_no_error_of_the_bot(
    postgres_url: str, opened: Open
) -> None:
    """As of a process that stood still meanwhile."""
    unforeseen: list[dict[str, object]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: unforeseen.append(context))
    limit = 0.5
    store = opened(postgres_url, command_seconds=limit)

    def lose_the_connection(transaction: Transaction) -> None:
        driver = transaction.connection.connection.driver_connection
        assert driver is not None
        with socket.socket(fileno=os.dup(driver.fileno())) as copied:
            copied.shutdown(socket.SHUT_RDWR)
        time.sleep(2 * limit)
        transaction.connection.execute(text("SELECT 1"))

    with pytest.raises(StoreUnavailable):
        await store.run(lose_the_connection)
    assert unforeseen == []


async def until_added(store: Store, new: NewDelivery) -> int:
    """A server that catches up, on a busy machine, may take longer than the store waits."""
    deadline = time.monotonic() + THAWING_SECONDS
    while True:
        try:
            return await store.run(add, new)
        except StoreUnavailable:
            if time.monotonic() > deadline:
                raise


async def test_a_wrong_password_means_unavailable_and_is_not_shown(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.url(password="hunter2%21")
    engine = create_engine(url)
    with pytest.raises(StoreUnavailable, match="password authentication failed") as caught:
        await Store(engine).run(add, make_new(1))
    reported = "".join(traceback.format_exception(caught.value)) + repr(engine) + str(engine.url)

    assert "hunter2" not in reported
    assert PASSWORD not in reported
    engine.dispose()


async def test_a_server_that_does_not_answer_is_unavailable() -> None:
    with_nobody = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    port = with_nobody.sockets[0].getsockname()[1]
    for listening in (True, False):
        if not listening:
            with_nobody.close()
            await with_nobody.wait_closed()
        engine = create_engine(f"postgresql://u:secret@127.0.0.1:{port}/d?sslmode=disable")
        with pytest.raises(StoreUnavailable) as caught:
            await Store(engine).run(add, make_new(1))
        assert "secret" not in str(caught.value)
        engine.dispose()


async def test_a_lease_in_use_cannot_be_taken_until_its_transaction_ends(
    stores: tuple[Store, Store],
) -> None:
    one, two = stores
    lease = await lease_of(one, "one")
    assert lease is not None
    with begin(one) as transaction:
        Leases(transaction).require(lease, after(29))
        assert await lease_of(two, "two", 31) is None
        Audit(transaction).add(make_record())
    taken = await lease_of(two, "two", 32)

    assert taken is not None
    assert taken.token == 2


async def test_a_holder_renews_a_lease_that_its_own_transaction_uses(
    stores: tuple[Store, Store],
) -> None:
    """Otherwise a lease in constant use would expire."""
    polling, ticking = stores
    lease = await lease_of(polling, "one")
    assert lease is not None
    with begin(polling) as transaction:
        Leases(transaction).require(lease, after(5))
        assert await lease_of(ticking, "one", 10) == Lease("poll", "one", 1, after(40))
        # It is in use still, and so not another's when it has run out.
        assert await lease_of(ticking, "two", 41) is None
        Leases(transaction).require(lease, after(35))
    taken = await lease_of(ticking, "two", 41)
    assert taken == Lease("poll", "two", 2, after(71))

    # And the one that its own transaction renews.
    with begin(polling) as transaction:
        Leases(transaction).claim("poll", holder="two", now=after(45), lifetime=LIFETIME)
        assert await lease_of(ticking, "two", 50) == taken


async def test_channels_locked_by_another_transaction_are_skipped(
    stores: tuple[Store, Store],
) -> None:
    one, two = stores
    await one.run(add, *(make_new(1, channel_id=f"C{number}") for number in range(1, 5)))
    with begin(one) as transaction:
        mine = Outbox(transaction).claim(now=NOW, claimed_until=after(60), at_most=2, per_channel=1)
        theirs = await two.run(claim)

    assert ids(mine) == ["C1-1", "C2-1"]
    assert ids(theirs) == ["C3-1", "C4-1"]


async def test_the_order_in_a_channel_is_the_order_of_commits(stores: tuple[Store, Store]) -> None:
    one, two = stores
    with begin(one) as transaction:
        Outbox(transaction).add([make_new(1), make_new(1, channel_id="C2")])
        later = asyncio.create_task(two.run(add, make_new(2)))
        done, _ = await asyncio.wait({later}, timeout=0.1)
        assert not done, "it waits for the first to end"
    await later

    assert [(await one.run(stored, number)).sequence for number in (1, 2)] == [1, 2]


async def test_two_processes_that_add_and_post_together_lose_and_repeat_nothing(
    postgres_url: str, opened: Open
) -> None:
    one = opened(postgres_url, **PATIENT)
    two = opened(postgres_url, **PATIENT)
    posted: list[str] = []

    async def add_all(store: Store, first: int) -> None:
        for number in range(first, first + 20):
            channels = ["C1", "C2", "C3"] if first else ["C3", "C2", "C1"]
            await store.run(add, *(make_new(number, channel_id=each) for each in channels))

    async def post_all(store: Store) -> None:
        while len(posted) < 120:
            claimed = await store.run(claim, per_channel=4)
            posted.extend(ids(claimed))
            await store.run(record, *(delivered(each, "1.1", NOW) for each in claimed))

    async with asyncio.timeout(120):
        await asyncio.gather(add_all(one, 0), add_all(two, 100), post_all(one), post_all(two))

    assert len(set(posted)) == len(posted) == 120
    with begin(one) as transaction:
        assert Outbox(transaction).summary().oldest_created_at is None


async def test_a_silent_transaction_is_ended_and_blocks_nobody(
    postgres_url: str, opened: Open
) -> None:
    stopped = opened(postgres_url, idle_seconds=SILENT_SECONDS)
    other = opened(postgres_url, **PATIENT)

    async def write_and_fall_silent() -> None:
        with begin(stopped) as transaction:
            Outbox(transaction).add([make_new(1)])
            # Waits for the row that the silent transaction holds, so until that is ended.
            await other.run(add, make_new(2))
            Outbox(transaction).add([make_new(3)])

    with pytest.raises(StoreUnavailable):
        await write_and_fall_silent()
    assert ids(await other.run(claim)) == ["C1-2"]
    assert await stopped.run(add, make_new(4)) == 1


async def test_a_connection_ended_by_the_server_is_reported(
    postgres_url: str, postgres_server: PostgresServer, opened: Open
) -> None:
    def go_on_after_its_end(transaction: Transaction) -> None:
        own = transaction.connection.scalar(text("SELECT pg_backend_pid()"))
        postgres_server.execute(f"SELECT pg_terminate_backend({own}, 60000)")
        SlackLimits(transaction).closed()

    with pytest.raises(StoreUnavailable, match="connection"):
        await opened(postgres_url, **PATIENT).run(go_on_after_its_end)


CHANGES_OF_THE_AUDIT = (
    "UPDATE audit SET reason = ''",
    "DELETE FROM audit",
    "DELETE FROM audit WHERE result = 'refused'",
)


async def test_audit_records_cannot_be_changed(
    postgres_url: str, postgres_server: PostgresServer, postgres_database: str, opened: Open
) -> None:
    with begin(opened(postgres_url)) as transaction:
        Audit(transaction).add(make_record())
        declined = make_record(result=ActResult.REFUSED).under(Circumstance.DECLINED)
        Audit(transaction).add(declined)
    for statement in CHANGES_OF_THE_AUDIT:
        with pytest.raises(psycopg.Error, match="only ever added"):
            postgres_server.execute(statement, postgres_database)


async def test_claiming_reads_no_settled_delivery(
    postgres_url: str, postgres_server: PostgresServer, postgres_database: str, opened: Open
) -> None:
    store = opened(postgres_url)
    await store.run(add, make_new(1), make_new(1, channel_id="C2"))
    postgres_server.execute(
        "INSERT INTO deliveries (delivery_id, channel_id, queue, sequence, subject_kind, "
        "repository, subject_id, created_at, due_at, state, attempts, lookups, settled_at, "
        "failures, summarizes) SELECT 'old' || n, 'C1', 'C1', -n, 'event', 'acme/site', "
        "-n, 0, 0, 'delivered', 1, 0, 1, 0, 0 "
        "FROM generate_series(1, 50000) n",
        postgres_database,
    )
    postgres_server.execute("VACUUM ANALYZE deliveries", postgres_database)

    def reads(transaction: Transaction) -> tuple[int, int]:
        """Those of the session that the server has not counted elsewhere yet."""
        found = transaction.connection.execute(
            text(
                "SELECT seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables "
                "WHERE relname = 'deliveries'"
            )
        )
        sequential, fetched = found.one()
        return sequential, fetched

    def post(transaction: Transaction) -> tuple[int, int]:
        before = reads(transaction)
        claimed = Outbox(transaction).claim(
            now=NOW, claimed_until=after(60), at_most=10, per_channel=10
        )
        Outbox(transaction).record([delivered(each, "1.1", NOW) for each in claimed])
        assert len(claimed) == 2
        sequential, fetched = reads(transaction)
        return sequential - before[0], fetched - before[1]

    sequential, fetched = await store.run(post)

    assert sequential == 0
    assert 0 < fetched < 30
