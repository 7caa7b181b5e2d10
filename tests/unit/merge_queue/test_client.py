"""The client against a service that misbehaves, over real sockets."""

import asyncio
import gzip
import json
import logging
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from typing_extensions import override

from bot.domain.errors import (
    CredentialRefused,
    InvalidRequest,
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    ResourceNotFound,
)
from bot.domain.event_log import Window
from bot.domain.repository import RepositoryName
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.connection import LARGEST_BODY
from bot.merge_queue.retries import Patience
from tests.support.samples import sample_bytes
from tests.unit.merge_queue.patient_clock import PatientClock
from tests.unit.merge_queue.scripted_service import (
    Arrival,
    Behaviour,
    ScriptedService,
    answer,
    drop,
    hang,
    raw,
)

SITE = RepositoryName.parse("acme/site")
TOKEN = "app-key-very-secret"
WINDOW = Window(datetime(2026, 7, 20, 10, tzinfo=UTC), datetime(2026, 7, 20, 12, tzinfo=UTC))
PAUSE = json.dumps({"reason": "deploying", "paused_at": "2026-07-20T11:00:00Z"})
OTHER_PAUSE = json.dumps({"reason": "another", "paused_at": "2026-07-20T11:00:00Z"})
STATUS = sample_bytes("status")
NOT_PAUSED = answer('{"detail": "not paused"}', status=404)
BRIEF = Patience(connect=2, read=0.2, total=8, jitter=lambda: 0.0)


@asynccontextmanager
async def client_of(
    service: ScriptedService | str,
    *,
    patience: Patience = BRIEF,
    clock: PatientClock | None = None,
    **more: Any,
) -> AsyncIterator[MergeQueueClient]:
    async with MergeQueueClient(
        base_url=service if isinstance(service, str) else service.base_url,
        token=SecretStr(TOKEN),
        clock=clock or PatientClock(),
        patience=patience,
        **more,
    ) as client:
        yield client


async def test_request_carries_the_credential_and_asks_for_json() -> None:
    async with ScriptedService([answer(STATUS)]) as service, client_of(service) as client:
        status = await client.status(SITE, branch="main")

    assert len(status.batches) == 2
    (arrival,) = service.arrivals
    assert (arrival.method, arrival.target) == (
        "GET",
        "/v1/repos/acme/site/merge-queue/status?branch=main",
    )
    assert arrival.headers["authorization"] == f"Bearer {TOKEN}"
    assert arrival.headers["accept"] == "application/json"
    assert arrival.headers["user-agent"].startswith("mqbot/")


async def test_pause_is_sent_as_json_and_read_back_from_the_answer() -> None:
    async with ScriptedService([answer(PAUSE)]) as service, client_of(service) as client:
        pause = await client.pause(SITE, "deploying")

    assert pause.reason == "deploying"
    (arrival,) = service.arrivals
    assert (arrival.method, arrival.target) == ("PUT", "/v1/repos/acme/site/merge-queue/pause")
    assert arrival.headers["content-type"] == "application/json"
    assert json.loads(arrival.body) == {"reason": "deploying"}


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
async def test_read_is_tried_again(case: str, first: Behaviour, outcome: str) -> None:
    clock = PatientClock()
    async with (
        ScriptedService([first, answer(STATUS)]) as service,
        client_of(service, clock=clock) as client,
    ):
        status = await client.status(SITE)

    assert len(status.batches) == 2, case
    assert clock.slept == [0.5]
    assert client.statistics.outcomes == {("status", outcome): 1, ("status", "200"): 1}
    assert client.statistics.retries == {"status": 1}


async def test_read_is_tried_three_times_with_growing_waits() -> None:
    clock = PatientClock()
    script = [answer("", status=502)] * 3
    async with ScriptedService(script) as service, client_of(service, clock=clock) as client:
        with pytest.raises(MergeQueueUnavailable) as caught:
            await client.status(SITE)

    assert caught.value.status == 502
    assert clock.slept == [0.5, 1.0]


