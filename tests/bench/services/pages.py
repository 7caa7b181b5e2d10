"""`python -m tests.bench.services.pages`: event log pages as fast as bytes can be sent.

Every request gets a prepared answer. `--pages N`: a walk has N full pages, and the
next walk has new events; without it the log is empty.
"""

import argparse
import asyncio
import itertools
import json
import re
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from typing_extensions import override

from tests.bench.contestant import attend

PER_PAGE = 100
STAY = {"queue_name": "default", "branch": "main", "queued_at": "2026-07-20T11:48:00Z"}
KINDS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("action.queue.enter", STAY),
    ("action.queue.leave", {**STAY, "reason": "Merged.", "merged": True, "checks": []}),
    ("action.queue.merged", {**STAY, "partition_names": [], "merge_commit_sha": "0" * 40}),
)
EMPTY = b'{"events": [], "size": 0, "per_page": 100}'
NOTHING_QUEUED = b'{"batches": [], "waiting_pull_requests": []}'
_CURSOR = re.compile(rb"[?&]cursor=p(\d+)")


class Log:
    """What is answered; `walks` gives each walk its own events."""

    def __init__(self, pages: int) -> None:
        self._pages = pages
        self._ids = itertools.count(1)
        self.requests = 0

    def answer(self, head: bytes) -> bytes:
        self.requests += 1
        target = head.partition(b"\r\n")[0]
        if b"/merge-queue/status" in target:
            return _response(NOTHING_QUEUED)
        if b"/pause" in target:
            return _response(b'{"detail": "not paused"}', status="404 Not Found")
        if not self._pages:
            return _response(EMPTY)
        found = _CURSOR.search(target)
        page = int(found[1]) if found else 1
        link = "" if page >= self._pages else f'Link: <{_next(page)}>; rel="next"\r\n'
        return _response(self._full(), link=link)

    def _full(self) -> bytes:
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        events = [_event(number, now) for number in itertools.islice(self._ids, PER_PAGE)]
        return json.dumps({"events": events, "size": PER_PAGE, "per_page": PER_PAGE}).encode()


def _next(page: int) -> str:
    return f"http://127.0.0.1/v1/repos/acme/site/logs?cursor=p{page + 1}&per_page=100"


def _event(number: int, at: str) -> Mapping[str, Any]:
    kind, metadata = KINDS[number % len(KINDS)]
    return {
        "id": number,
        "received_at": at,
        "trigger": "merge queue internal",
        "repository": "acme/site",
        "pull_request": number // len(KINDS) + 1,
        "base_ref": "main",
        "type": kind,
        "metadata": metadata,
    }


def _response(body: bytes, *, status: str = "200 OK", link: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
        f"Date: {format_datetime(datetime.now(UTC), usegmt=True)}\r\n"
        f"{link}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Answering(asyncio.Protocol):
    """A connection on which requests without bodies come."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._read = b""
        self._transport: asyncio.Transport | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        *heads, self._read = (self._read + data).split(b"\r\n\r\n")
        for head in heads:
            self._transport.write(self._log.answer(head))


def _tls(folder: Path | None) -> ssl.SSLContext | None:
    if folder is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--tls", type=Path, default=None)
    arguments = parser.parse_args()
    log = Log(arguments.pages)
    loop = asyncio.get_running_loop()
    tls = _tls(arguments.tls)
    server = await loop.create_server(lambda: Answering(log), "127.0.0.1", 0, ssl=tls)

    async def play(_amount: int) -> Mapping[str, float]:
        return {"requests": log.requests}

    await attend(play, port=server.sockets[0].getsockname()[1])
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
