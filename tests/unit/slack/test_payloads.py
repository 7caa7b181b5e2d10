"""What Slack sends becomes typed values, whatever else it sends along."""

import pytest
from hypothesis import given, strategies as st

from bot.slack.payloads import Carried, Interaction, SlashCommand, plain_text

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


def test_a_null_counts_as_missing() -> None:
    needed = {name: COMMAND[name] for name in COMMAND.keys() - {"text", "user_name", "team_id"}}
    nulls = {"text": None, "user_name": None, "team_id": None}
    assert SlashCommand.model_validate({**needed, **nulls}) == SlashCommand.model_validate(needed)
    assert Carried.model_validate(dict.fromkeys(Carried.model_fields)) == Carried()


def test_a_null_inside_an_interaction_counts_as_missing() -> None:
    user, element = {"id": "U0ALICE"}, {"action_id": "mq:pause"}
    bare = {"user": user, "actions": [element], "container": {}, "view": {"id": "V1"}}
    nulls = {
        "user": {**user, "username": None, "team_id": None},
        "channel": None,
        "actions": [{**element, "value": None, "selected_option": None, "block_id": None}],
        "container": {"type": None, "is_ephemeral": None, "message_ts": None},
        "view": {"id": "V1", "hash": None, "private_metadata": None, "state": None},
    }

    assert Interaction.model_validate(nulls) == Interaction.model_validate(bare)
