"""HTTP mode: only requests that Slack signed recently are accepted, and only once."""

import asyncio
import codecs
import encodings.aliases
import gzip
import json
import logging
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pydantic import SecretStr
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.acts.open_requests import OpenRequests
from bot.desk.background import MOST_KEPT, Background, Inbox, Once
from bot.http.server import HttpServer, PortLimits
from bot.kernel.configured import AcceptedSecret
from bot.kernel.metrics import Metrics
from bot.runtime.clock import SystemClock
from bot.slack.app import App
from bot.slack.conversation import Replies
from bot.slack.http import EVENTS_PATH, LARGEST_SLACK_REQUEST, SlackRequests
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.clients import Identity
from bot.store.errors import StoreUnavailable
from tests.support.capturing import without_repeats
from tests.support.clock import FakeClock
from tests.support.databases import TestDatabase
from tests.support.slack_requests import SECRET, Answer, command, event, send, signed
from tests.support.store import InMemoryStore

IDENTITY = Identity("T0ACME", None, "U0MQBOT", "B0MQBOT", "merge-queue")
JSON = {"Content-Type": "application/json"}
FORM_TYPE = "application/x-www-form-urlencoded"
FORM = {"Content-Type": FORM_TYPE}
KEYS = (
    *("actions", "authorizations", "channel", "command", "enterprise", "event", "message"),
    *("is_enterprise_install", "payload", "ssl_check", "team", "team_id", "type", "user", "view"),
)
"""Of payloads, which Bolt looks into before it looks at the signature."""


def signing(secret: str, last_day: date | None = None, entry: int = 1) -> AcceptedSecret:
    return AcceptedSecret("SLACK_SIGNING_SECRET", entry, SecretStr(secret), last_day)


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
        self.metrics = Metrics()
        self.requests = SlackRequests([signing(SECRET)], self.metrics)
        self.session = aiohttp.ClientSession()

    async def start(self) -> None:
        await self.server.open("127.0.0.1", 0, self.requests.routes())
        client = AsyncWebClient(base_url="http://127.0.0.1:9/api/", session=self.session)
        replies = Replies(client, self.session, SlackChannels(client, self.clock), self.clock)
        open_requests = OpenRequests(InMemoryStore(), self.clock)
        background = Background(self.recorder.inbox, self.once, open_requests, replies, "/mq")
        app = App(IDENTITY, self.recorder.register, background, SystemClock())
        self.requests.serve(app, IDENTITY.home_ids)

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

    def counted(self, outcome: str) -> int:
        name = f'mqbot_slack_requests_total{{outcome="{outcome}"}}'
        lines = dict(line.rsplit(" ", 1) for line in self.metrics.render().decode().splitlines())
        return round(float(lines[name]))

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


