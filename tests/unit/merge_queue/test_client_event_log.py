"""The event log, page by page, and what of it cannot be read."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from bot.domain.errors import (
    MergeQueueProtocolError,
)
from tests.unit.merge_queue.client_under_test import SITE, WINDOW, client_of
from tests.unit.merge_queue.scripted_service import (
    Behaviour,
    ScriptedService,
    answer,
)


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
        cursors = [
            parse_qs(urlsplit(arrival.target).query).get("cursor") for arrival in service.arrivals
        ]
        assert cursors == [None, ["a"], ["b"]]
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
