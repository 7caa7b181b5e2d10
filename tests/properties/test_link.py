"""Link fields and event pages: any input is read or refused cleanly."""

import json
from typing import Any
from urllib.parse import urlencode

import httpx
from hypothesis import HealthCheck, given, settings, strategies as st

from bot.merge_queue.errors import MergeQueueProtocolError
from bot.merge_queue.event_records import EventDetails
from bot.merge_queue.models import cursor_of, read_event_page
from tests.support.make import SITE

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is slow, which is nothing that these tests look for."""

cursors = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
quoted = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20).map(
    lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
)
parameters = st.lists(
    st.tuples(st.sampled_from(["title", "type", "hreflang", "media", "x-more"]), quoted), max_size=3
)
spaces = st.sampled_from(["", " ", "  ", "\t"])


@st.composite
def link_values(draw: st.DrawFn, relations: list[str], cursor: str) -> str:
    """A link value of the grammar of RFC 8288, with its parameters in any order."""
    query = urlencode([("per_page", "10"), ("cursor", cursor)])
    path = draw(st.sampled_from(["", "/v1/logs", "https://queue.example/v1/logs", "//other/x"]))
    pairs = [*draw(parameters), ("rel", f'"{" ".join(relations)}"')]
    shuffled = draw(st.permutations(pairs))
    space = draw(spaces)
    tail = "".join(f"{space};{space}{name}{space}={space}{value}" for name, value in shuffled)
    return f"<{path}?{query}>{tail}"


@steady
@given(st.data(), cursors, cursors)
def test_cursor_survives_any_form_of_the_link_header(
    data: st.DataObject, wanted: str, other: str
) -> None:
    relations = data.draw(st.sampled_from([["next"], ["last", "next"], ["NEXT"]]))
    values = [
        data.draw(link_values(["prev", "first"], other)),
        data.draw(link_values(relations, wanted)),
    ]
    values = data.draw(st.permutations(values))
    header = data.draw(st.sampled_from([", ", ","])).join(values)

    assert cursor_of("next", header) == wanted
    assert cursor_of("first", header) == other


@steady
@given(st.text() | st.text(alphabet='<>;,="\\ relnxt?cuso', max_size=120))
def test_no_text_breaks_the_parser(header: str) -> None:
    try:
        cursor = cursor_of("next", header)
    except MergeQueueProtocolError:
        return
    assert cursor is None or cursor


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=10)
    | st.just("2026-07-20T23:25:11Z"),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
metadata_like = st.dictionaries(
    st.sampled_from(
        [
            *EventDetails.model_fields,
            *("dequeue_code", "unsuccessful_checks", "speculative_check_pull_request"),
            *("batch_id", "created_by", "scheduled_freeze_attributes"),
        ]
    ),
    anything,
    max_size=5,
)
event_like = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(0, 2**63) | anything,
        "received_at": st.just("2026-07-20T23:25:11Z") | anything,
        "type": st.sampled_from(["action.queue.leave", "queue.pause.create", "new.type"])
        | anything,
        "trigger": anything,
        "repository": anything,
        "pull_request": st.none() | anything,
        "base_ref": anything,
        "metadata": metadata_like | anything,
    },
)
good = st.just(
    {"id": 5, "received_at": "2026-07-20T23:25:11Z", "type": "action.queue.enter", "metadata": {}}
)


@steady
@given(st.lists(good | event_like | anything, max_size=6), st.booleans())
def test_no_page_element_breaks_the_parser(
    elements: list[Any],
    ascii_only: bool,  # noqa: FBT001 - drawn
) -> None:
    text = json.dumps({"size": len(elements), "events": elements}, ensure_ascii=ascii_only)
    body = text.encode("utf-8", "surrogatepass")

    page = read_event_page(httpx.Response(200, content=body), SITE, asked_cursor=None)

    assert len(page.events) + len(page.unreadable) == len(elements)
    good_ones = sum(element == good_event() for element in elements)
    assert sum(event.event_id == 5 for event in page.events) >= good_ones
    for event in page.events:
        event.details.stored().encode()
        assert "\x00" not in event.type + event.details.trigger + (event.base_ref or "")
    for unreadable in page.unreadable:
        assert unreadable.problem


def good_event() -> dict[str, Any]:
    return {
        "id": 5,
        "received_at": "2026-07-20T23:25:11Z",
        "type": "action.queue.enter",
        "metadata": {},
    }


@steady
@given(anything.map(json.dumps).map(str.encode) | st.binary(max_size=60))
def test_no_response_breaks_reading_a_page(body: bytes) -> None:
    try:
        page = read_event_page(httpx.Response(200, content=body), SITE, asked_cursor=None)
    except MergeQueueProtocolError as error:
        assert error.detail  # noqa: PT017 - either outcome is right; nothing else may be raised
        return
    assert page.next_cursor is None
