"""What is sent for each endpoint of the API document."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import pytest

from bot.kernel.errors import InvalidRequest, MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.window import Window
from tests.unit.merge_queue.client_under_test import TOKEN, client_of

SITE = RepositoryName.parse("acme/site.web-2_x")
WINDOW = Window(
    datetime(2026, 7, 20, 10, 0, tzinfo=UTC),
    datetime(2026, 7, 20, 14, 0, 0, 5, tzinfo=timezone(timedelta(hours=2))),
)
START = "2026-07-20T10%3A00%3A00.000000Z"
END = "2026-07-20T12%3A00%3A00.000005Z"
BASE = "/v1/repos/acme/site.web-2_x"

Act = Callable[[MergeQueueClient], Awaitable[Any]]


async def sent_by(act: Act) -> list[httpx.Request]:
    """What reaches the network when a service answers everything with nothing.

    The slash at the end of its address does no harm.
    """
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200)

    async with client_of(
        "https://queue.example/v1/", transport=httpx.MockTransport(answer)
    ) as client:
        with suppress(MergeQueueError):
            await act(client)
    return requests


@pytest.mark.parametrize(
    ("act", "method", "target", "body"),
    [
        (lambda client: client.status(SITE), "GET", f"{BASE}/merge-queue/status", b""),
        (
            lambda client: client.status(SITE, "release/1 & 2"),
            "GET",
            f"{BASE}/merge-queue/status?branch=release%2F1+%26+2",
            b"",
        ),
        (
            lambda client: client.pause(SITE, "déploy"),
            "PUT",
            f"{BASE}/merge-queue/pause",
            '{"reason":"déploy"}'.encode(),
        ),
        (lambda client: client.resume(SITE), "DELETE", f"{BASE}/merge-queue/pause", b""),
        (lambda client: client.current_pause(SITE), "GET", f"{BASE}/merge-queue/pause", b""),
        (lambda client: client.rules(SITE), "GET", f"{BASE}/queues/configuration", b""),
        (
            lambda client: client.branches(SITE, WINDOW),
            "GET",
            f"{BASE}/queues/branches?start_at={START}&end_at={END}",
            b"",
        ),
        (lambda client: client.application(), "GET", "/v1/application", b""),
        (lambda client: client.queues(SITE), "GET", f"{BASE}/queues", b""),
    ],
)
async def test_endpoint_has_its_method_path_and_body(
    act: Act, method: str, target: str, body: bytes
) -> None:
    request = (await sent_by(act))[0]

    assert (request.method, request.url.raw_path.decode()) == (method, target)
    assert (request.url.scheme, request.url.host) == ("https", "queue.example")
    assert request.content == body
    assert request.headers.get("content-type") == ("application/json" if body else None)
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["accept"] == "application/json"
    assert request.headers["user-agent"].startswith("mqbot/")


async def test_event_log_request_has_both_ends_of_its_window() -> None:
    (request, *_) = await sent_by(lambda client: client.event_page(SITE, WINDOW))

    assert request.url.raw_path.decode() == (
        f"{BASE}/logs?received_from={START}&received_to={END}&per_page=100"
    )


async def test_event_log_request_repeats_its_filters_with_the_cursor() -> None:
    (request, *_) = await sent_by(
        lambda client: client.event_page(
            SITE,
            WINDOW,
            types=("b", "a"),
            pull_request=41,
            base_ref="main",
            cursor="a+b/=",
            per_page=1,
        )
    )

    assert request.url.raw_path.decode().endswith(
        "&per_page=1&pull_request=41&base_ref=main&cursor=a%2Bb%2F%3D&event_type=a&event_type=b"
    )


async def test_text_that_has_no_encoding_is_an_invalid_request() -> None:
    async def refused(client: MergeQueueClient) -> None:
        with pytest.raises(InvalidRequest):
            await client.pause(SITE, "\ud800")

    assert await sent_by(refused) == []
    (request, *_) = await sent_by(lambda client: client.status(SITE, "\ud800"))
    assert request.url.params["branch"] == "?"
