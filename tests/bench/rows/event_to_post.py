"""The time from an event to its post, without polling; and its CPU, end to end."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from tests.bench.figures import Extent, Figures, Rounds, Row
from tests.bench.program import Program, all_at_once, all_by_turns, running, running_all
from tests.bench.services.merge_queue import TITLE, EventService
from tests.bench.services.slack import SlackService
from tests.bench.surroundings import environment
from tests.support.waiting import until

OURS = "ours.bot_process"
PLAIN = "floors.plain_loop"
STORED = "floors.stored_loop"
NUMBERS = "floors.numbers_loop"
BESIDE = {STORED: ", beside a loop that stores", NUMBERS: ", beside a loop that asks for no title"}
"""Shown as well, without a goal: they tell what a store and a title cost a plain loop."""

REPOSITORIES = 40
FEW = 20
"""Of a quick run."""
POST_SECONDS = 30.0


@dataclass
class World:
    """The services of one program."""

    has_titles: bool
    """Whether the program's posts name pull requests by their titles."""
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
        """When the next post came; fails if the programs post different texts."""
        at, body = await self.slack.posted.get()
        if (TITLE in body["text"]) is not self.has_titles:
            raise AssertionError(body["text"])
        return at


Connected = tuple[Sequence[Program], Mapping[str, World]]


async def rows(extent: Extent) -> Sequence[Row]:
    """A quick run asks both of the same programs, which are warm when it comes to the cost."""
    if extent.quick:
        async with connected(FEW) as all_of_them:
            latency = await _latency(all_of_them, extent)
            cost = await _cost(all_of_them, FEW, extent)
    else:
        async with connected(1) as all_of_them:
            latency = await _latency(all_of_them, extent)
        async with connected(REPOSITORIES) as all_of_them:
            cost = await _cost(all_of_them, REPOSITORIES, extent)
    found = []
    for floor in (PLAIN, *BESIDE):
        late, costs = (Rounds(each[OURS], each[floor]) for each in (latency, cost))
        goals = (3, 3) if floor == PLAIN else (None, None)
        what = f"event in the log → post, above polling{BESIDE.get(floor, '')}, p50"
        found.append(late.row(what, "seconds", unit="ms", goal=goals[0]))
        what = f"event → post, CPU an event, with the store{BESIDE.get(floor, '')}"
        found.append(costs.row(what, "cpu", unit="ms", goal=goals[1]))
    return found


async def _latency(all_of_them: Connected, extent: Extent) -> Mapping[str, Sequence[Figures]]:
    programs, worlds = all_of_them

    async def play(program: Program) -> Figures:
        world = worlds[program.name]
        taken = [await world.post_of_one_event() for _ in range(extent.scaled(4, 1))]
        return {"seconds": median(taken) * 1000}

    return await all_by_turns(programs, play, extent)


async def _cost(
    all_of_them: Connected, repositories: int, extent: Extent
) -> Mapping[str, Sequence[Figures]]:
    programs, worlds = all_of_them

    async def play(program: Program) -> Figures:
        turns = extent.scaled(3, 1)
        before = (await program.play())["cpu"]
        for _ in range(turns):
            await worlds[program.name].posts_of_an_event_each(repositories)
        cpu = (await program.play())["cpu"] - before
        return {"cpu": cpu / turns / repositories * 1000}

    rounds = all_at_once if extent.quick else all_by_turns
    return await rounds(programs, play, extent)


@asynccontextmanager
async def connected(repositories: int) -> AsyncIterator[Connected]:
    """All poll every second, each repository for its own channel."""
    names = [f"acme/r{number}" for number in range(repositories)]
    arguments: dict[str, Sequence[str]] = {OURS: ["socket"]}
    for floor in (PLAIN, *BESIDE):
        arguments[floor] = [str(repositories), "1"]
    async with AsyncExitStack() as stack:
        worlds = {module: World(has_titles=module != NUMBERS) for module in arguments}
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
        programs = await stack.enter_async_context(running_all(starting))
        for world in worlds.values():
            # The first poll of a log stores a position and posts nothing.
            await until(partial(world.has_begun, repositories), "two looks at every log")
        yield programs, worlds
