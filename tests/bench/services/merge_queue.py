"""A merge queue service that is always quiet and answers slowly."""

import asyncio
import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from typing_extensions import override

Json = Mapping[str, Any]

TITLE = "Let the bench carry it"
"""Of each pull request that enters a queue."""


class QuietService(AbstractAsyncContextManager["QuietService"]):
    """An empty, running queue without events; each answer comes after `seconds`."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self._runner: web.AppRunner | None = None
        self.port = 0
        self.logs: Counter[str] = Counter()
        """How often each event log was read, by its path."""

    @override
    async def __aenter__(self) -> Self:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        return self

    @override
    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def _answer(self, request: web.Request) -> web.Response:
        if self._seconds:
            await asyncio.sleep(self._seconds)
        if request.path.endswith("/merge-queue/status"):
            waiting = self._waiting(request.path)
            return web.json_response({"batches": [], "waiting_pull_requests": waiting})
        if request.path.endswith("/pause"):
            return web.json_response({"detail": "not paused"}, status=404)
        if request.path.endswith("/scheduled_freeze"):
            return web.json_response({"detail": "not found"}, status=404)
        self.logs[request.path] += 1
        return web.json_response({"events": self._events(request.path), "per_page": 100})

    def _events(self, _path: str) -> Sequence[Json]:
        return []

    def _waiting(self, _path: str) -> Sequence[Json]:
        return []


class EventService(QuietService):
    """Returns each event once, to the first reader of its repository's log.

    Of each repository the pull request that entered last is the one that waits.
    """

    def __init__(self) -> None:
        super().__init__()
        self._entered: dict[str, Json] = {}
        self._ids = itertools.count(1)
        self._untold: defaultdict[str, list[Json]] = defaultdict(list)
        self.reported_at = 0.0
        """When an event was last returned."""

    def emit(self, repository: str) -> None:
        """Let a pull request enter the queue now."""
        number = next(self._ids)
        now = datetime.now(UTC).isoformat()
        event = {
            "id": number,
            "received_at": now,
            "trigger": "bench",
            "repository": repository,
            "pull_request": number,
            "base_ref": "main",
            "type": "action.queue.enter",
            "metadata": {
                "queue_name": "default",
                "branch": "main",
                "queued_at": now,
            },
        }
        self._entered[f"/v1/repos/{repository}/merge-queue/status"] = {
            "number": number,
            "title": TITLE,
            "url": f"https://code.example/{repository}/pull/{number}",
            "author": {"id": 1, "login": "alice"},
            "queued_at": now,
            "priority_alias": "medium",
            "priority_rule_name": "default",
            "labels": [],
            "scopes": [],
        }
        self._untold[f"/v1/repos/{repository}/logs"].append(event)

    @override
    def _events(self, path: str) -> Sequence[Json]:
        events = self._untold.pop(path, [])
        if events:
            self.reported_at = time.perf_counter()
        return events

    @override
    def _waiting(self, path: str) -> Sequence[Json]:
        entered = self._entered.get(path)
        return [] if entered is None else [entered]
