"""People: who they are for Slack, and what they can do."""

import pytest

from bot.sandbox.slack.delivering.interaction_payloads import (
    command_payload,
    message_action_payload,
)
from bot.sandbox.slack.wire import ControlRefusal, Json
from tests.support.block_kit import DIVIDER, actions, button, modal
from tests.unit.sandbox.slack.conftest import Desk, refused

ALICE = "U0ALICE"
CHANNEL = "C0MERGEQ"


@pytest.mark.parametrize(
    ("user", "channel", "text", "error"),
    [
        ("U0NOBODY", CHANNEL, "/mq", "user_not_found"),
        ("U0MQBOT", CHANNEL, "/mq", "user_not_found"),
        (ALICE, "C0NOWHERE", "/mq", "channel_not_found"),
        ("U0CAROL", "C0INCIDENT", "/mq", "channel_not_found"),
        (ALICE, CHANNEL, "mq", "not_a_command"),
    ],
)
async def test_a_command_slack_would_not_send_is_refused(
    desk: Desk, user: str, channel: str, text: str, error: str
) -> None:
    with refused(error):
        await desk.sandbox.people.command(user, channel, text)


async def test_people_cannot_write_outside_their_channels_or_in_archived_ones(desk: Desk) -> None:
    people = desk.sandbox.people
    arrangement = desk.sandbox.arrangement
    arrangement.set_member("C0GENERAL", ALICE, is_member=False)
    with refused("not_in_channel"):
        people.message(ALICE, "C0GENERAL", "x")
    arrangement.change_channel(CHANNEL, {"is_archived": True})
    with refused("is_archived"):
        people.message(ALICE, CHANNEL, "x")
    with refused("no_text"):
        people.message("U0BOB", "C0GENERAL", "  ")


async def test_people_and_the_app_come_and_go_by_slacks_own_commands(desk: Desk) -> None:
    answer = await desk.sandbox.people.command(ALICE, "C0INCIDENT", "/invite @merge-queue")
    assert answer == {"ok": True, "acknowledged": True}
    assert desk.call("conversations.info", channel="C0INCIDENT")["ok"] is True
    await desk.sandbox.people.command(ALICE, "C0INCIDENT", "/remove @merge-queue")
    assert desk.error("conversations.info", channel="C0INCIDENT") == "channel_not_found"
    unknown = await desk.sandbox.people.command(ALICE, CHANNEL, "/invite @nobody")
    assert unknown["ack_text"] == "No such person: @nobody"

    await desk.sandbox.people.command(ALICE, CHANNEL, "/leave")
    with refused("not_in_channel"):
        desk.sandbox.people.message(ALICE, CHANNEL, "x")
    await desk.sandbox.people.command(ALICE, CHANNEL, "/join #merge-queue")
    assert desk.sandbox.people.message(ALICE, CHANNEL, "x")["ok"] is True


async def test_missing_or_hidden_elements_and_messages_cannot_be_used(desk: Desk) -> None:
    block = actions(button(visible_to_user_ids=["U0BOB"]), block_id="b")
    ts = desk.post(blocks=[block])
    container = {"type": "message", "channel": CHANNEL, "ts": ts}
    people = desk.sandbox.people
    for block_id, action_id in (("b", "go"), ("b", "stop"), ("c", "go")):
        with refused("element_not_found"):
            await people.action(ALICE, container=container, block_id=block_id, action_id=action_id)
    bobs = await people.action("U0BOB", container=container, block_id="b", action_id="go")
    assert bobs == {"ok": True, "acknowledged": False, "error": "app_not_connected"}
    with refused("message_not_found"):
        await people.action(
            ALICE, container={**container, "ts": "1.1"}, block_id="b", action_id="go"
        )
    with refused("invalid_container"):
        await people.action(ALICE, container="x", block_id="b", action_id="go")

    for_alice = {"channel": CHANNEL, "user": ALICE, "text": "x", "blocks": [block]}
    ts = desk.call("chat.postEphemeral", **for_alice)["message_ts"]
    alices = {**container, "ts": ts, "ephemeral": True}
    with refused("message_not_found"):
        await people.action("U0BOB", container=alices, block_id="b", action_id="go")


async def test_only_the_owner_can_submit_and_only_the_top_modal(desk: Desk) -> None:
    view = modal(DIVIDER, submit=None)
    trigger_id = desk.sandbox.installation.triggers.mint(ALICE)
    view_id = desk.call("views.open", trigger_id=trigger_id, view=view)["view"]["id"]
    with refused("view_not_found"):
        await desk.sandbox.people.submit("U0BOB", view_id)
    with refused("not_submittable"):
        await desk.sandbox.people.submit(ALICE, view_id)


async def test_the_home_tab_of_an_unconnected_app_is_not_acknowledged(desk: Desk) -> None:
    answer = await desk.sandbox.people.home(ALICE)
    assert answer == {"ok": True, "acknowledged": False, "error": "event_not_declared"}


async def test_a_thread_is_read_separately_from_its_channel(desk: Desk) -> None:
    root = desk.post(text="Root")
    desk.sandbox.people.message(ALICE, CHANNEL, "Reply", thread_ts=root)
    sight = desk.sandbox.sight
    channel = sight.messages(ALICE, CHANNEL)["messages"]
    thread = sight.messages(ALICE, CHANNEL, root)["messages"]
    assert [(each["text"], each["reply_count"]) for each in channel] == [("Root", 1)]
    assert [each["text"] for each in thread] == ["Root", "Reply"]


