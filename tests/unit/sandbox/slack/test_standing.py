"""Who somebody is: what users.info says of each kind of person, and what they can do."""

import pytest

from bot.sandbox.slack.delivering.interaction_payloads import (
    command_payload,
    message_action_payload,
)
from bot.sandbox.slack.wire import ControlRefusal, Json
from tests.unit.sandbox.slack.conftest import Desk, refused

CHANNEL = "C0MERGEQ"
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


def test_the_apps_own_user_is_a_bot(desk: Desk) -> None:
    assert {name for name in FLAGS if person(desk, "U0MQBOT")[name]} == {"is_bot"}


def test_a_person_of_another_organisation_is_a_stranger_until_met(desk: Desk) -> None:
    desk.sandbox.arrangement.add_user("eve", "external", "T0OTHER")
    assert person(desk, "U0EVE")["is_stranger"] is True
    desk.sandbox.arrangement.set_member("C0INCIDENT", "U0EVE", is_member=True)
    assert person(desk, "U0EVE")["is_stranger"] is True
    desk.sandbox.arrangement.set_member(CHANNEL, "U0EVE", is_member=True)
    met = person(desk, "U0EVE")
    assert (met["is_stranger"], met["team_id"]) == (False, "T0OTHER")


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
def test_a_person_cannot_become_an_impossible_kind(
    desk: Desk, user: str, changes: dict[str, object]
) -> None:
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
    user, channel = workspace.users["U0ALICE"], workspace.channels[CHANNEL]
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
