"""The operator hears, with the fix, of channels that the bot cannot post to."""

import asyncio
import logging

import pytest
from typing_extensions import override

from bot.ports import ChannelAccess
from bot.usecases.housekeeping import FIXES, prepare_channels
from tests.support.directories import FakeChannels
from tests.support.make import make_configured, make_subscription
from tests.support.store import InMemoryStore
from tests.support.transactions import begin


async def prepare(
    channels: FakeChannels, *channel_ids: str, ending: asyncio.Event | None = None
) -> None:
    store = InMemoryStore()
    with begin(store) as transaction:
        for channel_id in channel_ids:
            transaction.subscriptions.save(make_subscription(channel_id=channel_id))
    await prepare_channels(store, channels, make_configured(), ending or asyncio.Event())


async def test_each_closed_channel_is_reported_with_its_fix(
    caplog: pytest.LogCaptureFixture,
) -> None:
    others = {"C1": ChannelAccess.INVITE, "C3": ChannelAccess.CLOSED}
    with caplog.at_level(logging.INFO):
        await prepare(FakeChannels(others=others), "C1", "C2", "C3")

    reported = {vars(one)["channel"]: vars(one)["fix"] for one in caplog.records}
    assert reported == {channel_id: FIXES[access] for channel_id, access in others.items()}
    assert set(FIXES) == set(ChannelAccess) - {ChannelAccess.OPEN}


async def test_a_stopping_process_finishes_only_its_current_lookup() -> None:
    looked_at, ending = list[str](), asyncio.Event()

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
