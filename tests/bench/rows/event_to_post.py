"""The time from an event to its post, without polling; and its CPU, end to end."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from bot.kernel.pacing import WORKSPACE_PER_SECOND
from tests.bench.figures import Extent, Figures, Rounds, Row
from tests.bench.program import Program, by_turns, running, running_both
from tests.bench.services.merge_queue import TITLE, EventService
from tests.bench.services.slack import SlackService
from tests.bench.surroundings import environment
from tests.support.waiting import until

OURS = "ours.bot_process"
FLOOR = "floors.plain_loop"

POST_SECONDS = 30.0


@dataclass
class World:
    """The services of one program."""

    queue: EventService = field(default_factory=EventService)
    slack: SlackService = field(default_factory=SlackService)

    def has_begun(self, repositories: int) -> bool:
        reads = self.queue.logs.values()
        return len(reads) == repositories and min(reads) > 1

    async def post_of_one_event(self) -> float:
        """Seconds from the response that contains an event to its post."""
        self.queue.emit("acme/r0")
        async with asyncio.timeout(POST_SECONDS):
            at = await self._post()
        return at - self.queue.reported_at

    async def posts_of_an_event_each(self, repositories: int) -> None:
        for number in range(repositories):
            self.queue.emit(f"acme/r{number}")
        async with asyncio.timeout(POST_SECONDS):
            for _ in range(repositories):
                await self._post()

    async def _post(self) -> float:
        """When the next post came; fails if it doesn't name the pull request by its title."""
        at, body = await self.slack.posted.get()
        if TITLE not in body["text"]:
            raise AssertionError(body["text"])
        return at


@dataclass
class Connected:
    """Both programs, each with services of its own."""

    ours: Program
    floor: Program
    worlds: Mapping[str, World]


async def rows(extent: Extent) -> Sequence[Row]:
    repositories = extent.scaled(40, 20)
    async with connected(1) as both:
        latency = await _latency(both, extent)
    async with connected(repositories) as both:
        cost = await _cost(both, repositories, extent)
    return [
        latency.row("event in the log → post, above polling, p50", "seconds", unit="ms", goal=3.5),
        cost.row("event → post, CPU an event, with the store", "cpu", unit="ms", goal=3),
    ]


async def _latency(both: Connected, extent: Extent) -> Rounds:
    async def play(program: Program) -> Figures:
        world = both.worlds[program.name]
        taken = [await world.post_of_one_event() for _ in range(extent.scaled(4, 1))]
        return {"seconds": median(taken) * 1000}

    return await by_turns(both.ours, both.floor, play, extent)


async def _cost(both: Connected, repositories: int, extent: Extent) -> Rounds:
    async def play(program: Program) -> Figures:
        # Until Slack takes a burst again. Otherwise the bot would wait in the middle, and its polls
        # meanwhile would count.
        await asyncio.sleep(repositories / WORKSPACE_PER_SECOND)
        before = (await program.play())["cpu"]
        await both.worlds[program.name].posts_of_an_event_each(repositories)
        cpu = (await program.play())["cpu"] - before
        return {"cpu": cpu / repositories * 1000}

    return await by_turns(both.ours, both.floor, play, extent)


@asynccontextmanager
async def connected(repositories: int) -> AsyncIterator[Connected]:
    """Both poll every second, each repository for its own channel."""
    names = [f"acme/r{number}" for number in range(repositories)]
    arguments = {OURS: ["socket"], FLOOR: [str(repositories), "1"]}
    async with AsyncExitStack() as stack:
        worlds = {module: World() for module in arguments}
        starting = []
        for module, world in worlds.items():
            await stack.enter_async_context(world.queue)
            await stack.enter_async_context(world.slack)
            environ = {
                **environment(world.slack, world.queue),
                "MQBOT_REPOSITORIES": ",".join(names),
                "MQBOT_CHANNELS": ";".join(f"{n}=C0BENCH{k}:enter" for k, n in enumerate(names)),
                "MQBOT_POLL_SECONDS": "1",
                "MQBOT_REMINDER_MINUTES": "0",
            }
            starting.append(running(module, *arguments[module], environ=environ))
        ours, floor = await stack.enter_async_context(running_both(*starting))
        for world in worlds.values():
            # The first poll of a log stores a position and posts nothing.
            await until(partial(world.has_begun, repositories), "two looks at every log")
        yield Connected(ours, floor, worlds)