async def test_retry_after_is_honoured() -> None:
    clock = PatientClock()
    limited = answer("", status=429, headers=(("Retry-After", "4"),))
    async with (
        ScriptedService([limited, answer(STATUS)]) as service,
        client_of(service, clock=clock) as client,
    ):
        await client.status(SITE)

    assert clock.slept == [4.0]


async def test_retry_after_longer_than_a_person_waits_is_told_instead() -> None:
    clock = PatientClock()
    limited = answer("", status=429, headers=(("Retry-After", "Mon, 20 Jul 2026 12:01:00 GMT"),))
    async with ScriptedService([limited]) as service, client_of(service, clock=clock) as client:
        with pytest.raises(MergeQueueUnavailable) as caught:
            await client.status(SITE)

    assert (caught.value.status, caught.value.retry_after) == (429, 60.0)
    assert clock.slept == []


@pytest.mark.parametrize("status", [401, 403, 404, 409, 422])
async def test_refusal_is_final(status: int) -> None:
    async with (
        ScriptedService([answer('{"detail": "no"}', status=status)]) as service,
        client_of(service) as client,
    ):
        with pytest.raises(MergeQueueError):
            await client.rules(SITE)

    assert len(service.arrivals) == 1


async def test_nobody_there_is_known_not_to_have_arrived() -> None:
    async with ScriptedService([]) as service:
        address_of_nobody = service.base_url
    async with client_of(address_of_nobody) as client:
        with pytest.raises(MergeQueueUnavailable) as caught:
            await client.pause(SITE, "deploying")

    assert not caught.value.arrived
    assert client.statistics.outcomes == {("set_pause", "unreachable"): 3}


