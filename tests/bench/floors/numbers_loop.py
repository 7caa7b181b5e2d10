"""The plain loop without titles: it reads only the logs and posts numbers."""

import asyncio

import httpx
from slack_sdk.web.async_client import AsyncWebClient

from tests.bench.floors.plain_loop import events_of, main, post


async def look(
    client: httpx.AsyncClient, slack: AsyncWebClient, repository: str, channel: str
) -> None:
    for event in await events_of(client, repository):
        await post(slack, channel, f"#{event['pull_request']} entered the queue of {repository}")


if __name__ == "__main__":
    asyncio.run(main(look))
