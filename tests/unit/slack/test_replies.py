"""How refused replies are counted, and when a reply is repeated."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field

import pytest
from aiohttp import ClientSession, ClientTimeout
from slack_sdk.web.async_client import AsyncWebClient

from bot.blocks.blocks import message, refusal, section
from bot.blocks.message import Message
from bot.kernel.actor import Actor, Origin
from bot.slack.conversation import NOT_SLACK, Conversation, Replies, is_slacks, refusal_code
from bot.slack.errors import SlackRefused
from tests.support.clock import FakeClock
from tests.support.directories import FakeChannels
from tests.unit.slack.web_api.scripted_client import ScriptedClient


@pytest.mark.parametrize(
    ("said", "status", "code"),
    [
        ('{"ok": false, "error": "expired_url"}', 200, "expired_url"),
        ("used_url", 404, "used_url"),
        ("no_text\n", 500, "no_text"),
        ("", 502, "http_502"),
        ("<html>Bad gateway for acme/site</html>", 502, "http_502"),
        ('{"ok": false, "error": "acme/site"}', 200, "http_200"),
    ],
)
def test_an_error_code_is_slacks_own_or_the_status(said: str, status: int, code: str) -> None:
    assert refusal_code(said, status) == code


SAID = Message("The queue is running.")


@dataclass
class Hooks:
    """The target of replies, with a scripted response for each request."""

    treatment: list[str]
    bodies: list[str] = field(default_factory=list)
    connections: int = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/response/1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with closing(writer):
            while head := await self._head(reader):
                length = int(re.findall(r"(?i)content-length: (\d+)", head)[0])
                self.bodies.append((await reader.readexactly(length)).decode())
                treatment = self.treatment.pop(0)
                if treatment == "close":
                    return
                if treatment.startswith("307 "):
                    place = treatment.removeprefix("307 ").encode()
                    writer.write(
                        b"HTTP/1.1 307 X\r\nContent-Length: 0\r\nLocation: %b\r\n\r\n" % place
                    )
                if treatment == "answer":
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async def _head(self, reader: asyncio.StreamReader) -> str:
        try:
            return (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            return ""


@asynccontextmanager
async def replies(api: str, read_seconds: float = 30.0) -> AsyncIterator[Replies]:
    async with ClientSession(timeout=ClientTimeout(total=60, sock_read=read_seconds)) as session:
        yield Replies(AsyncWebClient(base_url=api), session, FakeChannels(), FakeClock())


async def test_a_reply_is_sent_again_when_slack_closed_the_reused_connection() -> None:
    hooks = Hooks(["answer", "close", "answer"])
    async with hooks.listening() as url, replies(url) as ours:
        await ours.send(url, SAID)
        await ours.send(url, SAID)
    assert (len(hooks.bodies), hooks.treatment) == (3, [])
    assert hooks.bodies[1] == hooks.bodies[2]
    assert hooks.connections == 2


async def test_a_reply_lost_with_two_connections_is_dropped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hooks = Hooks(["close", "close"])
    caplog.set_level(logging.INFO, "bot")
    async with hooks.listening() as url, replies(url) as ours:
        await ours.send(url, SAID)
    assert hooks.treatment == []
    logged = [getattr(record, "action", None) for record in caplog.records]
    assert logged == ["reply_again", "reply_failed"]


async def test_an_unconfirmed_reply_is_sent_once() -> None:
    hooks = Hooks(["nothing", "answer"])
    async with hooks.listening() as url, replies(url, read_seconds=0.1) as ours:
        await ours.send(url, SAID)
    assert len(hooks.bodies) == 1


async def test_a_message_is_sent_again_without_blocks_only_if_slack_refuses_those() -> None:
    with_blocks = Message("The queue is running.", (section("The queue is *running*."),))
    async with ClientSession() as session:
        client = ScriptedClient("invalid_blocks", {"ts": "1.2"}, "internal_error")
        ours = Replies(client, session, FakeChannels(), FakeClock())
        to_alice = Conversation(ours, Actor("U1", "alice"), Origin.COMMAND)
        await to_alice.reply(with_blocks)
        assert [bool(sent.get("blocks")) for _, sent in client.calls] == [True, False]
        with pytest.raises(SlackRefused):
            await to_alice.reply(with_blocks)


async def test_a_refusal_stands_out_in_a_form_and_is_plain_where_slack_has_no_alerts() -> None:
    refused = refusal(message(section(":warning: *acme/site is still paused.*")))
    async with ClientSession() as session:
        client = ScriptedClient("invalid_blocks", {"ok": True})
        ours = Replies(client, session, FakeChannels(), FakeClock())
        in_form = Conversation(ours, Actor("U1", "alice"), Origin.MODAL, view_id="V1")
        await in_form.reply(refused)
    shown = [sent["view"]["blocks"] for _, sent in client.calls]
    assert [[block["type"] for block in blocks] for blocks in shown] == [["alert"], ["section"]]
    assert shown[0][0]["text"] == shown[1][0]["text"]


HOOK = "https://hooks.slack.com/commands/T1/2/3"


@pytest.mark.parametrize(
    ("response_url", "api"),
    [
        (HOOK, "https://slack.com/api/"),
        (HOOK, "https://slack.proxy.example/api/"),
        ("https://hooks.slack-gov.com/actions/T1/2/3", "https://slack-gov.com/api/"),
        ("http://127.0.0.1:8400/response/1", "http://127.0.0.1:8400/api/"),
    ],
)
def test_replies_go_to_slacks_own_addresses(response_url: str, api: str) -> None:
    assert is_slacks(response_url, api)


@pytest.mark.parametrize(
    "response_url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:8080/admin",
        "http://hooks.slack.com/commands/T1/2/3",
        "https://slack.com.evil.example/",
        "https://evilslack.com/",
        "https://slack.com@evil.example/",
        "https://evil.example\\@slack.com/",
        "https://evil.example#@slack.com/",
        "https://slack.com:443@evil.example/",
        "https://evil.example?.slack.com/",
        "https://evil.example\thooks.slack.com/",
        "//slack.com/",
        "/response/1",
        "file:///etc/passwd",
        "https://[::1",
        "",
    ],
)
def test_replies_go_to_no_other_address(response_url: str) -> None:
    assert not is_slacks(response_url, "https://slack.com/api/")


async def test_a_reply_elsewhere_is_not_sent_but_counted(caplog: pytest.LogCaptureFixture) -> None:
    elsewhere = Hooks(["answer"])
    async with elsewhere.listening() as url, replies("https://slack.com/api/") as ours:
        await ours.send(url, SAID)
    assert elsewhere.connections == 0
    assert [getattr(record, "said", None) for record in caplog.records] == [NOT_SLACK]


async def test_a_reply_follows_no_redirect(caplog: pytest.LogCaptureFixture) -> None:
    inside = Hooks(["answer"])
    async with inside.listening() as secret_place:
        hooks = Hooks([f"307 {secret_place}"])
        async with hooks.listening() as url, replies(url) as ours:
            await ours.send(url, SAID)
    assert inside.connections == 0
    assert [getattr(record, "action", None) for record in caplog.records] == ["reply_failed"]
