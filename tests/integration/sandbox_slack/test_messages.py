import json

import aiohttp
import pytest

from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.wire import Json
from tests.integration.sandbox_slack.clients import ALICE, CHANNEL, BoltApp, eventually


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


async def test_only_mentions_and_subscribed_messages_reach_the_app(bolt: BoltApp) -> None:
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


async def test_an_unreadable_body_is_refused(
    sandbox: SlackSandbox, http: aiohttp.ClientSession
) -> None:
    for body, content_type, error in (
        (b"{", "application/json", "invalid_json"),
        (b"[]", "application/json", "json_not_object"),
        (b"x", "text/plain", "invalid_post_type"),
        (b'{"token": "xoxb-sandbox"}', "application/json", "not_authed"),
    ):
        headers = {"Content-Type": content_type}
        url = f"{sandbox.api_url}auth.test"
        async with http.post(url, data=body, headers=headers) as answer:
            assert (await answer.json())["error"] == error
