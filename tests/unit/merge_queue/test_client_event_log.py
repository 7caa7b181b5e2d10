"""The event log, page by page, and what of it can't be read."""

import json
from typing import Any

import pytest

from bot.kernel.metrics import Metrics
from tests.support.metrics import counted
from tests.unit.merge_queue.client_under_test import SITE, WINDOW, scripted
from tests.unit.merge_queue.scripted_service import Behaviour, answer


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


async def test_unreadable_events_are_counted_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bad = [
        make_event(1),
        make_event("x"),
        "nonsense",
        make_event(4, received_at="soon"),
        make_event(5, metadata={"branch": 7.5, "session_id": []}),
    ]
    script = [page_of(*bad), page_of(*bad, make_event(6, metadata=3))]
    counts = Metrics()
    async with scripted(*script, metrics=counts) as (_, client):
        page = await client.event_page(SITE, WINDOW)
        await client.event_page(SITE, WINDOW)

    assert [event.event_id for event in page.events] == [1, 5]
    assert len(page.unreadable) == 3
    assert counted(counts.service_unreadable_events) == {(): 3}
    assert counted(counts.service_unreadable_metadata) == {(): 2}
    first, second = (record for record in caplog.records if hasattr(record, "action"))
    assert vars(first)["event_ids"] == [4]
    assert vars(first)["metadata_event_ids"] == [5]
    assert vars(second)["event_ids"] == []
    assert vars(second)["metadata_event_ids"] == [6]
