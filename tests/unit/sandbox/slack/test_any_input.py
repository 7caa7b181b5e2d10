"""Whatever JSON a client sends, the workspace answers as Slack does: ok, or an error code."""

from typing import Any

from hypothesis import given, settings, strategies as st

from bot.sandbox.slack.block_kit.blocks import find_problems
from bot.sandbox.slack.block_kit.elements import ELEMENTS
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import Json
from tests.unit.sandbox.slack.conftest import Desk, make_manifest

KEYS = st.sampled_from(
    [
        "type",
        "text",
        "fields",
        "elements",
        "element",
        "options",
        "option_groups",
        "initial_option",
        "initial_options",
        "accessory",
        "label",
        "value",
        "block_id",
        "action_id",
        "rows",
        "url",
        "confirm",
        "alt_text",
        "style",
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["section", "actions", "input", "button", "plain_text", "mrkdwn", "x", ""])
    | st.sampled_from(sorted(ELEMENTS))
)
VALUES = st.recursive(
    LEAVES,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(KEYS, inside, max_size=5),
    max_leaves=25,
)
METHODS = st.sampled_from(
    [
        "chat.postMessage",
        "chat.update",
        "chat.delete",
        "chat.postEphemeral",
        "chat.getPermalink",
        "views.open",
        "views.update",
        "views.publish",
        "conversations.history",
        "conversations.replies",
        "conversations.open",
        "conversations.list",
        "users.info",
        "reactions.add",
        "auth.test",
    ]
)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "channel": st.just("C0MERGEQ") | VALUES,
        "user": st.just("U0ALICE") | VALUES,
        "user_id": st.just("U0ALICE") | VALUES,
        "blocks": VALUES,
        "attachments": VALUES,
        "metadata": VALUES,
        "view": VALUES,
        "text": VALUES,
        "ts": VALUES,
        "thread_ts": VALUES,
        "limit": VALUES,
        "cursor": VALUES,
        "oldest": VALUES,
        "types": VALUES,
        "users": VALUES,
        "view_id": VALUES,
        "trigger_id": VALUES,
        "name": VALUES,
        "timestamp": VALUES,
    },
)


@settings(max_examples=60, deadline=None)
@given(METHODS, ARGUMENTS)
def test_every_call_is_answered(method: str, arguments: dict[str, Any]) -> None:
    desk = Desk(SlackSandbox(make_manifest(), rate_limits="off"))
    body = desk.call(method, **arguments)
    assert body["ok"] is True or isinstance(body["error"], str)


def _blocks_of(parts: list[Json]) -> list[Json]:
    return [{"type": "actions", "elements": [part]} for part in parts]


ELEMENT_LIKE = st.sampled_from(sorted(ELEMENTS)).flatmap(
    lambda kind: st.dictionaries(KEYS, VALUES, max_size=5).map(lambda rest: {**rest, "type": kind})
)


@settings(max_examples=60, deadline=None)
@given(st.lists(ELEMENT_LIKE, min_size=1, max_size=3))
def test_every_element_is_validated(parts: list[Json]) -> None:
    for sentence in find_problems(_blocks_of(parts), "message").sentences():
        assert "[json-pointer:/blocks" in sentence
