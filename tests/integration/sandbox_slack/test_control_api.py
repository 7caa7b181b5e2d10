import asyncio
import json
from contextlib import suppress
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import ControlRefusal, Json
from tests.integration.sandbox_slack.clients import (
    ACTIONS,
    ALICE,
    CHANNEL,
    IMPATIENT_SECONDS,
    MODAL,
    BoltApp,
    Control,
    eventually,
)
from tests.support.block_kit import typed_reason
from tests.support.waiting import DEADLINE_SECONDS


async def test_the_control_api_types_clicks_and_reads(bolt: BoltApp, control: Control) -> None:
    bolt.acknowledge("Hi")
    await bolt.connect()
    command = {"user": ALICE, "channel": CHANNEL, "text": "/mq"}
    answer = await control.post("commands", **command)
    assert answer == {"ok": True, "acknowledged": True, "ack_text": "Hi"}
    shown = await control.get(f"channels/{CHANNEL}/messages", user=ALICE)
    assert [each["text"] for each in shown["messages"]] == ["Hi"]
    workspace = await control.get("workspace")
    assert workspace["viewer"] == ALICE
    assert workspace["app"].items() >= {"connected": True, "connections": 1}.items()
    channels = (await control.get("workspace", user="U0CAROL"))["channels"]
    assert [each["name"] for each in channels] == ["merge-queue", "releases", "general"]
    calls = (await control.get("calls", since="0"))["calls"]
    assert calls[0]["method"] == "apps.connections.open"
    assert "xapp" not in json.dumps(calls)
    refused = await control.post("commands", **{**command, "text": "/nope"})
    assert refused["error"] == "unknown_command"


