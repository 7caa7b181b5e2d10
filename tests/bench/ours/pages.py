"""Reading, storing and routing full pages to channels with the default topics."""

import asyncio
import sys
import time
from collections.abc import Mapping

from bot.channels.rows import Subscriptions
from bot.channels.subscription import Subscription
from bot.feed.poll_repositories import POLL_TICK_SECONDS, PollRepositories
from bot.posts.outbox import Outbox
from tests.bench.contestant import attend
from tests.bench.ours.poller import INTERVAL, opened, repositories
from tests.support.clock import MovedClock
from tests.support.transactions import begin


async def main(channels: int) -> None:
    clock = MovedClock()
    (name,) = names = repositories(1)
    async with opened(names, clock) as poller:
        with begin(poller.store) as transaction:
            for number in range(channels):
                Subscriptions(transaction).save(Subscription(f"C0BENCH{number}", name))
        await poller.polls.run()
        await poller.polls.drain()
        kept = 0

        async def play(amount: int) -> Mapping[str, float]:
            nonlocal kept
            begun = time.process_time()
            for _ in range(amount):
                clock.advance(INTERVAL.total_seconds())
                await poller.polls.run()
                await _polled(poller.polls)
            seconds = time.process_time() - begun
            with begin(poller.store) as transaction:
                summary = Outbox(transaction).summary()
            before = kept
            kept = summary.pending
            return {"seconds": seconds, "added": kept - before}

        await attend(play)


async def _polled(polls: PollRepositories) -> None:
    """To the end, however long that takes: it is the ticks that renew the lease of a poll."""
    under_way = asyncio.create_task(polls.drain())
    while not (await asyncio.wait([under_way], timeout=POLL_TICK_SECONDS))[0]:
        await polls.run()
    await under_way


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
