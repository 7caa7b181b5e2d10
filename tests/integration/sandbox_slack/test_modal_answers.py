from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.slack.wire import ControlRefusal, Json
from tests.integration.sandbox_slack.clients import ALICE, CHANNEL, MODAL, BoltApp, eventually, seen
from tests.support.block_kit import actions, input_block, option, plain, typed_reason

SECOND = {**MODAL, "callback_id": "second", "title": plain("Second")}
GOOD = typed_reason("it burns")


def _titles(bolt: BoltApp) -> list[str]:
    views = bolt.sandbox.sight.views(ALICE)["views"]
    return [each["title"]["text"] for each in views]


def _top(bolt: BoltApp) -> str:
    view_id: str = bolt.sandbox.sight.views(ALICE)["views"][-1]["id"]
    return view_id


async def _open(bolt: BoltApp, view: Json = MODAL) -> None:
    @bolt.app.shortcut("pause")
    async def shortcut(ack: Any, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=view)

    await bolt.connect()
    await bolt.sandbox.people.shortcut(ALICE, "pause")
    await eventually(lambda: _titles(bolt))


async def test_a_response_may_update_push_and_clear_modals_and_an_unreadable_one_keeps_them(
    bolt: BoltApp,
) -> None:
    given: list[Json] = []

    @bolt.app.view("reason")
    async def submission(ack: Any) -> None:
        await ack(given[-1])

    @bolt.app.view("second")
    async def second(ack: Any) -> None:
        await ack(response_action="clear")

    async def submitted(answer: Json) -> Json:
        given.append(answer)
        return await bolt.sandbox.people.submit(ALICE, _top(bolt), GOOD)

    await _open(bolt)
    for answer, error in (
        ({"response_action": "dance"}, "invalid_response_action"),
        ({"response_action": ["push"]}, "invalid_response_action"),
        ({"response_action": "errors", "errors": {"nowhere": "x"}}, "invalid_response_action"),
        ({"response_action": "errors", "errors": {}}, "invalid_response_action"),
        ({"response_action": "update", "view": {"type": "modal"}}, "invalid_arguments"),
    ):
        result = await submitted(answer)
        assert (result["acknowledged"], result["error"]) == (False, error)
        assert _titles(bolt) == ["Pause"]

    pushed = await submitted({"response_action": "push", "view": SECOND})
    assert pushed["response_action"] == "push"
    assert _titles(bolt) == ["Pause", "Second"]
    cleared = await bolt.sandbox.people.submit(ALICE, _top(bolt), GOOD)
    assert cleared["response_action"] == "clear"
    assert _titles(bolt) == []

    await bolt.sandbox.people.shortcut(ALICE, "pause")
    await eventually(lambda: _titles(bolt))
    before = _top(bolt)
    updated = await submitted({"response_action": "update", "view": SECOND})
    assert updated["response_action"] == "update"
    assert _titles(bolt) == ["Second"]
    assert _top(bolt) == before


async def test_an_unacknowledged_submission_keeps_the_modal_open(slow_bolt: BoltApp) -> None:
    @slow_bolt.app.view("reason")
    async def submission() -> None:
        slow_bolt.received.append("said nothing")

    await _open(slow_bolt)
    result = await slow_bolt.sandbox.people.submit(ALICE, _top(slow_bolt), GOOD)
    assert result["error"] == "operation_timeout"
    assert _titles(slow_bolt) == ["Pause"]


async def test_a_channel_menu_can_provide_a_response_url(bolt: BoltApp) -> None:
    @bolt.app.view("reason")
    async def submission(ack: Any, body: Json) -> None:
        bolt.received.append(body)
        await ack()

    menu = {
        "type": "conversations_select",
        "action_id": "where",
        "response_url_enabled": True,
        "default_to_current_conversation": True,
    }
    await _open(bolt, {**MODAL, "blocks": [input_block(menu, block_id="place")]})
    values = {"place": {"where": {"selected_conversation": CHANNEL}}}
    await bolt.sandbox.people.submit(ALICE, _top(bolt), values)

    (url,) = bolt.received[0]["response_urls"]
    assert url.items() >= {"block_id": "place", "action_id": "where", "channel_id": CHANNEL}.items()