async def test_answer_that_drips_for_ever_ends_with_the_patience() -> None:
    async def drip(_arrival: Arrival, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\n \r\n")
            await writer.drain()
            await asyncio.sleep(0.05)

    patience = Patience(connect=2, read=2, total=0.6, jitter=lambda: 0.0)
    async with (
        ScriptedService([drip]) as service,
        client_of(service, patience=patience) as client,
    ):
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
async def test_answer_that_cannot_be_read_is_counted_and_logged(
    case: str, broken: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    async with ScriptedService([broken]) as service, client_of(service) as client:
        with pytest.raises(MergeQueueProtocolError):
            await client.status(SITE)

    assert client.statistics.unreadable_answers == {"status": 1}, case
    assert [record.action for record in caplog.records if hasattr(record, "action")] == [
        "answer_unreadable"
    ]


async def test_huge_answer_is_given_up() -> None:
    bomb = answer(gzip.compress(b" " * (LARGEST_BODY + 1)), headers=(("Content-Encoding", "gzip"),))
    async with ScriptedService([bomb, answer(STATUS)]) as service, client_of(service) as client:
        with pytest.raises(MergeQueueProtocolError, match="32 MiB"):
            await client.status(SITE)
        assert (await client.status(SITE)).batches


class TestLostAnswers:
    """Writes: sent again only when they certainly did not arrive, else looked up."""

    @pytest.mark.parametrize(
        ("case", "lost"),
        [
            ("dropped", drop),
            ("silent", hang),
            ("500", answer("", status=500)),
            ("504", answer("<html>", status=504, content_type="text/html")),
            ("cut short", answer('{"reason": "dep')),
            ("empty", answer("{}")),
            ("accepted", answer("", status=202)),
        ],
    )
    async def test_pause_that_was_set_is_found(self, case: str, lost: Behaviour) -> None:
        async with ScriptedService([lost, answer(PAUSE)]) as service, client_of(service) as client:
            pause = await client.pause(SITE, "deploying")

        assert pause.reason == "deploying", case
        assert [arrival.method for arrival in service.arrivals] == ["PUT", "GET"]

    async def test_pause_that_shows_late_is_found_at_the_second_look(self) -> None:
        clock = PatientClock()
        async with (
            ScriptedService([drop, NOT_PAUSED, answer(PAUSE)]) as service,
            client_of(service, clock=clock) as client,
        ):
            pause = await client.pause(SITE, "deploying")

        assert pause.reason == "deploying"
        assert clock.slept == [1.0]

    @pytest.mark.parametrize("other", ["not paused", "paused by another"])
    async def test_pause_that_was_not_set_is_an_error(self, other: str) -> None:
        look = NOT_PAUSED if other == "not paused" else answer(OTHER_PAUSE)
        async with ScriptedService([drop, look, look]) as service, client_of(service) as client:
            with pytest.raises(MergeQueueUnavailable) as caught:
                await client.pause(SITE, "deploying")

        assert caught.value.arrived
        assert [arrival.method for arrival in service.arrivals] == ["PUT", "GET", "GET"]

    async def test_pause_stays_in_doubt_when_the_look_fails_too(self) -> None:
        async with (
            ScriptedService([drop, answer("{}", status=403)]) as service,
            client_of(service) as client,
        ):
            with pytest.raises(MergeQueueUnavailable, match="connection was lost"):
                await client.pause(SITE, "deploying")

    async def test_pause_that_was_turned_away_is_neither_sent_again_nor_looked_up(self) -> None:
        limited = answer("", status=429, headers=(("Retry-After", "1"),))
        async with ScriptedService([limited]) as service, client_of(service) as client:
            with pytest.raises(MergeQueueUnavailable) as caught:
                await client.pause(SITE, "deploying")

        assert caught.value.retry_after == 1.0

    @pytest.mark.parametrize("look", ["404", "paused false"])
    async def test_unpause_that_was_done_is_found(self, look: str) -> None:
        seen = NOT_PAUSED if look == "404" else answer('{"paused": false}')
        async with ScriptedService([drop, seen]) as service, client_of(service) as client:
            assert await client.unpause(SITE) is True

        assert [arrival.method for arrival in service.arrivals] == ["DELETE", "GET"]

    async def test_unpause_that_was_not_done_is_an_error(self) -> None:
        async with (
            ScriptedService([drop, answer(PAUSE), answer(PAUSE)]) as service,
            client_of(service) as client,
        ):
            with pytest.raises(MergeQueueUnavailable):
                await client.unpause(SITE)

        assert [arrival.method for arrival in service.arrivals] == ["DELETE", "GET", "GET"]

    async def test_write_that_could_not_be_sent_is_sent_again(self) -> None:
        refusals = [httpx.ConnectError("refused"), httpx.ConnectTimeout("")]
        async with ScriptedService([answer(PAUSE)]) as service:
            transport = FailingFirst(refusals)
            async with client_of(service, transport=transport) as client:
                assert (await client.pause(SITE, "deploying")).reason == "deploying"

        assert len(service.arrivals) == 1
        assert client.statistics.retries == {"set_pause": 2}


class FailingFirst(httpx.AsyncHTTPTransport):
    """Fails as a transport does when nobody can be reached, then works."""

    def __init__(self, failures: list[httpx.TransportError]) -> None:
        super().__init__()
        self._failures = failures

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._failures:
            raise self._failures.pop(0)
        return await super().handle_async_request(request)


async def test_second_unpause_says_it_was_not_paused() -> None:
    script = [answer("", status=204), NOT_PAUSED, answer(STATUS)]
    async with ScriptedService(script) as service, client_of(service) as client:
        assert await client.unpause(SITE) is True
        assert await client.unpause(SITE) is False

    assert [arrival.method for arrival in service.arrivals] == ["DELETE", "DELETE", "GET"]


async def test_unpause_of_an_unknown_repository_says_so() -> None:
    unknown = answer('{"detail": "no such repository"}', status=404)
    async with ScriptedService([unknown, unknown]) as service, client_of(service) as client:
        with pytest.raises(ResourceNotFound, match="no such repository"):
            await client.unpause(SITE)


@pytest.mark.parametrize(
    ("case", "look"),
    [
        ("404", NOT_PAUSED),
        ("false", answer('{"paused": false, "reason": null, "paused_at": null}')),
        ("empty", answer("{}")),
    ],
)
async def test_not_paused_is_none(case: str, look: Behaviour) -> None:
    async with ScriptedService([look]) as service, client_of(service) as client:
        assert await client.current_pause(SITE) is None, case


class TestDeprecatedEndpoints:
    """Endpoints 9 to 13."""

    QUEUE_PAUSE = '{"queue_pause": [{"reason": "deploying", "pause_date": "2026-07-20T11:00:00Z"}]}'

    async def test_pauses_go_over_the_deprecated_family_by_setting(self) -> None:
        script = [answer(self.QUEUE_PAUSE), answer(self.QUEUE_PAUSE), answer("", status=204)]
        async with (
            ScriptedService(script) as service,
            client_of(service, deprecated_pause_endpoints=True) as client,
        ):
            paused = await client.pause(SITE, "deploying")
            assert paused == await client.current_pause(SITE)
            assert await client.unpause(SITE) is True

        assert [(arrival.method, arrival.target) for arrival in service.arrivals] == [
            ("PUT", "/v1/repos/acme/site/queue/pause"),
            ("GET", "/v1/repos/acme/site/queue/pause"),
            ("DELETE", "/v1/repos/acme/site/queue/pause"),
        ]

    async def test_no_pause_may_be_an_empty_array(self) -> None:
        async with (
            ScriptedService([answer('{"queue_pause": []}')]) as service,
            client_of(service, deprecated_pause_endpoints=True) as client,
        ):
            assert await client.current_pause(SITE) is None

    async def test_post_takes_the_place_of_a_delete_that_is_not_allowed(self) -> None:
        script = [answer("", status=405), answer("", status=204)]
        async with (
            ScriptedService(script) as service,
            client_of(service, deprecated_pause_endpoints=True) as client,
        ):
            assert await client.unpause(SITE) is True

        assert service.arrivals[1].method == "POST"
        assert service.arrivals[1].target == "/v1/repos/acme/site/queue/pause/delete"

    async def test_each_can_be_called_by_itself(self) -> None:
        script = [
            answer(self.QUEUE_PAUSE),
            answer(self.QUEUE_PAUSE),
            answer("", status=204),
            answer("", status=204),
            answer(sample_bytes("queues")),
        ]
        async with ScriptedService(script) as service, client_of(service) as client:
            assert (await client.set_queue_pause(SITE, "deploying"))[0].reason == "deploying"
            assert len(await client.queue_pauses(SITE)) == 1
            await client.delete_queue_pause(SITE)
            await client.post_queue_pause_delete(SITE)
            assert (await client.queues(SITE))[0].branch.name == "main"

        assert [arrival.method for arrival in service.arrivals] == [
            "PUT",
            "GET",
            "DELETE",
            "POST",
            "GET",
        ]


class TestRedirections:
    """The credential goes to one origin only."""

    async def test_read_follows_within_the_origin(self) -> None:
        moved = answer("", status=307, headers=(("Location", "/v1/elsewhere?x=1#top"),))
        async with (
            ScriptedService([moved, answer(STATUS)]) as service,
            client_of(service) as client,
        ):
            assert (await client.status(SITE)).batches

        assert service.arrivals[1].target == "/v1/elsewhere?x=1"

    async def test_no_request_at_all_goes_to_another_host(self) -> None:
        async with ScriptedService([]) as elsewhere:
            moved = answer("", status=302, headers=(("Location", f"{elsewhere.base_url}/x"),))
            async with ScriptedService([moved]) as service, client_of(service) as client:
                with pytest.raises(MergeQueueProtocolError, match="redirection"):
                    await client.status(SITE)

        assert elsewhere.arrivals == []

    @pytest.mark.parametrize("location", ["https://127.0.0.1/x", "//other.example/x", "http://["])
    async def test_other_origins_and_non_addresses_are_errors(self, location: str) -> None:
        moved = answer("", status=301, headers=(("Location", location),))
        async with ScriptedService([moved]) as service, client_of(service) as client:
            with pytest.raises(MergeQueueProtocolError):
                await client.status(SITE)

    async def test_going_in_circles_ends(self) -> None:
        circle = answer("", status=302, headers=(("Location", "/v1/again"),))
        async with ScriptedService([circle] * 4) as service, client_of(service) as client:
            with pytest.raises(MergeQueueProtocolError, match="too many"):
                await client.status(SITE)

    async def test_write_is_never_sent_elsewhere(self) -> None:
        moved = answer("", status=307, headers=(("Location", "/v1/elsewhere"),))
        async with (
            ScriptedService([moved, NOT_PAUSED, NOT_PAUSED]) as service,
            client_of(service) as client,
        ):
            with pytest.raises(MergeQueueProtocolError):
                await client.pause(SITE, "deploying")

        assert [arrival.method for arrival in service.arrivals] == ["PUT", "GET", "GET"]


def _with_locals(error: BaseException) -> traceback.TracebackException:
    """As a log would print it that shows local variables, without this test's own."""
    assert error.__traceback__ is not None
    return traceback.TracebackException(
        type(error), error, error.__traceback__.tb_next, capture_locals=True
    )


class TestCredential:
    """It is in no log, exception or repr."""

    @pytest.mark.parametrize(
        ("case", "script"),
        [
            ("refused", [answer(json.dumps({"detail": f"bad key {TOKEN}"}), status=401)]),
            ("echoed", [answer(f"unknown: Bearer {TOKEN}", status=422, content_type="text/plain")]),
            ("lost", [drop] * 3),
            ("silent", [hang] * 3),
            ("unreadable", [answer(f'{{"batches": "{TOKEN}"}}')]),
        ],
    )
    async def test_nothing_tells_it(
        self, case: str, script: list[Behaviour], caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        async with ScriptedService(list(script)) as service, client_of(service) as client:
            with pytest.raises(MergeQueueError) as caught:
                await client.status(SITE)

        told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
        told += "".join(_with_locals(caught.value).format())
        told += "".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
        told += repr(client) + repr(vars(client)) + repr(client.statistics)
        assert TOKEN not in told, case
        assert caught.value.__cause__ is None

    @pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "naïve"])
    def test_what_cannot_be_a_credential_is_refused_without_quoting_it(self, token: str) -> None:
        with pytest.raises(ValueError, match="credential") as caught:
            MergeQueueClient(
                base_url="http://127.0.0.1/v1", token=SecretStr(token), clock=PatientClock()
            )

        assert not token or token not in str(caught.value)


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "queue.example/v1",
        "ftp://queue.example/v1",
        "http://",
        "http://u:p@q.example/v1",
        "https://queue.example/v1?x=1",
        "http://[/v1",
        "http://queue.example:99999/v1",
        "http://queue.example:port/v1",
    ],
)
def test_what_cannot_be_an_address_is_refused(base_url: str) -> None:
    with pytest.raises(ValueError, match="address") as caught:
        MergeQueueClient(base_url=base_url, token=SecretStr(TOKEN), clock=PatientClock())

    assert "u:p" not in str(caught.value)


