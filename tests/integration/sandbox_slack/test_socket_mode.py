import asyncio
from contextlib import suppress
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import Json
from tests.integration.sandbox_slack.clients import (
    ALICE,
    CHANNEL,
    MANIFEST,
    PATIENT_SECONDS,
    BoltApp,
    be_patient,
    eventually,
    open_socket,
)
from tests.support.waiting import DEADLINE_SECONDS


@pytest.mark.parametrize("reason", ["refresh_requested", "too_many_websockets"])
async def test_a_disconnected_or_dropped_client_reconnects_with_a_new_ticket(
    bolt: BoltApp, reason: str
) -> None:
    bolt.acknowledge("Still here")
    await bolt.connect()
    answer = bolt.sandbox.faults.arm({"name": "disconnect", "reason": reason})
    assert answer["connections"] == 1

    def reopened() -> bool:
        opened = [e for e in bolt.sandbox.calls.since(0) if e["method"] == "apps.connections.open"]
        return len(opened) == 2 and bolt.sandbox.socket_mode.connections == 1

    await eventually(reopened)
    done = await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    assert done["ack_text"] == "Still here"

    bolt.sandbox.faults.arm({"name": "drop_connections"})
    assert bolt.sandbox.socket_mode.connections == 0
    await bolt.handlers[0].client.connect_to_new_endpoint(force=True)
    await eventually(lambda: bolt.sandbox.socket_mode.connections == 1)


async def test_payloads_reach_two_connections_of_one_app(bolt: BoltApp) -> None:
    bolt.acknowledge()
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


