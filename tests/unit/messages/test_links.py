"""Addresses in outside text are links that show where they lead; nothing else becomes one."""

import pytest
from hypothesis import given, strategies as st

from bot.blocks import blocks
from bot.blocks.message import Block
from bot.blocks.text import escape, quote, with_links, without_markup


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://ci.example/1", "see <https://ci.example/1>"),
        ("see https://ci.example/1.", "see <https://ci.example/1>."),
        ("(https://ci.example/1)", "(<https://ci.example/1>)"),
        ("“https://ci.example/1”.", "“<https://ci.example/1>”."),
        ("https://ci.example/a_b/c?x=1&y=2#z", "<https://ci.example/a_b/c?x=1&amp;y=2#z>"),
        ("HTTP://CI.example:8080", "<HTTP://CI.example:8080>"),
        ("https://a.example, https://b.example!", "<https://a.example>, <https://b.example>!"),
        ("<https://ci.example|harmless>", "&lt;<https://ci.example>|harmless&gt;"),
        ("https://slack.com@evil.example/", "https://slack.com@evil.example/"),
        ("https://user:pw@ci.example/", "https://user:pw@ci.example/"),
        ("https://\u0430pple.example/", "https://\u0430pple.example/"),
        ("https://ci.example/cut/of…", "https://ci.example/cut/of…"),
        ("javascript://ci.example/%0aalert(1)", "javascript://ci.example/%0aalert(1)"),
        ("xhttps://ci.example", "xhttps://ci.example"),
        ("https://", "https://"),
        ("ftp://ci.example", "ftp://ci.example"),
        ("no address", "no address"),
        ("", ""),
    ],
)
def test_addresses_are_links_that_show_where_they_lead(text: str, shown: str) -> None:
    assert with_links(escape(text)) == shown


def test_links_and_code_of_ours_stay_as_they_are() -> None:
    ours = "<https://ci.example|#41> `curl https://ci.example` <!date^1^{date}|1970>"
    assert with_links(ours) == ours


def find_text(block: Block) -> object:
    text = block["text"]
    assert isinstance(text, dict)
    return text["text"]


def test_the_fallback_text_has_the_address_alone() -> None:
    shown = blocks.sentence(f"Reason: {quote('see https://ci.example/a?b&c', 200)}")
    assert find_text(shown.blocks[0]) == "Reason: see <https://ci.example/a?b&amp;c>"
    assert shown.text == "Reason: see https://ci.example/a?b&amp;c"


def test_a_text_that_fits_only_without_links_stays_as_it_is() -> None:
    text = "x" * (blocks.SECTION_LIMIT - 19) + " https://ci.example"
    assert find_text(blocks.section(text)) == text


@given(st.text())
def test_nothing_else_is_changed(text: str) -> None:
    linked = with_links(escape(text))
    assert without_markup(linked) == without_markup(escape(text))
