import json

import pytest

from tests.support.block_kit import DIVIDER, section
from tests.unit.sandbox.slack.conftest import APP, Desk, make_desk

CHANNEL = "C0MERGEQ"


def test_a_post_gives_its_message_as_slack_stored_it(desk: Desk) -> None:
    body = desk.call("chat.postMessage", channel=CHANNEL, text="a & b <c> https://d.example/e.")
    assert body["channel"] == CHANNEL
    assert body["message"]["text"] == "a &amp; b &lt;c&gt; <https://d.example/e>."
    assert body["message"]["ts"] == body["ts"]
    assert body["message"]["bot_profile"]["user_id"] == "U0MQBOT"


def test_a_channel_name_works_and_a_person_means_a_direct_message(desk: Desk) -> None:
    assert desk.call("chat.postMessage", channel="#merge-queue", text="x")["channel"] == CHANNEL
    direct = desk.call("chat.postMessage", channel="U0ALICE", text="x")["channel"]
    assert direct.startswith("D")
    assert desk.call("chat.postMessage", channel="U0ALICE", text="y")["channel"] == direct
    assert desk.call("conversations.open", users="U0ALICE")["channel"] == {"id": direct}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "no_text"),
        ({"text": ""}, "no_text"),
        ({"channel": "C0NOWHERE", "text": "x"}, "channel_not_found"),
        ({"channel": "C0INCIDENT", "text": "x"}, "channel_not_found"),
        ({"channel": "C0RELEASE", "text": "x"}, "not_in_channel"),
        ({"blocks": "[{"}, "invalid_blocks_format"),
        ({"blocks": '{"type": "divider"}'}, "invalid_blocks_format"),
        ({"blocks": [{"type": "section"}]}, "invalid_blocks"),
        ({"blocks": [DIVIDER] * 51}, "invalid_blocks"),
        ({"blocks": [section("x" * 2999)] * 5}, "msg_blocks_too_long"),
        ({"text": "x", "attachments": "no"}, "invalid_attachments"),
        ({"text": "x", "attachments": [{}] * 101}, "too_many_attachments"),
        ({"text": "x", "markdown_text": "y"}, "markdown_text_conflict"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"text": "x", "metadata": "{"}, "invalid_metadata_format"),
        ({"text": "x", "metadata": "[]"}, "invalid_metadata_format"),
        ({"text": "x", "metadata": {"event_type": "a"}}, "invalid_metadata_schema"),
        (
            {"text": "x", "metadata": {"event_type": "a b", "event_payload": {}}},
            "invalid_metadata_schema",
        ),
        (
            {"text": "x", "metadata": {"event_type": "a", "event_payload": {"k": "v" * 9000}}},
            "metadata_too_large",
        ),
        ({"text": "x", "thread_ts": "1700000000.000100"}, "thread_not_found"),
        ({"text": ["x"]}, "invalid_arguments"),
    ],
)
def test_posts_are_refused_with_slacks_codes(
    desk: Desk, arguments: dict[str, object], error: str
) -> None:
    assert desk.error("chat.postMessage", **{"channel": CHANNEL, **arguments}) == error


def test_a_post_without_a_channel_names_the_missing_argument(desk: Desk) -> None:
    body = desk.call("chat.postMessage", text="x")
    assert body["error"] == "invalid_arguments"
    assert body["response_metadata"]["messages"] == ["[ERROR] missing required field: channel"]


def test_an_archived_channel_accepts_no_posts_and_no_edits(desk: Desk) -> None:
    ts = desk.post()
    desk.sandbox.arrangement.change_channel(CHANNEL, {"is_archived": True})
    assert desk.error("chat.postMessage", channel=CHANNEL, text="x") == "is_archived"
    assert desk.error("chat.update", channel=CHANNEL, ts=ts, text="x") == "is_inactive"
    ephemeral = {"channel": CHANNEL, "user": "U0ALICE", "text": "x"}
    assert desk.error("chat.postEphemeral", **ephemeral) == "is_archived"


def test_text_over_forty_thousand_characters_is_cut_with_a_warning(desk: Desk) -> None:
    body = desk.call("chat.postMessage", channel=CHANNEL, text="x" * 40_001)
    assert len(body["message"]["text"]) == 40_000
    assert body["warning"] == "message_truncated"
    assert body["response_metadata"]["warnings"] == ["message_truncated"]


def test_blocks_without_text_get_a_fallback_text(desk: Desk) -> None:
    blocks = [section("Paused by alice")]
    body = desk.call("chat.postMessage", channel=CHANNEL, blocks=json.dumps(blocks))
    assert body["message"]["text"] == "Paused by alice"


def test_a_reply_to_a_reply_lands_in_the_thread_of_its_parent(desk: Desk) -> None:
    root = desk.post()
    reply = desk.post(thread_ts=root)
    body = desk.call("chat.postMessage", channel=CHANNEL, text="x", thread_ts=reply)
    assert body["message"]["thread_ts"] == root


def test_an_update_with_only_text_removes_the_blocks_and_metadata_on_request(desk: Desk) -> None:
    ts = desk.post(blocks=[DIVIDER], metadata={"event_type": "a", "event_payload": {"b": 1}})
    body = desk.call("chat.update", channel=CHANNEL, ts=ts, text="New")
    assert "blocks" not in body["message"]
    assert body["message"]["edited"]["user"] == "U0MQBOT"
    assert body["message"]["metadata"] == {"event_type": "a", "event_payload": {"b": 1}}
    bare = desk.call("chat.update", channel=CHANNEL, ts=ts, text="New", metadata="{}")
    assert "metadata" not in bare["message"]


