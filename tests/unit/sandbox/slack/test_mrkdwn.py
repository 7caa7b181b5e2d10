import pytest

from bot.sandbox.slack.state.mrkdwn import (
    command_text,
    rich_text_from_person,
    text_from_person,
)
from bot.sandbox.slack.state.seed import default_workspace
from bot.sandbox.slack.state.workspace import Workspace


@pytest.fixture
def workspace() -> Workspace:
    return default_workspace("merge-queue", "Merge Queue")


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("hi @bob", "hi <@U0BOB>"),
        ("hi @nobody", "hi @nobody"),
        ("a@bob", "a@bob"),
        ("<@U0BOB>", "&lt;@U0BOB&gt;"),
        ("@channel in #general", "<!channel> in <#C0GENERAL|general>"),
        ("#incidents", "<#C0INCIDENT|>"),
        ("https://a.example/#general", "<https://a.example/#general>"),
    ],
)
def test_typed_text_is_escaped_and_its_names_become_ids(
    workspace: Workspace, typed: str, stored: str
) -> None:
    assert text_from_person(typed, workspace) == stored


def test_a_command_is_always_escaped_and_linked_on_request(workspace: Workspace) -> None:
    typed = "pause <b> & @bob"
    assert command_text(typed, workspace, should_escape=False) == "pause &lt;b&gt; &amp; @bob"
    assert command_text(typed, workspace, should_escape=True) == ("pause &lt;b&gt; &amp; <@U0BOB>")


def test_a_persons_message_carries_rich_text() -> None:
    stored = "*hi* <@U0BOB> `x<y` <https://a.example|a>".replace("x<y", "x&lt;y")
    elements = rich_text_from_person(stored)["elements"][0]["elements"]
    assert elements == [
        {"type": "text", "text": "hi", "style": {"bold": True}},
        {"type": "text", "text": " "},
        {"type": "user", "user_id": "U0BOB"},
        {"type": "text", "text": " "},
        {"type": "text", "text": "x<y", "style": {"code": True}},
        {"type": "text", "text": " "},
        {"type": "link", "url": "https://a.example", "text": "a"},
    ]
