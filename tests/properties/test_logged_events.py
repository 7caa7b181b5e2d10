"""Events read in one go are what `QueueEvent` makes of them, whatever is wrong with them."""

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import TypeAdapter, ValidationError

from bot.domain.event_types import LEAVE
from bot.domain.events import QueueEvent
from bot.merge_queue.logged_events import LoggedEvent
from tests.properties.test_answers import steady, tampered
from tests.support.samples import sample

LOGGED: TypeAdapter[QueueEvent] = TypeAdapter(LoggedEvent)
ANY: TypeAdapter[QueueEvent] = TypeAdapter(QueueEvent)


def read(adapter: TypeAdapter[QueueEvent], sent: Any) -> tuple[QueueEvent, Any] | None:
    try:
        event = adapter.validate_json(json.dumps(sent))
    except ValidationError:
        return None
    return event, event.raw_metadata


@steady
@given(st.data(), st.sampled_from(["event_log", "event_log_live"]))
def test_event_of_a_known_type_is_read_as_any_event(data: st.DataObject, name: str) -> None:
    events = json.loads(data.draw(tampered(name))).get("events")
    for sent in events if isinstance(events, list) else []:
        assert read(LOGGED, sent) == read(ANY, sent)


@pytest.mark.parametrize(
    "at",
    [
        "2026-07-20T11:48:00Z",
        "2026-07-20T11:48:00.123456Z",
        "2026-07-20T11:48:00.1234567Z",
        "2026-07-20T11:48:00+00:00",
        "2026-07-20T11:48:00+02:00",
        "2026-07-20T11:48:00",
        "2026-07-20 11:48Z",
        "20260720T114800Z",
        "2026-W30-1T11:48:00Z",
        "8999-12-31T23:59:59Z",
        "9001-01-01T00:00:00Z",
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "2026-02-30T11:48:00Z",
        "2026-07-20T11:48:00z",
        "2026-07-20-Z",
        "1784548080",
        1784548081,
        None,
    ],
)
def test_a_time_is_read_the_same_however_it_is_written(at: object) -> None:
    sent = next(one for one in sample("event_log")["events"] if one["type"] == LEAVE)
    for changed in (
        {**sent, "received_at": at},
        {**sent, "metadata": {**sent["metadata"], "queued_at": at}},
    ):
        assert read(LOGGED, changed) == read(ANY, changed)


def test_whole_event_is_read_in_one_go() -> None:
    """In a process of its own: whoever else reads a `QueueEvent` before has it read in two."""
    program = """
import sys
from bot.domain import events
from bot.domain.event_metadata import QueueLeave
from bot.merge_queue.answer import Answer
from bot.merge_queue.protocol import read_event_page

def second_step(*_):
    raise AssertionError

events.read_metadata = second_step
page = read_event_page(Answer(200, None, body=sys.stdin.buffer.read()), asked_cursor=None)
assert type(page.events[0].metadata) is QueueLeave
"""
    sent = next(one for one in sample("event_log")["events"] if one["type"] == LEAVE)
    ended = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps({"events": [sent]}).encode(),
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()
