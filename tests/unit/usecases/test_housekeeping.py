"""Housekeeping: closed channels are reported with the fix, old history is deleted."""

import asyncio
import logging
from datetime import timedelta

import pytest
from typing_extensions import override

from bot.acts.rows import Audit
from bot.channels.rows import Subscriptions
from bot.feed.rows import Bisections
from bot.feed.threads import Bisection
from bot.log.rows import Events, PullRequests
from bot.runtime.upkeep.housekeeping import FIXES, prepare_channels, prune_history
from bot.slack.ports import ChannelAccess
from tests.support.clock import FakeClock
from tests.support.directories import FakeChannels
from tests.support.make import (
    make_act,
    make_configured,
    make_event_record,
    make_pull_request_record,
    make_subscription,
)
from tests.support.store import InMemoryStore
from tests.support.stored import SITE, add, make_new
from tests.support.transactions import begin


async def prepare(
    channels: FakeChannels, *channel_ids: str, ending: asyncio.Event | None = None
) -> None:
    store = InMemoryStore()
    with begin(store) as transaction:
        for channel_id in channel_ids:
            Subscriptions(transaction).save(make_subscription(channel_id=channel_id))
    await prepare_channels(store, channels, make_configured(), ending or asyncio.Event())


async def test_each_closed_channel_is_logged_with_its_fix(caplog: pytest.LogCaptureFixture) -> None:
    others = {"C1": ChannelAccess.INVITE, "C3": ChannelAccess.CLOSED}
    with caplog.at_level(logging.INFO):
        await prepare(FakeChannels(others=others), "C1", "C2", "C3")

    reported = {vars(record)["channel"]: vars(record)["fix"] for record in caplog.records}
    assert reported == {channel_id: FIXES[access] for channel_id, access in others.items()}
    assert set(FIXES) == set(ChannelAccess) - {ChannelAccess.OPEN}


async def test_a_stopping_process_finishes_only_its_current_lookup() -> None:
    looked_at = list[str]()
    ending = asyncio.Event()

    class Ending(FakeChannels):
        @override
        async def access(self, channel_id: str) -> ChannelAccess:
            looked_at.append(channel_id)
            ending.set()
            return await super().access(channel_id)

    await prepare(Ending(), "C1", "C2", "C3", ending=ending)

    assert len(looked_at) == 1


async def test_a_rate_limited_channel_is_asked_about_again_without_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked: list[str] = []

    class PuttingOff(FakeChannels):
        @override
        async def access(self, channel_id: str) -> ChannelAccess:
            asked.append(channel_id)
            return ChannelAccess.UNKNOWN if len(asked) == 1 else ChannelAccess.OPEN

        @override
        def wait(self, channel_id: str) -> float:
            return 0.01 if asked else 0

    with caplog.at_level(logging.INFO):
        await prepare(PuttingOff(), "C1", "C2")

    assert asked == ["C1", "C1", "C2"]
    assert caplog.records == []


DAY = timedelta(days=1)


async def test_only_old_settled_rows_are_deleted() -> None:
    clock = FakeClock()
    store = InMemoryStore()
    now = clock.now()
    many = [make_event_record(event_id=n, received_at=now - 40 * DAY) for n in range(1, 2501)]
    fresh = make_event_record(event_id=9001, received_at=now - 10 * DAY)
    unrouted = make_event_record(event_id=9002, received_at=now - 40 * DAY)
    with begin(store) as transaction:
        Events(transaction).add_new([*many, fresh, unrouted])
        ids = [record.event_id for record in [*many, fresh]]
        Events(transaction).mark_routed(fresh.repository, ids)
        PullRequests(transaction).save(
            [
                make_pull_request_record(1, seen_at=now - 40 * DAY),
                make_pull_request_record(2, seen_at=now),
            ]
        )
        Audit(transaction).add(make_act(at=now - 400 * DAY))
        old = now - 40 * DAY
        Bisections(transaction).save(
            [Bisection(SITE, str(n), None, frozenset({n}), old, n, old) for n in range(1, 2501)]
        )
    await store.run(add, make_new(1, due_at=now - 40 * DAY))

    await prune_history(store, clock, 30 * DAY, make_configured(), asyncio.Event())

    contents = store.database.contents
    left = {subject.subject_id for subject in contents.events}
    assert left == {1, 9001, 9002}
    assert [number for _, number in contents.pull_requests] == [2]
    assert len(contents.audit) == 1
    assert len(contents.deliveries) == 1
    with begin(store) as transaction:
        assert Bisections(transaction).since(SITE, old) == []


async def test_there_is_one_short_transaction_without_old_rows_and_none_while_stopping() -> None:
    store = InMemoryStore()
    ending = asyncio.Event()
    await prune_history(store, FakeClock(), 30 * DAY, make_configured(), ending)
    assert store.transactions == 1

    ending.set()
    await prune_history(store, FakeClock(), 30 * DAY, make_configured(), ending)
    assert store.transactions == 1
