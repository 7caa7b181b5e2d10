"""What real Slack does and a local one easily hides; seen with errbot, hubot, opsdroid."""

import dataclasses

import aiohttp
import pytest

from bot.sandbox.slack.delivering.socket_mode import LONGEST_FRAME
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import Json
from tests.integration.sandbox_slack.clients import ALICE, CHANNEL, BoltApp, eventually
from tests.support.block_kit import actions, option, plain

INCIDENTS = "C0INCIDENT"


@pytest.fixture
async def events(bolt: BoltApp) -> list[Json]:
    """The messages and mentions that the app gets."""

    @bolt.app.event("app_mention")
    async def mention(body: Json) -> None:
        bolt.received.append(body)

    @bolt.app.event("message")
    async def message(body: Json) -> None:
        bolt.received.append(body)

    await bolt.connect()
    return bolt.received


def of(events: list[Json], kind: str) -> list[Json]:
    return [event["event"] for event in events if event["event"]["type"] == kind]


async def test_a_file_is_in_the_message_and_the_mention_has_no_subtype(
    bolt: BoltApp, events: list[Json]
) -> None:
    bolt.sandbox.people.message(ALICE, CHANNEL, "Hi @merge-queue", files=["red.png"])
    await eventually(lambda: len(events) == 2)
    (message,) = of(events, "message")
    (mention,) = of(events, "app_mention")
    assert message["subtype"] == "file_share"
    assert "subtype" not in mention
    assert [file["name"] for file in mention["files"]] == ["red.png"]
    assert mention["upload"] is False


async def test_a_reply_to_the_channel_has_its_root_and_a_me_message_its_subtype(
    bolt: BoltApp, events: list[Json]
) -> None:
    people = bolt.sandbox.people
    root = people.message(ALICE, CHANNEL, "CI is red")["ts"]
    people.message(ALICE, CHANNEL, "still red", root, broadcast=True)
    people.message(ALICE, CHANNEL, "/me waits")
    await eventually(lambda: len(events) == 3)
    _, reply, me = sorted(of(events, "message"), key=lambda message: str(message["ts"]))
    assert (reply["subtype"], reply["thread_ts"], reply["root"]["ts"]) == (
        "thread_broadcast",
        root,
        root,
    )
    assert (me["subtype"], me["text"]) == ("me_message", "waits")


async def test_mentions_carry_ids_alone(bolt: BoltApp, events: list[Json]) -> None:
    bolt.sandbox.arrangement.set_group("oncall", [ALICE])
    bolt.sandbox.people.message(ALICE, CHANNEL, "@bob @oncall #general #incidents @nobody")
    await eventually(lambda: events)
    text = of(events, "message")[0]["text"]
    named = "<@U0BOB> <!subteam^S0ONCALL> <#C0GENERAL|general> <#C0INCIDENT|> @nobody"
    assert text == named


async def test_one_message_may_come_with_two_event_ids(bolt: BoltApp, events: list[Json]) -> None:
    bolt.sandbox.faults.arm({"name": "repeat_event"})
    bolt.sandbox.people.message(ALICE, CHANNEL, "once")
    await eventually(lambda: len(events) == 2)
    first, second = events
    assert first["event"] == second["event"]
    assert first["event_id"] != second["event_id"]


async def test_an_app_that_is_not_in_a_channel_hears_of_a_mention_once_it_is_invited(
    bolt: BoltApp, events: list[Json]
) -> None:
    people = bolt.sandbox.people
    people.message(ALICE, "C0GENERAL", "Hi @merge-queue")
    people.message(ALICE, CHANNEL, "after it")
    await eventually(lambda: events)
    assert [message["text"] for message in of(events, "message")] == ["after it"]
    assert of(events, "app_mention") == []
    await people.command(ALICE, "C0GENERAL", "/invite @merge-queue")
    await eventually(lambda: of(events, "app_mention"))
    assert of(events, "app_mention")[0]["channel"] == "C0GENERAL"


