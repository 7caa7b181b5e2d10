"""The local Slack workspace, spoken to by unmodified Slack clients over real sockets."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.websockets import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import ControlRefusal, Json

MANIFEST: dict[str, object] = {
    "display_information": {"name": "Merge Queue"},
    "features": {
        "app_home": {"home_tab_enabled": True, "messages_tab_enabled": True},
        "bot_user": {"display_name": "merge-queue"},
        "slash_commands": [
            {"command": "/mq", "description": "Merge queue", "should_escape": True},
            {"command": "/raw", "description": "Unescaped", "should_escape": False},
        ],
        "shortcuts": [
            {"name": "Pause", "type": "global", "callback_id": "pause", "description": "Pause"},
            {"name": "Ask", "type": "message", "callback_id": "ask", "description": "Ask"},
        ],
    },
    "oauth_config": {
        "scopes": {
            "bot": [
                "app_mentions:read",
                "channels:history",
                "channels:join",
                "channels:read",
                "chat:write",
                "chat:write.public",
                "commands",
                "groups:history",
                "groups:read",
            ]
        }
    },
    "settings": {
        "event_subscriptions": {
            "bot_events": ["app_home_opened", "app_mention", "message.channels"]
        },
        "interactivity": {"is_enabled": True},
        "socket_mode_enabled": True,
    },
}
BUTTON: Json = {
    "type": "button",
    "action_id": "go",
    "text": {"type": "plain_text", "text": "Go"},
    "value": "v1",
}
ACTIONS: Json = {"type": "actions", "block_id": "row", "elements": [BUTTON]}
MODAL: Json = {
    "type": "modal",
    "callback_id": "reason",
    "notify_on_close": True,
    "title": {"type": "plain_text", "text": "Pause"},
    "submit": {"type": "plain_text", "text": "Pause"},
    "blocks": [
        {
            "type": "input",
            "block_id": "why",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "text", "max_length": 20},
        }
    ],
}
CHANNEL = "C0MERGEQ"
ALICE = "U0ALICE"


async def eventually(condition: Callable[[], object], seconds: float = 5.0) -> None:
    """Wait until the condition holds; fail when it does not within the seconds given."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - the condition belongs to code that sets no event
            await asyncio.sleep(0.01)


class BoltApp:
    """A real Bolt app, connected over Socket Mode, that remembers what it was sent."""

    def __init__(self, sandbox: SlackSandbox) -> None:
        self.sandbox = sandbox
        client = AsyncWebClient(
            token=sandbox.bot_token, base_url=sandbox.api_url, retry_handlers=[]
        )
        self.app = AsyncApp(client=client)
        self.received: list[Any] = []
        self.handlers: list[AsyncSocketModeHandler] = []

    async def connect(self) -> AsyncSocketModeHandler:
        handler = AsyncSocketModeHandler(self.app, self.sandbox.app_token)
        self.handlers.append(handler)
        await handler.connect_async()  # type: ignore[no-untyped-call]  # Bolt's own
        await eventually(lambda: self.sandbox.socket_mode.connections >= len(self.handlers))
        return handler

    async def close(self) -> None:
        for handler in self.handlers:
            await handler.close_async()  # type: ignore[no-untyped-call]  # Bolt's own


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
async def sandbox() -> AsyncIterator[SlackSandbox]:
    running = SlackSandbox(MANIFEST, event_retry_seconds=(0.0, 0.05, 0.05))
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def impatient() -> AsyncIterator[SlackSandbox]:
    """A workspace that waits a third of a second for acknowledgements."""
    running = SlackSandbox(MANIFEST, ack_seconds=0.3, event_retry_seconds=(0.0, 0.05, 0.05))
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def bolt(sandbox: SlackSandbox) -> AsyncIterator[BoltApp]:
    app = BoltApp(sandbox)
    yield app
    await app.close()


@pytest.fixture
async def slow_bolt(impatient: SlackSandbox) -> AsyncIterator[BoltApp]:
    app = BoltApp(impatient)
    yield app
    await app.close()


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def seen(sandbox: SlackSandbox, user: str = ALICE, channel: str = CHANNEL) -> list[Json]:
    messages: list[Json] = sandbox.sight.messages(user, channel)["messages"]
    return messages


def texts(sandbox: SlackSandbox, user: str = ALICE, channel: str = CHANNEL) -> list[str]:
    return [each["text"] for each in seen(sandbox, user, channel)]


