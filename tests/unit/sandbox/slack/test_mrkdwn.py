import pytest

from bot.sandbox.slack.state.mrkdwn import (
    command_text,
    escape,
    rich_text_from_person,
    text_from_app,
    text_from_person,
    unescape,
)
from bot.sandbox.slack.state.seed import default_workspace
from bot.sandbox.slack.state.workspace import Workspace


@pytest.fixture
def workspace() -> Workspace:
    return default_workspace("merge-queue", "Merge Queue")


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("a & b", "a &amp; b"),
        ("a &amp; b", "a &amp; b"),
        ("1 < 2 > 0", "1 &lt; 2 &gt; 0"),
        ("<@U0ALICE> <#C0GENERAL|general> <!here>", "<@U0ALICE> <#C0GENERAL|general> <!here>"),
        ("<https://a.example|a>", "<https://a.example|a>"),
        ("see https://a.example/b?c=d&e=f.", "see <https://a.example/b?c=d&amp;e=f>."),
        ("(https://a.example)", "(<https://a.example>)"),
        ("@here #general", "@here #general"),
    ],
)
def test_the_text_of_an_app_is_stored_with_links_marked_and_stray_characters_escaped(
    workspace: Workspace, sent: str, stored: str
) -> None:
    assert text_from_app(sent, workspace) == stored


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


def test_escaping_is_undone() -> None:
    assert unescape(escape("<&amp;>")) == "<&amp;>"


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
