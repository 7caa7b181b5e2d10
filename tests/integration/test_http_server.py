"""What strangers can do to a port: they may not hold its connections, memory or log."""

import asyncio
import logging
import socket
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from bot.http.server import LARGEST_HEAD, HttpServer, PortLimits, read_body
from tests.support.capturing import without_repeats
from tests.support.waiting import until

LARGEST = 1024 * 1024
PROBE = b"GET /probe HTTP/1.1\r\nHost: x\r\n\r\n"
HALF_A_HEAD = b"GET /probe HTTP/1.1\r\nHost: x\r\nX-Slow: "


@dataclass
class Port:
    """A server with a handler that reads a body, one that doesn't, and a long answer."""

    server: HttpServer = field(default_factory=HttpServer)
    bodies: list[bytes] = field(default_factory=list)

    def routes(self) -> list[web.RouteDef]:
        async def on_body(request: web.Request) -> web.Response:
            self.bodies.append(await read_body(request, LARGEST))
            return web.Response()

        async def on_probe(_request: web.Request) -> web.Response:
            return web.Response(text="well")

        async def on_long(_request: web.Request) -> web.Response:
            return web.Response(body=bytes(32 * LARGEST))

        return [
            web.post("/body", on_body),
            web.get("/probe", on_probe),
            web.get("/long", on_long),
        ]

    async def connect(self, sent: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        writer.write(sent)
        return reader, writer

    async def ask(self, sent: bytes) -> bytes:
        """The first line of the answer; empty if the connection ends without one."""
        reader, writer = await self.connect(sent)
        try:
            async with asyncio.timeout(20):
                return (await reader.readline()).strip()
        except ConnectionError:
            return b""
        finally:
            writer.close()


@pytest.fixture
async def port(caplog: pytest.LogCaptureFixture) -> AsyncIterator[Port]:
    one = Port()
    async with AsyncExitStack() as stack:
        stack.enter_context(without_repeats(caplog))
        await one.server.open("127.0.0.1", 0, one.routes())
        stack.push_async_callback(one.server.close)
        yield one


def head(*headers: bytes, path: bytes = b"/body", version: bytes = b"1.1") -> bytes:
    lines = [b"POST %s HTTP/%s" % (path, version), b"Host: x", *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage() for record in caplog.records if record.exc_info or record.levelno > 30
    ]


# What a stranger sends


CHUNKED = b"Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        pytest.param(head(b"Content-Length: 2") + b"{}", 200, id="a body"),
        pytest.param(head(CHUNKED) + b"2\r\n{}\r\n0\r\n\r\n", 200, id="chunks"),
        pytest.param(head(b"Content-Length: 2", b"Expect: 100-continue") + b"{}", 100, id="expect"),
        pytest.param(head(b"Expect: something", b"Content-Length: 2"), 417, id="odd expect"),
        pytest.param(head(b"Content-Length: %d" % (LARGEST + 1)), 413, id="announced"),
        pytest.param(head(b"Content-Length: 9" + b"9" * 30), 400, id="huge number"),
        pytest.param(head(b"Content-Length: -1"), 400, id="negative"),
        pytest.param(head(b"Content-Length: +1"), 400, id="signed number"),
        pytest.param(head(b"Content-Length: 1_0"), 400, id="underscore"),
        pytest.param(head("Content-Length: \u0662".encode()), 400, id="digit of another script"),
        pytest.param(head(b"Content-Length: 1", b"Content-Length: 2"), 400, id="two lengths"),
        pytest.param(head(b"Content-Length: 2", CHUNKED) + b"{}", 400, id="length and chunks"),
        pytest.param(head(CHUNKED) + b"zz\r\n{}\r\n", 400, id="no chunk size"),
        pytest.param(head(CHUNKED) + b"%s\r\n" % (b"f" * 40), 400, id="huge chunk size"),
        pytest.param(
            head(CHUNKED) + b"2;%s\r\n{}\r\n0\r\n\r\n" % (b"x" * 10_000), 200, id="chunk extension"
        ),
        pytest.param(head(CHUNKED) + b"0\r\n" + b"T: %s\r\n" % (b"x" * 9000), 400, id="trailer"),
        pytest.param(head(b"X: " + b"x" * 9000), 400, id="long header"),
        pytest.param(head(*(b"X%d: 1" % number for number in range(200))), 400, id="headers"),
        pytest.param(head(path=b"/" + b"x" * 9000), 400, id="long path"),
        pytest.param(head(path=b"/" + b"%E4" * 2000), 404, id="escaped path"),
        pytest.param(head(path=b"/body?" + b"a&" * 3000, version=b"1.0"), 200, id="query"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10, 400, id="TLS"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, id="HTTP/2"),
        pytest.param(b"GET /probe HTTP/9.9\r\nHost: x\r\n\r\n", 400, id="HTTP/9"),
        pytest.param(b"\x00" * 100, 400, id="zeros"),
        pytest.param(b"GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n", 400, id="no address"),
    ],
)
async def test_odd_requests_have_an_answer_and_no_traceback(
    port: Port, caplog: pytest.LogCaptureFixture, sent: bytes, answered: int
) -> None:
    assert (await port.ask(sent)).split()[1] == b"%d" % answered
    assert (await port.ask(PROBE)).endswith(b"200 OK")
    assert errors(caplog) == []


