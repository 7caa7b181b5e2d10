"""Old posted events are deleted; the audit stays."""

import asyncio
from datetime import timedelta

from bot.domain.threads import Bisection
from bot.usecases.housekeeping import prune_history
from tests.support.clock import FakeClock
from tests.support.make import make_act, make_event_record, make_pull_request_record
from tests.support.store import InMemoryStore
from tests.support.stored import SITE, add, make_new
from tests.support.transactions import begin

DAY = timedelta(days=1)


async def test_only_old_settled_rows_are_deleted() -> None:
    clock, store = FakeClock(), InMemoryStore()
    now = clock.now()
    many = [make_event_record(event_id=n, received_at=now - 40 * DAY) for n in range(1, 2501)]
    fresh = make_event_record(event_id=9001, received_at=now - 10 * DAY)
    unrouted = make_event_record(event_id=9002, received_at=now - 40 * DAY)
    with begin(store) as transaction:
        transaction.events.add_new([*many, fresh, unrouted])
        ids = [record.event_id for record in [*many, fresh]]
        transaction.events.mark_routed(fresh.repository, ids)
        transaction.pull_requests.save(
            [
                make_pull_request_record(1, seen_at=now - 40 * DAY),
                make_pull_request_record(2, seen_at=now),
            ]
        )
        transaction.audit.add(make_act(at=now - 400 * DAY))
        old = now - 40 * DAY
        transaction.bisections.save(
            [Bisection(SITE, str(n), None, frozenset({n}), old, n, old) for n in range(1, 2501)]
        )
    await store.run(add, make_new(1, due_at=now - 40 * DAY))

    await prune_history(store, clock, 30 * DAY, asyncio.Event())

    contents = store.database.contents
    left = {subject.subject_id for subject in contents.events}
    assert left == {1, 9001, 9002}
    assert [number for _, number in contents.pull_requests] == [2]
    assert len(contents.audit) == 1
    assert len(contents.deliveries) == 1
    with begin(store) as transaction:
        assert transaction.bisections.since(SITE, old) == []


async def test_there_is_one_short_transaction_without_old_rows_and_none_while_stopping() -> None:
    store, ending = InMemoryStore(), asyncio.Event()
    await prune_history(store, FakeClock(), 30 * DAY, ending)
    assert store.transactions == 1

    ending.set()
    await prune_history(store, FakeClock(), 30 * DAY, ending)
    assert store.transactions == 1
