"""What a proxy or a gateway answers in Slack's place is an outage: nothing is lost or doubled."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

import pytest
from pydantic import SecretStr

from bot.blocks.message import Message
from bot.runtime.clock import SystemClock
from bot.slack.conversation import Replies
from bot.slack.errors import PostInDoubt
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.clients import Identity, LimitedWebClient, open_session
from bot.slack.web_api.poster import SlackPoster
from tests.support.directories import FakeChannels

JSON = "application/json"
TEXT = "text/plain"
SAID = Message("The queue is running.")
OURS = Identity("T0ACME", None, "U0MQBOT", "B0MQBOT", "mqbot")


def http(
    body: str | bytes, kind: str | None = JSON, status: int = 200, header: str | None = None
) -> bytes:
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(content)}", "Connection: close"]
    if kind is not None:
        lines.append(f"Content-Type: {kind}")
    if header is not None:
        lines.append(header)
    return "\r\n".join([*lines, "", ""]).encode() + content


ODD = {
    "a page": http("<html>Log in</html>", "text/html"),
    "a page that says it is JSON": http("<html>Log in</html>"),
    "nothing": http(""),
    "nothing of no type": http("", None),
    "no text": http("", TEXT),
    "a text": http("ok", TEXT),
    "an object as text": http('{"ok": true, "ts": "1.2"}', TEXT),
    "a text of no encoding": http("ok", f"{TEXT}; charset=base64"),
    "a text in another encoding": http(b"\xe9", TEXT),
    "a list": http('[{"ok": true}]'),
    "an empty list": http("[]"),
    "a string": http('"ok"'),
    "a number": http("5"),
    "NaN": http("NaN"),
    "true": http("true"),
    "null": http("null"),
    "cut JSON": http('{"ok": true, "ts"'),
    "a cut answer": http('{"ok": true, "ts": "1.2"}').replace(b"Length: 25", b"Length: 99"),
    "JSON in another encoding": http(b'{"ok": true, "ts": "1.2", "name": "\xe9"}'),
    "JSON in UTF-16, it says": http('{"ok": true, "ts": "1.2"}', f"{JSON}; charset=utf-16"),
    "JSON of no encoding": http('{"ok": true, "ts": "1.2"}', f"{JSON}; charset=base64"),
    "too deep": http("[" * 100_000),
    "too long a number": http('{"ok": true, "ts": "1.2", "number": %s}' % ("9" * 5000)),
    "a gzip file": http(b"\x1f\x8b", "application/gzip"),
    "an empty gzip file": http(b"", "application/gzip"),
    "no gzip": http("garbage", header="Content-Encoding: gzip"),
    "yes": http('{"ok": "yes", "ts": "1.2"}'),
    "1": http('{"ok": 1, "ts": "1.2"}'),
    "no reason": http('{"ok": false}'),
    "an object as the reason": http('{"ok": false, "error": {"code": 1}}'),
    "somebody else's object": http('{"status": "fine"}'),
    "somebody else's error": http('{"error": "not_found"}'),
    "a gateway's refusal": http('{"error": "Forbidden"}', status=403),
    "a page that isn't there": http("<html>", "text/html", status=404),
    "a proxy's login": http("<html>", "text/html", status=407),
    "a broken gateway": http("bad gateway", TEXT, status=502),
    "a broken gateway's file": http(b"\x1f\x8b", "application/gzip", status=502),
    "another success": http('{"ok": true, "ts": "1.2"}', status=201),
    "no content": b"HTTP/1.1 204 X\r\nConnection: close\r\n\r\n",
    "a circle": http("", "text/html", status=302, header="Location: /"),
    "a broken address": http("", "text/html", status=302, header="Location: http://[broken"),
    "no HTTP": b"SSH-2.0-OpenSSH\r\n",
    "no words": b"",
}


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[str]:
    """Something that answers every request so; its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = re.search(r"(?i)content-length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            writer.write(answer)
            await writer.drain()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/api/"


@asynccontextmanager
async def client_of(answer: bytes) -> AsyncIterator[LimitedWebClient]:
    async with answering(answer) as address, open_session() as session:
        token = SecretStr("xoxb-1")
        yield LimitedWebClient(session, SystemClock(), token=token, base_url=address)


def poster_of(client: LimitedWebClient) -> SlackPoster:
    clock = SystemClock()
    return SlackPoster(client, SlackChannels(client, clock), clock, OURS)


@pytest.mark.parametrize("answer", ODD.values(), ids=ODD)
async def test_a_post_that_something_else_answers_is_in_doubt_and_slack_is_unavailable(
    answer: bytes,
) -> None:
    async with client_of(answer) as client:
        with pytest.raises(PostInDoubt):
            await poster_of(client).post("C0MERGEQ", SAID, "d-1")
        assert client.seen.failing_since is not None


BARE = {"an empty success": http('{"ok": true}'), "no list": http('{"ok":true,"messages":null}')}


@pytest.mark.parametrize("answer", [*ODD.values(), *BARE.values()], ids=[*ODD, *BARE])
async def test_a_history_that_something_else_answers_doesnt_lack_the_post(answer: bytes) -> None:
    """If it did, the message would be posted again."""
    async with client_of(answer) as client:
        with pytest.raises(PostInDoubt):
            await poster_of(client).find("C0MERGEQ", "d-1", SystemClock().now())


@pytest.mark.parametrize("answer", [ODD["a page"], ODD["a page that says it is JSON"]])
async def test_a_reply_that_a_page_answers_may_not_have_been_shown(answer: bytes) -> None:
    async with client_of(answer) as client, open_session() as session:
        replies = Replies(client, session, FakeChannels(), SystemClock())
        lost = await replies.send(f"{client.base_url}response/1", SAID)
    assert lost is not None
    assert lost.is_unclear