async def test_a_command_is_acknowledged_and_answered_through_its_response_url(
    bolt: BoltApp,
) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any, respond: Any, command: Json) -> None:
        await ack("On it")
        await respond(text="Everything runs", response_type="ephemeral")
        bolt.received.append(command)

    await bolt.connect()
    answer = await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq status acme/site")

    assert answer == {"ok": True, "acknowledged": True, "ack_text": "On it"}
    await eventually(lambda: len(seen(bolt.sandbox)) == 2)
    assert sorted(texts(bolt.sandbox)) == ["Everything runs", "On it"]
    assert all(each["ephemeral"] for each in seen(bolt.sandbox))
    assert seen(bolt.sandbox, "U0BOB") == []
    await eventually(lambda: bolt.received)
    assert {name: bolt.received[0][name] for name in ("command", "text", "user_name")} == {
        "command": "/mq",
        "text": "status acme/site",
        "user_name": "alice",
    }


async def test_a_command_carries_every_field_that_slack_sends(bolt: BoltApp) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any, body: Json) -> None:
        bolt.received.append(body)
        await ack()

    await bolt.connect()
    await bolt.sandbox.people.command(ALICE, "C0INCIDENT", "/mq pause <x> & @bob #general")

    body = bolt.received[0]
    assert set(body) == {
        "token",
        "team_id",
        "team_domain",
        "channel_id",
        "channel_name",
        "user_id",
        "user_name",
        "command",
        "text",
        "api_app_id",
        "is_enterprise_install",
        "response_url",
        "trigger_id",
    }
    assert body["channel_name"] == "privategroup"
    assert body["text"] == "pause &lt;x&gt; &amp; <@U0BOB> <#C0GENERAL|general>"


async def test_text_is_not_turned_into_ids_when_the_manifest_does_not_ask(bolt: BoltApp) -> None:
    @bolt.app.command("/raw")
    async def listener(ack: Any, command: Json) -> None:
        bolt.received.append(command["text"])
        await ack()

    await bolt.connect()
    await bolt.sandbox.people.command(ALICE, CHANNEL, "/raw @bob https://a.example/b")

    assert bolt.received == ["@bob https://a.example/b"]


async def test_an_answer_in_the_channel_shows_the_typed_command_first(bolt: BoltApp) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any) -> None:
        await ack(text="The queue is paused", response_type="in_channel")

    await bolt.connect()
    await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq pause it burns")

    shown = seen(bolt.sandbox, "U0BOB")
    assert [(each["user"], each["text"]) for each in shown] == [
        (ALICE, "/mq pause it burns"),
        ("U0MQBOT", "The queue is paused"),
    ]


async def test_an_empty_answer_in_the_channel_makes_the_typed_command_public(
    bolt: BoltApp,
) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any) -> None:
        await ack({"response_type": "in_channel"})

    await bolt.connect()
    await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq status")
    assert texts(bolt.sandbox, "U0BOB") == ["/mq status"]


async def test_a_later_answer_in_the_channel_does_not_show_the_typed_command(
    bolt: BoltApp,
) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any, respond: Any) -> None:
        await ack()
        await respond(text="Paused", response_type="in_channel")

    await bolt.connect()
    await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq pause")
    await eventually(lambda: texts(bolt.sandbox, "U0BOB") == ["Paused"])


async def test_a_button_click_updates_its_message(bolt: BoltApp) -> None:
    @bolt.app.action("go")
    async def listener(ack: Any, body: Json, client: AsyncWebClient) -> None:
        await ack()
        bolt.received.append(body)
        await client.chat_update(
            channel=body["channel"]["id"], ts=body["message"]["ts"], text="Gone", blocks=[]
        )

    await bolt.connect()
    posted = await bolt.app.client.chat_postMessage(channel=CHANNEL, text="Go?", blocks=[ACTIONS])
    container = {"type": "message", "channel": CHANNEL, "ts": posted["ts"]}
    answer = await bolt.sandbox.people.action(
        ALICE, container=container, block_id="row", action_id="go"
    )

    assert answer == {"ok": True, "acknowledged": True}
    await eventually(lambda: texts(bolt.sandbox) == ["Gone"])
    body = bolt.received[0]
    assert (
        body["actions"][0].items() >= {"type": "button", "value": "v1", "block_id": "row"}.items()
    )
    assert body["user"]["team_id"] == "T0ACME"
    assert body["container"]["message_ts"] == posted["ts"]
    assert body["message"]["bot_id"] == "B0MQBOT"


