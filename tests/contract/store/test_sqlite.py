"""Behaviour specific to SQLite: settings, file, locks and cost."""

import asyncio
import re
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, text

from bot.acts.group_acts import GroupActs
from bot.acts.record import Action, ActResult, AuditPosition, AuditSelection, Circumstance
from bot.acts.rows import Audit
from bot.channels.rows import Subscriptions
from bot.freezes.rows import Freezes, Occurrences
from bot.kernel.metrics import SuspendedChannel
from bot.log.rows import Events, Positions, PullRequests
from bot.pauses.rows import Pauses
from bot.posts.delivery import delivered
from bot.posts.events import events_about
from bot.posts.outbox import Outbox
from bot.runtime.upkeep.pruning import Upkeep
from bot.store import migrate
from bot.store.coordination import Leases
from bot.store.engines import create_engine, sqlite_path
from bot.store.errors import StoreUnavailable
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.stored import (
    NOW,
    SHOP,
    SITE,
    add,
    after,
    claim,
    event_subject,
    ids,
    make_event,
    make_new,
    make_record,
    record,
)
from tests.support.transactions import begin


def on_connect(engine: Engine, prepare: Callable[[Any], object]) -> None:
    event.listen(engine, "connect", lambda connection, _: prepare(connection))


def pragma(statement: str) -> Callable[[Any], object]:
    return lambda connection: connection.cursor().execute(f"PRAGMA {statement}")


