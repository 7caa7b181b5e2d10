import pytest

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.workspace import Change
from tests.unit.sandbox.slack.conftest import APP, Desk, make_desk, make_manifest

CHANNEL = "C0MERGEQ"


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