async def test_slash_at_the_end_of_the_address_does_no_harm() -> None:
    async with (
        ScriptedService([answer(STATUS)]) as service,
        client_of(f"{service.base_url}/") as client,
    ):
        await client.status(SITE)

    assert service.arrivals[0].target == "/v1/repos/acme/site/merge-queue/status"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
async def test_proxies_of_the_environment_are_for_other_machines(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedService([answer(STATUS)]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        async with client_of("http://queue.example/v1") as client:
            await client.status(SITE)
        async with client_of(f"http://{host}:9/v1") as client:
            with pytest.raises(MergeQueueUnavailable):
                await client.status(SITE)

    assert [arrival.target for arrival in proxy.arrivals] == [
        "http://queue.example/v1/repos/acme/site/merge-queue/status"
    ]


async def test_service_on_this_machine_is_not_asked_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with ScriptedService([answer(STATUS)]) as service, client_of(service) as client:
        assert (await client.status(SITE)).batches


async def test_at_most_eight_requests_are_in_flight_on_as_many_connections() -> None:
    arrived = asyncio.Semaphore(0)
    go_on = asyncio.Event()

    async def wait(arrival: Arrival, writer: asyncio.StreamWriter) -> None:
        arrived.release()
        await go_on.wait()
        await answer(STATUS)(arrival, writer)

    patience = Patience(read=30, total=30)
    async with (
        ScriptedService([wait] * 30) as service,
        client_of(service, patience=patience) as client,
    ):
        calls = [asyncio.create_task(client.status(SITE)) for _ in range(30)]
        async with asyncio.timeout(10):
            for _ in range(8):
                await arrived.acquire()
            assert service.most_at_once == 8
            go_on.set()
            await asyncio.gather(*calls)

    assert service.most_at_once == 8
    assert service.connections == 8


async def test_connection_is_kept_for_the_next_poll() -> None:
    async with (
        ScriptedService([answer('{"base_refs": []}')] * 5) as service,
        client_of(service) as client,
    ):
        for _ in range(5):
            assert await client.branches(SITE, WINDOW) == ()

    assert service.connections == 1


async def test_limits_are_checked_before_anything_is_sent() -> None:
    async with ScriptedService([]) as service, client_of(service) as client:
        refused: list[Callable[[], Awaitable[Any]]] = [
            lambda: client.pause(SITE, "x" * 256),
            lambda: client.status(RepositoryName("acme/..")),
            lambda: client.event_page(SITE, WINDOW, per_page=101),
        ]
        for call in refused:
            with pytest.raises(InvalidRequest):
                await call()

    assert service.arrivals == []


def page_of(*events: Any, cursor: str | None = None) -> Behaviour:
    headers = (
        () if cursor is None else (("Link", f'<http://x/v1/logs?cursor={cursor}>; rel="next"'),)
    )
    return answer(json.dumps({"events": events}), headers=headers)


def make_event(event_id: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": event_id,
        "received_at": "2026-07-20T11:00:00Z",
        "type": "action.queue.enter",
    } | more


class TestEventLog:
    """Pages, and what cannot be read of them."""

    async def test_pages_follow_the_cursor_until_there_is_none(self) -> None:
        script = [page_of(make_event(3), cursor="a"), page_of(make_event(2), cursor="b"), page_of()]
        async with ScriptedService(script) as service, client_of(service) as client:
            pages = [page async for page in client.event_pages(SITE, WINDOW, types=["x"])]

        assert [[event.id for event in page.events] for page in pages] == [[3], [2], []]
        assert [arrival.target.partition("&cursor=")[2] for arrival in service.arrivals] == [
            "",
            "a",
            "b",
        ]
        assert all("event_type=x" in arrival.target for arrival in service.arrivals)
        assert all("received_to=" in arrival.target for arrival in service.arrivals)

    async def test_cursor_that_comes_twice_is_an_error(self) -> None:
        script = [page_of(cursor="a"), page_of(cursor="b"), page_of(cursor="a")]
        async with ScriptedService(script) as service, client_of(service) as client:
            with pytest.raises(MergeQueueProtocolError, match="twice"):
                [page async for page in client.event_pages(SITE, WINDOW)]

    async def test_unreadable_events_are_counted_and_logged_once(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        bad = [
            make_event(1),
            make_event("x"),
            "nonsense",
            make_event(4, received_at="soon"),
            make_event(5, metadata={"branch": 7.5, "session_id": []}),
        ]
        script = [page_of(*bad), page_of(*bad, make_event(6, metadata=3))]
        async with ScriptedService(script) as service, client_of(service) as client:
            page = await client.event_page(SITE, WINDOW)
            await client.event_page(SITE, WINDOW)

        assert [event.id for event in page.events] == [1, 5]
        assert len(page.unreadable) == 3
        assert client.statistics.unreadable_events == 3
        assert client.statistics.unreadable_metadata == 2
        first, second = (record for record in caplog.records if hasattr(record, "action"))
        assert vars(first)["event_ids"] == [None, None, 4]
        assert vars(first)["metadata_event_ids"] == [5]
        assert vars(second)["unreadable_events"] == 0
        assert vars(second)["metadata_event_ids"] == [6]


async def test_credential_that_may_not_is_told_from_one_that_is_wrong() -> None:
    script = [answer("{}", status=401), answer("{}", status=403)]
    async with ScriptedService(script) as service, client_of(service) as client:
        for status in (401, 403):
            with pytest.raises(CredentialRefused) as caught:
                await client.application()
            assert caught.value.status == status
