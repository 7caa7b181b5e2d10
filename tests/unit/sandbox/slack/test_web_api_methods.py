"""The methods of the Web API, with the errors that Slack gives."""

import json

import pytest

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.workspace import Change
from bot.sandbox.slack.wire import Json
from tests.support.block_kit import DIVIDER, section
from tests.support.workspace_manifest import make_manifest
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
        ({"text": "x", "attachments": [{"blocks": "no"}]}, "invalid_attachments"),
        ({"text": "x", "attachments": [{"blocks": [{"type": "no"}]}]}, "invalid_attachments"),
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
def test_posts_are_refused_by_code(desk: Desk, arguments: dict[str, object], error: str) -> None:
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


def test_a_post_gets_text_from_its_blocks_and_no_more_than_forty_thousand_characters(
    desk: Desk,
) -> None:
    body = desk.call("chat.postMessage", channel=CHANNEL, text="x" * 40_001)
    assert len(body["message"]["text"]) == 40_000
    assert body["warning"] == "message_truncated"
    assert body["response_metadata"]["warnings"] == ["message_truncated"]
    blocks = [section("Paused by alice")]
    body = desk.call("chat.postMessage", channel=CHANNEL, blocks=json.dumps(blocks))
    assert body["message"]["text"] == "Paused by alice"


def test_an_update_replaces_blocks_with_what_it_has_and_metadata_on_request(desk: Desk) -> None:
    ts = desk.post(blocks=[DIVIDER], metadata={"event_type": "a", "event_payload": {"b": 1}})

    def updated(**arguments: object) -> Json:
        message: Json = desk.call("chat.update", channel=CHANNEL, ts=ts, **arguments)["message"]
        return message

    message = updated(blocks=[section()])
    assert message["blocks"][0]["type"] == "section"
    assert "edited" not in message
    message = updated(text="New")
    assert "blocks" not in message
    assert message["edited"]["user"] == "U0MQBOT"
    assert message["metadata"] == {"event_type": "a", "event_payload": {"b": 1}}
    assert "metadata" not in updated(text="New", metadata="{}")
    # Names are linked unless it says not to.
    assert updated(text="@here #general")["text"] == "<!here> <#C0GENERAL|general>"
    assert updated(text="@here #general", parse="none")["text"] == "@here #general"


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
def test_updates_are_refused_by_code(desk: Desk, arguments: dict[str, object], error: str) -> None:
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


