"""The bot's poster over its own session: address, marks, limits and the call."""

import asyncio
import os
import time
from collections.abc import Mapping

from pydantic import SecretStr

from bot.clock import SystemClock
from bot.domain.message import Block, Message
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.clients import identify, open_session, web_client
from bot.slack.web_api.history import History
from bot.slack.web_api.poster import SlackPoster
from tests.bench.contestant import attend

TEXT = "acme/site #7 entered the queue"
BLOCK: Block = {"type": "section", "text": {"type": "mrkdwn", "text": f"*{TEXT}*"}}


async def main() -> None:
    clock = SystemClock()
    async with open_session() as session:
        client = web_client(
            session, token=SecretStr("xoxb-bench"), base_url=os.environ["SLACK_API_URL"]
        )
        identity = await identify(client, clock)
        channels = SlackChannels(client, clock)
        poster = SlackPoster(client, channels, History(client, channels, clock, identity))
        message = Message(TEXT, (BLOCK,))

        async def play(amount: int) -> Mapping[str, float]:
            begun = time.process_time()
            for number in range(amount):
                await poster.post("C0MERGEQ", message, f"delivery-{number}")
            return {"cpu": (time.process_time() - begun) / amount * 1000}

        await attend(play)


if __name__ == "__main__":
    asyncio.run(main())
