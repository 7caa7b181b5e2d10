"""The plainest loop: read each log in turn, post each event with its title, store nothing."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count
from typing import Any

import aiohttp
import httpx
from slack_sdk.web.async_client import AsyncWebClient

from tests.bench.contestant import attend, only_observed

Event = Mapping[str, Any]
Look = Callable[[httpx.AsyncClient, AsyncWebClient, str, str], Awaitable[None]]
"""Read a repository's log once, for a channel."""


async def look(
    client: httpx.AsyncClient, slack: AsyncWebClient, repository: str, channel: str
) -> None:
    for event in await events_of(client, repository):
        name = await name_of(client, repository, event["pull_request"])
        await post(slack, channel, f"{name} entered the queue of {repository}")


async def events_of(client: httpx.AsyncClient, repository: str) -> Sequence[Event]:
    url = f"{os.environ['MQBOT_API_URL']}/repos/{repository}/logs"
    found: Sequence[Event] = (await client.get(url, params={"per_page": 100})).json()["events"]
    return found


async def name_of(client: httpx.AsyncClient, repository: str, number: int) -> str:
    """A link with the title. Events carry numbers only: the queue's status says the rest."""
    url = f"{os.environ['MQBOT_API_URL']}/repos/{repository}/merge-queue/status"
    status = (await client.get(url)).json()
    queued = [*status["waiting_pull_requests"]]
    for batch in status["batches"]:
        queued += batch["pull_requests"]
    for one in queued:
        if one["number"] == number:
            return f"<{one['url']}|#{number} {one['title']}>"
    return f"#{number}"


async def post(slack: AsyncWebClient, channel: str, text: str) -> str | None:
    """Its `ts`."""
    block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    reported: str | None = (
        await slack.chat_postMessage(channel=channel, text=text, blocks=[block])
    ).get("ts")
    return reported


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
                await look(client, slack, f"acme/r{number}", f"C{number}")
            await asyncio.sleep(begun + turn * seconds - loop.time())


async def main(look: Look) -> None:
    polling = asyncio.create_task(poll(int(sys.argv[1]), float(sys.argv[2]), look))
    await attend(only_observed)
    polling.cancel()


if __name__ == "__main__":
    asyncio.run(main(look))
