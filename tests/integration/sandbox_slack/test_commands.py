import json
from typing import Any

import pytest
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.sandbox.slack.wire import ControlRefusal, Json
from tests.integration.sandbox_slack.clients import ALICE, CHANNEL, BoltApp, eventually, seen, texts


async def test_a_command_has_every_field_and_is_acknowledged_and_answered_through_its_response_url(
    bolt: BoltApp,
) -> None:
    @bolt.app.command("/mq")
    async def listener(ack: Any, respond: Any, command: Json) -> None:
        bolt.received.append(command)
        await ack("On it")
        await respond(text="Everything runs", response_type="ephemeral")

    bolt.acknowledge(command="/raw")
    await bolt.connect()
    answer = await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq status acme/site")

    assert answer == {"ok": True, "acknowledged": True, "ack_text": "On it"}
    await eventually(lambda: len(seen(bolt.sandbox)) == 2)
    assert sorted(texts(bolt.sandbox)) == ["Everything runs", "On it"]
    assert all(each["ephemeral"] for each in seen(bolt.sandbox))
    assert seen(bolt.sandbox, "U0BOB") == []
    body = bolt.received[0]
    typed = {"command": "/mq", "text": "status acme/site", "user_name": "amartin82"}
    assert body.items() >= typed.items()
    assert set(body) == {
        *("token", "team_id", "team_domain", "api_app_id", "is_enterprise_install"),
        *("channel_id", "channel_name", "user_id", "user_name"),
        *("command", "text", "response_url", "trigger_id"),
    }

    await bolt.sandbox.people.command(ALICE, "C0INCIDENT", "/mq pause <x> & @bob #general")
    body = bolt.received[1]
    assert body["channel_name"] == "privategroup"
    assert body["text"] == "pause &lt;x&gt; &amp; <@U0BOB> <#C0GENERAL|general>"
    # The manifest asks for no ids here.
    await bolt.sandbox.people.command(ALICE, CHANNEL, "/raw @bob https://a.example/b")
    assert bolt.received[2]["text"] == "@bob https://a.example/b"


async def test_a_reply_in_the_channel_shows_the_typed_command_first_unless_it_comes_later(
    bolt: BoltApp,
) -> None:
    answers = {
        "pause it burns": {"text": "The queue is paused", "response_type": "in_channel"},
        "status": {"response_type": "in_channel"},
        "resume": {},
    }

    @bolt.app.command("/mq")
    async def listener(ack: Any, respond: Any, command: Json) -> None:
        answer = answers[command["text"]]
        await ack(answer)
        if not answer:
            await respond(text="Resumed", response_type="in_channel")

    await bolt.connect()
    for words in answers:
        await bolt.sandbox.people.command(ALICE, CHANNEL, f"/mq {words}")
    await eventually(lambda: "Resumed" in texts(bolt.sandbox, "U0BOB"))

    shown = seen(bolt.sandbox, "U0BOB")
    assert [(each["user"], each["text"]) for each in shown] == [
        (ALICE, "/mq pause it burns"),
        ("U0MQBOT", "The queue is paused"),
        (ALICE, "/mq status"),
        ("U0MQBOT", "Resumed"),
    ]


async def test_a_command_without_a_connected_app_or_an_acknowledgement_fails_visibly(
    slow_bolt: BoltApp,
) -> None:
    @slow_bolt.app.command("/mq")
    async def listener() -> None:
        slow_bolt.received.append("got it, said nothing")

    notices: list[str | None] = []
    slow_bolt.sandbox.installation.workspace.on_change(
        lambda change: notices.append(change.text) if change.kind == "notice" else None
    )
    with pytest.raises(ControlRefusal) as refusal:
        await slow_bolt.sandbox.people.command(ALICE, CHANNEL, "/mq status")
    assert refusal.value.code == "app_not_connected"
    assert notices == ['/mq failed with the error "dispatch_failed"']

    await slow_bolt.connect()
    answer = await slow_bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    assert answer == {"ok": True, "acknowledged": False, "error": "operation_timeout"}
    assert notices[1:] == ['/mq failed with the error "operation_timeout"']
    await eventually(lambda: slow_bolt.received)


async def test_a_response_url_works_five_times_and_its_calls_are_logged(bolt: BoltApp) -> None:
    bolt.acknowledge()
    await bolt.connect()
    await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
    bolt.sandbox.faults.arm({"name": "http_500", "method": "response_url"})
    webhook = AsyncWebhookClient(bolt.received[0]["response_url"])
    statuses = [(await webhook.send(text=f"Answer {n}")).status_code for n in range(7)]
    last = await webhook.send(text="again")

    assert statuses == [500, 200, 200, 200, 200, 200, 404]
    assert json.loads(last.body) == {"ok": False, "error": "used_url"}
    assert texts(bolt.sandbox) == [f"Answer {n}" for n in range(1, 6)]
    logged = [e for e in bolt.sandbox.calls.since(0) if e["method"] == "response_url"]
    assert [each["ok"] for each in logged[:2]] == [False, True]
    assert logged[1]["arguments"]["text"] == "Answer 1"
    unknown = AsyncWebhookClient(f"{bolt.sandbox.url}response/unknown")
    assert json.loads((await unknown.send(text="x")).body)["error"] == "expired_url"
