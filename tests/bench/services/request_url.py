"""Slack's side of HTTP mode: signed commands over connections that stay open."""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

SECRET = "bench-signing-secret"


class RequestUrl:
    """Sends prepared bytes, and reads no more than necessary."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(self, body: Mapping[str, Any]) -> float:
        """Wait for the acknowledgement; return how many seconds it took."""
        sent = _signed(self._port, urlencode(body).encode())
        reader, writer = self._idle.pop() if self._idle else await self._connect()
        sent_at = time.perf_counter()
        writer.write(sent)
        head = await reader.readuntil(b"\r\n\r\n")
        at = time.perf_counter()
        assert head.startswith(b"HTTP/1.1 200"), head
        await reader.readexactly(_length(head))
        self._idle.append((reader, writer))
        return at - sent_at

    async def open(self, count: int) -> None:
        self._idle += [await self._connect() for _ in range(count - len(self._idle))]

    async def close(self) -> None:
        for _, writer in self._idle:
            writer.close()
            await writer.wait_closed()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._port)


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"content-length":
            return int(value)
    return 0


def _signed(port: int, body: bytes) -> bytes:
    at = str(int(time.time()))
    digest = hmac.new(SECRET.encode(), b"v0:%b:%b" % (at.encode(), body), hashlib.sha256)
    head = (
        "POST /slack/events HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
        f"X-Slack-Request-Timestamp: {at}",
        f"X-Slack-Signature: v0={digest.hexdigest()}",
    )
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body
