"""Concurrent changes of the same rows: all are stored, without deadlocks."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.deliveries import Delivery, delivered, postponed
from bot.domain.event_records import EventRecord
from bot.domain.subscriptions import Style
from bot.scheduler import next_digest
from bot.store.transactions import Store, Transaction
from bot.usecases.posting.post_deliveries import record_outcome
from bot.usecases.posting.send import Outcome
from bot.usecases.routing.route_events import RoutingContext, route_events
from tests.support.databases import TestDatabase
from tests.support.make import make_subscription
from tests.support.stored import NOW, SITE, add, after, claim, make_event, make_new
from tests.support.transactions import begin

ROUNDS = 30
"""Of two transactions that could wait for each other, some of so many do."""


async def record_at_once(store: Store, outcomes: Sequence[Outcome]) -> None:
    async def stored(one: Outcome) -> None:
        await store.run(lambda transaction: record_outcome(transaction, one, NOW))

    await asyncio.gather(*(stored(one) for one in outcomes))


def refused(one: Delivery, at: datetime) -> Outcome:
    kept = postponed(one, "is_archived", now=at, retry_after=120, jitter=0)
    return Outcome(kept, is_suspended=True)


async def test_both_queues_of_a_channel_can_be_refused_together(database: TestDatabase) -> None:
    store = database.open_store()
    await add(store, make_new(1), replace(make_new(2), urgent=True))

    for turn in range(ROUNDS):
        at = after(200 * turn)
        claimed = await claim(store, at)
        assert len(claimed) == 2
        await record_at_once(store, [refused(one, at) for one in claimed])

    with begin(store) as transaction:
        assert len((transaction.outbox.summary()).suspended) == 1


async def test_both_queues_of_a_channel_can_recover_together(database: TestDatabase) -> None:
    store = database.open_store()

    for turn in range(ROUNDS):
        at = after(400 * turn)
        new = [make_new(2 * turn, due_at=at), make_new(2 * turn + 1, due_at=at)]
        await add(store, new[0], replace(new[1], urgent=True))
        first = await claim(store, at)
        await record_at_once(store, [refused(first[0], at)])
        await record_at_once(store, [refused(first[1], at)])
        claimed = await claim(store, at + timedelta(minutes=3))
        assert len(claimed) == 2
        await record_at_once(store, [Outcome(delivered(one, "1.1", at)) for one in claimed])

    with begin(store) as transaction:
        assert (transaction.outbox.summary()).suspended == []


def route(transaction: Transaction, event: EventRecord) -> None:
    transaction.events.add_new([event])
    route_events(transaction, SITE, RoutingContext(next_digest, event.received_at))


async def test_a_first_post_can_finish_while_its_replies_are_routed(database: TestDatabase) -> None:
    store = database.open_store()
    with begin(store) as transaction:
        transaction.subscriptions.save(
            replace(make_subscription("enter", "checks"), style=Style.THREAD)
        )

    for turn in range(3 * ROUNDS):
        at = after(400 * turn)
        enter, checks = (
            replace(make_event(10 * turn + place, received_at=at, type_=one), pull_request=turn + 1)
            for place, one in enumerate(("action.queue.enter", "action.queue.checks_start"))
        )
        await store.run(route, enter)
        (first,) = await claim(store, at)

        async def end(one: Delivery = first, seconds: float = turn % 25 / 1000) -> None:
            # Somewhere within the other's transaction, each time somewhere else.
            await asyncio.sleep(seconds)
            await record_at_once(store, [Outcome(delivered(one, "1.1", NOW), shown=1)])

        await asyncio.gather(store.run(route, checks), end())
        (reply,) = await claim(store, at)
        assert reply.root_id == first.subject.subject_id
        await record_at_once(store, [Outcome(delivered(reply, "1.2", at))])
