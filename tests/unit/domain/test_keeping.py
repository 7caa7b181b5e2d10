"""What is kept of an event: enough for its message, and never more than so much."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from bot.domain.event_reading import METADATA_OF_TYPE
from bot.domain.events import QueueEvent
from bot.domain.keeping import CHECKS_KEPT, NUMBERS_KEPT, TEXT_KEPT, keep
from tests.support.make import SITE, make_event
from tests.support.samples import sample

LONG = "x" * (TEXT_KEPT * 3)
LARGEST = 25_000
"""Characters of the details as JSON; the longest have seven texts and five checks of two."""

EVENTS = [
    pytest.param(sent, id=f"{log}:{sent['type']}")
    for log in ("event_log", "event_log_live")
    for sent in sample(log)["events"]
]


def swollen(value: Any, times: int = 60) -> Any:
    """The same shape with every text long and the outer lists many times as long."""
    if isinstance(value, str):
        return value if value[:2] == "20" or len(value) == 36 else LONG
    if isinstance(value, list):
        return [swollen(one, 1) for one in value] * times
    if isinstance(value, dict):
        return {name: swollen(one, times) for name, one in value.items()}
    return value


@pytest.mark.parametrize("sent", EVENTS)
def test_every_event_of_the_samples_is_kept_as_plain_json(sent: dict[str, Any]) -> None:
    event = QueueEvent.model_validate(sent)

    record = keep(event, SITE)

    assert (record.event_id, record.type, record.received_at) == (
        event.id,
        event.type,
        event.received_at,
    )
    assert (record.pull_request, record.base_ref) == (event.pull_request, event.base_ref)
    assert json.loads(json.dumps(record.details)) == record.details
    assert None not in record.details.values()
    assert record.details["trigger"] == event.trigger


@pytest.mark.parametrize("sent", EVENTS)
def test_what_is_kept_is_bounded_whatever_is_sent(sent: dict[str, Any]) -> None:
    event = QueueEvent.model_validate(
        {
            **sent,
            "metadata": swollen(sent["metadata"]),
            "trigger": LONG,
            "base_ref": LONG,
        }
    )

    record = keep(event, SITE)

    assert len(json.dumps(record.details)) < LARGEST
    assert len(record.base_ref or "") <= TEXT_KEPT
    assert len(record.session_id or "") <= TEXT_KEPT
    for value in record.details.values():
        assert not isinstance(value, list) or len(value) <= max(NUMBERS_KEPT, CHECKS_KEPT)


def test_every_type_with_metadata_of_its_own_is_in_the_samples() -> None:
    logs = ("event_log", "event_log_live")
    shown = {sent["type"] for log in logs for sent in sample(log)["events"]}

    assert set(METADATA_OF_TYPE) <= shown


@pytest.mark.parametrize("event_type", [*sorted(METADATA_OF_TYPE), "action.of_tomorrow"])
def test_an_event_without_metadata_is_kept_without_facts(event_type: str) -> None:
    record = keep(make_event(1, event_type), SITE)

    assert set(record.details) <= {"trigger", "checks", "pull_requests", "culprits", "remaining"}
    assert not any(record.details.values())


def test_a_leave_keeps_why_and_the_failing_checks_with_their_pages() -> None:
    checks = [
        {"name": "unit", "state": "failure", "url": "https://ci.example/1", "details_url": None},
        {"name": "lint", "state": "success", "url": "https://ci.example/2"},
        {"name": "e2e", "state": "timed_out", "details_url": "https://ci.example/3", "url": "x"},
    ]
    metadata = {"merged": False, "dequeue_code": "CHECKS_FAILED", "reason": "no", "checks": checks}

    details = keep(make_event(1, "action.queue.leave", metadata=metadata), SITE).details

    assert (details["merged"], details["code"], details["reason"]) == (False, "CHECKS_FAILED", "no")
    assert details["checks"] == [
        {"name": "unit", "url": "https://ci.example/1"},
        {"name": "e2e", "url": "https://ci.example/3"},
    ]


def test_who_paused_is_kept() -> None:
    metadata = {"reason": "deploy", "created_by": {"type": "user", "id": 7, "name": "Ana"}}

    details = keep(make_event(1, "queue.pause.create", metadata=metadata), SITE).details

    assert (details["reason"], details["actor"], details["actor_type"]) == ("deploy", "Ana", "user")


@given(st.text())
def test_no_text_is_kept_that_a_database_cannot_store(text: str) -> None:
    hostile = f"a\x00{text}"
    event = make_event(
        1,
        "action.queue.leave",
        trigger=hostile,
        base_ref=hostile,
        metadata={"reason": hostile, "session_id": hostile, "queue_name": hostile},
    )

    record = keep(event, SITE)

    assert "\x00" not in json.dumps([record.details, record.base_ref, record.session_id])
    assert "\\u0000" not in json.dumps([record.details, record.base_ref, record.session_id])