@pytest.fixture(autouse=True)
def _once_a_minute(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """As the commands set up logging."""
    with without_repeats(caplog):
        yield


def logged_actions(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [getattr(record, "action", "") for record in caplog.records]


# Who is let in


async def test_signed_requests_are_acknowledged_and_handled(machine: Machine) -> None:
    for trigger_id in ("1.1.a", "1.2.b"):
        answer = await machine.send(command("status", trigger_id=trigger_id))
        assert (answer.status, answer.text) == (200, "")
    assert await machine.acted() == ["status", "status"]


async def test_slacks_word_that_it_drops_events_is_acknowledged_and_reported(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    said = {"type": "app_rate_limited", "team_id": "T0ACME", "minute_rate_limited": 1_518_467_820}
    body = json.dumps({**said, "token": "retired", "api_app_id": "A0MQBOT"}).encode()
    answer = await machine.send(body, {**signed(body, machine.now), **JSON})
    assert answer.status == 200
    (record,) = [one for one in caplog.records if vars(one).get("action") == "events_rate_limited"]
    assert vars(record)["minute"] == 1_518_467_820


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
    logged = " ".join(str(vars(record)) for record in caplog.records)
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


@pytest.mark.parametrize(
    ("age", "secret", "reason"),
    [(400, SECRET, "clock"), (-400, "other", "clock"), (0, "other", "secret")],
)
async def test_a_refusal_says_whether_the_clock_or_the_secret_is_wrong(
    machine: Machine, caplog: pytest.LogCaptureFixture, age: int, secret: str, reason: str
) -> None:
    body = command("status")
    answer = await machine.send(body, signed(body, machine.now - age, secret))
    assert answer.status == 401
    assert f"check the {reason}" in answer.text
    logged = [
        record for record in caplog.records if record.__dict__.get("action") == "signature_refused"
    ]
    assert [one.__dict__["reason"] for one in logged] == [reason]
    assert f"check the {reason}" in logged[0].getMessage()
    assert machine.counted(reason) == 1


async def test_what_nobody_signed_is_counted_as_no_wrong_secret(machine: Machine) -> None:
    for headers in ({}, {"X-Slack-Signature": "v0=0"}, {"X-Slack-Request-Timestamp": "now"}):
        for _ in range(3):
            await machine.send(command("status"), headers)
    assert machine.counted("unsigned") == 9
    assert machine.counted("secret") == 0


NAMES_NO_WORKSPACE = json.dumps({"type": "url_verification", "challenge": "c1"}).encode()
IN_A_PAYLOAD = urlencode({"payload": json.dumps({"team": {"id": "T0ACME"}})}).encode()


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (command("status"), "secret"),
        (IN_A_PAYLOAD, "secret"),
        (event(), "secret"),
        (NAMES_NO_WORKSPACE, "foreign"),
        (b"", "foreign"),
        (command("status").replace(b"T0ACME", b"T0OTHER"), "foreign"),
    ],
)
async def test_a_wrong_secret_is_counted_only_of_requests_that_name_the_workspace(
    machine: Machine, body: bytes, outcome: str
) -> None:
    """A stranger sets off no alert, and learns nothing about the workspace."""
    answer = await machine.send(body, signed(body, machine.now, "other"))
    assert (answer.status, "check the secret" in answer.text) == (401, True)
    assert machine.counted(outcome) == 1
    assert machine.counted("secret") + machine.counted("foreign") == 1


async def test_a_wrong_clock_is_logged_with_how_far_it_is_off(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    body = command("status")
    await machine.send(body, signed(body, machine.now + 600))
    (record,) = [one for one in caplog.records if "seconds_from_ours" in vars(one)]
    assert 598 <= vars(record)["seconds_from_ours"] <= 600


async def test_refusals_for_each_reason_are_logged(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    """A stranger's noise doesn't hide that our own secret is wrong."""
    body = command("status")
    for _ in range(3):
        await machine.send(body, {})
        await machine.send(body, signed(body, machine.now - 400))
        await machine.send(body, signed(body, machine.now, "other"))
    reasons = [record.__dict__.get("reason") for record in caplog.records]
    assert sorted(filter(None, reasons)) == ["clock", "secret", "unsigned"]


def without_body(headers: dict[str, str]) -> bytes:
    """A head that announces a large body."""
    whole = written(bytes(LARGEST_SLACK_REQUEST), headers)
    return whole[: whole.index(b"\r\n\r\n") + 4]


def changed(headers: dict[str, str], **others: str) -> dict[str, str]:
    return headers | {f"X-Slack-{name}": value for name, value in others.items()}


@pytest.mark.parametrize(
    "change",
    [
        {"Signature": ""},
        {"Signature": "v0=0"},
        {"Signature": f"v1={'0' * 64}"},
        {"Signature": f"v0={'A' * 64}"},
        {"Signature": f"v0={'0' * 64}, v0={'0' * 64}"},
        {"Request-Timestamp": ""},
        {"Request-Timestamp": "0"},
        {"Request-Timestamp": "nan"},
        {"Request-Timestamp": "1e9"},
        {"Request-Timestamp": "9" * 8000},
        {"Request-Timestamp": "2100000000"},
        {"Request-Timestamp": "+%d"},
        {"Request-Timestamp": "%d.0"},
        {"Request-Timestamp": "%d_0"},
        {"Request-Timestamp": "Fri, 27 Nov 2026 23:00:00 GMT"},
    ],
)
async def test_the_head_is_looked_at_before_the_body(
    machine: Machine, change: dict[str, str]
) -> None:
    headers = changed(signed(b"", machine.now), **change)
    stamp = headers["X-Slack-Request-Timestamp"]
    headers["X-Slack-Request-Timestamp"] = stamp.replace("%d", str(machine.now))
    reader, writer = await connected(machine, without_body(headers))
    async with asyncio.timeout(30):
        # Long before the time for a body is over, 408 would be the answer.
        assert (await reader.readline()).startswith(b"HTTP/1.1 401 ")
    writer.close()


async def test_two_signatures_or_times_are_none(machine: Machine) -> None:
    headers = signed(b"", machine.now)
    for name, value in headers.items():
        if name == "Content-Type":
            continue
        head = without_body(headers).replace(
            b"Host: x\r\n", f"Host: x\r\n{name}: {value}\r\n".encode()
        )
        reader, writer = await connected(machine, head)
        async with asyncio.timeout(30):
            assert (await reader.readline()).startswith(b"HTTP/1.1 401 ")
        writer.close()


CODECS = sorted(
    {*encodings.aliases.aliases.values(), "idna", "undefined", "unicode_escape", "rot13"}
)
"""All of Python, some of them quadratic or worse."""


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", FORM_TYPE])
async def test_the_sender_picks_no_codec(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, content_type: str
) -> None:
    """The worst took 18 seconds for 300 kB."""
    looked_up: list[str] = []
    lookup = codecs.lookup

    def watch(name: str) -> codecs.CodecInfo:
        looked_up.append(name)
        return lookup(name)

    monkeypatch.setattr(codecs, "lookup", watch)
    body = b"a-" * 1000
    for codec in CODECS:
        headers = {"Content-Type": f"{content_type}; charset={codec}"}
        claimed = {**signed(body, machine.now, "another secret"), **headers}
        assert (await machine.send(body, headers)).status == 401
        assert (await machine.send(body, claimed)).status == 401
        as_slack = {**signed(body, machine.now), **headers}
        assert (await machine.send(body, as_slack)).status == 400
    # The client reads our answers.
    assert set(looked_up) == {"utf-8"}
    assert await machine.acted() == []


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", "utf8", '"utf-8"'])
async def test_a_proxy_may_say_that_the_body_is_utf_8(machine: Machine, charset: str) -> None:
    body = command("pause J\u00fcrgen")
    headers = {"Content-Type": f"{FORM_TYPE}; charset={charset}"}
    assert (await machine.send(body, {**signed(body, machine.now), **headers})).status == 200
    assert await machine.acted() == ["pause J\u00fcrgen"]


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 500_000,
        b'{"a":' * 150_000,
        b'{"a":' + b"9" * 900_000 + b"}",
        b'{"a":1e' + b"9" * 900_000 + b"}",
        b"a=1&" * 250_001,
        b"payload=" + b"%5B" * 300_000,
        b"payload=" + b"&payload=" * 100_000,
        b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n" * 20_000,
        b"%" * 1_000_000,
        b"\\u0000" * 160_000,
    ],
    ids=lambda body: f"{body[:12]!r} {len(body)}",
)
async def test_nothing_parses_an_unsigned_body(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    parsed: list[object] = []
    monkeypatch.setattr("bot.slack.http._read_request", lambda *_: parsed.append(1))
    for kind in (FORM_TYPE, "application/json", "multipart/form-data; boundary=x"):
        headers = {**signed(body, machine.now, "another secret"), "Content-Type": kind}
        assert (await machine.send(body, headers)).status == 401
    assert parsed == []


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
    text = json.dumps(shape)
    is_form = kind == "form"
    body = urlencode({"payload": text}).encode() if is_form else text.encode()
    answer = await machine.send(body, {} if is_form else JSON)
    assert answer.status == 401
    assert await machine.acted() == []


async def test_a_body_needs_a_handler_and_may_have_one_mebibyte_at_most(machine: Machine) -> None:
    for body in (b"", b"{}", b"a=1"):
        assert (await machine.send(body)).status == 404
    fits = command("x" * (LARGEST_SLACK_REQUEST - len(command(""))))
    assert len(fits) == LARGEST_SLACK_REQUEST
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
    bomb = gzip.compress(bytes(64 * LARGEST_SLACK_REQUEST))
    headers = {**signed(bomb, machine.now), "Content-Encoding": "gzip"}
    assert (await machine.send(bomb, headers)).status == 400
    lengths = [
        record.__dict__["length"] for record in caplog.records if "length" in record.__dict__
    ]
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
    # As over Socket Mode, where the first attempt has a number too.
    first = {"X-Slack-Retry-Num": "0", "X-Slack-Retry-Reason": ""}
    assert (await machine.send_event("Ev1", **first)).status == 200
    for number, seconds in (("1", 1), ("2", 60), ("3", 24 * 3600)):
        clock.advance(seconds)
        headers = {"X-Slack-Retry-Num": number, "X-Slack-Retry-Reason": "http_timeout"}
        assert (await machine.send_event("Ev1", **headers)).status == 200
    assert await machine.acted() == ["Ev1"]
    numbers = [getattr(record, "number", None) for record in caplog.records]
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
    failures = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert [type(failure) for failure in failures] == [StoreUnavailable]


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
    machine: Machine,
) -> None:
    machine.server.limits = PortLimits(first_request_seconds=60.0)
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


async def test_half_sent_requests_time_out(machine: Machine) -> None:
    assert machine.server.bodies.seconds == 3.0  # Slack's own limit
    machine.server.bodies.seconds = 0.2
    assert (await answer_to_half(machine, HALF_A_BODY)).startswith(b"HTTP/1.1 408 ")
    machine.server.limits = PortLimits(header_seconds=0.2)
    assert await answer_to_half(machine, HALF_HEADERS) == b""


async def answer_to_half(machine: Machine, sent: bytes) -> bytes:
    reader, writer = await connected(machine, sent)
    # Far less than aiohttp waits for the rest of a body that it has answered.
    async with asyncio.timeout(8):
        got = await reader.read()
    writer.close()
    return got


async def test_no_request_is_accepted_before_the_connection_to_slack_or_after_the_stop(
    machine: Machine, clock: FakeClock
) -> None:
    early = Machine(clock)
    await early.server.open("127.0.0.1", 0, early.requests.routes())
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
    machine: Machine, caplog: pytest.LogCaptureFixture, half: bytes
) -> None:
    machine.server.limits = PortLimits(connections=20)
    slow = [await connected(machine, half) for _ in range(50)]
    assert (await machine.send(command("status"))).status == 200
    assert await machine.acted() == ["status"]
    assert logged_actions(caplog).count("connections_full") == 1
    async with asyncio.timeout(10):
        assert await slow[0][0].read() == b""
    for _, writer in slow:
        writer.close()
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize(
    ("body", "status"), [(b"x", 401), (b"ssl_check=1", 200), (b"payload=[", 401)]
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
    assert [record for record in caplog.records if record.exc_info] == []
    assert logged_actions(caplog).count("request_malformed") == 1


def signed_now(body: bytes, secret: str) -> dict[str, str]:
    return {**signed(body, int(time.time()), secret), **JSON}


async def test_two_signing_secrets_count_at_once_until_the_last_day_of_the_old_one(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    today = datetime.now(UTC).date()
    old = "0" * 32
    new = "1" * 32
    machine.requests.use([signing(new), signing(old, today + timedelta(days=1), 2)])
    for event_id, secret in (("Ev1", old), ("Ev2", old), ("Ev3", new)):
        body = event(event_id)
        assert (await machine.send(body, signed_now(body, secret))).status == 200
    assert await machine.acted() == ["Ev1", "Ev2", "Ev3"]
    used = [
        record for record in caplog.records if vars(record).get("action") == "signing_secret_used"
    ]
    assert [vars(use)["entry"] for use in used] == [2, 1]
    body = event("Ev4")
    assert (await machine.send(body, signed_now(body, SECRET))).status == 401

    machine.requests.use([signing(new), signing(old, today - timedelta(days=1), 2)])
    refused = await machine.send(body, signed_now(body, old))
    assert refused.status == 401
    assert "last day" in refused.text
    assert machine.counted("ended") == 1
    assert (await machine.send(body, signed_now(body, new))).status == 200
    assert not any(one in caplog.text for one in (old, new))


async def test_a_wrong_secret_taken_over_while_running_refuses_until_the_right_one_is_back(
    machine: Machine,
) -> None:
    body = event("Ev1")
    assert (await machine.send(body, signed_now(body, SECRET))).status == 200
    machine.requests.use([signing("2" * 32)])
    for _ in range(3):
        refused = await machine.send(body, signed_now(body, SECRET))
        assert refused.status == 401
        assert "SLACK_SIGNING_SECRET" in refused.text
    machine.requests.use([signing(SECRET)])
    assert (await machine.send(body, signed_now(body, SECRET))).status == 200