async def test_a_click_in_an_ephemeral_message_replaces_it_through_the_response_url(
    bolt: BoltApp,
) -> None:
    @bolt.app.action("go")
    async def listener(ack: Any, respond: Any, body: Json) -> None:
        await ack()
        bolt.received.append(body)
        await respond(text="Replaced", replace_original=True, response_type="in_channel")

    await bolt.connect()
    posted = await bolt.app.client.chat_postEphemeral(
        channel=CHANNEL, user=ALICE, text="Only you", blocks=[ACTIONS]
    )
    container = {"type": "message", "channel": CHANNEL, "ts": posted["message_ts"]}
    await bolt.sandbox.people.action(ALICE, container=container, block_id="row", action_id="go")

    await eventually(lambda: texts(bolt.sandbox) == ["Replaced"])
    assert seen(bolt.sandbox)[0]["ephemeral"] is True
    assert seen(bolt.sandbox, "U0BOB") == []
    assert bolt.received[0]["container"]["is_ephemeral"] is True
    assert "message" not in bolt.received[0]


async def test_a_select_sends_its_option_and_keeps_it_in_the_state(bolt: BoltApp) -> None:
    @bolt.app.action("pick")
    async def listener(ack: Any, body: Json) -> None:
        bolt.received.append(body)
        await ack()

    options = [
        {"text": {"type": "plain_text", "text": name}, "value": name} for name in ("one", "two")
    ]
    menu = {"type": "static_select", "action_id": "pick", "options": options}
    row = {"type": "actions", "block_id": "row", "elements": [menu]}
    await bolt.connect()
    posted = await bolt.app.client.chat_postMessage(channel=CHANNEL, text="Pick", blocks=[row])
    container = {"type": "message", "channel": CHANNEL, "ts": posted["ts"]}
    where = {"container": container, "block_id": "row", "action_id": "pick"}
    await bolt.sandbox.people.action(ALICE, **where, selected_option={"value": "two"})

    body = bolt.received[0]
    assert body["actions"][0]["selected_option"]["value"] == "two"
    assert body["actions"][0]["selected_option"]["text"]["text"] == "two"
    assert body["state"]["values"]["row"]["pick"]["selected_option"]["value"] == "two"
    with pytest.raises(ControlRefusal) as refusal:
        await bolt.sandbox.people.action(ALICE, **where, selected_option={"value": "three"})
    assert refusal.value.code == "invalid_choice"


