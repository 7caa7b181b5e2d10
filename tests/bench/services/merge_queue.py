"""A merge queue service that is always quiet and answers slowly."""

import asyncio
import itertools
import ssl
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from aiohttp import web
from typing_extensions import override

from tests.bench.services import Service

Json = Mapping[str, Any]

PER_PAGE = 100
TITLE = "Let the bench carry it"
"""Of each pull request that enters a queue."""


class QuietService(Service):
    """An empty, running queue without events; each answer comes after `seconds`."""

    def __init__(self, seconds: float = 0.0, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(web.route("*", "/{path:.*}", self._answer), tls=tls)
        self._seconds = seconds
        self.requests = 0
        self.logs: Counter[str] = Counter()
        """How often each event log was read, by its path."""

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def _answer(self, request: web.Request) -> web.Response:
        self.requests += 1
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
        return self._page(request)

    def _page(self, request: web.Request) -> web.Response:
        return _response(self._events(request.path))

    def _events(self, _path: str) -> Sequence[Json]:
        return []

    def _waiting(self, _path: str) -> Sequence[Json]:
        return []


class PageService(QuietService):
    """A walk reads so many full pages, each with new events; without pages the log is empty."""

    def __init__(self, pages: int, tls: ssl.SSLContext | None) -> None:
        super().__init__(tls=tls)
        self._pages = pages
        self._ids = itertools.count(1)

    @override
    def _page(self, request: web.Request) -> web.Response:
        if not self._pages:
            return super()._page(request)
        page = int(request.query.get("cursor", "1"))
        now = datetime.now(UTC).isoformat()
        events = [_event(number, now) for number in itertools.islice(self._ids, PER_PAGE)]
        return _response(events, f"{request.path}?cursor={page + 1}" if page < self._pages else "")


QUEUED = {"queue_name": "default", "branch": "main", "queued_at": "2026-07-20T11:48:00Z"}
KINDS: tuple[tuple[str, Json], ...] = (
    ("action.queue.enter", QUEUED),
    ("action.queue.leave", {**QUEUED, "reason": "Merged.", "merged": True, "checks": []}),
    ("action.queue.merged", {**QUEUED, "partition_names": [], "merge_commit_sha": "0" * 40}),
)


def _event(number: int, at: str) -> Json:
    """A pull request enters, leaves and is merged."""
    kind, metadata = KINDS[number % len(KINDS)]
    return _written(number, "acme/site", number // len(KINDS) + 1, at, kind, metadata)


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
        event = _written(number, repository, number, now, *KINDS[0])
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


def _written(
    number: int, repository: str, pull_request: int, at: str, kind: str, metadata: Json
) -> Json:
    return {
        "id": number,
        "received_at": at,
        "trigger": "merge queue internal",
        "repository": repository,
        "pull_request": pull_request,
        "base_ref": "main",
        "type": kind,
        "metadata": metadata,
    }


def _response(events: Sequence[Json], after: str = "") -> web.Response:
    page = {"events": events, "size": len(events), "per_page": PER_PAGE}
    links = {"Link": f'<http://127.0.0.1{after}>; rel="next"'} if after else None
    return web.json_response(page, headers=links)
