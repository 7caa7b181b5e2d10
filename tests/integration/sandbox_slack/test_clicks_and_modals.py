from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import ControlRefusal, Json
from tests.integration.sandbox_slack.clients import (
    ACTIONS,
    ALICE,
    CHANNEL,
    MODAL,
    BoltApp,
    eventually,
    seen,
    texts,
)
from tests.support.block_kit import DIVIDER, actions, option, typed_reason


async def test_a_button_click_updates_its_message(bolt: BoltApp) -> None:
    @bolt.app.action("go")
    async def listener(ack: Any, body: Json, client: AsyncWebClient) -> None:
        await ack()
        bolt.received.append(body)
        await client.chat_update(
            channel=body["channel"]["id"], ts=body["message"]["ts"], text="Gone", blocks=[]
        )

    await bolt.connect()
    container = await bolt.post(ACTIONS)
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
    assert body["container"]["message_ts"] == container["ts"]
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

    menu = {"type": "static_select", "action_id": "pick", "options": [option("one"), option("two")]}
    await bolt.connect()
    container = await bolt.post(actions(menu, block_id="row"))
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


async def test_errors_keep_a_modal_open_and_submitting_and_closing_are_reported(
    bolt: BoltApp,
) -> None:
    _serve_modal(bolt)
    await bolt.connect()
    people = bolt.sandbox.people

    assert (await people.shortcut(ALICE, "pause"))["acknowledged"] is True
    await eventually(lambda: _stack(bolt.sandbox))
    view_id = _stack(bolt.sandbox)[0]["id"]
    empty = await people.submit(ALICE, view_id, typed_reason("  "))
    short = await people.submit(ALICE, view_id, typed_reason("because"))
    assert len(_stack(bolt.sandbox)) == 1
    good = await people.submit(ALICE, view_id, typed_reason("the runners burn"))

    assert empty["errors"] == {"why": "Please complete this required field."}
    assert empty["acknowledged"] is None
    assert short["response_action"] == "errors"
    assert short["errors"] == {"why": "Say more"}
    assert good == {"ok": True, "acknowledged": True}
    assert _stack(bolt.sandbox) == []
    assert [each["type"] for each in bolt.received] == ["view_submission", "view_submission"]

    await people.shortcut(ALICE, "pause")
    await eventually(lambda: _stack(bolt.sandbox))
    people.close(ALICE, _stack(bolt.sandbox)[0]["id"])
    await eventually(lambda: len(bolt.received) == 3)
    assert bolt.received[2]["type"] == "view_closed"
    assert bolt.received[2]["is_cleared"] is False
    assert _stack(bolt.sandbox) == []


async def test_the_home_tab_is_published_when_it_is_opened(bolt: BoltApp) -> None:
    @bolt.app.event("app_home_opened")
    async def listener(event: Json, client: AsyncWebClient) -> None:
        bolt.received.append(event)
        view = {"type": "home", "blocks": [DIVIDER]}
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
