"""Real responses with one part replaced by anything are read or are protocol errors."""

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings, strategies as st

from bot.kernel.errors import BotError
from bot.merge_queue import models
from bot.merge_queue.errors import MergeQueueProtocolError
from bot.merge_queue.models import error_of, read_event_page
from bot.merge_queue.queue import Application
from tests.support.make import SITE
from tests.support.samples import sample

NOW = datetime(2026, 7, 20, tzinfo=UTC)

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is slow, which is nothing that these tests look for."""
READERS: dict[str, Callable[[httpx.Response], object]] = {
    "status": models.read_queue_status,
    "status_live": models.read_queue_status,
    "application": partial(models.read_answer, Application),
    "application_live": partial(models.read_answer, Application),
    "configuration": models.read_rules,
    "queues": models.read_queues,
}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def tampered(draw: st.DrawFn, name: str) -> bytes:
    """The sample with one element, at any depth, replaced or removed."""
    body = copy.deepcopy(sample(name))
    node: Any = body
    while True:
        key = draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
        if not isinstance(node[key], dict | list) or not node[key] or draw(st.booleans()):
            break
        node = node[key]
    if draw(st.booleans()):
        node[key] = draw(anything)
    else:
        del node[key]
    return json.dumps(body).encode()


@steady
@given(st.data(), st.sampled_from(sorted(READERS)))
def test_tampered_response_is_read_or_is_a_protocol_error(data: st.DataObject, name: str) -> None:
    body = data.draw(tampered(name))
    try:
        read = READERS[name](httpx.Response(200, content=body))
    except MergeQueueProtocolError as error:
        assert 0 < len(error.detail) <= 300  # noqa: PT017 - either outcome is right
        return
    assert read is not None


@steady
@given(st.data())
def test_tampered_event_log_loses_no_event(data: st.DataObject) -> None:
    body = data.draw(tampered("event_log"))
    sent = json.loads(body).get("events")
    try:
        page = read_event_page(httpx.Response(200, content=body), SITE, asked_cursor=None)
    except MergeQueueProtocolError:
        assert not isinstance(sent, list)
        return
    assert len(page.events) + len(page.unreadable) == len(sent)
    assert len(page.unreadable) <= 1 or sent != sample("event_log")["events"]


@steady
@given(
    st.integers(201, 599),
    anything.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=50),
    st.dictionaries(
        st.sampled_from(
            [
                "retry-after",
                "date",
                "location",
                "content-type",
                "x-ratelimit-remaining",
                "x-ratelimit-reset",
            ]
        ),
        st.lists(st.text(st.characters(codec="utf-8"), max_size=30), min_size=1, max_size=2),
    ),
)
def test_every_error_response_becomes_an_error_with_one_safe_line(
    status: int, body: bytes, headers: dict[str, list[str]]
) -> None:
    fields = [(name, text.encode()) for name, texts in headers.items() for text in texts]
    error = error_of(
        httpx.Response(
            status, headers=[(name.encode(), text) for name, text in fields], content=body
        ),
        NOW,
        httpx.URL("https://queue.example/v1/application"),
    )

    assert isinstance(error, BotError)
    line = str(error)
    assert 0 < len(line) <= 300
    assert "\n" not in line
    assert not any(0xD800 <= ord(character) < 0xE000 for character in line)
