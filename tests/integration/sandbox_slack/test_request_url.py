"""HTTP delivery: the workspace signs, verifies, waits three seconds, and sends events again."""

import asyncio
import contextlib
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from bot.sandbox.slack.delivering.request_url import RequestUrlRefused
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import ControlRefusal, Json
from tests.integration.sandbox_slack.clients import (
    ALICE,
    CHANNEL,
    IMPATIENT_SECONDS,
    MANIFEST,
    PATIENT_SECONDS,
    eventually,
)

SECRET = "e6b19c573432dcc6b075501d51b51bb8"
OVER_HTTP = {**MANIFEST, "settings": {**MANIFEST["settings"], "socket_mode_enabled": False}}


class Listener:
    """An app that keeps what it is sent and answers as the test says."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[web.Response] = []
        self.gives_challenge = True
        self.gate = asyncio.Event()
        self.gate.set()
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def start(self, port: int = 0) -> None:
        app = web.Application()
        app.router.add_post("/slack/events", self._take)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/slack/events"

    async def stop(self) -> None:
        self.gate.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        raw = await request.read()
        if request.content_type == "application/json":
            body = json.loads(raw)
            if body["type"] == "url_verification":
                given = body["challenge"] if self.gives_challenge else "something else"
                return web.json_response({"challenge": given})
        self.requests.append((dict(request.headers), raw))
        await self.gate.wait()
        return self.answers.pop(0) if self.answers else web.Response()

    def header(self, name: str) -> list[str | None]:
        return [headers.get(name) for headers, _ in self.requests]


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    one = Listener()
    await one.start()
    yield one
    await one.stop()


@contextlib.asynccontextmanager
async def workspace(listener: Listener, ack_seconds: float) -> AsyncIterator[SlackSandbox]:
    running = SlackSandbox(
        OVER_HTTP,
        ack_seconds=ack_seconds,
        event_retry_seconds=(0.0, 0.02, 0.02),
        signing_secret=SECRET,
    )
    await running.start()
    running.request_url.use_when_answered(listener.url)
    await eventually(lambda: running.request_url.connections)
    yield running
    await running.stop()


@pytest.fixture
async def sandbox(listener: Listener) -> AsyncIterator[SlackSandbox]:
    async with workspace(listener, PATIENT_SECONDS) as running:
        yield running


async def test_commands_interactions_and_events_arrive_signed_each_in_its_form(
    sandbox: SlackSandbox, listener: Listener
) -> None:
    answer = await sandbox.people.command(ALICE, CHANNEL, "/mq status & more")
    assert answer["acknowledged"] is True
    await sandbox.people.shortcut(ALICE, "pause")
    assert (await sandbox.people.home(ALICE))["acknowledged"] is True

    (headers, raw), (_, interaction), (of_event, event) = listener.requests
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert parse_qs(raw.decode())["text"] == ["status &amp; more"]
    assert SignatureVerifier(SECRET).is_valid_request(raw, headers)
    assert not SignatureVerifier("another").is_valid_request(raw, headers)
    signed = f"v0:{headers['X-Slack-Request-Timestamp']}:".encode() + raw
    digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["X-Slack-Signature"] == f"v0={digest}"
    payload = json.loads(parse_qs(interaction.decode())["payload"][0])
    assert (payload["type"], payload["callback_id"]) == ("shortcut", "pause")
    assert of_event["Content-Type"] == "application/json"
    assert json.loads(event)["event"]["type"] == "app_home_opened"
    assert "X-Slack-Retry-Num" not in of_event


async def test_an_acknowledgement_may_carry_a_reply_and_a_payload_may_be_repeated(
    sandbox: SlackSandbox, listener: Listener
) -> None:
    for answer in (web.Response(text="Got it"), web.json_response({"text": "Got it"})):
        listener.answers.append(answer)
        done = await sandbox.people.command(ALICE, CHANNEL, "/mq")
        assert done["ack_text"] == "Got it"

    sandbox.faults.arm({"name": "repeat_payload"})
    await sandbox.people.command(ALICE, CHANNEL, "/mq")
    first, second = listener.requests[2:]
    assert first[1] == second[1]


async def test_late_acknowledgements_and_lost_payloads_do_not_count(listener: Listener) -> None:
    async with workspace(listener, IMPATIENT_SECONDS) as sandbox:
        sandbox.faults.arm({"name": "lose_payload"})
        assert (await sandbox.people.command(ALICE, CHANNEL, "/mq"))["acknowledged"] is False
        assert listener.requests == []
        listener.gate.clear()
        done = await sandbox.people.command(ALICE, CHANNEL, "/mq")
        assert (done["acknowledged"], done["error"]) == (False, "operation_timeout")


async def test_a_status_other_than_200_does_not_acknowledge_and_a_stopped_app_is_disconnected(
    sandbox: SlackSandbox, listener: Listener
) -> None:
    listener.answers += [web.Response(status=500), web.Response(status=302)]
    for _ in range(2):
        assert (await sandbox.people.command(ALICE, CHANNEL, "/mq"))["acknowledged"] is False
    # A command is never sent again.
    assert len(listener.requests) == 2

    await listener.stop()
    with pytest.raises(ControlRefusal, match="connection"):
        await sandbox.people.command(ALICE, CHANNEL, "/mq")


async def test_a_retried_event_has_its_number_reason_and_the_same_id_unless_retries_are_off(
    sandbox: SlackSandbox, listener: Listener
) -> None:
    listener.answers += [web.Response(status=500) for _ in range(3)]
    await sandbox.people.home(ALICE)
    await eventually(lambda: len(listener.requests) == 4)
    assert listener.header("X-Slack-Retry-Num") == [None, "1", "2", "3"]
    assert listener.header("X-Slack-Retry-Reason") == [None, *["http_error"] * 3]
    ids = {json.loads(raw)["event_id"] for _, raw in listener.requests}
    assert len(ids) == 1

    listener.requests.clear()
    listener.answers.append(web.Response(status=500, headers={"X-Slack-No-Retry": "1"}))
    await sandbox.people.home(ALICE)
    await sandbox.people.home(ALICE)
    assert listener.header("X-Slack-Retry-Num") == [None, None]


async def test_an_address_that_does_not_return_the_challenge_is_refused(listener: Listener) -> None:
    listener.gives_challenge = False
    sandbox = SlackSandbox(OVER_HTTP, signing_secret=SECRET)
    await sandbox.start()
    with pytest.raises(RequestUrlRefused, match="challenge_failed"):
        await sandbox.request_url.use(listener.url)
    assert sandbox.request_url.connections == 0
    with pytest.raises(ControlRefusal):
        await sandbox.people.command(ALICE, CHANNEL, "/mq")
    await sandbox.stop()


async def test_a_configured_address_is_verified_once_the_app_has_started(
    listener: Listener,
) -> None:
    port = int(listener.url.split(":")[2].partition("/")[0])
    await listener.stop()
    sandbox = SlackSandbox(
        OVER_HTTP, request_url=listener.url, signing_secret=SECRET, ack_seconds=PATIENT_SECONDS
    )
    await sandbox.start()
    assert _app(sandbox)["connected"] is False
    later = Listener()
    await later.start(port)
    await eventually(lambda: _app(sandbox)["connected"])
    assert (await sandbox.people.command(ALICE, CHANNEL, "/mq"))["acknowledged"] is True
    await sandbox.stop()
    await later.stop()


async def test_with_socket_mode_on_nothing_is_sent_over_http(listener: Listener) -> None:
    sandbox = SlackSandbox(MANIFEST, request_url=listener.url, signing_secret=SECRET)
    await sandbox.start()
    await eventually(lambda: sandbox.request_url.connections)
    with pytest.raises(ControlRefusal):
        await sandbox.people.command(ALICE, CHANNEL, "/mq")
    assert listener.requests == []
    await sandbox.stop()


def _app(sandbox: SlackSandbox) -> Json:
    app: Json = sandbox.sight.workspace(ALICE)["app"]
    return app
