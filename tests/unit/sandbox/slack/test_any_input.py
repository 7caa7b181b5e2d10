"""Whatever JSON a client sends, the workspace answers as Slack does: ok, or an error code."""

import re
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings, strategies as st

from bot.sandbox.slack import web_api
from bot.sandbox.slack.block_kit.blocks import find_problems
from bot.sandbox.slack.block_kit.elements import ELEMENTS
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.web_api.methods import app, chat, conversations, people, views
from bot.sandbox.slack.wire import Json
from tests.support.block_kit import actions
from tests.unit.sandbox.slack.conftest import Desk, make_manifest
from tests.unit.sandbox.slack.test_blocks import ACCEPTED


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