async def test_a_compressed_body_is_not_decompressed(port: Port) -> None:
    gzip = zlib.compressobj(wbits=31)
    bomb = gzip.compress(bytes(64 * LARGEST)) + gzip.flush()
    lengths = b"Content-Length: %d" % len(bomb)
    for encoding in (b"gzip", b"deflate", b"br", b"zstd", b"identity"):
        answer = await port.ask(head(lengths, b"Content-Encoding: " + encoding) + bomb)
        assert answer.endswith(b"200 OK")
    assert port.bodies == [bomb] * 5


async def test_a_head_without_an_end_is_cut_off(
    port: Port, caplog: pytest.LogCaptureFixture
) -> None:
    """Each header is short enough, and together they would fill the memory."""
    begun = HALF_A_HEAD + b"x\r\n" + b"".join(b"X%d: %s\r\n" % (n, b"x" * 8000) for n in range(99))
    assert len(begun) > 10 * LARGEST_HEAD
    for _ in range(5):
        assert await port.ask(begun) == b""
    assert [record.__dict__["action"] for record in caplog.records] == ["head_too_large"]


async def test_a_head_that_comes_byte_by_byte_is_understood(port: Port) -> None:
    reader, writer = await port.connect()
    for byte in head(b"Content-Length: 30000"):
        writer.write(bytes([byte]))
        await writer.drain()
    for _ in range(3):
        writer.write(b"x" * 10_000)
        await writer.drain()
    async with asyncio.timeout(10):
        assert (await reader.readline()).strip().endswith(b"200 OK")
    writer.close()
    assert port.bodies == [b"x" * 30_000]


# What a stranger holds


def files_open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def half_a_body(length: int) -> bytes:
    return head(b"Content-Length: %d" % LARGEST) + b"x" * length