async def test_hello_shows_how_many_of_ten_connections_are_open_and_a_ping_is_answered(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    first = await open_socket(http, sandbox)
    second = await open_socket(http, sandbox, autoping=False)
    assert (await first.receive_json())["num_connections"] == 1
    hello = await second.receive_json()
    assert hello["type"] == "hello"
    assert hello["num_connections"] == 2
    assert hello["debug_info"]["approximate_connection_time"] > 360
    assert hello["connection_info"] == {"app_id": "A0MQBOT"}
    await second.ping(b"there?")
    answer = await second.receive(timeout=PATIENT_SECONDS)
    assert (answer.type, answer.data) == (aiohttp.WSMsgType.PONG, b"there?")

    others = [await open_socket(http, sandbox) for _ in range(8)]
    assert [(await each.receive_json())["num_connections"] for each in others] == [*range(3, 11)]
    eleventh = await open_socket(http, sandbox)
    frame = await eleventh.receive_json()
    assert (frame["type"], frame["reason"]) == ("disconnect", "too_many_websockets")
    assert sandbox.socket_mode.connections == 10


async def test_a_ticket_opens_one_connection_which_may_be_short_or_refused(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    client = AsyncWebClient(base_url=sandbox.api_url)
    opened = await client.apps_connections_open(app_token=sandbox.app_token)
    address = f"{opened['url']}&debug_reconnects=true"
    hello = await (await http.ws_connect(address)).receive_json()
    assert hello["debug_info"]["approximate_connection_time"] == 360
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await http.ws_connect(address)

    sandbox.faults.arm({"name": "refuse_handshake"})
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await open_socket(http, sandbox)
    assert (await (await open_socket(http, sandbox)).receive_json())["type"] == "hello"


async def test_an_unacknowledged_event_is_retried_with_the_same_id(
    impatient: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    socket = await open_socket(http, impatient)
    await socket.receive_json()
    impatient.people.message(ALICE, CHANNEL, "Hello")

    frames = [await socket.receive_json(timeout=PATIENT_SECONDS)]
    be_patient(impatient)
    frames.append(await socket.receive_json(timeout=PATIENT_SECONDS))
    await socket.send_json({"envelope_id": frames[1]["envelope_id"]})
    await eventually(lambda: not impatient.socket_mode._waiting)

    assert [each["retry_attempt"] for each in frames] == [0, 1]
    assert frames[1]["retry_reason"] == "timeout"
    assert frames[0]["payload"]["event_id"] == frames[1]["payload"]["event_id"]
    assert frames[0]["envelope_id"] != frames[1]["envelope_id"]
    event = frames[0]["payload"]["event"]
    assert event.items() >= {"type": "message", "text": "Hello", "channel_type": "channel"}.items()
    with pytest.raises(TimeoutError):
        await socket.receive_json(timeout=0.2)


async def test_an_event_sent_without_connections_is_delivered_by_its_retry(
    http: aiohttp.ClientSession,
) -> None:
    # So often that one of them meets a connection, however long it takes to open that.
    slow = SlackSandbox(MANIFEST, event_retry_seconds=(0.1,) * 600)
    await slow.start()
    slow.people.message(ALICE, CHANNEL, "Anybody?")
    socket = await open_socket(http, slow)
    await socket.receive_json()
    frame = await socket.receive_json(timeout=PATIENT_SECONDS)
    assert frame["retry_attempt"] >= 1
    assert frame["retry_reason"] == "connection_failed"
    await socket.close()
    await slow.stop()


async def test_stopping_frees_the_port_while_pages_and_sockets_are_open(
    http: aiohttp.ClientSession,
) -> None:
    sandbox = SlackSandbox(MANIFEST)
    await sandbox.start()
    port = int(sandbox.url.rsplit(":", 1)[1].strip("/"))
    socket = await open_socket(http, sandbox)
    stream = await http.get(f"{sandbox.url}control/stream", params={"user": ALICE})
    async with asyncio.timeout(DEADLINE_SECONDS):
        await sandbox.stop()
        await sandbox.stop()
    with suppress(aiohttp.ClientError):
        await stream.read()
    await socket.close()
    again = SlackSandbox(MANIFEST)
    await again.start(port=port)
    await again.stop()


async def test_a_warned_connection_still_carries_payloads(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    socket = await open_socket(http, sandbox)
    await socket.receive_json()
    sandbox.faults.arm({"name": "disconnect", "reason": "warning"})
    frame = await socket.receive_json(timeout=PATIENT_SECONDS)
    assert (frame["type"], frame["reason"]) == ("disconnect", "warning")
    sandbox.people.message(ALICE, CHANNEL, "Still there?")
    assert (await socket.receive_json(timeout=PATIENT_SECONDS))["type"] == "events_api"
    assert sandbox.socket_mode.connections == 1


async def test_only_an_acknowledgement_counts_on_whichever_connection(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    first = await open_socket(http, sandbox)
    await first.receive_json()
    asking = asyncio.ensure_future(sandbox.people.command(ALICE, CHANNEL, "/mq"))
    frame = await first.receive_json(timeout=PATIENT_SECONDS)
    assert frame["accepts_response_payload"] is True
    for nonsense in ("{", "[]", '"x"', '{"envelope_id": "other"}', '{"envelope_id": []}'):
        await first.send_str(nonsense)
    second = await open_socket(http, sandbox)
    await second.receive_json()
    assert not asking.done()
    await second.send_json({"envelope_id": frame["envelope_id"], "payload": {"text": "At last"}})
    done = await asking
    assert (done["acknowledged"], done["ack_text"]) == (True, "At last")


async def test_a_half_open_connection_counts_and_swallows_payloads(
    impatient: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    ghost = await open_socket(http, impatient)
    await ghost.receive_json()
    assert impatient.faults.arm({"name": "half_open"})["connections"] == 1
    done = await impatient.people.command(ALICE, CHANNEL, "/mq")
    assert (done["acknowledged"], done["error"]) == (False, "operation_timeout")
    await ghost.ping()
    with pytest.raises(TimeoutError):
        await ghost.receive(timeout=0.2)
    # What the app does with its end is not seen on the other.
    assert ghost._response.connection is not None
    ghost._response.connection.close()
    alive = await open_socket(http, impatient)
    assert (await alive.receive_json())["num_connections"] == 2
    assert impatient.faults.arm({"name": "half_open"})["connections"] == 1
    assert impatient.faults.arm({"name": "half_open"})["connections"] == 0


async def test_a_client_that_answers_no_ping_is_disconnected(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    sandbox.terms.ping_seconds = 0.1
    socket = await open_socket(http, sandbox)
    assert (await socket.receive_json())["type"] == "hello"
    assert sandbox.socket_mode.connections == 1
    # Nobody reads, so nobody answers.
    connection = socket._response.connection
    assert connection is not None
    assert connection.transport is not None
    connection.transport.pause_reading()
    await eventually(lambda: sandbox.socket_mode.connections == 0)
