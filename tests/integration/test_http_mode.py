"""HTTP mode: only requests that Slack signed recently are accepted, and only once."""

import asyncio
import gzip
import json
import logging
import socket
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pydantic import SecretStr
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.errors import StoreUnavailable
from bot.slack.app import App
from bot.slack.background import MOST_KEPT, Background, Inbox, Once
from bot.slack.conversation import Replies
from bot.slack.http import EVENTS_PATH, LARGEST_BODY, HttpServer
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.clients import Identity
from tests.support.clock import FakeClock
from tests.support.databases import TestDatabase
from tests.support.slack_requests import SECRET, Answer, command, event, send, signed
from tests.support.store import InMemoryStore

IDENTITY = Identity("T0ACME", None, "U0MQBOT", "B0MQBOT", "merge-queue")
JSON = {"Content-Type": "application/json"}
KEYS = (
    *("actions", "authorizations", "channel", "command", "enterprise", "event", "message"),
    *("is_enterprise_install", "payload", "ssl_check", "team", "team_id", "type", "user", "view"),
)
"""Of payloads, which Bolt looks into before it looks at the signature."""


class Recorder:
    """A listener of everything that only remembers what it was to act upon."""

    def __init__(self, once: Once) -> None:
        self.once = once
        self.inbox = Inbox()
        self.acted: list[str] = []
        self.failures = 0
        self.is_asked = asyncio.Event()
        self.may_acknowledge = asyncio.Event()
        self.may_acknowledge.set()

    def register(self, app: AsyncApp) -> None:
        app.command("/mq")(self.on_request)
        app.action("go")(self.on_request)
        app.shortcut("pause_queue")(self.on_request)
        app.event("app_home_opened")(self.on_request)

    async def on_request(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        self.is_asked.set()
        await self.may_acknowledge.wait()
        if self.failures:
            self.failures -= 1
            raise ConnectionError
        await ack()
        self.inbox.hand_over(self._act(body))

    async def _act(self, body: dict[str, Any]) -> None:
        if await self.once.is_first(body):
            self.acted.append(body.get("text") or body.get("event_id") or str(body.get("type")))


class Machine:
    """The request handling of one `mqbot web`."""

    def __init__(self, clock: FakeClock, store: InMemoryStore | None = None) -> None:
        self.clock = clock
        self.once = Once(clock, store or InMemoryStore())
        self.recorder = Recorder(self.once)
        self.server = HttpServer()
        self.session = aiohttp.ClientSession()

    async def start(self) -> None:
        await self.server.open("127.0.0.1", 0)
        client = AsyncWebClient(base_url="http://127.0.0.1:9/api/", session=self.session)
        replies = Replies(client, self.session, SlackChannels(client, self.clock))
        background = Background(self.recorder.inbox, self.once, replies, "/mq")
        secret = SecretStr(SECRET)
        register = self.recorder.register
        self.server.serve(App(IDENTITY, register, background, signing_secret=secret))

    async def stop(self) -> None:
        await self.server.close()
        await self.recorder.inbox.drain(1)
        await self.session.close()

    @property
    def now(self) -> int:
        """By the machine's own clock: signatures are Slack's business and the SDK's."""
        return int(time.time())

    def url(self, path: str = EVENTS_PATH) -> str:
        return f"http://127.0.0.1:{self.server.port}{path}"

    async def send(self, body: bytes, headers: dict[str, str] | None = None) -> Answer:
        sent_with = signed(body, self.now) if headers is None else headers
        return await send(self.session, self.url(), body, sent_with)

    async def send_event(self, event_id: str, **headers: str) -> Answer:
        body = event(event_id)
        return await self.send(body, {**signed(body, self.now), **JSON, **headers})

    async def acted(self) -> list[str]:
        await self.recorder.inbox.drain(5)
        return self.recorder.acted


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def machine(clock: FakeClock) -> AsyncIterator[Machine]:
    one = Machine(clock, InMemoryStore())
    await one.start()
    yield one
    await one.stop()


def logged_actions(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [getattr(one, "action", "") for one in caplog.records]


# Who is let in


async def test_signed_requests_are_acknowledged_and_handled(machine: Machine) -> None:
    for trigger_id in ("1.1.a", "1.2.b"):
        answer = await machine.send(command("status", trigger_id=trigger_id))
        assert (answer.status, answer.text) == (200, "")
    assert await machine.acted() == ["status", "status"]


async def test_a_request_signed_with_another_secret_is_refused_and_not_logged(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    body = command("pause because of layoffs", response_url="https://hooks.example/response/x")
    for _ in range(5):
        answer = await machine.send(body, signed(body, machine.now, "another secret"))
        assert answer.status == 401
    assert await machine.acted() == []
    # Once a minute.
    assert logged_actions(caplog).count("signature_refused") == 1
    logged = " ".join(str(vars(one)) for one in caplog.records)
    assert "layoffs" not in logged
    assert "hooks.example" not in logged


@pytest.mark.parametrize(("age", "status"), [(-310, 401), (-290, 200), (290, 200), (310, 401)])
async def test_requests_may_be_five_minutes_old_or_early(
    machine: Machine, age: int, status: int
) -> None:
    body = command("status")
    assert (await machine.send(body, signed(body, machine.now - age))).status == status


TIMESTAMPS = ("", "now", "1e9", "-5", " 1", "9" * 13, "9" * 5000, "\u0661\u0662", "1_0", "nan")
SIGNATURES = ("", "v0=", "v1=" + "0" * 64, "v0=" + "é" * 64, "v0")


async def test_a_wrong_or_missing_signature_is_refused_and_breaks_nothing(machine: Machine) -> None:
    body = command("status")
    good = signed(body, machine.now)
    assert set(good) > SIGNED_WITH
    for headers in (
        signed(command("resume"), machine.now),
        *(signed(body, timestamp) for timestamp in TIMESTAMPS),
        *({**good, "X-Slack-Signature": signature} for signature in SIGNATURES),
        *({name: good[name] for name in good if name != missing} for missing in SIGNED_WITH),
    ):
        assert (await machine.send(body, headers)).status == 401, headers
    assert await machine.acted() == []


SIGNED_WITH = {"X-Slack-Signature", "X-Slack-Request-Timestamp"}


async def test_only_slack_gets_the_challenge_back(machine: Machine) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "c1", "token": "t"}).encode()
    assert (await machine.send(body, JSON)).status == 401
    answer = await machine.send(body, {**signed(body, machine.now), **JSON})
    assert answer.status == 200
    assert answer.json == {"challenge": "c1"}


async def test_a_certificate_check_is_answered_and_does_nothing(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    """Anybody may send one, so it isn't logged."""
    caplog.set_level(logging.INFO)
    body = command("resume") + b"&ssl_check=1"
    for headers in (dict[str, str](), signed(body, machine.now)):
        answer = await machine.send(body, {**headers, "X-Slack-Retry-Num": "1"})
        assert (answer.status, answer.text) == (200, "")
    assert await machine.acted() == []
    assert "slack_retries" not in logged_actions(caplog)


# What is let in


async def test_an_interaction_is_json_in_a_form_and_a_command_may_say_payload(
    machine: Machine,
) -> None:
    action = {
        "type": "block_actions",
        "trigger_id": "9.9.f",
        "user": {"id": "U0ALICE"},
        "team": {"id": "T0ACME"},
        "actions": [{"type": "button", "action_id": "go", "block_id": "b", "action_ts": "1.0"}],
    }
    interaction = urlencode({"payload": json.dumps(action)}).encode()
    for body in (interaction, command("pause payload too big")):
        assert (await machine.send(body)).status == 200
    assert await machine.acted() == ["block_actions", "pause payload too big"]


FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MALFORMED: tuple[tuple[bytes, dict[str, str]], ...] = (
    (b"{", JSON),
    (b"[1]", JSON),
    (b"null", JSON),
    (b"[" * 100_000, JSON),
    (b"payload=%5B", {}),
    (b"payload=1", {}),
    (b"&".join(b"a%d=1" % number for number in range(200)), {}),
    (b"command=\xff\xfe", {}),
    (command("status"), {"Content-Type": f"{FORM['Content-Type']}; charset=nowhere"}),
)


async def test_malformed_requests_are_refused_although_signed(machine: Machine) -> None:
    for body, headers in MALFORMED:
        answer = await machine.send(body, {**signed(body, machine.now), **headers})
        assert answer.status == 400, body[:20]


SHAPES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(SHAPES, st.sampled_from(["form", "json"]))
async def test_any_unsigned_body_is_refused_and_breaks_nothing(
    machine: Machine, shape: object, kind: str
) -> None:
    text, is_form = json.dumps(shape), kind == "form"
    body = urlencode({"payload": text}).encode() if is_form else text.encode()
    answer = await machine.send(body, {} if is_form else JSON)
    is_check = isinstance(shape, dict) and shape.get("ssl_check") == "1"
    assert answer.status in ((200,) if is_check else (400, 401))
    assert await machine.acted() == []


async def test_a_body_needs_a_handler_and_may_have_one_mebibyte_at_most(machine: Machine) -> None:
    for body in (b"", b"{}", b"a=1"):
        assert (await machine.send(body)).status == 404
    fits = command("x" * (LARGEST_BODY - len(command(""))))
    assert len(fits) == LARGEST_BODY
    assert (await machine.send(fits)).status == 200
    assert (await machine.send(fits + b"x")).status == 413


async def test_requests_beyond_the_capacity_are_dropped_and_later_ones_accepted(
    machine: Machine,
) -> None:
    done = asyncio.Event()

    async def work() -> None:
        await done.wait()

    for _ in range(MOST_KEPT):
        machine.recorder.inbox.hand_over(work())
    pressed = [{"action_id": "go", "block_id": "b", "type": "button"}]
    click = {"type": "block_actions", "user": {"id": "U1"}, "trigger_id": "9", "actions": pressed}
    form = urlencode({"payload": json.dumps(click)}).encode()
    refused = [(await machine.send(one)).status for one in (command("status"), form)]
    kept = len(machine.recorder.inbox)
    done.set()
    assert await machine.recorder.inbox.drain(30) == 0
    assert (refused, kept) == ([503, 503], MOST_KEPT)
    assert (await machine.send(form)).status == 200


async def test_a_compressed_body_is_refused(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    bomb = gzip.compress(bytes(64 * LARGEST_BODY))
    headers = {**signed(bomb, machine.now), "Content-Encoding": "gzip"}
    assert (await machine.send(bomb, headers)).status == 400
    lengths = [one.__dict__["length"] for one in caplog.records if "length" in one.__dict__]
    assert lengths == [len(bomb)]


async def test_only_posts_to_one_path_are_accepted(machine: Machine) -> None:
    for method in ("GET", "PUT", "DELETE", "OPTIONS"):
        async with machine.session.request(method, machine.url()) as answer:
            assert answer.status == 405, method
    body = command("status")
    for path in ("/", "/slack", "/slack/events/", "/slack/install", "/metrics"):
        sent_with = signed(body, machine.now)
        assert (await send(machine.session, machine.url(path), body, sent_with)).status == 404


# Once


async def test_a_captured_request_replayed_within_the_window_does_nothing(
    machine: Machine, clock: FakeClock
) -> None:
    body = command("resume")
    headers = signed(body, machine.now)
    assert (await machine.send(body, headers)).status == 200
    clock.advance(299)
    assert (await machine.send(body, headers)).status == 200
    assert await machine.acted() == ["resume"]


async def test_a_retried_event_acts_once_and_every_attempt_is_acknowledged(
    machine: Machine, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert (await machine.send_event("Ev1")).status == 200
    for number, seconds in (("1", 1), ("2", 60), ("3", 24 * 3600)):
        clock.advance(seconds)
        headers = {"X-Slack-Retry-Num": number, "X-Slack-Retry-Reason": "http_timeout"}
        assert (await machine.send_event("Ev1", **headers)).status == 200
    assert await machine.acted() == ["Ev1"]
    numbers = [getattr(one, "number", None) for one in caplog.records]
    assert [number for number in numbers if number] == ["1", "2", "3"]


async def test_a_retry_is_handled_when_the_first_attempt_failed_or_never_arrived(
    machine: Machine,
) -> None:
    machine.recorder.failures = 1
    assert (await machine.send_event("Ev1")).status == 500
    assert (await machine.send_event("Ev1")).status == 200
    await machine.send_event("Ev2", **{"X-Slack-Retry-Num": "1"})
    assert await machine.acted() == ["Ev1", "Ev2"]


async def test_a_request_is_handled_once_by_machines_that_share_a_database(
    clock: FakeClock, database: TestDatabase
) -> None:
    machines = [Machine(clock, database.open_store()) for _ in range(3)]  # type: ignore[arg-type]  # any store
    for one in machines:
        await one.start()
    body = command("resume")
    answers = await asyncio.gather(*(one.send(body) for one in machines))
    acted = [await one.acted() for one in machines]
    for one in machines:
        await one.stop()
    assert [answer.status for answer in answers] == [200, 200, 200]
    assert sorted(acted) == [[], [], ["resume"]]


async def test_the_acknowledgement_needs_no_database_but_acting_does(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    store = InMemoryStore()
    machine = Machine(clock, store)
    await machine.start()
    async with store.database.turn:
        assert (await machine.send(command("status"))).status == 200
        assert machine.recorder.acted == []
    assert await machine.acted() == ["status"]

    store.unavailable = "no database"
    assert (await machine.send(command("resume", trigger_id="1.3.c"))).status == 200
    # Nobody can tell whether it was done.
    assert await machine.acted() == ["status"]
    await machine.stop()
    failures = [one.exc_info[1] for one in caplog.records if one.exc_info]
    assert [type(one) for one in failures] == [StoreUnavailable]


# The end


async def _refuses_connections(session: aiohttp.ClientSession, machine: Machine) -> bool:
    try:
        async with session.get(machine.url("/other")):
            return False
    except aiohttp.ClientConnectorError:
        return True


async def test_a_request_in_progress_is_answered_before_the_server_stops(machine: Machine) -> None:
    machine.recorder.may_acknowledge.clear()
    asking = asyncio.create_task(machine.send_event("Ev1"))
    await asyncio.wait_for(machine.recorder.is_asked.wait(), 5)
    stopping = asyncio.create_task(machine.server.close())
    async with aiohttp.ClientSession() as other:
        async with asyncio.timeout(5):
            while not await _refuses_connections(other, machine):
                pass
    machine.recorder.may_acknowledge.set()
    await stopping
    assert (await asking).status == 200
    assert await machine.acted() == ["Ev1"]


async def connected(
    machine: Machine, sent: bytes = b""
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", machine.server.port)
    writer.write(sent)
    return reader, writer


def written(body: bytes, headers: dict[str, str]) -> bytes:
    """A request as it goes over a connection."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    head = [f"POST {EVENTS_PATH} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *lines]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


async def test_a_request_waiting_at_a_closing_port_is_answered(machine: Machine) -> None:
    """The event loop has no turn between the connections and the end."""
    body = command("status")
    with ExitStack() as stack:
        waiting = [
            stack.enter_context(socket.create_connection(("127.0.0.1", machine.server.port)))
            for _ in range(3)
        ]
        for one in waiting:
            one.sendall(written(body, signed(body, machine.now)))
        await machine.server.close()
        for one in waiting:
            one.settimeout(30)
            assert one.recv(1024).startswith(b"HTTP/1.1 200 ")


async def test_a_request_on_a_connection_from_before_the_stop_is_answered(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.http.FIRST_REQUEST_SECONDS", 60.0)
    reader, writer = await connected(machine)
    stopping = asyncio.create_task(machine.server.close())
    each_its_own = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=each_its_own) as other, asyncio.timeout(30):
        while not await _refuses_connections(other, machine):
            pass
    body = command("status")
    writer.write(written(body, signed(body, machine.now)))
    answer = await asyncio.wait_for(reader.readline(), 30)
    writer.close()
    await stopping
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert await machine.acted() == ["status"]


async def test_an_idle_connection_does_not_delay_the_stop(machine: Machine) -> None:
    reader, writer = await connected(machine)
    async with asyncio.timeout(30):
        await machine.server.close()
        assert await reader.read() == b""
    writer.close()


async def test_half_sent_requests_time_out(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = await connected(machine, HALF_A_BODY)
    started = time.monotonic()
    answer = await asyncio.wait_for(reader.readline(), 10)
    writer.close()
    assert b"408" in answer
    assert time.monotonic() - started < 6

    for limit, half, answered in (
        ("READ_SECONDS", HALF_A_BODY, b"HTTP/1.1 408 "),
        ("HEADER_SECONDS", HALF_HEADERS, b""),
    ):
        monkeypatch.setattr(f"bot.slack.http.{limit}", 0.2)
        reader, writer = await connected(machine, half)
        # Far less than aiohttp waits for the rest of a body that it has answered.
        async with asyncio.timeout(8):
            got = await reader.read()
        writer.close()
        assert got.startswith(answered)
        assert bool(got) is bool(answered)


async def test_no_request_is_accepted_before_the_connection_to_slack_or_after_the_stop(
    machine: Machine, clock: FakeClock
) -> None:
    early = Machine(clock)
    await early.server.open("127.0.0.1", 0)
    assert (await early.send_event("Ev1")).status == 503
    await early.stop()
    await machine.server.close()
    await machine.server.close()
    with pytest.raises(aiohttp.ClientConnectorError):
        await machine.send(command("status"))


# Strangers


HALF_HEADERS = f"POST {EVENTS_PATH} HTTP/1.1\r\nHost: x\r\nX-Slow: ".encode()
HALF_A_BODY = f"POST {EVENTS_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf".encode()


@pytest.mark.parametrize("half", [HALF_HEADERS, HALF_A_BODY], ids=["headers", "body"])
async def test_a_half_sent_request_blocks_nobody(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, half: bytes
) -> None:
    monkeypatch.setattr("bot.slack.http.MOST_CONNECTIONS", 20)
    slow = [await connected(machine, half) for _ in range(50)]
    assert (await machine.send(command("status"))).status == 200
    assert await machine.acted() == ["status"]
    assert logged_actions(caplog).count("connections_full") == 1
    async with asyncio.timeout(10):
        assert await slow[0][0].read() == b""
    for _, writer in slow:
        writer.close()
    assert not [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR]


@pytest.mark.parametrize(
    ("body", "status"), [(b"x", 401), (b"ssl_check=1", 200), (b"payload=[", 400)]
)
async def test_only_slack_keeps_a_connection(machine: Machine, body: bytes, status: int) -> None:
    reader, writer = await connected(machine, written(body, FORM))
    async with asyncio.timeout(10):
        assert (await reader.read()).startswith(b"HTTP/1.1 %d " % status)
    writer.close()


async def test_a_request_that_is_not_http_logs_one_line_without_traceback(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for _ in range(5):
        sent = b"POST /slack/events HTTP/1.1\r\nContent-Length: many\r\n\r\n"
        reader, writer = await connected(machine, sent)
        async with asyncio.timeout(10):
            assert b" 400 " in await reader.readline()
        writer.close()
    assert [one for one in caplog.records if one.exc_info] == []
    assert logged_actions(caplog).count("request_malformed") == 1