def _serve_modal(bolt: BoltApp) -> None:
    @bolt.app.shortcut("pause")
    async def shortcut(ack: Any, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    @bolt.app.view("reason")
    async def submission(ack: Any, body: Json) -> None:
        bolt.received.append(body)
        reason = body["view"]["state"]["values"]["why"]["text"]["value"]
        if reason == "because":
            await ack(response_action="errors", errors={"why": "Say more"})
        else:
            await ack()

    @bolt.app.view_closed("reason")
    async def closed(ack: Any, body: Json) -> None:
        bolt.received.append(body)
        await ack()


def _stack(sandbox: SlackSandbox) -> list[Json]:
    views: list[Json] = sandbox.sight.views(ALICE)["views"]
    return views


def _reason(text: str) -> Json:
    return {"why": {"text": {"type": "plain_text_input", "value": text}}}


async def test_a_modal_is_kept_open_by_errors_and_closed_by_a_good_submission(
    bolt: BoltApp,
) -> None:
    _serve_modal(bolt)
    await bolt.connect()
    people = bolt.sandbox.people

    assert (await people.shortcut(ALICE, "pause"))["acknowledged"] is True
    await eventually(lambda: _stack(bolt.sandbox))
    view_id = _stack(bolt.sandbox)[0]["id"]
    empty = await people.submit(ALICE, view_id, _reason("  "))
    short = await people.submit(ALICE, view_id, _reason("because"))
    assert len(_stack(bolt.sandbox)) == 1
    good = await people.submit(ALICE, view_id, _reason("the runners burn"))

    assert empty["errors"] == {"why": "Please complete this required field."}
    assert empty["acknowledged"] is None
    assert short["response_action"] == "errors"
    assert short["errors"] == {"why": "Say more"}
    assert good == {"ok": True, "acknowledged": True}
    assert _stack(bolt.sandbox) == []
    assert [each["type"] for each in bolt.received] == ["view_submission", "view_submission"]


async def test_a_closed_modal_is_told_to_the_app_that_asked_for_it(bolt: BoltApp) -> None:
    _serve_modal(bolt)
    await bolt.connect()
    await bolt.sandbox.people.shortcut(ALICE, "pause")
    await eventually(lambda: _stack(bolt.sandbox))
    bolt.sandbox.people.close(ALICE, _stack(bolt.sandbox)[0]["id"])

    await eventually(lambda: bolt.received)
    assert bolt.received[0]["type"] == "view_closed"
    assert bolt.received[0]["is_cleared"] is False
    assert _stack(bolt.sandbox) == []


async def test_the_home_tab_is_published_when_it_is_opened(bolt: BoltApp) -> None:
    @bolt.app.event("app_home_opened")
    async def listener(event: Json, client: AsyncWebClient) -> None:
        bolt.received.append(event)
        view = {"type": "home", "blocks": [{"type": "divider"}]}
        await client.views_publish(user_id=event["user"], view=view)

    await bolt.connect()
    assert await bolt.sandbox.people.home(ALICE) == {"ok": True, "acknowledged": True}
    await eventually(lambda: bolt.sandbox.sight.views(ALICE)["home"])
    await bolt.sandbox.people.home(ALICE)

    await eventually(lambda: len(bolt.received) == 2)
    assert "view" not in bolt.received[0]
    assert bolt.received[1]["view"]["type"] == "home"
    assert bolt.received[1]["tab"] == "home"
    assert bolt.sandbox.sight.views("U0BOB")["home"] is None


async def test_threads_and_metadata_come_back_in_history(bolt: BoltApp) -> None:
    client = bolt.app.client
    metadata = {"event_type": "delivery", "event_payload": {"delivery_id": "d1"}}
    root = await client.chat_postMessage(channel=CHANNEL, text="Root", metadata=metadata)
    await client.chat_postMessage(channel=CHANNEL, text="Reply", thread_ts=root["ts"])
    shared = await client.chat_postMessage(
        channel=CHANNEL, text="Loud reply", thread_ts=root["ts"], reply_broadcast=True
    )

    plain = await client.conversations_history(channel=CHANNEL)
    whole = await client.conversations_history(channel=CHANNEL, include_all_metadata=True)
    thread = await client.conversations_replies(channel=CHANNEL, ts=root["ts"])

    assert [each["text"] for each in plain["messages"]] == ["Loud reply", "Root"]
    assert plain["messages"][0]["subtype"] == "thread_broadcast"
    assert plain["messages"][1]["metadata"] == {"event_type": "delivery"}
    assert plain["messages"][1]["reply_count"] == 2
    assert plain["messages"][1]["latest_reply"] == shared["ts"]
    assert whole["messages"][1]["metadata"] == metadata
    assert [each["text"] for each in thread["messages"]] == ["Root", "Reply", "Loud reply"]


async def test_history_is_read_in_pages_by_cursor(bolt: BoltApp) -> None:
    client = bolt.app.client
    for number in range(5):
        await client.chat_postMessage(channel=CHANNEL, text=f"Message {number}")

    found = []
    cursor = None
    while cursor != "":
        page = await client.conversations_history(channel=CHANNEL, limit=2, cursor=cursor)
        found += [each["text"] for each in page["messages"]]
        cursor = (page.get("response_metadata") or {}).get("next_cursor", "")
    assert found == [f"Message {number}" for number in (4, 3, 2, 1, 0)]


async def test_a_post_whose_answer_is_dropped_is_there_once(bolt: BoltApp) -> None:
    bolt.sandbox.faults.arm({"name": "drop_after_accept", "method": "chat.postMessage"})
    with pytest.raises(aiohttp.ClientError):
        await bolt.app.client.chat_postMessage(channel=CHANNEL, text="Once")

    history = await bolt.app.client.conversations_history(channel=CHANNEL)
    assert [each["text"] for each in history["messages"]] == ["Once"]


async def test_a_post_that_is_dropped_before_is_not_there(bolt: BoltApp) -> None:
    bolt.sandbox.faults.arm({"name": "drop_before", "method": "chat.postMessage"})
    with pytest.raises(aiohttp.ClientError):
        await bolt.app.client.chat_postMessage(channel=CHANNEL, text="Never")
    assert texts(bolt.sandbox) == []


@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [
        ("http_500", 500, "internal_error"),
        ("internal_error", 200, "internal_error"),
        ("rate_limit", 429, "ratelimited"),
    ],
)
async def test_an_armed_fault_refuses_one_call_and_the_next_goes_through(
    bolt: BoltApp, fault: str, status: int, error: str
) -> None:
    bolt.sandbox.faults.arm({"name": fault, "method": "chat.postMessage", "retry_after": 7})
    with pytest.raises(SlackApiError) as refusal:
        await bolt.app.client.chat_postMessage(channel=CHANNEL, text="x")
    assert refusal.value.response.status_code == status
    assert refusal.value.response["error"] == error
    if fault == "rate_limit":
        assert refusal.value.response.headers["Retry-After"] == "7"
    assert (await bolt.app.client.chat_postMessage(channel=CHANNEL, text="x"))["ok"]
    assert bolt.sandbox.faults.listing()["faults"][0]["hits"] == 1


