"""The way of one process to a server, which can be cut."""

import asyncio
from contextlib import closing, suppress
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

CHUNK = 64 * 1024


class TcpRoute:
    """Passes on what is sent to `url`; a cut route stays silent, as a network that loses packets.

    Connections that were open when it was cut stay open, and pass on nothing more. Bytes with
    `cut_at` in them cut it, and get lost.
    """

    def __init__(self, url: str, *, cut_at: bytes | None = None) -> None:
        self._target = urlsplit(url)
        self._cut_at = cut_at
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def url(self) -> str:
        location = self._target.netloc.replace(f":{self._target.port}", f":{self.port}")
        return self._target._replace(netloc=location).geturl()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        self._is_open.clear()

    def mend(self) -> None:
        self._is_open.set()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with closing(writer):
            await self._is_open.wait()
            try:
                answers, requests = await asyncio.open_connection(
                    self._target.hostname, self._target.port
                )
            except ConnectionError:
                # The server is down.
                return
            with closing(requests):
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pass_on(reader, requests))
                    both.create_task(self._pass_on(answers, writer))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Either side may be killed at any moment.
        with suppress(ConnectionError):
            while chunk := await reader.read(CHUNK):
                if self._cut_at is not None and self._cut_at in chunk:
                    self.cut()
                await self._is_open.wait()
                writer.write(chunk)
                await writer.drain()
        writer.close()
