"""What Slack sends becomes typed values, whatever else it sends along."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from bot.slack.payloads import (
    Carried,
    Interaction,
    OpenView,
    Payload,
    SlashCommand,
    User,
    plain_text,
)

COMMAND = {
    "command": "/mq",
    "text": "pause acme/site  CI is down ",
    "user_id": "U0ALICE",
    "user_name": "alice",
    "team_id": "T0ACME",
    "channel_id": "C0MERGEQ",
    "response_url": "https://hooks.slack.com/commands/T0ACME/1/abc",
    "trigger_id": "1.2.3",
    "token": "verification, long deprecated",
    "is_enterprise_install": "false",
}
USER = {"id": "U0BOB", "username": "bob", "name": "bob", "team_id": "T0ACME"}
BUTTON = {"type": "button", "action_id": "mq:resume", "block_id": "b1", "value": "acme/site"}


def click(**changed: object) -> Interaction:
    body: dict[str, Any] = {
        "type": "block_actions",
        "user": USER,
        "trigger_id": "1.2.3",
        "container": {"type": "message", "message_ts": "1.2", "is_ephemeral": False},
        "channel": {"id": "C0MERGEQ", "name": "merge-queue"},
        "response_url": "https://hooks.slack.com/actions/T0ACME/1/abc",
        "actions": [BUTTON],
    }
    return Interaction.model_validate({**body, **changed})


def test_a_command_keeps_the_spaces_inside_its_text() -> None:
    command = SlashCommand.model_validate(COMMAND)
    assert command.typed == "pause acme/site  CI is down"
    assert (command.actor.user_id, command.actor.name) == ("U0ALICE", "alice")
    assert command.actor.team_id == "T0ACME"


def test_invisible_characters_in_a_command_are_ignored() -> None:
    text = "\u200bpause\u2060 \ufeffacme/site \u202eCI is down \U0001f468\u200d\U0001f4bb"
    typed = "pause acme/site CI is down \U0001f468\u200d\U0001f4bb"
    assert SlashCommand.model_validate({**COMMAND, "text": text}).typed == typed


def test_a_command_without_text_is_an_empty_one() -> None:
    bare = {name: value for name, value in COMMAND.items() if name not in {"text", "user_name"}}
    command = SlashCommand.model_validate(bare)
    assert command.typed == ""
    assert command.actor.name == "U0ALICE"


@pytest.mark.parametrize("field", ["command", "user_id", "channel_id", "response_url"])
def test_an_incomplete_command_is_refused(field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        SlashCommand.model_validate({k: v for k, v in COMMAND.items() if k != field})


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("a &amp; b &lt;c&gt;", "a & b <c>"),
        ("&amp;lt; stays", "&lt; stays"),
        ("<@U0BOB|bob> broke it", "@bob broke it"),
        ("<@U0BOB> broke it", "@U0BOB broke it"),
        ("<#C0MERGEQ|merge-queue>", "#merge-queue"),
        ("<#C0INCIDENT|>", "#C0INCIDENT"),
        ("<!here>", "@here"),
        ("<!subteam^S0OPS|@ops>", "@ops"),
        ("<!subteam^S0OPS>", "@S0OPS"),
        ("<https://ci.example/1>", "https://ci.example/1"),
        ("<https://ci.example/1|ci.example/1>", "ci.example/1"),
        ("<https://evil.example|acme/site>", "https://evil.example"),
        ("nothing special", "nothing special"),
        ("", ""),
    ],
)
def test_references_are_turned_back_into_typed_text(sent: str, meant: str) -> None:
    assert plain_text(sent) == meant


@given(st.text(alphabet=st.characters(blacklist_characters="<>&")))
def test_text_without_markup_is_never_changed(text: str) -> None:
    assert plain_text(text) == text


def test_a_click_has_person_channel_and_action() -> None:
    clicked = click()
    assert clicked.action.action_id == "mq:resume"
    assert clicked.action.chosen == "acme/site"
    assert clicked.channel_id == "C0MERGEQ"
    assert clicked.user.actor.name == "bob"


def test_a_choice_is_the_value_of_its_option() -> None:
    option = {"text": {"type": "plain_text", "text": "shown"}, "value": "acme/api"}
    menu = {**BUTTON, "type": "static_select", "value": None, "selected_option": option}
    assert click(actions=[menu]).action.chosen == "acme/api"


def test_a_button_without_a_value_chooses_nothing() -> None:
    assert click(actions=[{**BUTTON, "value": None}]).action.chosen == ""


def test_a_click_in_a_view_has_no_channel() -> None:
    clicked = click(
        channel=None, response_url=None, view={"id": "V1", "type": "modal"}, container={}
    )
    assert clicked.channel_id is None
    assert clicked.view is not None
    assert clicked.view.private_metadata == ""


def test_a_click_without_an_action_has_nothing_to_act_on() -> None:
    with pytest.raises(IndexError):
        _ = click(actions=[]).action


def test_the_actor_has_the_team_from_slack() -> None:
    stranger = click(user={**USER, "team_id": "T0OTHER"})
    assert stranger.user.actor.team_id == "T0OTHER"
    unknown = click(user={"id": "U0NOBODY"})
    assert unknown.user.actor.team_id is None
    assert unknown.user.actor.name == "U0NOBODY"


def submission(metadata: str, values: dict[str, Any]) -> Interaction:
    view = {"id": "V1", "private_metadata": metadata, "state": {"values": values}}
    return Interaction.model_validate({"user": USER, "view": view})


def test_a_form_has_a_reason_and_a_target() -> None:
    chosen = {"type": "static_select", "selected_option": {"value": "acme/api"}}
    sent = submission(
        '{"target": "acme/site", "channel": "C1"}',
        {
            "reason": {"reason": {"type": "plain_text_input", "value": "CI is down"}},
            "target": {"mq:pause_target": chosen},
        },
    )
    assert sent.filled_in("reason", "reason") == "CI is down"
    assert sent.carried.channel == "C1"
    assert sent.target == "acme/api"


def test_a_form_without_a_menu_uses_the_repository_it_was_opened_for() -> None:
    sent = submission('{"target": "acme/site", "channel": null}', {})
    assert sent.target == "acme/site"
    assert sent.filled_in("reason", "reason") == ""


def test_an_empty_field_has_no_value() -> None:
    empty = {"reason": {"reason": {"type": "plain_text_input", "value": None}}}
    assert submission("", empty).filled_in("reason", "reason") == ""


def test_shortcuts_are_read() -> None:
    shortcut = Interaction.model_validate(
        {"user": USER, "trigger_id": "1.2.3", "callback_id": "pause_queue", "team": {"id": "T"}}
    )
    assert shortcut.user.actor.user_id == "U0BOB"
    assert shortcut.callback_id == "pause_queue"


@pytest.mark.parametrize(
    ("kind", "needed"),
    [
        (
            SlashCommand,
            {
                "command": "/mq",
                "user_id": "U0ALICE",
                "channel_id": "C0MERGEQ",
                "response_url": "https://hooks.slack.com/x",
                "trigger_id": "1.2",
            },
        ),
        (Interaction, {"user": {"id": "U0ALICE"}}),
        (Carried, {}),
        (OpenView, {"id": "V1"}),
        (User, {"id": "U0ALICE"}),
    ],
)
def test_a_null_counts_as_missing(kind: type[Payload], needed: dict[str, Any]) -> None:
    optional = dict.fromkeys(kind.model_fields.keys() - needed.keys())

    assert optional
    assert kind.model_validate({**needed, **optional}) == kind.model_validate(needed)
