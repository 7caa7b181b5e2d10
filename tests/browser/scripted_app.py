"""A small app over Socket Mode, scripted to show everything that the page must handle."""

import asyncio
import json
from typing import Any

from slack_bolt.adapter.socket_mode.websockets import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.blocks.message import View
from tests.browser.gallery import CONFIRM, FORM, input_block
from tests.support.block_kit import Json, actions, button, modal, option, plain, section
from tests.support.every_message import REVIEWED
from tests.support.messages.rendering import render
from tests.support.waiting import DEADLINE_SECONDS

BOT_TOKEN = "xoxb-sandbox"
APP_TOKEN = "xapp-sandbox"
CHANNEL = "C0MERGEQ"

PAUSED = [
    section("*The queue is paused*: CI is down"),
    actions(
        button("Resume queue", "resume", style="primary", confirm=CONFIRM),
        button("Ignore me", "nobody_listens"),
        {
            "type": "overflow",
            "action_id": "more",
            "options": [option("Extend by an hour", "hour"), option("Snooze", "snooze")],
        },
        {"type": "users_select", "action_id": "tell"},
    ),
]


def reason_modal(title: str = "Pause the queue", callback_id: str = "reason") -> Json:
    element = {"type": "plain_text_input", "max_length": 255}
    hint = plain("People in the channel will read it.")
    return modal(
        section("*3* running batches will stop."),
        input_block("why", "Reason", element, hint=hint),
        actions(button("Details", "details"), button("Fill in", "fill_in"), block_id="extra"),
        callback_id=callback_id,
        title=plain(title),
        close=plain("Cancel"),
    )


EVERYTHING = modal(*FORM, callback_id="form", title=plain("Everything"), submit=plain("Send"))


def home_view(presses: int) -> Json:
    return {
        "type": "home",
        "blocks": [
            {"type": "header", "text": plain("Merge queues")},
            section(f"*acme/site* refreshed {presses} times"),
            actions(button("Refresh", "refresh_home"), block_id="home"),
        ],
    }