async def test_a_reply_to_a_deleted_message_appears_in_the_channel(bolt: BoltApp) -> None:
    client = bolt.app.client
    root = await client.chat_postMessage(channel=CHANNEL, text="gone soon")
    await client.chat_delete(channel=CHANNEL, ts=root["ts"])
    reply = await client.chat_postMessage(channel=CHANNEL, text="late", thread_ts=root["ts"])
    assert "thread_ts" not in reply["message"]
    history = await client.conversations_history(channel=CHANNEL)
    assert [message["text"] for message in history["messages"]] == ["late"]


async def test_a_menu_keeps_its_choice_while_its_ids_stay_the_same(bolt: BoltApp) -> None:
    @bolt.app.action("end")
    async def chosen(ack: object, body: Json) -> None:
        await ack()  # type: ignore[operator]
        bolt.received.append(body)

    await bolt.connect()
    hour = option("An hour", "1h")
    menu = {
        "type": "static_select",
        "action_id": "end",
        "options": [hour, option("Two", "2h")],
        "placeholder": plain("Extend…"),
    }
    container = await bolt.post(actions(menu, block_id="row"))
    choice = {"container": container, "action_id": "end", "selected_option": hour}
    for block_id, is_sent in (("row", True), ("row", False), ("other", True)):
        shown = [actions(menu, block_id=block_id)]
        await bolt.app.client.chat_update(
            channel=CHANNEL, ts=container["ts"], text="Changed", blocks=shown
        )
        answer = await bolt.sandbox.people.action(ALICE, block_id=block_id, **choice)
        assert answer.get("sent", True) is is_sent
    assert len(bolt.received) == 2


async def test_a_frame_over_20_kib_closes_the_connection(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    headers = {"Authorization": f"Bearer {sandbox.app_token}"}
    async with http.post(f"{sandbox.api_url}apps.connections.open", headers=headers) as answer:
        url = (await answer.json())["url"]
    async with http.ws_connect(url) as socket:
        assert (await socket.receive_json())["type"] == "hello"
        await socket.send_str("x" * LONGEST_FRAME)
        await socket.send_str("x" * (LONGEST_FRAME + 1))
        frame = await socket.receive()
        assert (frame.type, frame.data) == (aiohttp.WSMsgType.CLOSE, 1009)
        assert frame.extra == "Max frame length of 20480 has been exceeded."


async def test_header_names_are_in_lower_case(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    sandbox.faults.arm({"name": "rate_limit", "retry_after": 3})
    async with http.get(f"{sandbox.api_url}auth.test") as answer:
        raw = [name for name, _ in answer.raw_headers]
    assert b"retry-after" in raw
    assert all(name == name.lower() for name in raw)


async def test_a_response_url_can_be_limited_fail_or_expire(
    sandbox: SlackSandbox, bolt: BoltApp, http: aiohttp.ClientSession
) -> None:
    bolt.acknowledge()
    await bolt.connect()
    await sandbox.people.command(ALICE, CHANNEL, "/mq status")
    url = bolt.received[0]["response_url"]
    expired: Json = {"name": "refuse", "code": "expired_url"}
    faults: list[tuple[Json, int]] = [
        ({"name": "rate_limit"}, 429),
        ({"name": "http_500"}, 500),
        (expired, 404),
    ]
    for fault, status in faults:
        sandbox.faults.arm({**fault, "method": "response_url"})
        async with http.post(url, json={"text": "done"}) as answer:
            assert answer.status == status
    async with http.post(url, json={"text": "done"}) as answer:
        assert answer.status == 200


async def test_a_person_has_a_picture_a_display_name_and_with_the_scope_an_address(
    sandbox: SlackSandbox,
) -> None:
    alice = sandbox.installation.workspace.users[ALICE]
    payloads = sandbox.installation.payloads
    profile = payloads.user(alice, ["users:read"])["profile"]
    assert {"avatar_hash", "image_24", "image_512"} <= set(profile)
    assert profile["display_name"] == "alice" != payloads.user(alice)["name"]
    assert "email" not in profile
    assert "@" in payloads.user(alice, ["users:read", "users:read.email"])["profile"]["email"]
    accented = dataclasses.replace(alice, display_name="José")
    assert payloads.user(accented)["profile"]["display_name_normalized"] == "Jose"
