"""Outside text has no effect in Slack: no mention, link, hidden character or excess."""

import random
import re
import unicodedata
from collections.abc import Iterator
from datetime import timedelta

from hypothesis import HealthCheck, given, settings, strategies as st

from bot.blocks.message import TEXT_LIMIT, Message, View
from bot.blocks.text import ADDRESS_LIMIT, clean, code, cut, duration, link, quote
from bot.sandbox.slack.block_kit.blocks import (
    MESSAGE_TEXT_BUDGET,
    Surface,
    find_problems,
    text_length,
)
from bot.sandbox.slack.block_kit.view_rules import accepted_view
from bot.sandbox.slack.wire import Json
from tests.support.every_message import EVERY
from tests.support.messages.rendering import CALLED, ON_CALL, Outside

HOSTILE = (
    "<!channel>",
    "<!here|here>",
    "<!everyone>",
    "<@U0ALICE>",
    "<#C0MERGEQ|general>",
    "<!subteam^S0TEAM>",
    "<!date^0^{date}^https://evil.example|now>",
    "<https://evil.example|click here>",
    "https://evil.example/x",
    "@channel",
    "&lt;!channel&gt;",
    "&amp;",
    "<<<&&&>>>",
    "|",
    "```\n`x`",
    "*b*_i_~s~",
    "\n> quoted\n\n",
    "\u202egnp.exe\u202c",
    "\u2066\u2069\u200b\ufeff\u00ad",
    "\x00\x07\x1b[31m\x7f\x85",
    "\u2028\u2029",
    "\ue000\U000e0041",
    "👩‍👩‍👧 é e\u0301",
    ":tada: {date}",
    "x" * 400,
    "&" * 400,
    "<!channel>" * 90,
)
PLACES = (
    "",
    "x",
    "/path?a=1&b=<!here>|y",
    " |<!channel>",
    "\u202e\x00\n>",
    '"><@U0ALICE>',
    "z" * 3000,
)

texts = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=9)), max_size=4).map("".join)
urls = st.one_of(
    st.sampled_from(PLACES).map(lambda place: f"https://code.example/{place}"),
    st.sampled_from(
        ["javascript:alert(1)", "", "<!channel>", "HTTP://x", "mailto:a@b", "https://"]
    ),
)

TIME = r"<!date\^\d+\^[\u200b{}() a-z_]+\|\d{4}-\d\d-\d\d \d\d:\d\d UTC>"
# A character of a reason that would be a style: the text of a date that has no form.
STYLE = r"<!date\^00000000\^\{_\}\|[*_~`]>"
LINK = r"<(?P<url>https?://[^<>|\s]*)\|[^<>|]*>"
# An address in outside text is a link that shows the whole address: tests/unit/messages/test_links.
SHOWN_ADDRESS = r"<https?://[a-z0-9.:-]+(?:[/?#][^<>|\s]*)?>"
OURS = re.compile(f"{TIME}|{STYLE}|{LINK}|{SHOWN_ADDRESS}", re.IGNORECASE)
ENTITY = re.compile("&(amp|lt|gt);")


