"""Events read in one go are what `QueueEvent` makes of them, whatever is wrong with them."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import TypeAdapter, ValidationError

from bot.domain.event_metadata import QueueLeave
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


def test_whole_event_is_read_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = next(one for one in sample("event_log")["events"] if one["type"] == LEAVE)
    expected = read(ANY, sent)

    def second_step(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("bot.domain.events.read_metadata", second_step)

    assert expected is not None
    assert read(LOGGED, sent) == expected
    assert type(expected[0].metadata) is QueueLeave