class ScriptedApp:
    """`heard` holds what the app received, for tests to compare with what people did."""

    def __init__(self, api_url: str) -> None:
        self.client = AsyncWebClient(token=BOT_TOKEN, base_url=api_url)
        self.heard: list[tuple[str, str]] = []
        self._received_more = asyncio.Condition()
        self._presses = 0
        self._bolt = AsyncApp(client=self.client)
        self._handler: AsyncSocketModeHandler | None = None
        self._bolt.command("/mq")(self._typed)
        self._bolt.shortcut("pause_queue")(self._shortcut)
        self._bolt.shortcut("pause_because")(self._shortcut_of_message)
        self._bolt.view("reason")(self._reason)
        self._bolt.view("form")(self._form)
        self._bolt.view("details")(self._closed_details)
        self._bolt.event("app_home_opened")(self._home)
        self._bolt.options("search")(self._suggest)
        self._bolt.action("leave_it")(self._leave_it)
        for name in ("search", "resume", "more", "tell", "details", "fill_in", "refresh_home"):
            self._bolt.action(name)(getattr(self, f"_{name}"))

    async def start(self) -> None:
        self._handler = AsyncSocketModeHandler(self._bolt, APP_TOKEN)
        # Bolt leaves these two without annotations.
        await self._handler.connect_async()  # type: ignore[no-untyped-call]

    async def stop(self) -> None:
        if self._handler is not None:
            await self._handler.close_async()  # type: ignore[no-untyped-call]
            self._handler = None

    async def post(self, text: str = "", channel: str = CHANNEL, **more: Any) -> str:
        answer = await self.client.chat_postMessage(channel=channel, text=text or "message", **more)
        return str(answer["ts"])

    async def received_all(self, count: int) -> list[tuple[str, str]]:
        """Wait until the app received `count` payloads; raises TimeoutError at the deadline."""
        async with asyncio.timeout(DEADLINE_SECONDS), self._received_more:
            await self._received_more.wait_for(lambda: len(self.heard) >= count)
        return self.heard

    async def _hear(self, what: str, value: str) -> None:
        async with self._received_more:
            self.heard.append((what, value))
            self._received_more.notify_all()

    async def _typed(self, ack: Any, command: dict[str, str], client: AsyncWebClient) -> None:
        text = command["text"]
        await self._hear("command", text)
        if text == "silence":
            return
        await ack()
        if text == "pause":
            await client.views_open(trigger_id=command["trigger_id"], view=reason_modal())
        elif text == "refused":
            refused = render(REVIEWED["modal-failed"])
            assert isinstance(refused, View)
            await client.views_open(trigger_id=command["trigger_id"], view=dict(refused.view))
        elif text == "form":
            await client.views_open(trigger_id=command["trigger_id"], view=EVERYTHING)
        elif text.startswith("pause "):
            await client.chat_postMessage(
                channel=command["channel_id"], text="The queue is paused", blocks=PAUSED
            )
        else:
            await client.chat_postEphemeral(
                channel=command["channel_id"],
                user=command["user_id"],
                text=f"You asked for “{text}”",
            )

    async def _shortcut(self, ack: Any, shortcut: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=shortcut["trigger_id"], view=reason_modal())

    async def _shortcut_of_message(
        self, ack: Any, shortcut: dict[str, Any], client: AsyncWebClient
    ) -> None:
        await self._hear("message", shortcut["message"]["text"])
        await self._shortcut(ack, shortcut, client)

    async def _reason(self, ack: Any, view: dict[str, Any], client: AsyncWebClient) -> None:
        reason = view["state"]["values"]["why"]["entered"]["value"]
        await self._hear("reason", reason)
        if reason == "because":
            await ack(response_action="errors", errors={"why": "Say more than that."})
            return
        await ack()
        await client.chat_postMessage(channel=CHANNEL, text=f"Paused: {reason}")

    async def _form(self, ack: Any, view: dict[str, Any]) -> None:
        await ack()
        values = view["state"]["values"]
        await self._hear("form", json.dumps({each: values[each]["entered"] for each in values}))

    async def _closed_details(self, ack: Any) -> None:
        await ack()

    async def _resume(self, ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await self._hear("resume", body["user"]["id"])
        await client.chat_update(
            channel=body["channel"]["id"],
            ts=body["message"]["ts"],
            text="The queue runs",
            blocks=[section("*The queue runs again*")],
        )

    async def _leave_it(self, ack: Any, respond: Any) -> None:
        await ack()
        await respond(text="Left as it is", replace_original=True)

    async def _more(self, ack: Any, action: dict[str, Any]) -> None:
        await ack()
        await self._hear("more", action["selected_option"]["value"])

    async def _tell(self, ack: Any, action: dict[str, Any]) -> None:
        await ack()
        await self._hear("tell", action["selected_user"])

    async def _suggest(self, ack: Any, payload: dict[str, Any]) -> None:
        await ack(options=[option(f"{payload['value']}-found", "found")])

    async def _search(self, ack: Any, action: dict[str, Any]) -> None:
        await ack()
        await self._hear("search", action["selected_option"]["value"])

    async def _details(self, ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        details = reason_modal("Details", "details")
        del details["submit"]
        details["blocks"] = [section("12 pull requests wait.")]
        await client.views_push(trigger_id=body["trigger_id"], view=details)

    async def _fill_in(self, ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        changed = reason_modal()
        changed["blocks"][0] = section("*4* running batches will stop.")
        await client.views_update(view_id=body["view"]["id"], view=changed)

    async def _home(self, event: dict[str, Any], client: AsyncWebClient) -> None:
        if event["tab"] == "home":
            await client.views_publish(user_id=event["user"], view=home_view(self._presses))

    async def _refresh_home(self, ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        self._presses += 1
        await client.views_publish(user_id=body["user"]["id"], view=home_view(self._presses))