@pytest.mark.parametrize("fault", ["html_500", "invalid_json", "truncate"])
async def test_an_answer_that_is_not_json_reaches_the_client_as_such(
    bolt: BoltApp, fault: str
) -> None:
    bolt.sandbox.faults.arm({"name": fault, "method": "auth.test"})
    with pytest.raises(SlackApiError):
        await bolt.app.client.auth_test()
    assert (await bolt.app.client.auth_test())["user_id"] == "U0MQBOT"


async def test_a_slow_call_waits_and_then_answers(bolt: BoltApp) -> None:
    bolt.sandbox.faults.arm({"name": "slow", "seconds": 0.2})
    started = asyncio.get_running_loop().time()
    await bolt.app.client.auth_test()
    assert asyncio.get_running_loop().time() - started >= 0.2


@pytest.mark.parametrize("reason", ["refresh_requested", "too_many_websockets"])
async def test_a_disconnected_client_comes_back_with_a_new_ticket(
    bolt: BoltApp, reason: str
) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any) -> None:
        await ack("Still here")

    await bolt.connect()
    answer = bolt.sandbox.faults.arm({"name": "disconnect", "reason": reason})
    assert answer["connections"] == 1

    def reopened() -> bool:
        opened = [e for e in bolt.sandbox.calls.since(0) if e["method"] == "apps.connections.open"]
        return len(opened) == 2 and bolt.sandbox.socket_mode.connections == 1

    await eventually(reopened)
    done = await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    assert done["ack_text"] == "Still here"


