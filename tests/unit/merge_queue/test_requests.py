"""The requests of the API document, and its limits."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from bot.domain.errors import InvalidRequest
from bot.domain.event_log import Window
from bot.domain.repository import RepositoryName
from bot.merge_queue import requests
from bot.merge_queue.requests import EventFilter, Request

SITE = RepositoryName.parse("acme/site.web-2_x")
WINDOW = Window(
    datetime(2026, 7, 20, 10, 0, tzinfo=UTC),
    datetime(2026, 7, 20, 14, 0, 0, 5, tzinfo=timezone(timedelta(hours=2))),
)
START = "2026-07-20T10%3A00%3A00.000000Z"
END = "2026-07-20T12%3A00%3A00.000005Z"
BASE = "/repos/acme/site.web-2_x"


@pytest.mark.parametrize(
    ("request_", "method", "target", "body"),
    [
        (requests.status_request(SITE), "GET", f"{BASE}/merge-queue/status", None),
        (
            requests.status_request(SITE, "release/1 & 2"),
            "GET",
            f"{BASE}/merge-queue/status?branch=release%2F1+%26+2",
            None,
        ),
        (
            requests.set_pause_request(SITE, "déploy"),
            "PUT",
            f"{BASE}/merge-queue/pause",
            '{"reason": "déploy"}'.encode(),
        ),
        (requests.delete_pause_request(SITE), "DELETE", f"{BASE}/merge-queue/pause", None),
        (requests.get_pause_request(SITE), "GET", f"{BASE}/merge-queue/pause", None),
        (requests.rules_request(SITE), "GET", f"{BASE}/queues/configuration", None),
        (
            requests.branches_request(SITE, WINDOW),
            "GET",
            f"{BASE}/queues/branches?start_at={START}&end_at={END}",
            None,
        ),
        (requests.application_request(), "GET", "/application", None),
        (
            requests.set_queue_pause_request(SITE, "x"),
            "PUT",
            f"{BASE}/queue/pause",
            b'{"reason": "x"}',
        ),
        (requests.delete_queue_pause_request(SITE), "DELETE", f"{BASE}/queue/pause", None),
        (requests.get_queue_pause_request(SITE), "GET", f"{BASE}/queue/pause", None),
        (
            requests.post_queue_pause_delete_request(SITE),
            "POST",
            f"{BASE}/queue/pause/delete",
            None,
        ),
        (requests.queues_request(SITE), "GET", f"{BASE}/queues", None),
    ],
    ids=lambda value: f"{value.method} {value.target}" if isinstance(value, Request) else "",
)
def test_endpoint_has_its_method_path_and_body(
    request_: Request, method: str, target: str, body: bytes | None
) -> None:
    assert (request_.method, request_.target, request_.body) == (method, target, body)
    assert request_.is_read is (method == "GET")


def test_event_log_request_says_both_ends_of_its_window() -> None:
    request = requests.event_page_request(SITE, WINDOW, EventFilter())

    assert request.target == (f"{BASE}/logs?received_from={START}&received_to={END}&per_page=100")


def test_event_log_request_repeats_its_filters_with_the_cursor() -> None:
    wanted = EventFilter(types=("b", "a"), pull_request=41, base_ref="main")

    request = requests.event_page_request(SITE, WINDOW, wanted, cursor="a+b/=", per_page=1)

    assert request.target.endswith(
        "&per_page=1&pull_request=41&base_ref=main&cursor=a%2Bb%2F%3D&event_type=a&event_type=b"
    )


def page(**changes: Any) -> Request:
    filters = {"types", "pull_request", "base_ref"} & changes.keys()
    wanted = EventFilter(**{name: changes.pop(name) for name in filters})
    return requests.event_page_request(SITE, WINDOW, wanted, **changes)


@pytest.mark.parametrize(
    ("case", "build", "field"),
    [
        ("long", lambda: requests.set_pause_request(SITE, "x" * 256), "reason"),
        ("long, deprecated", lambda: requests.set_queue_pause_request(SITE, "x" * 256), "reason"),
        ("no text", lambda: requests.set_pause_request(SITE, "\ud800"), "reason"),
        ("no text", lambda: requests.status_request(SITE, "\ud800"), "query"),
        ("cursor that is no text", lambda: page(cursor="\ud800"), "query"),
        ("type that is no text", lambda: page(types=["\ud800"]), "query"),
        ("path", lambda: requests.status_request(RepositoryName("../x")), "owner"),
        ("long", lambda: requests.status_request(RepositoryName("a" * 41 + "/x")), "owner"),
        ("dots", lambda: requests.rules_request(RepositoryName("acme/..")), "repository"),
        ("space", lambda: requests.rules_request(RepositoryName("acme/a b")), "repository"),
        ("none", lambda: requests.rules_request(RepositoryName("acme/")), "repository"),
        ("below", lambda: page(per_page=0), "per_page"),
        ("above", lambda: page(per_page=101), "per_page"),
        ("below", lambda: page(pull_request=0), "pull_request"),
        ("above", lambda: page(pull_request=2147483647), "pull_request"),
        ("none", lambda: page(base_ref=""), "base_ref"),
        ("long", lambda: page(base_ref="x" * 256), "base_ref"),
        ("none", lambda: page(cursor=""), "cursor"),
    ],
)
def test_limit_is_checked_before_sending_and_names_its_field(
    case: str, build: Callable[[], Request], field: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        build()

    assert caught.value.field == field, case
    assert caught.value.status is None


def test_values_at_the_limits_are_sent() -> None:
    requests.set_pause_request(SITE, "x" * 255)
    requests.status_request(RepositoryName("a" * 40 + "/x"))
    page(per_page=1)
    page(per_page=100)
    page(pull_request=1)
    page(pull_request=2147483646)
    page(base_ref="x" * 255)
