"""An event until its post, above what polling itself takes; and its CPU, end to end."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from tests.bench.figures import Extent, Figures, Rounds, Row
from tests.bench.program import Program, by_turns, running, running_both
from tests.bench.services.merge_queue import EventService
from tests.bench.services.slack import SlackService
from tests.bench.surroundings import environment
from tests.support.waiting import until

REPOSITORIES = 40
POST_SECONDS = 30.0


@dataclass
class World:
    """What one program is connected to, and it alone."""

    queue: EventService = field(default_factory=EventService)
    slack: SlackService = field(default_factory=SlackService)

    def has_begun(self, repositories: int) -> bool:
        reads = self.queue.logs.values()
        return len(reads) == repositories and min(reads) > 1

    async def post_of_one_event(self) -> float:
        """Seconds from the answer that tells of an event to its post."""
        self.queue.emit("acme/r0")
        async with asyncio.timeout(POST_SECONDS):
            at, _ = await self.slack.posted.get()
        return at - self.queue.told_at

    async def posts_of_an_event_each(self) -> None:
        for number in range(REPOSITORIES):
            self.queue.emit(f"acme/r{number}")
        async with asyncio.timeout(POST_SECONDS):
            for _ in range(REPOSITORIES):
                await self.slack.posted.get()


Pair = tuple[Program, Program, dict[str, World]]


async def rows(extent: Extent) -> Sequence[Row]:
    """A quick run asks both of the same two programs."""
    if extent.quick:
        async with both(REPOSITORIES) as pair:
            latency, cost = await _latency(pair, extent), await _cost(pair, extent)
    else:
        async with both(1) as pair:
            latency = await _latency(pair, extent)
        async with both(REPOSITORIES) as pair:
            cost = await _cost(pair, extent)
    return [
        latency.row("event in the log → post, above polling, p50", "seconds", unit="ms", goal=2),
        cost.row("event → post, CPU an event, with the store", "cpu", unit="ms", goal=2.5),
    ]


async def _latency(pair: Pair, extent: Extent) -> Rounds:
    ours, floor, worlds = pair

    async def play(program: Program) -> Figures:
        world = worlds[program.name]
        taken = [await world.post_of_one_event() for _ in range(extent.scaled(6, 1))]
        return {"seconds": median(taken) * 1000}

    return await by_turns(ours, floor, play, extent)


async def _cost(pair: Pair, extent: Extent) -> Rounds:
    ours, floor, worlds = pair

    async def play(program: Program) -> Figures:
        turns = extent.scaled(4, 1)
        before = (await program.play())["cpu"]
        for _ in range(turns):
            await worlds[program.name].posts_of_an_event_each()
        cpu = (await program.play())["cpu"] - before
        return {"cpu": cpu / turns / REPOSITORIES * 1000}

    return await by_turns(ours, floor, play, extent)


@asynccontextmanager
async def both(repositories: int) -> AsyncIterator[Pair]:
    """Both poll each second, each repository for a channel of its own."""
    names = [f"acme/r{number}" for number in range(repositories)]
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        worlds = [World(), World()]
        for world in worlds:
            await stack.enter_async_context(world.queue)
            await stack.enter_async_context(world.slack)
        our, their = (
            {
                **environment(world.slack, world.queue, f"{folder}/bot.sqlite3"),
                "MQBOT_REPOSITORIES": ",".join(names),
                "MQBOT_CHANNELS": ";".join(f"{n}=C0BENCH{k}:enter" for k, n in enumerate(names)),
                "MQBOT_POLL_SECONDS": "1",
                "MQBOT_REMINDER_MINUTES": "0",
            }
            for world in worlds
        )
        ours, floor = await stack.enter_async_context(
            running_both(
                running("ours.bot_process", "socket", environ=our),
                running("floors.plain_loop", str(repositories), "1", environ=their),
            )
        )
        for world in worlds:
            # The first look at a log begins a position, and tells nothing.
            await until(partial(world.has_begun, repositories), "two looks at every log")
        yield ours, floor, {ours.name: worlds[0], floor.name: worlds[1]}
