"""Posts with slack_sdk over one shared session."""

import asyncio
import os
import time
from collections.abc import Mapping

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from tests.bench.contestant import attend

BLOCKS = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "*acme/site* #7 entered the queue"}}
]


async def main() -> None:
    async with aiohttp.ClientSession() as session:
        client = AsyncWebClient(
            token="xoxb-bench", base_url=os.environ["SLACK_API_URL"], session=session
        )

        async def play(amount: int) -> Mapping[str, float]:
            begun = time.process_time()
            for number in range(amount):
                await client.chat_postMessage(
                    channel="C0MERGEQ",
                    text="acme/site #7 entered the queue",
                    blocks=BLOCKS,
                    metadata={
                        "event_type": "floor",
                        "event_payload": {"delivery_id": str(number), "updates": ""},
                    },
                    unfurl_links=False,
                    unfurl_media=False,
                )
            return {"cpu": (time.process_time() - begun) / amount * 1000}

        await attend(play)


if __name__ == "__main__":
    asyncio.run(main())
