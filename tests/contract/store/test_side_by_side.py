"""Concurrent changes of the same rows: all are stored, without deadlocks."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.acts.group_act import GroupAct, GroupOutcome, RepositoryResult
from bot.acts.group_acts import GroupActs
from bot.acts.record import Action
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Style
from bot.feed.route_events import RoutingContext, route_events
from bot.health.alert import Alert, AlertKind
from bot.health.outage import Outage
from bot.health.outage_rows import Outages
from bot.health.rows import Alerts
from bot.kernel.actor import Actor, Origin
from bot.kernel.cron import next_digest
from bot.kernel.metrics import OutboxSummary
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord
from bot.pauses.pause import PauseLine, PauseRecord
from bot.pauses.rows import Pauses
from bot.posts.delivery import Delivery, delivered, postponed
from bot.posts.outbox import Outbox
from bot.posts.posting import record_outcome
from bot.posts.send import SendResult
from bot.runtime.renderers import RENDERERS
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.make import make_subscription
from tests.support.stored import NOW, SITE, add, after, claim, make_event, make_new

Kept = Callable[[Transaction], Sequence[object]]

ROUNDS = 30
"""Of two transactions that could wait for each other, some of so many do."""


def summary(transaction: Transaction) -> OutboxSummary:
    return Outbox(transaction).summary()


async def record_at_once(store: Store, outcomes: Sequence[SendResult]) -> None:
    async def stored(one: SendResult) -> None:
        await store.run(
            lambda transaction: record_outcome(transaction, one, NOW, RENDERERS.when_posted)
        )

    await asyncio.gather(*(stored(outcome) for outcome in outcomes))


def refused(one: Delivery, at: datetime) -> SendResult:
    kept = postponed(one, "is_archived", now=at, retry_after=120, jitter=0)
    return SendResult(kept, is_suspended=True)


async def test_both_queues_of_a_channel_can_be_refused_and_recover_together(store: Store) -> None:
    for turn in range(ROUNDS):
        at = after(400 * turn)
        new = [make_new(2 * turn, due_at=at), make_new(2 * turn + 1, due_at=at)]
        await store.run(add, new[0], replace(new[1], urgent=True))
        # The second time it is suspended already.
        for again in (at, at + timedelta(minutes=3)):
            claimed = await store.run(claim, again)
            assert len(claimed) == 2
            await record_at_once(store, [refused(delivery, again) for delivery in claimed])
            assert len((await store.run(summary)).suspended) == 1
        claimed = await store.run(claim, at + timedelta(minutes=6))
        assert len(claimed) == 2
        await record_at_once(
            store, [SendResult(delivered(delivery, "1.1", at)) for delivery in claimed]
        )
        assert (await store.run(summary)).suspended == []


def add_alert(transaction: Transaction) -> None:
    Alerts(transaction).begin(Alert(SITE, AlertKind.HEAD, 5460, 5400, NOW, 41))


def add_outage(transaction: Transaction) -> None:
    Outages(transaction).lock("outages")
    if not Outages(transaction).active():
        Outages(transaction).add(Outage((SITE,), NOW))


def add_pause(transaction: Transaction) -> None:
    if not Pauses(transaction).of(SITE, NOW):
        Pauses(transaction).save(PauseRecord(SITE, PauseLine(NOW, "freeze", "freeze")))


@pytest.mark.parametrize(
    ("add_first", "kept"),
    [
        (add_alert, lambda transaction: Alerts(transaction).active(SITE)),
        (add_outage, lambda transaction: Outages(transaction).active()),
        (add_pause, lambda transaction: Pauses(transaction).of(SITE, NOW)),
    ],
)
async def test_what_processes_detect_together_is_added_once(
    store: Store, add_first: Callable[[Transaction], None], kept: Kept
) -> None:
    await asyncio.gather(*(store.run(add_first) for _ in range(4)))
    assert len(await store.run(kept)) == 1


async def test_each_who_gets_a_locked_act_sees_what_the_ones_before_wrote(store: Store) -> None:
    act = GroupAct("release", Action.PAUSE, NOW, Actor("U1", "Ada"), Origin.BUTTON, (SITE,))
    group_act_id = await store.run(lambda transaction: GroupActs(transaction).save(act))

    def add_a_result(transaction: Transaction) -> int:
        found = GroupActs(transaction).locked(group_act_id)
        assert found is not None
        results = (*found.results, RepositoryResult(SITE, GroupOutcome.CHANGED))
        GroupActs(transaction).save(replace(found, results=results, ended_at=after(3)))
        return len(results)

    added = await asyncio.gather(*(store.run(add_a_result) for _ in range(4)))
    assert sorted(added) == [1, 2, 3, 4]
    assert await store.run(lambda transaction: GroupActs(transaction).locked(999)) is None


def route(transaction: Transaction, event: EventRecord) -> None:
    Events(transaction).add_new([event])
    route_events(transaction, SITE, RoutingContext(next_digest, event.received_at))


async def test_a_first_post_can_finish_while_its_replies_are_routed(store: Store) -> None:
    threads = replace(make_subscription("enter", "checks"), style=Style.THREAD)
    await store.run(lambda transaction: Subscriptions(transaction).save(threads))

    for turn in range(3 * ROUNDS):
        at = after(400 * turn)
        enter, checks = (
            replace(make_event(10 * turn + place, received_at=at, type_=one), pull_request=turn + 1)
            for place, one in enumerate(("action.queue.enter", "action.queue.checks_start"))
        )
        await store.run(route, enter)
        (first,) = await store.run(claim, at)

        async def end(one: Delivery = first, seconds: float = turn % 25 / 1000) -> None:
            # Somewhere within the other's transaction, each time somewhere else.
            await asyncio.sleep(seconds)
            await record_at_once(store, [SendResult(delivered(one, "1.1", NOW), shown=1)])

        await asyncio.gather(store.run(route, checks), end())
        (reply,) = await store.run(claim, at)
        assert reply.root_id == first.subject.subject_id
        await record_at_once(store, [SendResult(delivered(reply, "1.2", at))])