async def test_an_input_dispatches_only_when_its_block_asks_for_it(bolt: BoltApp) -> None:
    @bolt.app.action("text")
    async def typed(ack: Any, body: Json) -> None:
        bolt.received.append(body)
        await ack()

    quiet = MODAL["blocks"][0]
    loud = {**quiet, "block_id": "loud", "dispatch_action": True}
    await _open(bolt, {**MODAL, "blocks": [quiet, loud]})
    container = {"type": "view", "view_id": _top(bolt)}
    people = bolt.sandbox.people
    kept = await people.action(
        ALICE, container=container, block_id="why", action_id="text", value="half a reason"
    )
    sent = await people.action(
        ALICE,
        container=container,
        block_id="loud",
        action_id="text",
        value="now",
        state={"values": {"why": {"text": {"value": "a whole reason"}}}},
    )

    assert kept == {"ok": True, "acknowledged": True, "sent": False}
    assert sent == {"ok": True, "acknowledged": True}
    body = bolt.received[0]
    assert body["container"] == container
    assert body["actions"][0]["value"] == "now"
    assert body["view"]["state"]["values"]["why"]["text"]["value"] == "a whole reason"
    assert "response_url" not in body
    assert "channel" not in body


async def ask_for_suggestions(bolt: BoltApp, offered: list[Json]) -> Json:
    """Post an external menu, type "acm" into it, and give what comes of it."""

    @bolt.app.options("repository")
    async def options(ack: Any, payload: Json) -> None:
        bolt.received.append(payload["value"])
        await ack(options=offered)

    menu = {"type": "external_select", "action_id": "repository", "min_query_length": 0}
    await bolt.connect()
    container = await bolt.post(actions(menu, block_id="row"))
    return await bolt.sandbox.people.suggestions(
        ALICE, container=container, block_id="row", action_id="repository", value="acm"
    )


TOO_MANY = "no more than 100 items allowed [json-pointer:/options]"
TOO_LONG = "must be less than 76 characters [json-pointer:/options/0/text/text]"


@pytest.mark.parametrize(
    ("texts", "refusal"),
    [
        *(([f"acme/{number}" for number in range(count)], None) for count in (0, 1, 100)),
        ([f"acme/{number}" for number in range(101)], TOO_MANY),
        (["x" * 76], TOO_LONG),
    ],
)
async def test_an_external_menu_asks_the_app_for_its_options(
    bolt: BoltApp, texts: list[str], refusal: str | None
) -> None:
    offered = [option(text) for text in texts]
    answer = await ask_for_suggestions(bolt, offered)
    assert bolt.received == ["acm"]
    if refusal is None:
        assert answer == {"ok": True, "acknowledged": True, "options": offered}
    else:
        assert answer["acknowledged"] is False
        assert (answer["error"], answer["messages"]) == ("invalid_options", [refusal])


async def test_a_message_shortcut_includes_its_message(bolt: BoltApp) -> None:
    @bolt.app.shortcut("ask")
    async def ask(ack: Any, body: Json, respond: Any) -> None:
        await ack()
        bolt.received.append(body)
        await respond("Seen")

    await bolt.connect()
    container = await bolt.post()
    await bolt.sandbox.people.shortcut(ALICE, "ask", channel=CHANNEL, ts=container["ts"])
    await eventually(lambda: len(seen(bolt.sandbox)) == 2)
    assert bolt.received[0]["type"] == "message_action"
    assert bolt.received[0]["message"]["text"] == "Look"
    assert seen(bolt.sandbox)[1]["ephemeral"] is True
    with pytest.raises(ControlRefusal) as refusal:
        await bolt.sandbox.people.shortcut(ALICE, "undeclared")
    assert refusal.value.code == "unknown_shortcut"