def test_replies_to_replies_are_in_one_thread_below_a_tombstone_of_a_deleted_parent(
    desk: Desk,
) -> None:
    root = desk.post()
    reply = desk.post(thread_ts=root, text="Reply")
    body = desk.call("chat.postMessage", channel=CHANNEL, text="x", thread_ts=reply)
    assert body["message"]["thread_ts"] == root
    desk.call("chat.delete", channel=CHANNEL, ts=root)
    replies = desk.call("conversations.replies", channel=CHANNEL, ts=root)["messages"]
    assert [each.get("subtype") for each in replies] == ["tombstone", None, None]
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
def test_ephemerals_are_refused_by_code(
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


def test_the_token_identifies_its_owner(desk: Desk) -> None:
    body = desk.call("auth.test")
    assert body.items() >= {"team_id": "T0ACME", "user_id": "U0MQBOT", "bot_id": "B0MQBOT"}.items()
    assert desk.call("auth.test", APP)["app_id"] == "A0MQBOT"
    assert desk.call("api.test", None, foo="bar")["args"] == {"foo": "bar"}
    assert desk.error("api.test", None, error="my_error") == "my_error"
    assert desk.call("bots.info", bot="B0MQBOT")["bot"]["app_id"] == "A0MQBOT"
    assert desk.call("team.info")["team"]["domain"] == "acme"


def test_socket_mode_is_opened_with_the_app_token_when_the_manifest_enables_it(desk: Desk) -> None:
    assert desk.call("apps.connections.open", APP)["url"].startswith("ws://")
    manifest = make_manifest()
    manifest["settings"] = {"socket_mode_enabled": False}
    closed = Desk(SlackSandbox(manifest))
    assert closed.error("apps.connections.open", APP) == "forbidden_team"


def test_a_channel_is_described_by_its_kind(desk: Desk) -> None:
    body = desk.call("conversations.info", channel=CHANNEL, include_num_members=True)["channel"]
    wanted = {"is_member": True, "is_private": False, "num_members": 5}
    assert body.items() >= {**wanted, "is_ext_shared": False}.items()
    assert desk.error("conversations.info", channel="C0INCIDENT") == "channel_not_found"
    desk.sandbox.arrangement.set_member("C0INCIDENT", "U0MQBOT", is_member=True)
    assert desk.call("conversations.info", channel="C0INCIDENT")["channel"]["is_private"] is True
    for sign in ("is_ext_shared", "is_pending_ext_shared"):
        desk.sandbox.arrangement.change_channel("C0INCIDENT", {sign: True})
        assert desk.call("conversations.info", channel="C0INCIDENT")["channel"][sign] is True


def test_each_kind_of_channel_needs_its_own_scope() -> None:
    desk = make_desk("channels:read", "channels:history")
    desk.sandbox.arrangement.set_member("C0INCIDENT", "U0MQBOT", is_member=True)
    body = desk.call("conversations.info", channel="C0INCIDENT")
    assert (body["error"], body["needed"]) == ("missing_scope", "groups:read")
    assert desk.call("conversations.history", channel="C0INCIDENT")["needed"] == "groups:history"


@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("conversations.history", {"channel": "C0RELEASE"}, "not_in_channel"),
        ("conversations.history", {"channel": "C0INCIDENT"}, "channel_not_found"),
        ("conversations.history", {"channel": CHANNEL, "cursor": "zzz"}, "invalid_cursor"),
        ("conversations.history", {"channel": CHANNEL, "cursor": "dXNlcjpV"}, "invalid_cursor"),
        ("conversations.history", {"channel": CHANNEL, "oldest": "soon"}, "invalid_ts_oldest"),
        ("conversations.history", {"channel": CHANNEL, "latest": "x"}, "invalid_ts_latest"),
        ("conversations.history", {"channel": CHANNEL, "limit": "many"}, "invalid_arguments"),
        ("conversations.replies", {"channel": CHANNEL, "ts": "1.000001"}, "thread_not_found"),
        ("conversations.list", {"types": "secret"}, "invalid_types"),
        ("conversations.join", {"channel": "C0INCIDENT"}, "channel_not_found"),
        ("conversations.join", {"channel": "C0NOWHERE"}, "channel_not_found"),
        ("conversations.members", {"channel": "C0INCIDENT"}, "channel_not_found"),
        ("conversations.open", {}, "users_list_not_supplied"),
        ("conversations.open", {"users": "U0NOBODY"}, "user_not_found"),
        ("conversations.open", {"users": ",".join(["U0ALICE"] * 9)}, "too_many_users"),
        ("users.info", {"user": "U0NOBODY"}, "user_not_found"),
        ("users.info", {}, "invalid_arguments"),
        ("usergroups.users.list", {"usergroup": "S0NONE"}, "no_such_subteam"),
        ("bots.info", {"bot": "B0OTHER"}, "bot_not_found"),
        ("team.info", {"team": "T0OTHER"}, "team_not_found"),
    ],
)
def test_reads_are_refused_with_slacks_codes(
    desk: Desk, method: str, arguments: dict[str, object], error: str
) -> None:
    assert desk.error(method, **arguments) == error


def test_a_channel_is_joined_once(desk: Desk) -> None:
    assert desk.call("conversations.join", channel="C0RELEASE")["channel"]["is_member"] is True
    assert desk.call("conversations.join", channel="C0RELEASE")["warning"] == "already_in_channel"
    desk.sandbox.arrangement.set_member("C0INCIDENT", "U0MQBOT", is_member=True)
    error = desk.error("conversations.join", channel="C0INCIDENT")
    assert error == "method_not_supported_for_channel_type"
    desk.sandbox.arrangement.change_channel("C0GENERAL", {"is_archived": True})
    assert desk.error("conversations.join", channel="C0GENERAL") == "is_archived"


def test_history_stays_within_its_window(desk: Desk) -> None:
    first, second, third = (desk.post(text=str(number)) for number in range(3))

    def found(**window: object) -> list[str]:
        page = desk.call("conversations.history", channel=CHANNEL, **window)
        return [each["ts"] for each in page["messages"]]

    assert found(oldest=first) == [third, second]
    assert found(oldest=first, inclusive=True) == [third, second, first]
    assert found(latest=third) == [second, first]
    assert found(oldest=first, latest=third) == [second]
    assert found(oldest="0", latest="0.5") == []
    assert found(latest=third, inclusive="1", limit=1) == [third]