def text_objects(value: object) -> Iterator[Json]:
    if isinstance(value, dict):
        if value.get("type") in {"mrkdwn", "plain_text"}:
            yield value
        for inner in value.values():
            yield from text_objects(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from text_objects(inner)


def blocks_of(rendered: Message | View) -> list[Json]:
    shown = rendered.blocks if isinstance(rendered, Message) else rendered.view["blocks"]
    assert isinstance(shown, (list, tuple))
    return [dict(block) for block in shown]  # type: ignore[arg-type]  # JSON: each block is an object


def assert_nothing_hidden(text: str, name: str) -> None:
    for character in set(text):
        kept = character in "\n\u200c\u200d" or unicodedata.category(character) not in {
            "Cc",
            "Cf",
            "Cs",
            "Co",
            "Cn",
            "Zl",
            "Zp",
        }
        assert kept, (name, hex(ord(character)), text)


OUR_REFERENCES = (
    "<#C0MERGEQ>",
    "<#C0OLD>",
    f"<!subteam^{ON_CALL}>",
    *(f"<@{one}>" for one in (*CALLED, "U0ALICE", "U0CAROL")),
    "<!subteam^S0RELEASERS>",
)
"""Channels and people that messages refer to themselves: what comes from outside is escaped."""


def assert_harmless(text: str, name: str) -> None:
    """Only our own times and links are left of Slack's syntax."""
    for ours in OUR_REFERENCES:
        text = text.replace(ours, "")
    assert_nothing_hidden(re.sub(TIME, "", text), name)
    for found in OURS.finditer(text):
        assert "evil.example" not in (found["url"] or ""), (name, text)
    rest = OURS.sub("", text)
    assert "<" not in rest, (name, text)
    assert ">" not in rest, (name, text)
    assert "&" not in ENTITY.sub("", rest), (name, text)


# Each example renders one message; test_hostile_text throws chosen strings at all of them.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=1500)
@given(st.sampled_from(sorted(EVERY)), texts, urls)
def test_outside_text_has_no_effect_in_any_message(name: str, text: str, url: str) -> None:
    rendered = Outside(lambda: text, lambda: url).render(EVERY[name])
    for found in text_objects(blocks_of(rendered)):
        if found["type"] == "mrkdwn":
            assert found["verbatim"] is True, name
            assert_harmless(found["text"], name)
        else:
            assert_nothing_hidden(found["text"], name)
    if isinstance(rendered, Message):
        assert_harmless(rendered.text, name)
    assert_taken_by_slack(rendered, name)


def assert_taken_by_slack(rendered: Message | View, name: str) -> None:
    if isinstance(rendered, View):
        surface: Surface = "home" if rendered.view["type"] == "home" else "modal"
        accepted_view(dict(rendered.view), surface, random.Random(1))
        return
    shown = blocks_of(rendered)
    assert not find_problems(shown, "message").sentences(), name
    assert text_length(shown) <= MESSAGE_TEXT_BUDGET, name
    assert 0 < len(rendered.text) <= TEXT_LIMIT, name


@given(texts, st.integers(1, 300))
def test_cleaned_text_is_one_line_within_its_limit(text: str, limit: int) -> None:
    cleaned = clean(text, limit)

    assert len(cleaned) <= limit
    assert "\n" not in cleaned
    assert cleaned == cleaned.strip()
    assert clean(cleaned, limit) == cleaned
    assert_nothing_hidden(cleaned, "clean")


@given(texts, st.integers(1, 300))
def test_quoted_text_is_shown_unchanged(text: str, limit: int) -> None:
    shown = quote(text, limit).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")

    assert shown == clean(text, limit)
    assert_harmless(quote(text, limit), "quote")


@given(texts)
def test_outside_text_cannot_end_a_code_span(text: str) -> None:
    shown = code(text, 100)

    assert shown.startswith("`")
    assert shown.endswith("`")
    assert "`" not in shown[1:-1]


@given(st.text(max_size=30), st.integers(1, 30))
def test_shortened_text_is_marked_as_such(text: str, limit: int) -> None:
    shortened = cut(text, limit)

    assert len(shortened) <= limit
    assert shortened == text or (shortened.endswith("…") and text.startswith(shortened[:-1]))


@given(urls, texts)
def test_a_link_is_one_link_or_plain_text(url: str, text: str) -> None:
    made = link(url, quote(text, 80))

    is_address = url.lower().startswith(("http://", "https://"))
    # Escaping makes at most five characters of one.
    if is_address and len(url) <= ADDRESS_LIMIT // 5:
        assert OURS.fullmatch(made), made
    elif not is_address or len(url) > ADDRESS_LIMIT:
        assert made == quote(text, 80)
    else:
        assert made == quote(text, 80) or OURS.fullmatch(made), made


@given(st.integers(-(10**6), 10**9))
def test_a_duration_is_never_negative_and_always_short(seconds: int) -> None:
    shown = duration(timedelta(seconds=seconds))

    assert re.fullmatch(r"\d+ (d|h|min|s)( \d+ (h|min))?", shown)