async def test_the_stream_shows_each_person_only_messages_they_may_see(
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


async def test_the_control_api_arranges_the_workspace(
    sandbox: SlackSandbox, control: Control
) -> None:
    post = control.post
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


async def _kinds(stream: aiohttp.ClientResponse, until: str) -> list[str]:
    kinds: list[str] = []
    while until not in kinds:
        block = (await stream.content.readuntil(b"\n\n")).decode()
        reported = [each for each in block.splitlines() if each.startswith("data: ")]
        kinds += [json.loads(each.removeprefix("data: "))["kind"] for each in reported]
    return kinds


async def test_the_stream_names_every_kind_of_change(
    bolt: BoltApp, http: aiohttp.ClientSession
) -> None:
    client = bolt.app.client
    address = f"{bolt.sandbox.url}control/stream"
    async with http.get(address, params={"user": ALICE}) as stream:
        await stream.content.readuntil(b"\n\n")
        posted = await client.chat_postMessage(channel=CHANNEL, text="x")
        await client.chat_update(channel=CHANNEL, ts=posted["ts"], text="y")
        await client.chat_delete(channel=CHANNEL, ts=posted["ts"])
        await client.chat_postEphemeral(channel=CHANNEL, user=ALICE, text="z")
        await client.chat_postEphemeral(channel=CHANNEL, user="U0BOB", text="not alice's")
        await client.views_publish(user_id=ALICE, view={"type": "home", "blocks": []})
        await client.conversations_join(channel="C0RELEASE")
        with suppress(ControlRefusal):
            await bolt.sandbox.people.command(ALICE, CHANNEL, "/mq")
        async with asyncio.timeout(DEADLINE_SECONDS):
            kinds = await _kinds(stream, "notice")
    assert kinds == [
        "message",
        "message_changed",
        "message_deleted",
        "ephemeral",
        "home",
        "channel",
        "notice",
    ]


async def test_a_wrong_control_request_gets_the_reason(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    for method, path, status, error in (
        ("GET", "nothing", 404, "unknown_path"),
        ("DELETE", "messages", 404, "unknown_path"),
        ("GET", "views", 400, "missing_user"),
        ("GET", "channels/C0MERGEQ/messages?user=U0ALICE&limit=x", 400, "invalid_limit"),
        ("GET", "calls?since=x", 400, "invalid_since"),
        ("GET", "stream", 404, "user_not_found"),
    ):
        async with http.request(method, f"{sandbox.url}control/{path}") as answer:
            assert answer.status == status, path
            assert (await answer.json())["error"] == error


async def test_the_whole_conversation_works_over_http_alone(
    bolt: BoltApp, control: Control
) -> None:
    @bolt.app.action("go")
    async def go(ack: Any, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    @bolt.app.view("reason")
    async def submission(ack: Any) -> None:
        await ack()

    async def views() -> list[Json]:
        found: list[Json] = (await control.get("views", user=ALICE))["views"]
        return found

    post = control.post
    done = {"ok": True, "acknowledged": True}
    await bolt.connect()
    where = await bolt.post(ACTIONS)
    click = {"user": ALICE, "container": where, "block_id": "row", "action_id": "go"}
    assert await post("actions", **click) == done
    await eventually(lambda: bolt.sandbox.sight.views(ALICE)["views"])
    (view,) = await views()
    answered = await post(f"views/{view['id']}/submit", user=ALICE, values=typed_reason("It burns"))
    assert answered == done
    assert await views() == []
    assert (await post(f"views/{view['id']}/close", user=ALICE))["error"] == "view_not_found"


async def test_shortcuts_home_and_menus_are_used_over_http(bolt: BoltApp, control: Control) -> None:
    @bolt.app.shortcut("pause")
    async def shortcut(ack: Any) -> None:
        await ack()

    @bolt.app.event("app_home_opened")
    async def home(event: Json) -> None:
        bolt.received.append(event["tab"])

    post = control.post
    done = {"ok": True, "acknowledged": True}
    await bolt.connect()
    assert await post("shortcuts", user=ALICE, callback_id="pause") == done
    assert await post("home", user=ALICE) == done
    assert await post("home", user=ALICE, tab="messages") == done
    await eventually(lambda: bolt.received == ["home", "messages"])
    said = await post("messages", user=ALICE, channel=CHANNEL, text="Hello")
    where = {"type": "message", "channel": CHANNEL, "ts": said["ts"]}
    menu = {"user": ALICE, "container": where, "block_id": "b", "action_id": "a"}
    assert (await post("suggestions", **menu))["error"] == "element_not_found"
    assert (await post("faults", name="nothing"))["error"] == "unknown_fault"
    bolt.sandbox.terms.ack_seconds = IMPATIENT_SECONDS
    bolt.sandbox.faults.arm({"name": "lose_payload"})
    assert (await post("home", user=ALICE))["acknowledged"] is False
    assert (await post("faults", name="drop_connections"))["connections"] == 1
    lost = await post("home", user=ALICE)
    assert lost == {"ok": True, "acknowledged": False, "error": "app_not_connected"}


async def test_foreign_pages_cannot_use_the_control_api_nor_that_of_apps(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    for headers, status in (
        ({"Host": "evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 403),
        ({}, 400),
    ):
        sent = {"Content-Type": "application/json", **headers}
        async with http.post(f"{sandbox.url}control/messages", data=b"{}", headers=sent) as answer:
            assert answer.status == status, headers

    form = {"token": sandbox.bot_token, "channel": CHANNEL, "text": "From elsewhere"}
    url, target = sandbox.response_urls.mint(ALICE, CHANNEL)
    for headers in ({"Host": "evil.example:8400"}, {"Origin": "https://evil.example"}):
        post = f"{sandbox.api_url}chat.postMessage"
        async with http.post(post, data=form, headers=headers) as answer:
            assert answer.status == 403
        async with http.post(url, json={"text": "From elsewhere"}, headers=headers) as answer:
            assert answer.status == 403
    assert target.uses == 0
    assert "From elsewhere" not in str(sandbox.sight.messages(ALICE, CHANNEL))


async def test_the_page_and_its_files_come_from_the_package_and_permalinks_open_it(
    bolt: BoltApp, http: aiohttp.ClientSession
) -> None:
    url = bolt.sandbox.url
    async with http.get(url) as answer:
        assert answer.status == 200
        assert answer.content_type == "text/html"
        assert "<!doctype html>" in (await answer.text()).lower()
    async with http.get(f"{url}static/page.js") as answer:
        assert answer.content_type == "text/javascript"
    async with http.get(f"{url}static/no-such-file.js") as answer:
        assert answer.status == 404
        assert "no-such-file.js" in await answer.text()
    async with http.get(f"{url}static/%2e%2e%2fserver.py") as answer:
        assert answer.status == 404
    async with http.get(url, headers={"Host": "evil.example"}) as answer:
        assert answer.status == 403

    posted = await bolt.app.client.chat_postMessage(channel=CHANNEL, text="x")
    link = await bolt.app.client.chat_getPermalink(channel=CHANNEL, message_ts=posted["ts"])
    async with http.get(link["permalink"], allow_redirects=False) as answer:
        assert answer.status == 302
        assert answer.headers["Location"].endswith(f"/?channel={CHANNEL}&ts={posted['ts']}")


async def test_a_reader_that_falls_behind_has_to_reconnect(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    address = f"{sandbox.url}control/stream"
    async with http.get(address, params={"user": ALICE}) as stream:
        await stream.content.readuntil(b"\n\n")
        # One turn of the event loop, so that nothing is read in between.
        for number in range(1_001):
            sandbox.installation.workspace.tell(ALICE, None, f"Notice {number}")
        async with asyncio.timeout(DEADLINE_SECONDS):
            reported = await stream.read()
    assert reported.count(b"event: change") == 999