async def test_payloads_reach_two_connections_of_one_app(bolt: BoltApp) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any) -> None:
        await ack()

    counts: dict[int, int] = {}
    for handler in (await bolt.connect(), await bolt.connect()):

        async def count(client: Any, message: Json, _raw: str | None) -> None:
            if message.get("type") == "slash_commands":
                counts[id(client)] = counts.get(id(client), 0) + 1

        handler.client.message_listeners.append(count)

    for _ in range(30):
        assert (await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq"))["acknowledged"]
    await eventually(lambda: sum(counts.values()) == 30)
    assert len(counts) == 2


async def _open_socket(
    http: aiohttp.ClientSession, sandbox: SlackSandbox
) -> aiohttp.ClientWebSocketResponse:
    headers = {"Authorization": f"Bearer {sandbox.app_token}"}
    async with http.post(f"{sandbox.api_url}apps.connections.open", headers=headers) as answer:
        address = (await answer.json())["url"]
    return await http.ws_connect(address)


async def test_hello_tells_how_many_connections_are_open(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    first = await _open_socket(http, sandbox)
    second = await _open_socket(http, sandbox)
    assert (await first.receive_json())["num_connections"] == 1
    hello = await second.receive_json()
    assert hello["type"] == "hello"
    assert hello["num_connections"] == 2
    assert hello["debug_info"]["approximate_connection_time"] > 0
    assert hello["connection_info"] == {"app_id": "A0MQBOT"}


async def test_an_eleventh_connection_is_sent_away(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    first_ten = [await _open_socket(http, sandbox) for _ in range(10)]
    for each in first_ten:
        await each.receive_json()
    eleventh = await _open_socket(http, sandbox)
    frame = await eleventh.receive_json()
    assert (frame["type"], frame["reason"]) == ("disconnect", "too_many_websockets")
    assert sandbox.socket_mode.connections == 10


async def test_a_ticket_opens_one_connection_only(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    headers = {"Authorization": f"Bearer {sandbox.app_token}"}
    async with http.post(f"{sandbox.api_url}apps.connections.open", headers=headers) as answer:
        address = (await answer.json())["url"]
    await http.ws_connect(address)
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await http.ws_connect(address)


async def test_a_refused_handshake_is_refused_once(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    sandbox.faults.arm({"name": "refuse_handshake"})
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await _open_socket(http, sandbox)
    assert (await (await _open_socket(http, sandbox)).receive_json())["type"] == "hello"


async def test_an_unacknowledged_event_comes_again_with_the_same_event_id(
    impatient: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    socket = await _open_socket(http, impatient)
    await socket.receive_json()
    impatient.people.message(ALICE, CHANNEL, "Hello")

    frames = [await socket.receive_json(timeout=5) for _ in range(2)]
    await socket.send_json({"envelope_id": frames[1]["envelope_id"]})

    assert [each["retry_attempt"] for each in frames] == [0, 1]
    assert frames[1]["retry_reason"] == "timeout"
    assert frames[0]["payload"]["event_id"] == frames[1]["payload"]["event_id"]
    assert frames[0]["envelope_id"] != frames[1]["envelope_id"]
    event = frames[0]["payload"]["event"]
    assert event.items() >= {"type": "message", "text": "Hello", "channel_type": "channel"}.items()
    with pytest.raises(TimeoutError):
        await socket.receive_json(timeout=0.6)


async def test_an_event_of_a_time_without_connections_is_delivered_by_its_retry(
    http: aiohttp.ClientSession,
) -> None:
    slow = SlackSandbox(MANIFEST, event_retry_seconds=(0.3,))
    await slow.start()
    slow.people.message(ALICE, CHANNEL, "Anybody?")
    socket = await _open_socket(http, slow)
    await socket.receive_json()
    frame = await socket.receive_json(timeout=5)
    assert (frame["retry_attempt"], frame["retry_reason"]) == (1, "connection_failed")
    await socket.close()
    await slow.stop()


async def test_a_command_without_a_connected_app_fails_visibly(sandbox: SlackSandbox) -> None:
    notices: list[str | None] = []
    sandbox.installation.workspace.on_change(
        lambda change: notices.append(change.text) if change.kind == "notice" else None
    )
    with pytest.raises(ControlRefusal) as refusal:
        await sandbox.people.command(ALICE, CHANNEL, "/mq status")
    assert refusal.value.code == "app_not_connected"
    assert notices == ['/mq failed with the error "dispatch_failed"']


async def test_a_missed_acknowledgement_is_told_to_the_person(slow_bolt: BoltApp) -> None:
    @slow_bolt.app.command("/mq")
    async def listener() -> None:
        slow_bolt.received.append("got it, said nothing")

    notices: list[str | None] = []
    slow_bolt.sandbox.installation.workspace.on_change(
        lambda change: notices.append(change.text) if change.kind == "notice" else None
    )
    await slow_bolt.connect()
    answer = await slow_bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")

    assert answer == {"ok": True, "acknowledged": False, "error": "operation_timeout"}
    assert notices == ['/mq failed with the error "operation_timeout"']
    assert slow_bolt.received


async def test_a_response_url_serves_five_times(bolt: BoltApp) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any, command: Json) -> None:
        bolt.received.append(command["response_url"])
        await ack()

    await bolt.connect()
    await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    webhook = AsyncWebhookClient(bolt.received[0])
    statuses = [(await webhook.send(text=f"Answer {n}")).status_code for n in range(6)]
    last = await webhook.send(text="again")

    assert statuses == [200, 200, 200, 200, 200, 404]
    assert json.loads(last.body) == {"ok": False, "error": "used_url"}
    assert len(seen(bolt.sandbox)) == 5
    unknown = AsyncWebhookClient(f"{bolt.sandbox.url}response/unknown")
    assert json.loads((await unknown.send(text="x")).body)["error"] == "expired_url"


async def test_mentions_and_declared_messages_reach_the_app_others_do_not(bolt: BoltApp) -> None:
    @bolt.app.event("app_mention")
    async def mention(event: Json) -> None:
        bolt.received.append(("mention", event["text"]))

    @bolt.app.event("message")
    async def message(event: Json) -> None:
        bolt.received.append((event["channel"], event["text"]))

    await bolt.connect()
    bolt.sandbox.people.message("U0BOB", "C0GENERAL", "The app is not in here")
    bolt.sandbox.people.message("U0BOB", "C0INCIDENT", "Private and not declared")
    bolt.sandbox.people.message(ALICE, CHANNEL, "Hi @merge-queue")

    await eventually(lambda: len(bolt.received) == 2)
    said = "Hi <@U0MQBOT>"
    assert sorted(bolt.received) == sorted([("mention", said), (CHANNEL, said)])


async def test_the_control_api_types_clicks_and_reads(
    bolt: BoltApp, http: aiohttp.ClientSession
) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any) -> None:
        await ack("Hi")

    await bolt.connect()
    control = f"{bolt.sandbox.url}control/"
    command = {"user": ALICE, "channel": CHANNEL, "text": "/mq"}
    async with http.post(f"{control}commands", json=command) as answer:
        assert await answer.json() == {"ok": True, "acknowledged": True, "ack_text": "Hi"}
    async with http.get(f"{control}channels/{CHANNEL}/messages", params={"user": ALICE}) as answer:
        assert [each["text"] for each in (await answer.json())["messages"]] == ["Hi"]
    async with http.get(f"{control}workspace") as answer:
        workspace = await answer.json()
    assert workspace["viewer"] == ALICE
    assert workspace["app"].items() >= {"connected": True, "connections": 1}.items()
    async with http.get(f"{control}workspace", params={"user": "U0CAROL"}) as answer:
        names = [each["name"] for each in (await answer.json())["channels"]]
    assert names == ["merge-queue", "releases", "general"]
    async with http.get(f"{control}calls", params={"since": 0}) as answer:
        calls = (await answer.json())["calls"]
    assert calls[0]["method"] == "apps.connections.open"
    assert "xapp" not in json.dumps(calls)
    async with http.post(f"{control}commands", json={**command, "text": "/nope"}) as answer:
        assert answer.status == 400
        assert (await answer.json())["error"] == "unknown_command"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 403),
        ({"Content-Type": "application/json"}, 400),
    ],
)
async def test_foreign_pages_cannot_use_the_control_api(
    sandbox: SlackSandbox, http: aiohttp.ClientSession, headers: dict[str, str], status: int
) -> None:
    wanted = {"Content-Type": "application/json", **headers}
    async with http.post(f"{sandbox.url}control/messages", data=b"{}", headers=wanted) as answer:
        assert answer.status == status


async def test_the_stream_tells_each_person_what_they_may_see(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    address = f"{sandbox.url}control/stream"
    async with http.get(address, params={"user": "U0CAROL"}) as stream:
        await stream.content.readuntil(b"\n\n")
        sandbox.people.message(ALICE, "C0INCIDENT", "Secret")
        sandbox.installation.workspace.tell("U0BOB", None, "For Bob")
        sandbox.people.message(ALICE, "C0GENERAL", "Public")
        block = (await stream.content.readuntil(b"\n\n")).decode()
    lines = dict(line.split(": ", 1) for line in block.strip().splitlines())
    assert lines["event"] == "change"
    change = json.loads(lines["data"])
    assert (change["kind"], change["channel"]) == ("message", "C0GENERAL")
    assert change["message"]["text"] == "Public"


async def test_files_of_the_page_are_served_and_nothing_above_them(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    async with http.get(f"{sandbox.url}static/no-such-file.js") as answer:
        assert answer.status == 404
        assert "no-such-file.js" in await answer.text()
    async with http.get(f"{sandbox.url}static/%2e%2e%2fserver.py") as answer:
        assert answer.status == 404


@pytest.mark.parametrize("form", ["json", "form", "multipart", "query"])
async def test_arguments_are_read_in_every_form_slack_takes(
    sandbox: SlackSandbox, http: aiohttp.ClientSession, form: str
) -> None:
    arguments = {"channel": CHANNEL, "text": "Hi", "blocks": json.dumps([{"type": "divider"}])}
    headers = {"Authorization": f"Bearer {sandbox.bot_token}"}
    address = f"{sandbox.api_url}chat.postMessage"
    if form == "json":
        body = {**arguments, "blocks": [{"type": "divider"}]}
        request = http.post(address, json=body, headers=headers)
    elif form == "query":
        request = http.get(address, params={**arguments, "token": sandbox.bot_token})
    elif form == "form":
        request = http.post(address, data={**arguments, "token": sandbox.bot_token})
    else:
        parts = aiohttp.FormData(default_to_multipart=True)
        for name, value in arguments.items():
            parts.add_field(name, value)
        request = http.post(address, data=parts, headers=headers)
    async with request as response:
        answer = await response.json()
    assert answer["ok"] is True
    assert answer["message"]["blocks"][0]["type"] == "divider"


@pytest.mark.parametrize(
    ("body", "content_type", "error"),
    [
        (b"{", "application/json", "invalid_json"),
        (b"[]", "application/json", "json_not_object"),
        (b"x", "text/plain", "invalid_post_type"),
        (b'{"token": "xoxb-sandbox"}', "application/json", "not_authed"),
    ],
)
async def test_a_body_slack_cannot_read_is_refused(
    sandbox: SlackSandbox,
    http: aiohttp.ClientSession,
    body: bytes,
    content_type: str,
    error: str,
) -> None:
    headers = {"Content-Type": content_type}
    async with http.post(f"{sandbox.api_url}auth.test", data=body, headers=headers) as answer:
        assert (await answer.json())["error"] == error


async def test_dropped_connections_are_opened_again_by_the_client(bolt: BoltApp) -> None:
    await bolt.connect()
    bolt.sandbox.faults.arm({"name": "drop_connections"})
    assert bolt.sandbox.socket_mode.connections == 0
    await bolt.handlers[0].client.connect_to_new_endpoint(force=True)
    await eventually(lambda: bolt.sandbox.socket_mode.connections == 1)


async def test_stopping_gives_the_port_back_while_pages_and_sockets_are_open(
    http: aiohttp.ClientSession,
) -> None:
    sandbox = SlackSandbox(MANIFEST)
    await sandbox.start()
    port = int(sandbox.url.rsplit(":", 1)[1].strip("/"))
    socket = await _open_socket(http, sandbox)
    stream = await http.get(f"{sandbox.url}control/stream", params={"user": ALICE})
    async with asyncio.timeout(5):
        await sandbox.stop()
        await sandbox.stop()
    with suppress(aiohttp.ClientError):
        await stream.read()
    await socket.close()
    again = SlackSandbox(MANIFEST)
    await again.start(port=port)
    await again.stop()


async def test_a_lost_payload_is_a_timeout_and_the_next_click_works(slow_bolt: BoltApp) -> None:
    @slow_bolt.app.command("/mq")
    async def listener(ack: Any) -> None:
        slow_bolt.received.append("ran")
        await ack()

    await slow_bolt.connect()
    slow_bolt.sandbox.faults.arm({"name": "lose_payload"})
    lost = await slow_bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    again = await slow_bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    assert lost["error"] == "operation_timeout"
    assert again["acknowledged"] is True
    assert slow_bolt.received == ["ran"]


async def test_a_repeated_payload_reaches_the_app_twice_with_one_trigger(bolt: BoltApp) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any, body: Json) -> None:
        bolt.received.append(body["trigger_id"])
        await ack()

    await bolt.connect()
    bolt.sandbox.faults.arm({"name": "repeat_payload"})
    await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    await eventually(lambda: len(bolt.received) == 2)
    assert len(set(bolt.received)) == 1


async def test_faults_strike_a_response_url_too_and_its_calls_are_logged(bolt: BoltApp) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any, command: Json) -> None:
        bolt.received.append(command["response_url"])
        await ack()

    await bolt.connect()
    await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    bolt.sandbox.faults.arm({"name": "http_500", "method": "response_url"})
    webhook = AsyncWebhookClient(bolt.received[0])
    assert (await webhook.send(text="lost")).status_code == 500
    assert (await webhook.send(text="told")).status_code == 200
    assert texts(bolt.sandbox) == ["told"]
    logged = [e for e in bolt.sandbox.calls.since(0) if e["method"] == "response_url"]
    assert [each["ok"] for each in logged] == [False, True]
    assert logged[1]["arguments"]["text"] == "told"


async def test_the_control_api_arranges_the_workspace(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    async def post(path: str, **body: object) -> Json:
        async with http.post(f"{sandbox.url}control/{path}", json=body) as answer:
            content: Json = await answer.json()
        return content

    eve = await post("users", name="eve", kind="external", team_id="T0OTHER")
    assert eve == {"ok": True, "user": "U0EVE"}
    shared = await post("channels", name="shared", members=[ALICE, "U0EVE"], is_private=True)
    assert shared == {"ok": True, "channel": "C0SHARED"}
    assert (await post("channels/C0SHARED", is_ext_shared=True))["ok"] is True
    await post("channels/C0SHARED/members", user="U0MQBOT")
    group = await post("usergroups", handle="release", members=[ALICE])
    assert group == {"ok": True, "usergroup": "S0RELEASE"}
    channels = sandbox.sight.workspace("U0EVE")["channels"]
    found = next(each for each in channels if each["id"] == "C0SHARED")
    assert found["is_ext_shared"] is True
    assert found["bot_is_member"] is True
    assert (await post("users", kind="member"))["error"] == "missing_field"
    assert (await post("channels/C0NONE", topic="x"))["error"] == "channel_not_found"
