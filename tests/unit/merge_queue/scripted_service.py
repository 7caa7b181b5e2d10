"""A service on a real loopback socket with scripted responses, down to the bytes."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

Behaviour = Callable[["Arrival", asyncio.StreamWriter], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Arrival:
    """A request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def answer(
    body: bytes | str = b"",
    *,
    status: int = 200,
    content_type: str | None = "application/json",
    headers: tuple[tuple[str, str], ...] = (),
) -> Behaviour:
    """Answer with this, correctly framed."""
    content = body.encode() if isinstance(body, str) else body

    async def behave(_arrival: Arrival, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} X"]
        if content_type is not None:
            lines.append(f"Content-Type: {content_type}")
        lines += [f"{name}: {value}" for name, value in headers]
        if status != 204:
            lines.append(f"Content-Length: {len(content)}")
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await writer.drain()

    return behave


def raw(sent: bytes) -> Behaviour:
    """Send these bytes and close."""

    async def behave(_arrival: Arrival, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        writer.close()

    return behave


async def drop(_arrival: Arrival, writer: asyncio.StreamWriter) -> None:
    """Take the request, then close without a word."""
    writer.close()


async def hang(_arrival: Arrival, _writer: asyncio.StreamWriter) -> None:
    """Take the request and never answer."""
    await asyncio.Event().wait()


@dataclass
class ScriptedService:
    """Plays its script, one behaviour a request; an unforeseen request is answered with 599.

    OPTIONS are answered beside the script and are no arrivals: there is every path but those
    that end in one of `not_offered`.
    """

    script: list[Behaviour]
    arrivals: list[Arrival] = field(default_factory=list)
    not_offered: tuple[str, ...] = ()
    connections: int = 0
    most_at_once: int = 0
    _at_once: int = 0
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()
        if kind is None:
            assert not self.script, "not every behaviour of the script was asked for"

    @property
    def port(self) -> int:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        assert isinstance(port, int)
        return port

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while not writer.is_closing():
                    await self._serve(await _arrival(reader), writer)
        except asyncio.CancelledError:
            pass
        finally:
            writer.close()

    async def _serve(self, arrival: Arrival, writer: asyncio.StreamWriter) -> None:
        if arrival.method == "OPTIONS":
            missing = any(arrival.target.endswith(path) for path in self.not_offered)
            await answer("", status=404 if missing else 405)(arrival, writer)
            return
        self.arrivals.append(arrival)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            behave = self.script.pop(0) if self.script else answer("unforeseen", status=599)
            await behave(arrival, writer)
        finally:
            self._at_once -= 1


async def _arrival(reader: asyncio.StreamReader) -> Arrival:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, target, _version = head[0].split(" ")
    fields = (line.split(": ", 1) for line in head[1:] if line)
    headers = {name.lower(): value for name, value in fields}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Arrival(method, target, headers, body)
