"""The CPU of empty polls: every tick of an interval, leases, subscriptions and requests."""

import asyncio
import time
from collections.abc import Mapping

from bot.runtime.jobs import POLL_TICK_SECONDS
from tests.bench.contestant import attend
from tests.bench.ours.poller import INTERVAL, opened, repositories
from tests.support.clock import MovedClock

REPOSITORIES = 200


async def main() -> None:
    clock = MovedClock()
    async with opened(repositories(REPOSITORIES), clock) as poller:
        # The first look at each log begins its position.
        await poller.polls.run()
        await poller.polls.drain()

        async def play(amount: int) -> Mapping[str, float]:
            begun = time.process_time()
            for _ in range(amount // REPOSITORIES):
                for _ in range(round(INTERVAL.total_seconds() / POLL_TICK_SECONDS)):
                    clock.advance(POLL_TICK_SECONDS)
                    await poller.polls.run()
                    await poller.polls.drain()
            return {"cpu": time.process_time() - begun}

        await attend(play)


if __name__ == "__main__":
    asyncio.run(main())
