"""The workspace running on a port of its own, with an app connected to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from bot.sandbox.slack.server import SlackSandbox
from tests.integration.sandbox_slack.clients import (
    IMPATIENT_SECONDS,
    MANIFEST,
    PATIENT_SECONDS,
    BoltApp,
    Control,
)


@asynccontextmanager
async def workspace(ack_seconds: float) -> AsyncIterator[SlackSandbox]:
    running = SlackSandbox(
        MANIFEST,
        ack_seconds=ack_seconds,
        trigger_seconds=PATIENT_SECONDS,
        event_retry_seconds=(0.0, 0.05, 0.05),
    )
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def sandbox() -> AsyncIterator[SlackSandbox]:
    async with workspace(PATIENT_SECONDS) as running:
        yield running


@pytest.fixture
async def impatient() -> AsyncIterator[SlackSandbox]:
    """A workspace that waits a third of a second for acknowledgements."""
    async with workspace(IMPATIENT_SECONDS) as running:
        yield running


@pytest.fixture
async def bolt(sandbox: SlackSandbox) -> AsyncIterator[BoltApp]:
    app = BoltApp(sandbox)
    yield app
    await app.close()


@pytest.fixture
async def slow_bolt(impatient: SlackSandbox) -> AsyncIterator[BoltApp]:
    app = BoltApp(impatient)
    yield app
    await app.close()


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def control(sandbox: SlackSandbox, http: aiohttp.ClientSession) -> Control:
    return Control(sandbox, http)
