"""What Slack sends becomes typed values, whatever else it sends along."""

import pytest

from bot.slack.payloads import Carried, Interaction, SaidToBot, SlashCommand

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
    assert (command.actor.user_id, command.actor.team_id) == ("U0ALICE", "T0ACME")


def test_the_legacy_username_of_a_payload_is_never_a_persons_name() -> None:
    assert SlashCommand.model_validate(COMMAND).actor.name == ""
    click = {"user": {"id": "U0ALICE", "username": "amartin82", "name": "amartin82"}}
    assert Interaction.model_validate(click).actor.name == ""


def test_invisible_characters_in_a_command_are_ignored() -> None:
    text = "\u200bpause\u2060 \ufeffacme/site \u202eCI is down \U0001f468\u200d\U0001f4bb"
    typed = "pause acme/site CI is down \U0001f468\u200d\U0001f4bb"
    assert SlashCommand.model_validate({**COMMAND, "text": text}).typed == typed


def test_a_command_without_text_is_an_empty_one() -> None:
    bare = {name: value for name, value in COMMAND.items() if name not in {"text", "user_name"}}
    command = SlashCommand.model_validate(bare)
    assert command.typed == ""


@pytest.mark.parametrize(
    ("sent", "typed"),
    [
        ("<https://evil.example|acme/site>", "acme/site (https://evil.example)"),
        ("<https://evil.example|acme/site#4>", "acme/site#4 (https://evil.example)"),
        ("<https://code.example/acme/site|acme/site>", "acme/site"),
        ("<https://code.example/acme/site/pull/4|acme/site#4>",) * 2,
        ("<https://evil.example|the outage>", "https://evil.example"),
    ],
)
def test_a_link_that_looks_like_a_repository_stays_one(sent: str, typed: str) -> None:
    shown = typed.strip("<>").partition("|")[0]
    assert SlashCommand.model_validate({**COMMAND, "text": f"pause {sent} x"}).typed == (
        f"pause {shown} x"
    )


def test_a_space_that_nobody_typed_marks_no_name() -> None:
    text = "pause \u2800acme/site\u2800CI is down"
    assert SlashCommand.model_validate({**COMMAND, "text": text}).typed == (
        "pause  acme/site CI is down"
    )


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("<@U0BOT>: pause x", ": pause x"),
        ("<@U0BOT> <@U0BOT> pause x", "pause x"),
        ("pause x <@U0BOT>", "pause x"),
        ("pause x <@U0BOT>!", "pause x"),
        ("<@U0BOT|merge-queue>, pause x", ", pause x"),
        ("<@U0BOT>", ""),
    ],
)
def test_the_mention_of_the_bot_may_stand_at_either_end(text: str, typed: str) -> None:
    said = SaidToBot(type="app_mention", channel="C0MERGEQ", ts="1.2", text=text)
    assert said.typed_to("U0BOT") == typed


def test_a_null_counts_as_missing() -> None:
    needed = {name: COMMAND[name] for name in COMMAND.keys() - {"text", "user_name", "team_id"}}
    nulls = {"text": None, "user_name": None, "team_id": None}
    assert SlashCommand.model_validate({**needed, **nulls}) == SlashCommand.model_validate(needed)
    assert Carried.model_validate(dict.fromkeys(Carried.model_fields)) == Carried()


def test_a_null_inside_an_interaction_counts_as_missing() -> None:
    user = {"id": "U0ALICE"}
    element = {"action_id": "mq:pause"}
    bare = {"user": user, "actions": [element], "container": {}, "view": {"id": "V1"}}
    nulls = {
        "user": {**user, "username": None, "team_id": None},
        "channel": None,
        "actions": [{**element, "value": None, "selected_option": None, "block_id": None}],
        "container": {"type": None, "is_ephemeral": None, "message_ts": None},
        "view": {"id": "V1", "hash": None, "private_metadata": None, "state": None},
    }

    assert Interaction.model_validate(nulls) == Interaction.model_validate(bare)