@pytest.mark.parametrize(
    ("act", "arguments", "error"),
    [
        ("add_user", ("alice",), "invalid_name"),
        ("add_user", ("Not A Name",), "invalid_name"),
        ("add_user", ("zed", "king"), "invalid_kind"),
        ("add_channel", ("general", []), "name_taken"),
        ("add_channel", ("new", ["U0NOBODY"]), "user_not_found"),
        ("change_channel", ("C0NOWHERE", {}), "channel_not_found"),
        ("change_channel", (CHANNEL, {"id": "C1"}), "invalid_change"),
        ("change_channel", (CHANNEL, {"is_archived": 1}), "invalid_change"),
        ("set_group", ("g", ["U0NOBODY"]), "user_not_found"),
    ],
    ids=map(str, range(9)),
)
def test_an_impossible_arrangement_is_refused(
    desk: Desk, act: str, arguments: tuple[object, ...], error: str
) -> None:
    with refused(error):
        getattr(desk.sandbox.arrangement, act)(*arguments)


FLAGS = ("is_admin", "is_owner", "is_restricted", "is_ultra_restricted", "is_bot", "deleted")


def person(desk: Desk, user_id: str) -> Json:
    found: Json = desk.call("users.info", user=user_id)["user"]
    return found


@pytest.mark.parametrize(
    ("kind", "flags"),
    [
        ("member", set()),
        ("admin", {"is_admin"}),
        ("owner", {"is_admin", "is_owner"}),
        ("guest", {"is_restricted"}),
        ("single_channel_guest", {"is_restricted", "is_ultra_restricted"}),
        ("external", set()),
    ],
)
def test_each_kind_of_person_has_its_flags(desk: Desk, kind: str, flags: set[str]) -> None:
    desk.sandbox.arrangement.add_user("eve", kind)
    found = person(desk, "U0EVE")
    assert {name for name in FLAGS if found[name]} == flags
    # The app's own user.
    assert {name for name in FLAGS if person(desk, "U0MQBOT")[name]} == {"is_bot"}


async def test_a_person_of_another_organisation_is_a_stranger_until_met_and_has_no_commands(
    desk: Desk,
) -> None:
    desk.sandbox.arrangement.add_user("eve", "external", "T0OTHER")
    assert person(desk, "U0EVE")["is_stranger"] is True
    desk.sandbox.arrangement.set_member("C0INCIDENT", "U0EVE", is_member=True)
    assert person(desk, "U0EVE")["is_stranger"] is True
    desk.sandbox.arrangement.set_member(CHANNEL, "U0EVE", is_member=True)
    met = person(desk, "U0EVE")
    assert (met["is_stranger"], met["team_id"]) == (False, "T0OTHER")
    with refused("user_is_external"):
        await desk.sandbox.people.command("U0EVE", CHANNEL, "/mq")
    with refused("user_is_external"):
        await desk.sandbox.people.shortcut("U0EVE", "pause")


async def test_a_deactivated_person_is_reported_and_can_do_nothing(desk: Desk) -> None:
    desk.sandbox.arrangement.change_user("U0BOB", {"deleted": True})
    assert person(desk, "U0BOB")["deleted"] is True
    with refused("user_not_found"):
        await desk.sandbox.people.command("U0BOB", CHANNEL, "/mq")
    desk.sandbox.arrangement.change_user("U0BOB", {"deleted": False, "kind": "guest"})
    assert person(desk, "U0BOB")["is_restricted"] is True


@pytest.mark.parametrize(
    ("user", "changes"),
    [
        ("U0BOB", {"deleted": 1}),
        ("U0BOB", {"kind": "bot"}),
        ("U0BOB", {"name": "rob"}),
        ("U0MQBOT", {"kind": "member"}),
        ("U0NOBODY", {"deleted": True}),
    ],
    ids=map(str, range(5)),
)
def test_no_person_becomes_impossible(desk: Desk, user: str, changes: dict[str, object]) -> None:
    with pytest.raises(ControlRefusal):
        desk.sandbox.arrangement.change_user(user, changes)


async def test_an_enterprise_grid_appears_wherever_slack_shows_it(desk: Desk) -> None:
    assert "enterprise_id" not in desk.call("auth.test")
    desk.sandbox.arrangement.set_enterprise("E0ACME")
    assert desk.call("auth.test")["enterprise_id"] == "E0ACME"
    alice = person(desk, "U0ALICE")
    assert alice["team_id"] == "T0ACME"
    assert alice["enterprise_user"]["enterprise_id"] == "E0ACME"
    installation = desk.sandbox.installation
    workspace = installation.workspace
    user = workspace.users["U0ALICE"]
    channel = workspace.channels[CHANNEL]
    (command,) = installation.manifest.commands
    typed = command_payload(installation, user, channel, command, "")
    assert (typed["team_id"], typed["enterprise_id"]) == ("T0ACME", "E0ACME")
    ts = desk.post()
    message = channel.messages.get(ts)
    assert message is not None
    clicked = message_action_payload(installation, user, message, {})
    assert clicked["user"]["team_id"] == "E0ACME"
    assert clicked["team"]["id"] == "T0ACME"
    assert clicked["enterprise"]["id"] == "E0ACME"
    # People of a sister workspace have no commands here.
    desk.sandbox.arrangement.add_user("sue", "member", "T0SISTER", enterprise_id="E0ACME")
    desk.sandbox.arrangement.set_member(CHANNEL, "U0SUE", is_member=True)
    with refused("user_is_external"):
        await desk.sandbox.people.command("U0SUE", CHANNEL, "/mq")
