"""Bare Bolt with one empty listener, over HTTP or Socket Mode."""

import asyncio
import os
import sys

from aiohttp import web
from slack_bolt.adapter.socket_mode.websockets import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from tests.bench.contestant import attend, only_observed


def bare_app() -> AsyncApp:
    app = AsyncApp(
        client=AsyncWebClient(
            token=os.environ["SLACK_BOT_TOKEN"], base_url=os.environ["SLACK_API_URL"]
        ),
        signing_secret=os.environ["SLACK_SIGNING_SECRET"],
        process_before_response=True,
    )

    async def acknowledge(ack: AsyncAck) -> None:
        await ack()

    app.command("/mq")(acknowledge)
    return app


async def over_http() -> None:
    runner = web.AppRunner(bare_app().web_app(path="/slack/events"), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await attend(only_observed, port=runner.addresses[0][1])
    await runner.cleanup()


async def over_socket() -> None:
    handler = AsyncSocketModeHandler(bare_app(), os.environ["SLACK_APP_TOKEN"])
    await handler.connect_async()  # type: ignore[no-untyped-call]  # the SDK leaves it untyped
    await attend(only_observed)
    await handler.close_async()  # type: ignore[no-untyped-call]  # the SDK leaves it untyped


if __name__ == "__main__":
    asyncio.run(over_http() if sys.argv[1] == "http" else over_socket())
