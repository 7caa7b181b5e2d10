"""Blocks at and past their limits, and whatever else a client may send."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from bot.sandbox.slack import web_api
from bot.sandbox.slack.block_kit.blocks import completed, find_problems, text_length
from bot.sandbox.slack.block_kit.elements import ELEMENTS
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.web_api.methods import app, chat, conversations, people, views
from tests.support.block_kit import (
    DIVIDER,
    Json,
    actions,
    button,
    input_block,
    mrkdwn,
    option,
    plain,
    section,
)
from tests.support.workspace_manifest import make_manifest
from tests.unit.sandbox.slack.conftest import Desk


def options(count: int) -> list[Json]:
    return [option(f"Option {number}", f"o{number}") for number in range(count)]


def select(count: int, **fields: object) -> Json:
    return {"type": "static_select", "action_id": "pick", "options": options(count), **fields}


def table(rows: int, columns: int, text: str = "x") -> Json:
    cell = {"type": "raw_text", "text": text}
    return {"type": "table", "rows": [[cell] * columns for _ in range(rows)]}


def chart(points: int = 2, series: int | list[Json] = 1, **fields: object) -> Json:
    labels = [f"day {number}" for number in range(points)]
    data = [{"label": label, "value": 1} for label in labels]
    drawn = {
        "type": "bar",
        "series": (
            [{"name": f"s{number}", "data": data} for number in range(series)]
            if isinstance(series, int)
            else series
        ),
        "axis_config": {"categories": labels},
        **fields,
    }
    return {"type": "data_visualization", "title": "x" * 50, "chart": drawn}


def less(most: int) -> str:
    return f"must be less than {most} characters"


def at_most(items: int) -> str:
    return f"no more than {items} items allowed"


def sentences(*blocks: Json, surface: Any = "message") -> list[str]:
    return find_problems(list(blocks), surface).sentences()


CONFIRM = {"title": plain("Sure?"), "text": mrkdwn("x"), "confirm": plain("Y"), "deny": plain("N")}

ACCEPTED = [
    section("x" * 3000),
    section(fields=[mrkdwn("x" * 2000)] * 10),
    {"type": "header", "text": plain("x" * 150)},
    DIVIDER,
    {"type": "context", "elements": [mrkdwn("x" * 3000)] * 10},
    actions(*[button(action_id=f"a{n}") for n in range(25)]),
    actions(button(text=plain("x" * 75), value="x" * 2000, url="https://a.example")),
    actions(button(style="danger", confirm={**CONFIRM, "style": "danger"})),
    actions(select(100)),
    actions(select(2, initial_option=options(2)[1])),
    actions({"type": "overflow", "action_id": "o", "options": options(5)}),
    actions({"type": "datetimepicker", "action_id": "d", "initial_date_time": 1700000000}),
    section(accessory={"type": "image", "image_url": "https://a.example/b", "alt_text": "b"}),
    {"type": "image", "image_url": "https://a.example/b.png", "alt_text": "b"},
    input_block({"type": "plain_text_input", "action_id": "t", "max_length": 3000}),
    {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [
                    {"type": "text", "text": "x", "style": {"bold": True}},
                    {"type": "link", "url": "https://a.example"},
                    {"type": "user", "user_id": "U0ALICE"},
                    {"type": "emoji", "name": "tada"},
                ],
            }
        ],
    },
    table(100, 20),
    chart(points=20, series=6),
    {
        "type": "data_visualization",
        "title": "x",
        "chart": {"type": "pie", "segments": [{"label": "x" * 20, "value": 0.5}]},
    },
    {"type": "markdown", "text": "**x**"},
]


@pytest.mark.parametrize("block", ACCEPTED)
def test_blocks_at_their_limits_are_accepted(block: Json) -> None:
    assert sentences(block) == []


REFUSED = [
    (section("x" * 3001), "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"),
    (section(""), "must be more than 0 characters [json-pointer:/blocks/0/text/text]"),
    ({"type": "section"}, "must define either `text` or `fields` [json-pointer:/blocks/0]"),
    (
        section(fields=[mrkdwn("x" * 2001)]),
        "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]",
    ),
    (section(fields=[mrkdwn("x")] * 11), at_most(10)),
    (chart(points=21), at_most(20)),
    (chart(series=7), at_most(6)),
    (chart(type="radar"), "unsupported type: radar"),
    (chart(axis_config={"categories": ["day 0", "day 9"]}), "must match axis_config.categories"),
    (chart(axis_config={"categories": ["x" * 21]}), less(21)),
    (chart(axis_config=None), "missing required field: axis_config"),
    (chart(series=0), "must have at least 1 item(s)"),
    (
        chart(series=[{"name": "a", "data": [{"label": "b", "value": "1"}]}]),
        "must provide a number [json-pointer:/blocks/0/chart/series/0/data/0/value]",
    ),
    ({"type": "header", "text": plain("x" * 151)}, less(151)),
    ({"type": "header", "text": mrkdwn("x")}, "unsupported type: mrkdwn"),
    ({"type": "context", "elements": [mrkdwn("x")] * 11}, at_most(10)),
    ({"type": "context", "elements": [button()]}, "unsupported type: button"),
    (actions(*[button(action_id=f"a{n}") for n in range(26)]), at_most(25)),
    (actions(), "must have at least 1 item(s)"),
    (actions(button(text=plain("x" * 76))), less(76)),
    (actions(button(value="x" * 2001)), less(2001)),
    (actions(button(value=5)), "must provide a string"),
    (actions(button(url="x" * 3001)), less(3001)),
    (actions(button(action_id="x" * 256)), less(256)),
    (actions(button(style="red")), "must be one of: primary, danger"),
    (actions(button(text=None)), "missing required field: text"),
    (actions(button(colour="red")), "invalid additional property: colour"),
    (actions(button(accessibility_label="x" * 76)), less(76)),
    (actions(button(), button()), '`action_id` "go" already exists'),
    (actions(button(confirm={**CONFIRM, "title": plain("x" * 101)})), less(101)),
    (actions(button(confirm={**CONFIRM, "text": plain("x" * 301)})), less(301)),
    (actions(button(confirm={**CONFIRM, "deny": plain("x" * 31)})), less(31)),
    (actions(select(101)), at_most(100)),
    (actions(select(0)), "must have at least 1 item(s)"),
    (
        actions(select(2, initial_option=option("Other"))),
        "initial option must match one of the options",
    ),
    (actions(select(1, options=[option("x" * 76, "v")])), less(76)),
    (actions(select(1, options=[option("x", "v" * 151)])), less(151)),
    (actions(select(1, placeholder=plain("x" * 151))), less(151)),
    (actions({"type": "overflow", "action_id": "o", "options": options(6)}), at_most(5)),
    (actions({"type": "radio_buttons", "action_id": "r", "options": options(11)}), at_most(10)),
    (actions({"type": "checkboxes", "action_id": "c", "options": options(11)}), at_most(10)),
    (
        actions({"type": "datepicker", "action_id": "d", "initial_date": "20.11.2026"}),
        "must be a date in the form YYYY-MM-DD",
    ),
    (
        actions({"type": "timepicker", "action_id": "d", "initial_time": "25:00"}),
        "must be a time in the form HH:mm",
    ),
    (actions({"type": "plain_text_input", "action_id": "t"}), "unsupported type: plain_text_input"),
    (input_block(button()), "unsupported type: button"),
    (input_block({"type": "plain_text_input", "max_length": 3001}), "must be less than 3001"),
    (input_block({"type": "plain_text_input"}, "x" * 2001), less(2001)),
    ({"type": "image", "alt_text": "b"}, "must define exactly one of: image_url, slack_file"),
    ({"type": "image", "image_url": "https://a.example", "alt_text": "x" * 2001}, less(2001)),
    ({"type": "image", "image_url": "https://a.example"}, "missing required field: alt_text"),
    (table(101, 1), at_most(100)),
    (table(1, 21), at_most(20)),
    (table(10, 2, "x" * 600), "table must be less than 10001 characters"),
    ({"type": "alert", "text": plain("x")}, "unsupported type: alert"),
    ({"type": "marquee"}, "unsupported type: marquee [json-pointer:/blocks/0/type]"),
    ({"text": plain("x")}, "missing required field: type"),
    ({**DIVIDER, "block_id": "x" * 256}, less(256)),
    (
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{}]}]},
        "missing required field: type",
    ),
]


@pytest.mark.parametrize(("block", "sentence"), REFUSED)
def test_blocks_past_their_limits_are_refused_with_their_place(block: Json, sentence: str) -> None:
    found = sentences(block)
    assert any(sentence in each for each in found), found
    assert all("[json-pointer:/blocks" in each for each in found)


@pytest.mark.parametrize(("surface", "most"), [("message", 50), ("modal", 100), ("home", 100)])
def test_each_surface_limits_its_number_of_blocks(surface: str, most: int) -> None:
    assert sentences(*[DIVIDER] * most, surface=surface) == []
    assert sentences(*[DIVIDER] * (most + 1), surface=surface) == [
        f"{at_most(most)} [json-pointer:/blocks]"
    ]


def test_alerts_are_only_for_modals_and_markdown_only_for_messages() -> None:
    alert: Json = {"type": "alert", "text": mrkdwn("x" * 200), "level": "warning"}
    markdown: Json = {"type": "markdown", "text": "x"}
    assert sentences(alert, surface="modal") == []
    assert sentences({**alert, "text": mrkdwn("x" * 201)}, surface="modal") != []
    assert sentences(alert, surface="home") != []
    assert sentences(markdown, surface="modal") != []


def test_other_values_than_a_list_of_objects_are_refused() -> None:
    assert find_problems(DIVIDER, "message").found
    assert find_problems(["divider"], "message").found


def test_block_ids_are_unique_and_a_message_has_one_table() -> None:
    twice = {**DIVIDER, "block_id": "a"}
    assert sentences(twice, twice) == [
        'block_id "a" already exists [json-pointer:/blocks/1/block_id]'
    ]
    assert sentences(table(1, 1), table(1, 1)) == ["only 1 table allowed [json-pointer:/blocks]"]


def test_chart_series_have_unique_names_and_a_message_has_two_charts_at_most() -> None:
    point = {"label": "day 0", "value": 1}
    twice = [{"name": "same", "data": [point]}] * 2
    assert sentences(chart(points=1, series=twice)) == [
        "series names must be unique [json-pointer:/blocks/0/chart/series]"
    ]
    assert sentences(chart(), chart()) == []
    assert sentences(*[chart()] * 3) == ["only 2 data_visualization allowed [json-pointer:/blocks]"]


def test_markdown_blocks_share_a_limit_of_twelve_thousand_characters() -> None:
    half: Json = {"type": "markdown", "text": "x" * 6000}
    assert sentences(half, half) == []
    assert sentences(half, half, {"type": "markdown", "text": "x"}) != []


def test_all_text_counts_towards_the_limit() -> None:
    blocks = [section("12345", accessory=button(text=plain("678"))), actions(select(1))]
    assert text_length(blocks) == len("12345" + "678" + "Option 0")


def test_blocks_are_completed_as_slack_stores_them() -> None:
    given = [section(), actions({"type": "button", "text": plain("Go")})]
    stored = completed(given, random.Random(1))
    assert "block_id" not in given[0]
    assert all(each["block_id"] for each in stored)
    assert stored[0]["text"]["verbatim"] is False
    assert stored[1]["elements"][0]["text"]["emoji"] is True
    assert stored[1]["elements"][0]["action_id"]


def _fields(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _fields(one)
    elif isinstance(value, dict):
        yield from value
        yield from _fields(list(value.values()))


SOURCES = sorted(Path(web_api.__path__[0]).rglob("*.py"))
READ = {
    name for path in SOURCES for name in re.findall(r'call\.\w+\("(\w+)"', path.read_text("utf-8"))
}
"""The arguments that some method reads."""

METHODS = st.sampled_from(
    [name for each in (app, chat, conversations, people, views) for name in each.METHODS]
)
KEYS = st.sampled_from(sorted(set(_fields(ACCEPTED))))
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["section", "actions", "input", "plain_text", "mrkdwn", "x", ""])
    | st.sampled_from(sorted(ELEMENTS))
)
VALUES = st.recursive(
    LEAVES,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(KEYS, inside, max_size=5),
    max_leaves=25,
)
KNOWN = {
    "channel": st.just("C0MERGEQ") | VALUES,
    "user": st.just("U0ALICE") | VALUES,
    "user_id": st.just("U0ALICE") | VALUES,
}
ARGUMENTS = st.fixed_dictionaries({}, optional={**dict.fromkeys(sorted(READ), VALUES), **KNOWN})


@settings(max_examples=60)
@given(METHODS, ARGUMENTS)
def test_every_call_is_answered(method: str, arguments: Json) -> None:
    desk = Desk(SlackSandbox(make_manifest(), rate_limits="off"))
    body = desk.call(method, **arguments)
    assert body["ok"] is True or isinstance(body["error"], str)


ELEMENT_LIKE = st.builds(
    lambda kind, rest: {**rest, "type": kind},
    st.sampled_from(sorted(ELEMENTS)),
    st.dictionaries(KEYS, VALUES, max_size=5),
)


@settings(max_examples=60)
@given(st.lists(ELEMENT_LIKE, min_size=1, max_size=3))
def test_every_element_is_validated(parts: list[Json]) -> None:
    for sentence in find_problems([actions(part) for part in parts], "message").sentences():
        assert "[json-pointer:/blocks" in sentence