async def test_the_sum_of_bodies_is_bounded_and_small_ones_come_through(
    port: Port, caplog: pytest.LogCaptureFixture
) -> None:
    port.server.bodies.most_bytes = 2 * LARGEST
    port.server.bodies.seconds = 30.0
    small = await port.connect(head(b"Content-Length: 8") + b"half")
    most = 0
    large = []
    for _ in range(12):
        large.append(await port.connect(half_a_body(LARGEST - 1)))
        await until(lambda: port.server.bodies.received_bytes > LARGEST // 2, "a body arrives")
        most = max(most, port.server.bodies.received_bytes)
    small[1].write(b"half")
    async with asyncio.timeout(20):
        assert (await small[0].readline()).strip().endswith(b"200 OK")
        assert (await large[0][0].readline()).strip().endswith(b"503 Service Unavailable")
    assert 0 < most <= 2 * LARGEST
    assert port.bodies == [b"halfhalf"]
    for _, writer in (*large, small):
        writer.close()
    await until(lambda: port.server.bodies.received_bytes == 0, "nothing held")
    assert [record.__dict__["action"] for record in caplog.records] == ["bodies_full"]


SMALLEST_CHUNK = b"1\r\nx\r\n"


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(SMALLEST_CHUNK * LARGEST, id="chunks of one byte"),
        pytest.param((b"1;%s\r\nx\r\n" % (b"y" * 1000)) * 6000, id="long extensions"),
        pytest.param(b"2;" + b"y" * 6 * LARGEST, id="an extension without an end"),
    ],
)
async def test_a_body_in_too_many_pieces_is_cut_off(
    port: Port, caplog: pytest.LogCaptureFixture, pieces: bytes
) -> None:
    """Parsing 1 MiB in chunks of one byte took 0.66 s before anybody was known."""
    begun = time.process_time()
    assert await port.ask(head(CHUNKED) + pieces + b"0\r\n\r\n") == b""
    assert time.process_time() - begun < 0.3
    assert "a request's body came in too many pieces" in caplog.messages
    assert port.bodies == []


async def test_a_body_in_chunks_of_usual_size_is_taken(port: Port) -> None:
    """Also where the first chunks are small."""
    chunks = [b"x"] * 1000 + [b"y" * 200] * 5000
    sent = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    assert (await port.ask(head(CHUNKED) + sent)).endswith(b"200 OK")
    assert port.bodies == [b"".join(chunks)]


async def test_a_caller_that_takes_no_answer_is_cut_off(
    port: Port, caplog: pytest.LogCaptureFixture
) -> None:
    port.server.limits = PortLimits(connections=5, taking_seconds=0.3)
    lazy = [await port.connect(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(5)]
    async with asyncio.timeout(30):
        while await port.ask(PROBE) != b"HTTP/1.1 200 OK":
            pass
    for _, writer in lazy:
        writer.close()
    assert errors(caplog) == []


@pytest.mark.parametrize("sent", [b"", b"G", HALF_A_HEAD, half_a_body(100)])
async def test_the_oldest_connection_without_a_request_makes_room(
    port: Port, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    port.server.limits = PortLimits(connections=10)
    held = [await port.connect(sent) for _ in range(40)]
    assert (await port.ask(PROBE)).endswith(b"200 OK")
    actions = [record.__dict__["action"] for record in caplog.records]
    assert actions == ["connections_full"]
    for _, writer in held:
        writer.close()


async def test_connections_that_come_in_one_turn_of_the_loop_are_limited_too(port: Port) -> None:
    port.server.limits = PortLimits(connections=10)
    before = files_open()
    with ExitStack() as stack:
        for _ in range(4):
            for _ in range(90):
                address = ("127.0.0.1", port.server.port)
                stack.enter_context(socket.create_connection(address)).sendall(HALF_A_HEAD)
            assert (await port.ask(PROBE)).endswith(b"200 OK")
        assert files_open() - before <= 4 * 90 + 15


async def test_connections_of_unknown_callers_are_not_kept(port: Port) -> None:
    reader, writer = await port.connect(PROBE)
    async with asyncio.timeout(10):
        assert (await reader.read()).endswith(b"well")
    writer.close()


@pytest.mark.parametrize(
    ("files", "connections"), [(None, 400), (1_048_576, 400), (1024, 256), (256, 64), (3, 1)]
)
def test_connections_leave_most_files_to_the_rest_of_the_process(
    files: int | None, connections: int
) -> None:
    limits = PortLimits()
    assert limits.connections_with(files) == connections <= limits.connections


async def test_a_caller_that_vanishes_leaves_no_traceback(
    port: Port, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for sent in (HALF_A_HEAD, half_a_body(10), b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n"):
        _, writer = await port.connect(sent)
        await writer.drain()
        writer.transport.abort()
    assert (await port.ask(PROBE)).endswith(b"200 OK")
    assert errors(caplog) == []
