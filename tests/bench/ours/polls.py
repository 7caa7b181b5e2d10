"""The CPU of empty polls: every tick of an interval, leases, subscriptions and requests."""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence

from bot.feed.poll_repositories import POLL_TICK_SECONDS
from bot.kernel.repository import RepositoryName
from tests.bench.contestant import attend
from tests.bench.ours.poller import INTERVAL, begin_logs, opened, repositories
from tests.support.clock import MovedClock

REPOSITORIES = 200


async def main(names: Sequence[RepositoryName]) -> None:
    clock = MovedClock()
    async with opened(names, clock) as poller:
        begin_logs(poller.store, names, clock.now())
        await poller.polls.run()
        await poller.polls.drain()

        async def play(amount: int) -> Mapping[str, float]:
            begun = time.process_time()
            for _ in range(amount // len(names)):
                for _ in range(round(INTERVAL.total_seconds() / POLL_TICK_SECONDS)):
                    clock.advance(POLL_TICK_SECONDS)
                    await poller.polls.run()
                    await poller.polls.drain()
            return {"cpu": time.process_time() - begun}

        await attend(play)


if __name__ == "__main__":
    asyncio.run(main(repositories(int(sys.argv[1]))))
