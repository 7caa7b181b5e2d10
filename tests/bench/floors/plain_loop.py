"""The plainest loop there is: ask each log in turn, post each event, remember nothing."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from itertools import count

import aiohttp
import httpx
from slack_sdk.web.async_client import AsyncWebClient

from tests.bench.contestant import attend, only_observed


async def look(client: httpx.AsyncClient, slack: AsyncWebClient, number: int) -> None:
    url = f"{os.environ['MQBOT_API_URL']}/repos/acme/r{number}/logs"
    for event in (await client.get(url, params={"per_page": 100})).json()["events"]:
        text = f"#{event['pull_request']} entered the queue of acme/r{number}"
        block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
        await slack.chat_postMessage(channel=f"C{number}", text=text, blocks=[block])


Look = Callable[[httpx.AsyncClient, AsyncWebClient, int], Awaitable[None]]


async def poll(repositories: int, seconds: float, look: Look) -> None:
    async with (
        httpx.AsyncClient(trust_env=False, limits=httpx.Limits(keepalive_expiry=90)) as client,
        aiohttp.ClientSession() as session,
    ):
        slack = AsyncWebClient(
            token="xoxb-bench", base_url=os.environ["SLACK_API_URL"], session=session
        )
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for turn in count(1):
            for number in range(repositories):
                await look(client, slack, number)
            await asyncio.sleep(begun + turn * seconds - loop.time())


async def main(look: Look) -> None:
    polling = asyncio.create_task(poll(int(sys.argv[1]), float(sys.argv[2]), look))
    await attend(only_observed)
    polling.cancel()


if __name__ == "__main__":
    asyncio.run(main(look))
