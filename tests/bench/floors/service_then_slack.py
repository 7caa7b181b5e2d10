"""One request to the service and one call to Slack, each over an open connection."""

import asyncio
import os
import time
from collections.abc import Mapping
from statistics import median

import aiohttp
import httpx

from tests.bench.contestant import attend


async def main() -> None:
    service = f"{os.environ['MQBOT_API_URL']}/repos/acme/site/merge-queue/status"
    slack = os.environ["SLACK_API_URL"].replace("/api/", "/response/floor")
    async with httpx.AsyncClient(trust_env=False) as client, aiohttp.ClientSession() as session:

        async def play(amount: int) -> Mapping[str, float]:
            taken = []
            for _ in range(amount):
                begun = time.perf_counter()
                text = (await client.get(service)).text
                async with session.post(slack, json={"text": text}) as answer:
                    await answer.read()
                taken.append(time.perf_counter() - begun)
            return {"answer": median(taken) * 1000}

        await attend(play)


if __name__ == "__main__":
    asyncio.run(main())
