"""Thousands of hostile strings in every message, in the strict workspace."""

import json
import random
import re
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import settings

from bot.blocks.message import Message, View
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.mrkdwn import rich_text_from_person
from bot.sandbox.slack.web_api.request_bodies import Received
from bot.sandbox.slack.wire import Json
from tests.properties.test_text import HOSTILE, text_objects
from tests.support.every_message import every_message
from tests.support.messages.confirmations import MANY as CONFIRMING
from tests.support.messages.rendering import CALLED, ON_CALL

STRINGS = 500 * settings().max_examples
"""25,000 on a developer's machine, a million in a long run."""
CHANNEL = "C0MERGEQ"
READER = "U0ALICE"
OUR_CHANNELS = {CHANNEL, "C0OLD", "C0GONE", "C1"}
"""Those that our own messages refer to: outside text never names the others."""
WITHOUT_BLOCKS = {"message-that-could-not-be-rendered"}
"""Plain text stands in for it; every other message has blocks."""

ADDRESS = "https://code.example/"
NAMES = ("@alice", "@channel", "@here", "@everyone", "#general", "@releasers", "<!subteam^S0ALL>")
SIGNS = (
    "<",
    ">",
    "|",
    "&",
    "@",
    "!",
    "#",
    "^",
    "*",
    "_",
    "`",
    "\n",
    "\u202e",
    "\x00",
    "&lt;",
    "\\",
)
DATE = re.compile(r"date\^\d+\^[\u200b{}() a-z_]+(\|.*)?")
MANIFEST: Mapping[str, object] = {
    "features": {"app_home": {"home_tab_enabled": True}, "bot_user": {"display_name": "mq"}},
    "oauth_config": {"scopes": {"bot": ["chat:write"]}},
    "settings": {"interactivity": {"is_enabled": True}},
}


class Outside:
    """Gives hostile strings, a new one each time, and counts them."""

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(seed)
        self.given = 0

    def text(self) -> str:
        self.given += 1
        chance = self._chance
        parts = chance.choices((*HOSTILE, *NAMES, *SIGNS), k=chance.randint(1, 4))
        parts.insert(0, "".join(chance.choices(SIGNS, k=chance.randint(0, 6))))
        parts.append(chr(chance.choice((chance.randrange(0x300), chance.randrange(0xD800)))))
        return "".join(parts)

    def url(self) -> str:
        """An address on a host of ours with anything behind it, or no web address at all."""
        start = self._chance.choice((ADDRESS, ADDRESS, "javascript:", "&"))
        return start + self.text()


class Workspace:
    """The strict workspace's Web API, in this process."""

    def __init__(self) -> None:
        self.sandbox = SlackSandbox(MANIFEST, rate_limits="off")

    def show(self, rendered: Message | View) -> Json:
        """What Slack keeps of it; fails when Slack refuses it, for whatever reason."""
        if isinstance(rendered, Message):
            blocks = [dict(block) for block in rendered.blocks]
            given: Json = {"channel": CHANNEL, "text": rendered.text, "blocks": blocks}
            return self._call("chat.postMessage", given, "message")
        if rendered.view["type"] == "home":
            given = {"user_id": READER, "view": dict(rendered.view)}
            return self._call("views.publish", given, "view")
        self.sandbox.installation.views.clear(READER)
        trigger = self.sandbox.installation.triggers.mint(READER)
        given = {"trigger_id": trigger, "view": dict(rendered.view)}
        return self._call("views.open", given, "view")

    def _call(self, method: str, given: Json, kept: str) -> Json:
        answer = self.sandbox.web_api.respond(method, Received(given, self.sandbox.bot_token))
        body: Json = json.loads(answer.text or "")
        assert body["ok"] is True, (body, given)
        stored: Json = body[kept]
        return stored


def read(text: str) -> Iterator[Json]:
    """The parts that Slack's own reader makes of stored text."""
    for section in rich_text_from_person(text)["elements"]:
        yield from section["elements"]


def assert_calls_nobody(text: str) -> None:
    for part in read(text):
        if part["type"] == "channel" and part["channel_id"] in OUR_CHANNELS:
            continue
        if part["type"] == "user" and part["user_id"] in {*CALLED, *CONFIRMING}:
            continue
        if part["type"] == "usergroup" and part["usergroup_id"] in {ON_CALL, *CONFIRMING}:
            continue
        assert part["type"] in {"text", "link", "broadcast"}, (part, text)
        if part["type"] == "broadcast":
            assert DATE.fullmatch(part["range"]), (part, text)


def assert_links_lead_where_they_say(text: str) -> None:
    """A label leads to our host; an address of somebody else's is shown whole."""
    for part in read(text):
        if part["type"] == "link":
            shows_itself = part.get("text", part["url"]) == part["url"]
            assert part["url"].startswith(ADDRESS) or shows_itself, (part, text)


def assert_can_do_nothing(stored: Json) -> None:
    for found in text_objects(stored.get("blocks", [])):
        if found["type"] == "mrkdwn":
            assert found["verbatim"] is True, found
            assert_calls_nobody(found["text"])
            assert_links_lead_where_they_say(found["text"])
    if "text" in stored:
        assert_calls_nobody(stored["text"])
        assert stored["text"].strip()


def test_hostile_strings_have_no_effect_in_slack(request: pytest.FixtureRequest) -> None:
    outside = Outside(request.config.getoption("--hypothesis-seed"))
    workspace = Workspace()
    rounds = 0
    while outside.given < STRINGS:
        for name, rendered in every_message(outside.text, outside.url).items():
            stored = workspace.show(rendered)
            assert ("blocks" in stored) == (name not in WITHOUT_BLOCKS), name
            assert_can_do_nothing(stored)
        rounds += 1
    assert rounds > STRINGS / 15_000
