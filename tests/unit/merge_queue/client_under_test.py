"""A client of a scripted service, and what both talk about."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from pydantic import SecretStr

from bot.kernel.pacing import Patience
from bot.kernel.repository import RepositoryName
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.http import Http
from bot.merge_queue.window import Window
from tests.support.clock import FakeClock
from tests.support.samples import sample_bytes
from tests.unit.merge_queue.scripted_service import Behaviour, ScriptedService, answer

SITE = RepositoryName.parse("acme/site")
TOKEN = "app-key-very-secret"
WINDOW = Window(datetime(2026, 7, 20, 10, tzinfo=UTC), datetime(2026, 7, 20, 12, tzinfo=UTC))
PAUSE = json.dumps({"reason": "deploying", "paused_at": "2026-07-20T11:00:00Z"})
OTHER_PAUSE = json.dumps({"reason": "another", "paused_at": "2026-07-20T11:00:00Z"})
STATUS = sample_bytes("status")
NOT_PAUSED = answer('{"detail": "not paused"}', status=404)
BRIEF = Patience(connect=5, read=1.0, total=8, jitter=lambda: 0.0)
"""Enough for a busy machine, and short for the tests in which nobody answers."""


@asynccontextmanager
async def client_of(
    service: ScriptedService | str,
    *,
    patience: Patience = BRIEF,
    clock: FakeClock | None = None,
    deprecated_pause: bool = False,
    **more: Any,
) -> AsyncIterator[MergeQueueClient]:
    http = Http(
        base_url=service if isinstance(service, str) else service.base_url,
        token=SecretStr(TOKEN),
        clock=clock or FakeClock(),
        patience=patience,
        **more,
    )
    async with MergeQueueClient(http, deprecated_pause=deprecated_pause) as client:
        yield client


@asynccontextmanager
async def scripted(
    *script: Behaviour, not_offered: tuple[str, ...] = (), **more: Any
) -> AsyncIterator[tuple[ScriptedService, MergeQueueClient]]:
    """A service that plays the script, and a client of it with `more` options."""
    async with (
        ScriptedService([*script], not_offered=not_offered) as service,
        client_of(service, **more) as client,
    ):
        yield service, client