def test_channels_are_listed_in_pages_and_private_ones_only_to_members(desk: Desk) -> None:
    names = []
    cursor = ""
    while True:
        page = desk.call(
            "conversations.list", types="public_channel,private_channel", limit=2, cursor=cursor
        )
        names += [each["name"] for each in page["channels"]]
        cursor = page["response_metadata"]["next_cursor"]
        if not cursor:
            break
    assert names == ["general", "merge-queue", "releases"]
    assert [e["name"] for e in desk.call("users.conversations")["channels"]] == ["merge-queue"]
    desk.sandbox.arrangement.change_channel("C0GENERAL", {"is_archived": True})
    rest = desk.call("conversations.list", exclude_archived=True)["channels"]
    assert [each["name"] for each in rest] == ["merge-queue", "releases"]


def test_members_and_people_are_listed_in_pages(desk: Desk) -> None:
    page = desk.call("conversations.members", channel=CHANNEL, limit=3)
    cursor = page["response_metadata"]["next_cursor"]
    rest = desk.call("conversations.members", channel=CHANNEL, cursor=cursor)
    assert len(page["members"]) == 3
    assert len(rest["members"]) == 2
    people = desk.call("users.list", limit=2)
    assert len(people["members"]) == 2
    assert people["response_metadata"]["next_cursor"]


def test_user_groups_list_their_people(desk: Desk) -> None:
    desk.sandbox.arrangement.set_group("release", ["U0BOB", "U0ALICE"])
    groups = desk.call("usergroups.list", include_users=True)["usergroups"]
    assert [(each["id"], each["users"]) for each in groups] == [("S0RELEASE", ["U0ALICE", "U0BOB"])]
    users = desk.call("usergroups.users.list", usergroup="S0RELEASE")["users"]
    assert users == ["U0ALICE", "U0BOB"]
    desk.sandbox.arrangement.set_group("release", [], is_enabled=False)
    assert desk.call("usergroups.list")["usergroups"] == []
    error = desk.error("usergroups.users.list", usergroup="S0RELEASE")
    assert error == "no_such_subteam"


def test_another_apps_token_replaces_the_people_of_a_user_group(desk: Desk) -> None:
    desk.sandbox.arrangement.set_group("release", ["U0BOB"])
    asked = {"usergroup": "S0RELEASE", "users": "U0ALICE,U0CAROL"}
    assert desk.error("usergroups.users.update", **asked) == "missing_scope"
    desk.sandbox.credentials.grant("xoxb-on-call", "usergroups:write")
    asked["token"] = "xoxb-on-call"
    assert desk.call("usergroups.users.update", **asked)["usergroup"]["user_count"] == 2
    users = desk.call("usergroups.users.list", usergroup="S0RELEASE")["users"]
    assert users == ["U0ALICE", "U0CAROL"]
    asked["users"] = "U0NOBODY"
    assert desk.error("usergroups.users.update", **asked) == "invalid_users"
    asked["users"] = ""
    assert desk.error("usergroups.users.update", **asked) == "no_users_provided"


def test_a_group_conversation_has_all_its_people(desk: Desk) -> None:
    channel = desk.call("conversations.open", users="U0ALICE,U0BOB")["channel"]["id"]
    assert channel.startswith("G")
    assert desk.call("conversations.open", users="U0BOB,U0ALICE")["channel"]["id"] == channel
    desk.sandbox.arrangement.add_user("gone", deleted=True)
    assert desk.error("conversations.open", users="U0GONE") == "user_disabled"


def test_a_reaction_is_added_once(desk: Desk) -> None:
    changes: list[Change] = []
    ts = desk.post()
    desk.sandbox.installation.workspace.on_change(changes.append)
    where = {"channel": CHANNEL, "timestamp": ts, "name": "tada"}
    assert desk.call("reactions.add", **where) == {"ok": True}
    assert desk.error("reactions.add", **where) == "already_reacted"
    assert desk.error("reactions.add", **{**where, "timestamp": "1.1"}) == "message_not_found"
    assert [each.kind for each in changes] == ["message_changed"]
    shown = desk.call("conversations.history", channel=CHANNEL)["messages"][0]["reactions"]
    assert shown == [{"name": "tada", "users": ["U0MQBOT"], "count": 1}]