def test_every_connection_is_durable_and_enforces_foreign_keys(sqlite_url: str) -> None:
    engine = create_engine(sqlite_url)
    with engine.connect() as connection:
        settings = [
            connection.execute(text(f"PRAGMA {name}")).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    engine.dispose()

    full = 2
    assert settings == ["wal", full, 1, 5_000]


async def test_a_file_that_another_process_has_locked_is_unavailable_until_it_is_free(
    sqlite_url: str,
) -> None:
    store = Store(create_engine(sqlite_url, wait_seconds=0.05))
    with closing(sqlite3.connect(sqlite_path(sqlite_url), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked") as caught:
            await store.run(add, make_new(1))
        assert isinstance(caught.value.__cause__, Exception)
        other.execute("ROLLBACK")
        assert await store.run(add, make_new(1)) == 1
    await store.close()


async def test_waiting_for_another_process_blocks_nobody_else(sqlite_url: str) -> None:
    store = Store(create_engine(sqlite_url, wait_seconds=30))
    with closing(sqlite3.connect(sqlite_path(sqlite_url), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        adding = asyncio.create_task(store.run(add, make_new(1)))
        # The loop goes round while the file is locked, or the lock would never be given up.
        for _ in range(50):
            await asyncio.sleep(0)
        other.execute("ROLLBACK")
    assert await adding == 1
    await store.close()


async def test_a_full_disk_is_unavailable_and_corrupts_nothing(sqlite_url: str) -> None:
    engine = create_engine(sqlite_url)
    # SQLite reports a file that may not grow with the same error as a disk without room.
    on_connect(engine, pragma("max_page_count=50"))
    store = Store(engine)
    await store.run(add, make_new(0))
    with pytest.raises(StoreUnavailable, match="full"):
        await store.run(add, *(make_new(number) for number in range(1, 3000)))
    assert ids(await store.run(claim)) == ["C1-0"]
    await store.close()

    roomy = Store(create_engine(sqlite_url))
    assert await roomy.run(add, *(make_new(number) for number in range(3000))) == 2999
    await roomy.close()
    with closing(sqlite3.connect(sqlite_path(sqlite_url))) as plain:
        assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def test_a_read_only_database_is_unavailable(sqlite_url: str) -> None:
    engine = create_engine(sqlite_url)
    on_connect(engine, pragma("query_only=ON"))
    store = Store(engine)
    with pytest.raises(StoreUnavailable, match="may not write the file or its folder"):
        await store.run(add, make_new(1))
    await store.close()


async def test_a_file_without_our_tables_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, " * 100)
    for name, reason in (
        ("notes.txt", "not a database"),
        ("nowhere/bot.sqlite3", "unable to open"),
        ("new.sqlite3", "a table is missing"),
    ):
        store = Store(create_engine(f"sqlite:///{tmp_path}/{name}"))
        with pytest.raises(StoreUnavailable, match=reason):
            await store.run(add, make_new(1))
        await store.close()


CHANGES_OF_THE_AUDIT = (
    "UPDATE audit SET reason = ''",
    "DELETE FROM audit",
    "DELETE FROM audit WHERE result = 'refused'",
)


async def test_audit_records_cannot_be_changed(sqlite_url: str) -> None:
    store = Store(create_engine(sqlite_url))
    with begin(store) as transaction:
        Audit(transaction).add(make_record())
        declined = make_record(result=ActResult.REFUSED).under(Circumstance.DECLINED)
        Audit(transaction).add(declined)
    await store.close()
    with closing(sqlite3.connect(sqlite_path(sqlite_url))) as plain:
        for statement in CHANGES_OF_THE_AUDIT:
            with pytest.raises(sqlite3.IntegrityError, match="only ever added"):
                plain.execute(statement)


def fill(path: Path, *, settled: int, waiting: int) -> None:
    """Give channel C1 a history and every second channel a backlog, with plain SQL."""
    row = (
        "INSERT INTO deliveries (delivery_id, channel_id, queue, sequence, subject_kind, "
        "repository, subject_id, created_at, due_at, state, attempts, lookups, settled_at, "
        "failures, summarizes) VALUES (?, ?, ?, ?, 'event', 'acme/site', ?, 0, 0, ?, 1, 0, ?, 0, 0)"
    )
    history = (
        (f"old{n}", "C1", "C1", n + 1, 1_000_000 + n, "delivered", 1) for n in range(settled)
    )
    backlog = (
        (f"new{n}", "C2", "C2", n + 1, 2_000_000 + n, "pending", None) for n in range(waiting)
    )
    with closing(sqlite3.connect(path)) as plain, plain:
        plain.executemany(
            "INSERT INTO channel_queues (queue, next_sequence, head_sequence, claimable_at) "
            "VALUES (?, ?, ?, ?)",
            [("C1", settled + 1, settled + 1, None), ("C2", waiting + 1, 1, 0)],
        )
        plain.executemany(row, history)
        plain.executemany(row, backlog)


async def work_of(store: Store) -> list[str]:
    """Add, claim and record; return the ids claimed."""
    await store.run(add, *(make_new(number) for number in range(5, 10)))
    claimed = await store.run(claim, per_channel=3)
    await store.run(record, *(delivered(each, "1.1", after(1)) for each in claimed))
    return ids(claimed)


async def steps_of_posting(url: str) -> int:
    """The steps of SQLite's virtual machine for adding, claiming and recording."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    engine = create_engine(url)
    on_connect(engine, lambda connection: connection.set_progress_handler(count, 1))
    store = Store(engine)
    await store.run(add, *(make_new(number) for number in range(5)))
    steps = 0
    assert await work_of(store) == ["C1-0", "C1-1", "C1-2", "new0", "new1", "new2"]
    await store.close()
    return steps


async def test_posting_cost_does_not_depend_on_history_or_backlog(tmp_path: Path) -> None:
    costs = []
    for settled, waiting in ((1_000, 100), (20_000, 2_000)):
        url = f"sqlite:///{tmp_path}/{settled}.sqlite3"
        migrate.upgrade(url)
        fill(sqlite_path(url), settled=settled, waiting=waiting)
        costs.append(await steps_of_posting(url))

    assert costs[0] == costs[1]
    assert costs[0] > 100, "the steps were counted"


def read_freezes(transaction: Transaction) -> None:
    freezes = Freezes(transaction)
    freezes.of([SITE])
    freezes.elsewhere([SITE])
    freezes.recent(SITE, NOW)
    freezes.locked(SITE)
    freezes.one(1)
    freezes.with_ids(SITE, ["one"])
    freezes.set_by(SITE, 1)
    freezes.told_by(SITE, [1])
    freezes.due(NOW)
    occurrences = Occurrences(transaction)
    occurrences.of([SITE], NOW)
    occurrences.lasting(NOW)
    occurrences.freeze_ids(SITE)


def read_pauses(transaction: Transaction) -> None:
    pauses = Pauses(transaction)
    pauses.of(SITE, NOW)
    pauses.open([SITE])
    pauses.open_elsewhere([SITE])
    pauses.due(NOW, 10)
    pauses.of_group("release")
    pauses.of_act(1)
    pauses.ended_since(NOW)
    pauses.earlier_lines([1])
    pauses.end_numbers([1])
    pauses.with_end(1)
    group_acts = GroupActs(transaction)
    group_acts.of_request("one")
    group_acts.latest("release", [Action.PAUSE])
    group_acts.lasting(NOW)
    group_acts.pausing("release", before=1)


async def every_part(store: Store) -> None:
    """Call everything that reads, changes or deletes."""
    with begin(store) as transaction:
        Leases(transaction).claim("a", holder="one", now=NOW, lifetime=timedelta(seconds=9))
        Leases(transaction).claim("a", holder="two", now=NOW, lifetime=timedelta(seconds=9))
        Positions(transaction).load([SITE])
        Events(transaction).add_new([make_event(1)])
        Events(transaction).unrouted(SITE)
        Events(transaction).newest(SITE, "action.queue.leave", NOW)
        Pauses(transaction).unnotified_ends(NOW)
        Events(transaction).mark_routed(SITE, [1])
        events_about(transaction, [event_subject(1), event_subject(2), event_subject(1, SHOP)])
        PullRequests(transaction).get(SITE, [1])
        Outbox(transaction).in_doubt(10)
        Outbox(transaction).get("C1", event_subject(1))
        Subscriptions(transaction).of_channel("C1")
        Subscriptions(transaction).of_repository(SITE)
        Audit(transaction).since(SITE, NOW)
        Audit(transaction).get([1])
        for selection in (
            AuditSelection(since=NOW, ends_only=True),
            AuditSelection(repository=SITE, since=NOW, ends_only=True),
        ):
            place = AuditPosition(NOW, 1)
            Audit(transaction).newest(selection, 10)
            Audit(transaction).newest(selection, 10, before=place)
            Audit(transaction).oldest(selection, 10, after=place)
    await store.run(read_freezes)
    await store.run(read_pauses)
    await work_of(store)
    with begin(store) as transaction:
        Outbox(transaction).summary()
        Outbox(transaction).suspend(SuspendedChannel("C1", "is_archived", NOW, NOW))
        Outbox(transaction).resume("C1")


@dataclass
class Plans:
    """How SQLite finds the rows of statements, a step each."""

    statements: int  #: how many were seen
    steps: set[str]

    @property
    def scans(self) -> set[str]:
        """The steps that read all of a table or an index."""
        scans = {step for step in self.steps if step.startswith("SCAN")}
        # It reads no table: an empty list is asked for.
        return {scan for scan in scans if "(subquery" not in scan} - {"SCAN CONSTANT ROW"}


async def plans_of(url: str, work: Callable[[Store], Awaitable[object]]) -> Plans:
    engine = create_engine(url)
    seen: set[str] = set()

    def see(connection: Any) -> None:
        # As SQLite sees them, with their values, whichever way they came.
        connection.set_trace_callback(seen.add)

    on_connect(engine, see)
    store = Store(engine)
    await work(store)
    await store.close()
    plans = Plans(len(seen), set())
    with closing(sqlite3.connect(sqlite_path(url))) as plain:
        for statement in seen:
            if statement.startswith(("SELECT", "UPDATE", "DELETE")):
                plan = plain.execute(f"EXPLAIN QUERY PLAN {statement}")
                plans.steps |= {step for *_, step in plan}
    return plans


async def test_no_statement_reads_a_whole_table_that_grows(sqlite_url: str) -> None:
    plans = await plans_of(sqlite_url, every_part)

    assert plans.statements > 25
    assert "SEARCH pauses USING INDEX ix_pauses_ended_at_pause_id (ended_at<?)" in plans.steps
    # A repository has hundreds of thousands of events: more of the index must be used.
    partly = {step for step in plans.steps if re.search(r" events .*\(repository=\?\)$", step)}
    # Of the unrouted ones only, which are few.
    assert partly == {
        "SEARCH events USING INDEX ix_events_repository_received_at_event_id (repository=?)"
    }
    assert plans.scans == {
        # By indexes of what is not settled, not over or not ended, which history doesn't make grow.
        "SCAN deliveries USING INDEX ix_deliveries_state_created_at",
        "SCAN freezes USING INDEX ix_freezes_repository",
        "SCAN group_acts USING INDEX ix_group_acts_group_act_id",
    }


async def test_only_pruning_reads_whole_tables(sqlite_url: str) -> None:
    async def prune(store: Store) -> None:
        await store.run(lambda transaction: Upkeep(transaction).prune(NOW, managed=[SITE]))

    plans = await plans_of(sqlite_url, prune)

    assert plans.scans == {
        # Rows that people's acts and outages add, one at a time.
        "SCAN freezes",
        "SCAN freezes USING INDEX ix_freezes_repository_set_id",
        "SCAN leases",
        "SCAN group_acts",
        "SCAN pause_ends",
        "SCAN pause_lines",
        "SCAN pause_lines USING COVERING INDEX ix_pause_lines_pause_id",
        "SCAN pauses",
        "SCAN resume_watchers",
        "SCAN unanswered",
        # One row for each process, and for each setting.
        "SCAN pending_restarts",
        "SCAN process_connections",
    }
