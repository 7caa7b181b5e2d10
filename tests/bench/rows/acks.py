"""A slash command until its acknowledgement: one at a time, and 64 at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from statistics import median
from typing import Any

from tests.bench.figures import Extent, Figures, Rounds, Row
from tests.bench.program import Program, by_turns, running, running_both
from tests.bench.services.merge_queue import QuietService
from tests.bench.services.request_url import RequestUrl
from tests.bench.services.slack import SlackService
from tests.bench.surroundings import environment

AT_ONCE = 64
ANSWER_SECONDS = 30.0

REST_SECONDS = 0.01
"""Between single commands, so that work after an answer doesn't count for the next one."""

Send = Callable[[dict[str, Any]], Awaitable[float]]


async def rows(extent: Extent) -> Sequence[Row]:
    return [*await _mode("HTTP", extent), *await _mode("Socket Mode", extent)]


async def _mode(name: str, extent: Extent) -> Sequence[Row]:
    rounds = await (_over_http(extent) if name == "HTTP" else _over_sockets(extent))
    return [
        rounds.row(f"command → ack, {name}, p50", "one", unit="ms", goal=1.5),
        rounds.row(f"command → ack, {name}, 64 at once, p50", "many", unit="ms", goal=2),
    ]


async def _over_http(extent: Extent) -> Rounds:
    async with SlackService() as slack, QuietService() as queue:
        environ = environment(slack, queue)
        async with running_both(
            running("ours.bot_process", "http", environ=environ),
            running("floors.bare_bolt", "http", environ=environ),
        ) as (ours, floor):
            urls = {one.name: RequestUrl(int(one.reported["port"])) for one in (ours, floor)}

            async def play(program: Program) -> Figures:
                await urls[program.name].open(AT_ONCE)
                return await _round(slack, urls[program.name].send, extent, answers=program is ours)

            rounds = await by_turns(ours, floor, play, extent)
            for url in urls.values():
                await url.close()
            return rounds


async def _over_sockets(extent: Extent) -> Rounds:
    """Each program has a Slack of its own, which it alone is connected to."""
    async with (
        SlackService() as our_slack,
        SlackService() as their_slack,
        QuietService() as queue,
        running_both(
            running("ours.bot_process", "socket", environ=environment(our_slack, queue)),
            running("floors.bare_bolt", "socket", environ=environment(their_slack, queue)),
        ) as (ours, floor),
    ):

        async def play(program: Program) -> Figures:
            slack = our_slack if program is ours else their_slack
            return await _round(slack, slack.send, extent, answers=program is ours)

        return await by_turns(ours, floor, play, extent)


async def _round(slack: SlackService, send: Send, extent: Extent, *, answers: bool) -> Figures:
    """`answers`: the program answers as well; those are waited for before the next commands."""
    one = [
        await _burst(slack, send, 1, answers=answers, rest=REST_SECONDS)
        for _ in range(extent.scaled(60, 15))
    ]
    many = [await _burst(slack, send, AT_ONCE, answers=answers) for _ in range(extent.scaled(6, 2))]
    return {
        "one": median(seconds for burst in one for seconds in burst) * 1000,
        "many": median(seconds for burst in many for seconds in burst) * 1000,
    }


async def _burst(
    slack: SlackService, send: Send, count: int, *, answers: bool, rest: float = 0.0
) -> Sequence[float]:
    """How long each acknowledgement took, in seconds."""
    commands = [slack.command("help") for _ in range(count)]
    taken = await asyncio.gather(*(send(body) for body, _ in commands))
    if answers:
        async with asyncio.timeout(ANSWER_SECONDS):
            await asyncio.gather(*(answered for _, answered in commands))
    await asyncio.sleep(rest)
    return taken
