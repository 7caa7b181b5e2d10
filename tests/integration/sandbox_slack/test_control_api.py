import json
from typing import Any

import aiohttp
import pytest

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import Json
from tests.integration.sandbox_slack.clients import (
    ALICE,
    CHANNEL,
    BoltApp,
)


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