def test_an_update_with_only_blocks_replaces_them_and_shows_no_edit_mark(desk: Desk) -> None:
    ts = desk.post(blocks=[DIVIDER])
    body = desk.call("chat.update", channel=CHANNEL, ts=ts, blocks=[section()])
    assert body["message"]["blocks"][0]["type"] == "section"
    assert "edited" not in body["message"]


def test_an_update_links_names_unless_it_says_not_to(desk: Desk) -> None:
    ts = desk.post()
    linked = desk.call("chat.update", channel=CHANNEL, ts=ts, text="@here #general")
    plain = desk.call("chat.update", channel=CHANNEL, ts=ts, text="@here #general", parse="none")
    assert linked["text"] == "<!here> <#C0GENERAL|general>"
    assert plain["text"] == "@here #general"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"text": "x" * 4001}, "msg_too_long"),
        ({}, "no_text"),
        ({"text": "", "blocks": []}, "no_text"),
        ({"text": "x", "ts": "1.000001"}, "message_not_found"),
        ({"text": "x", "channel": "U0ALICE"}, "channel_not_found"),
        ({"text": "x", "reply_broadcast": True}, "cant_broadcast_message"),
    ],
)
def test_updates_are_refused_with_slacks_codes(
    desk: Desk, arguments: dict[str, object], error: str
) -> None:
    ts = desk.post()
    assert desk.error("chat.update", **{"channel": CHANNEL, "ts": ts, **arguments}) == error


def test_the_app_can_change_and_delete_only_its_own_messages(desk: Desk) -> None:
    ts = desk.sandbox.people.message("U0ALICE", CHANNEL, "Mine")["ts"]
    assert desk.error("chat.update", channel=CHANNEL, ts=ts, text="x") == "cant_update_message"
    assert desk.error("chat.delete", channel=CHANNEL, ts=ts) == "cant_delete_message"
    own = desk.post()
    assert desk.call("chat.delete", channel=CHANNEL, ts=own) == {
        "ok": True,
        "channel": CHANNEL,
        "ts": own,
    }
    assert desk.error("chat.delete", channel=CHANNEL, ts=own) == "message_not_found"


def test_a_deleted_parent_leaves_a_tombstone_above_its_replies(desk: Desk) -> None:
    root = desk.post()
    desk.post(thread_ts=root, text="Reply")
    desk.call("chat.delete", channel=CHANNEL, ts=root)
    replies = desk.call("conversations.replies", channel=CHANNEL, ts=root)["messages"]
    assert [each.get("subtype") for each in replies] == ["tombstone", None]
    assert desk.error("chat.update", channel=CHANNEL, ts=root, text="x") == "message_not_found"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"user": "U0NOBODY"}, "user_not_in_channel"),
        ({"channel": "C0RELEASE"}, "not_in_channel"),
        ({"channel": "C0INCIDENT"}, "channel_not_found"),
        ({"text": ""}, "no_text"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"attachments": [{"blocks": [DIVIDER]}]}, "invalid_attachments"),
    ],
)
def test_ephemerals_are_refused_with_slacks_codes(
    desk: Desk, arguments: dict[str, object], error: str
) -> None:
    given = {"channel": CHANNEL, "user": "U0ALICE", "text": "x", **arguments}
    assert desk.error("chat.postEphemeral", **given) == error


def test_an_ephemeral_message_is_not_in_history_and_cannot_be_changed(desk: Desk) -> None:
    given = {"channel": CHANNEL, "user": "U0ALICE", "text": "Only you"}
    ts = desk.call("chat.postEphemeral", **given)["message_ts"]
    assert desk.call("conversations.history", channel=CHANNEL)["messages"] == []
    assert desk.error("chat.update", channel=CHANNEL, ts=ts, text="x") == "message_not_found"
    assert desk.error("chat.delete", channel=CHANNEL, ts=ts) == "message_not_found"


def test_a_permalink_names_channel_and_time(desk: Desk) -> None:
    root = desk.post()
    reply = desk.post(thread_ts=root)
    link = desk.call("chat.getPermalink", channel=CHANNEL, message_ts=root)["permalink"]
    assert link.endswith(f"/archives/{CHANNEL}/p{root.replace('.', '')}")
    inner = desk.call("chat.getPermalink", channel=CHANNEL, message_ts=reply)["permalink"]
    assert inner.endswith(f"?thread_ts={root}&cid={CHANNEL}")
    missing = {"channel": CHANNEL, "message_ts": "1.000001"}
    assert desk.error("chat.getPermalink", **missing) == "message_not_found"


def test_tokens_and_scopes_are_checked_first(desk: Desk) -> None:
    assert desk.error("chat.postMessage", None) == "not_authed"
    assert desk.error("chat.postMessage", "xoxb-other") == "invalid_auth"
    assert desk.error("chat.postMessage", APP) == "not_allowed_token_type"
    assert desk.error("apps.connections.open") == "not_allowed_token_type"
    body = make_desk("commands", "chat:write").call("conversations.history", channel=CHANNEL)
    assert body == {
        "ok": False,
        "error": "missing_scope",
        "needed": "channels:history,groups:history,im:history,mpim:history",
        "provided": "commands,chat:write",
    }
    assert desk.call("chat.nothing")["error"] == "unknown_method"
