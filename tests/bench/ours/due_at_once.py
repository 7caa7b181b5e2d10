"""Every repository due at the same instant, on the bot's own scheduler."""

import asyncio
import time
from collections.abc import Mapping

from bot.scheduler import Job, JobScheduler
from bot.usecases.polling.poll_repositories import POLL_TICK_SECONDS
from tests.bench.contestant import attend
from tests.bench.ours.poller import begin_logs, opened, repositories
from tests.support.clock import MovedClock


async def main() -> None:
    clock = MovedClock()

    async def play(amount: int) -> Mapping[str, float]:
        """Poll `amount` repositories once; they are all due when the scheduler starts."""
        names = repositories(amount)
        async with opened(names, clock) as poller:
            begin_logs(poller.store, names, clock.now())
            scheduler = JobScheduler()
            scheduler.every(POLL_TICK_SECONDS, Job("poll", poller.polls.run))
            begun = time.perf_counter()
            scheduler.start()
            await asyncio.sleep(POLL_TICK_SECONDS)
            scheduler.stop_firing()
            await scheduler.drain()
            await poller.polls.drain()
        return {"seconds": time.perf_counter() - begun}

    await attend(play)


if __name__ == "__main__":
    asyncio.run(main())
