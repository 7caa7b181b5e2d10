"""The client against a service that misbehaves, over real sockets."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime

import httpx
import pytest

from bot.kernel.errors import MergeQueueError
from bot.kernel.metrics import Metrics
from bot.kernel.pacing import Patience
from bot.merge_queue.errors import MergeQueueProtocolError, MergeQueueUnavailable
from bot.merge_queue.http import KEPT_FOR_PEOPLE, LARGEST_ANSWER_BODY, REQUESTS_AT_ONCE
from tests.support.clock import FakeClock
from tests.support.metrics import counted
from tests.unit.merge_queue.client_under_test import SITE, STATUS, WINDOW, client_of, scripted
from tests.unit.merge_queue.scripted_service import (
    Arrival,
    Behaviour,
    ScriptedService,
    answer,
    drop,
    hang,
    raw,
)


@pytest.mark.parametrize(
    ("case", "first", "outcome"),
    [
        ("dropped", drop, "lost"),
        ("truncated", raw(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"), "lost"),
        ("no HTTP", raw(b"SSH-2.0-hello\r\n\r\n"), "lost"),
        ("silent", hang, "lost"),
        ("429", answer("slow down", status=429), "429"),
        ("500", answer("<html>oops", status=500, content_type="text/html"), "500"),
        ("503", answer("", status=503), "503"),
    ],
)
async def test_a_read_is_retried(case: str, first: Behaviour, outcome: str) -> None:
    clock = FakeClock()
    counts = Metrics()
    async with scripted(first, answer(STATUS), clock=clock, metrics=counts) as (_, client):
        status = await client.status(SITE)

    assert len(status.batches) == 2, case
    assert clock.slept == [0.5]
    outcomes = counted(counts.service_requests)
    assert outcomes == {("status", outcome): 1, ("status", "200"): 1}
    assert counted(counts.service_retries) == {("status",): 1}


async def test_retry_after_is_honoured_within_a_persons_patience_and_reported_beyond() -> None:
    clock = FakeClock()
    soon, late = (
        answer("", status=429, headers=(("Retry-After", asked),))
        for asked in ("4", "Mon, 20 Jul 2026 12:01:04 GMT")
    )
    async with scripted(soon, answer(STATUS), late, clock=clock) as (_, client):
        await client.status(SITE)
        assert clock.slept == [4.0]
        with pytest.raises(MergeQueueUnavailable) as caught:
            await client.status(SITE)

    assert (caught.value.status, caught.value.retry_after) == (429, 60.0)
    assert clock.slept == [4.0]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("asked", ["86400", "999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_a_wait_over_five_minutes_is_shortened_and_reported(
    status: int, asked: str, caplog: pytest.LogCaptureFixture
) -> None:
    limited = answer("", status=status, headers=(("Retry-After", asked),))
    async with scripted(limited) as (_, client):
        with pytest.raises(MergeQueueUnavailable) as caught:
            await client.status(SITE)

    assert (caught.value.status, caught.value.retry_after) == (status, 300.0)
    (logged,) = [record for record in caplog.records if getattr(record, "action", "") == "wait_cut"]
    assert logged.__dict__["asked_seconds"] >= 86400


async def test_the_services_time_is_not_before_what_its_last_answer_said() -> None:
    clock = FakeClock()

    def said(seconds: float) -> Behaviour:
        date = format_datetime(clock.now() + timedelta(seconds=seconds), usegmt=True)
        return answer(STATUS, headers=(("Date", date),))

    late = [said(-3)] * 3
    # The last one is an hour off, which no other answer confirms.
    async with scripted(*late, said(0), said(3600), clock=clock) as (_, client):
        for _answer in late:
            await client.status(SITE)
        assert client.service_time == clock.now() - timedelta(seconds=3)
        await client.status(SITE)
        assert client.service_time == clock.now()
        await client.status(SITE)
        assert client.service_time == clock.now()


async def test_the_services_time_is_not_before_what_the_schedules_last_answer_said() -> None:
    """A pause that a poll has seen didn't begin after a person's request."""
    clock = FakeClock()

    def said(seconds: float) -> Behaviour:
        date = format_datetime(clock.now() + timedelta(seconds=seconds), usegmt=True)
        return answer(STATUS, headers=(("Date", date),))

    async with scripted(said(-3), said(-3), said(-3), said(0), clock=clock) as (_, client):
        for _answer in range(3):
            await client.status(SITE)
        await client.scheduled.status(SITE)
        assert client.service_time == client.scheduled.service_time == clock.now()


async def test_a_refusal_is_not_retried() -> None:
    statuses = (401, 403, 404, 409, 422)
    script = [answer('{"detail": "no"}', status=status) for status in statuses]
    async with scripted(*script) as (service, client):
        for asked, _ in enumerate(statuses, 1):
            with pytest.raises(MergeQueueError):
                await client.status(SITE)
            assert len(service.arrivals) == asked


async def test_a_refused_connection_means_the_request_did_not_arrive() -> None:
    async with ScriptedService([]) as service:
        address_of_nobody = service.base_url
    counts = Metrics()
    async with client_of(address_of_nobody, metrics=counts) as client:
        with pytest.raises(MergeQueueUnavailable) as caught:
            await client.pause(SITE, "deploying")

    assert not caught.value.arrived
    assert counted(counts.service_requests) == {("set_pause", "unreachable"): 3}


async def test_a_response_that_never_ends_times_out() -> None:
    async def drip(_arrival: Arrival, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\n \r\n")
            await writer.drain()
            await asyncio.sleep(0.05)

    patience = Patience(connect=2, read=2, total=0.6, jitter=lambda: 0.0)
    async with scripted(drip, patience=patience) as (_, client):
        with pytest.raises(MergeQueueUnavailable, match="in time"):
            await client.status(SITE)


@pytest.mark.parametrize(
    ("case", "broken"),
    [
        ("web page", answer("<html>hi</html>", content_type="text/html")),
        ("cut short", answer('{"batches": [')),
        ("other JSON", answer('{"ok": true}')),
        ("no body", answer("", status=204)),
        ("accepted", answer("{}", status=202)),
        ("not gzip", answer(b"plain", headers=(("Content-Encoding", "gzip"),))),
        ("redirect to nowhere", answer("", status=302)),
    ],
)
async def test_an_unreadable_response_is_counted_and_logged(
    case: str, broken: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    counts = Metrics()
    async with scripted(broken, metrics=counts) as (_, client):
        with pytest.raises(MergeQueueProtocolError):
            await client.status(SITE)

    assert counted(counts.service_unreadable_answers) == {("status",): 1}, case
    assert [record.action for record in caplog.records if hasattr(record, "action")] == [
        "answer_unreadable"
    ]


async def test_a_body_beyond_the_limit_is_not_read_to_its_end() -> None:
    packed = (("Content-Encoding", "gzip"),)
    barely = answer(gzip.compress(b" " * (LARGEST_ANSWER_BODY + 1)), headers=packed)
    packing = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    # After a full flush a block stands for itself, and can be sent as often as one likes.
    block = packing.compress(bytes(1 << 24)) + packing.flush(zlib.Z_FULL_FLUSH)
    gigabyte = answer(gzip.compress(b"")[:10] + block * 64, headers=packed)

    async def endless(_arrival: Arrival, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"100000\r\n" + b" " * 0x100000 + b"\r\n")
            await writer.drain()

    async with scripted(barely, gigabyte, endless, answer(STATUS)) as (_, client):
        with peak_memory() as peak:
            for _ in range(3):
                with pytest.raises(MergeQueueProtocolError, match="8 MiB"):
                    await client.status(SITE)
        assert (await client.status(SITE)).batches

    assert peak[0] < 256 * 1024 * 1024


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """The most bytes that were in use meanwhile, once it is over."""
    peak: list[int] = []
    tracemalloc.start()
    try:
        yield peak
        peak.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


async def test_a_body_compressed_several_times_is_rejected() -> None:
    packing = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    packed = b"".join(packing.compress(bytes(1 << 20)) for _ in range(64)) + packing.flush()
    bomb = gzip.compress(gzip.compress(packed))
    assert len(bomb) < 1000
    encodings = (("Content-Encoding", "gzip, gzip, gzip"),)
    async with scripted(answer(bomb, headers=encodings)) as (_, client):
        with peak_memory() as peak, pytest.raises(MergeQueueProtocolError):
            await client.status(SITE)

    assert peak[0] < LARGEST_ANSWER_BODY


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(STATUS)),
        ("GZIP", gzip.compress(STATUS)),
        ("deflate", zlib.compress(STATUS)),
        ("deflate", zlib.compress(STATUS, wbits=-zlib.MAX_WBITS)),
        ("", STATUS),
    ],
)
async def test_a_body_is_decompressed_as_its_header_says(encoding: str, body: bytes) -> None:
    packed = answer(body, headers=(("Content-Encoding", encoding),))
    async with scripted(packed) as (_, client):
        assert len((await client.status(SITE)).batches) == 2


@dataclass
class Held:
    """A service that answers when it is let go on, for as many requests as it is given for."""

    arrived: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, arrival: Arrival, writer: asyncio.StreamWriter) -> None:
        self.arrived.release()
        await self.go_on.wait()
        await answer(STATUS)(arrival, writer)


async def test_a_header_in_another_encoding_does_no_harm() -> None:
    head = b"HTTP/1.1 200 OK\r\nServer: caf\xe9\r\nContent-Length: %d\r\n\r\n" % len(STATUS)
    async with scripted(raw(head + STATUS)) as (_, client):
        status = await client.status(SITE)

    assert status.batches


async def test_at_most_eight_requests_are_in_flight_on_as_many_connections() -> None:
    held = Held()
    patience = Patience(read=30, total=30)
    async with scripted(*[held] * 30, patience=patience) as (service, client):
        calls = [asyncio.create_task(client.status(SITE)) for _ in range(30)]
        async with asyncio.timeout(10):
            for _ in range(8):
                await held.arrived.acquire()
            assert service.most_at_once == 8
            held.go_on.set()
            await asyncio.gather(*calls)

    assert service.most_at_once == 8
    assert service.connections == 8


async def test_cancelled_requests_free_their_connections() -> None:
    held = Held()
    again = Held()
    patience = Patience(read=30, total=30)
    async with scripted(*[held] * 8, *[again] * 8, patience=patience) as (service, client):
        calls = [asyncio.create_task(client.status(SITE)) for _ in range(30)]
        async with asyncio.timeout(10):
            for _ in range(8):
                await held.arrived.acquire()
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            others = [asyncio.create_task(client.status(SITE)) for _ in range(8)]
            for _ in range(8):
                await again.arrived.acquire()
            again.go_on.set()
            await asyncio.gather(*others)

    assert service.connections == 16


async def test_requests_of_people_do_not_wait_for_scheduled_ones() -> None:
    held = Held()
    most = REQUESTS_AT_ONCE - KEPT_FOR_PEOPLE
    script: list[Behaviour] = [*[held] * most, answer(STATUS), *[held] * most]
    async with scripted(*script, patience=Patience(read=30, total=30)) as (service, client):
        scheduled = [asyncio.create_task(client.scheduled.status(SITE)) for _ in range(2 * most)]
        async with asyncio.timeout(10):
            for _ in range(most):
                await held.arrived.acquire()
            assert (await client.status(SITE)).batches
            assert not any(task.done() for task in scheduled)
            held.go_on.set()
            await asyncio.gather(*scheduled)
    assert service.most_at_once == REQUESTS_AT_ONCE


async def test_the_last_good_answer_is_also_one_to_the_schedule() -> None:
    clock = FakeClock()
    script = (answer(STATUS), answer(STATUS), answer("", status=503))
    async with scripted(*script, clock=clock, patience=Patience(attempts=1)) as (_, client):
        await client.status(SITE)
        clock.advance(3600)
        polled_at = clock.now()
        await client.scheduled.status(SITE)
        with pytest.raises(MergeQueueUnavailable) as caught:
            await client.status(SITE)
    assert caught.value.last_answer_at == polled_at


async def test_connection_is_kept_for_the_next_poll_and_cookies_are_not() -> None:
    listed = answer('{"base_refs": []}', headers=(("Set-Cookie", "session=1; Path=/"),))
    async with scripted(*[listed] * 5) as (service, client):
        for _ in range(5):
            assert await client.branches(SITE, WINDOW) == ()

    assert service.connections == 1
    assert all("cookie" not in arrival.headers for arrival in service.arrivals)


async def test_a_change_that_the_service_is_too_busy_for_is_sent_once() -> None:
    sent: list[str] = []

    def busy(request: httpx.Request) -> httpx.Response:
        sent.append(request.method)
        if request.method == "GET":
            return httpx.Response(404)
        return httpx.Response(503, headers={"retry-after": "1"})

    async with client_of("http://queue.example/v1", transport=httpx.MockTransport(busy)) as client:
        with pytest.raises(MergeQueueUnavailable):
            await client.pause(SITE, "deploying")

    assert sent.count("PUT") == 1
