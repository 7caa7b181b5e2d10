"""A slash command until the first thing the person sees, with a service that takes 50 ms."""

import time
from collections.abc import Sequence
from statistics import median

from tests.bench.figures import Extent, Figures, Row
from tests.bench.program import Program, by_turns, running, running_both
from tests.bench.services.merge_queue import QuietService
from tests.bench.services.request_url import RequestUrl
from tests.bench.services.slack import SlackService
from tests.bench.surroundings import environment

SERVICE_SECONDS = 0.05


async def rows(extent: Extent) -> Sequence[Row]:
    amount = extent.scaled(20, 8)
    async with SlackService() as slack, QuietService(SERVICE_SECONDS) as queue:
        environ = environment(slack, queue)
        async with running_both(
            running("ours.bot_process", "http", environ=environ),
            running("floors.service_then_slack", environ=environ),
        ) as (ours, floor):
            url = RequestUrl(int(ours.reported["port"]))

            async def play(program: Program) -> Figures:
                if program is floor:
                    return await floor.play(amount)
                taken = [await _answer(slack, url) for _ in range(amount)]
                return {"answer": median(taken) * 1000}

            rounds = await by_turns(ours, floor, play, extent)
            await url.close()
    what = "command → first visible answer, service of 50 ms, p50"
    return [rounds.row(what, "answer", unit="ms", goal=1.3)]


async def _answer(slack: SlackService, url: RequestUrl) -> float:
    body, answered = slack.command("status acme/site")
    begun = time.perf_counter()
    await url.send(body)
    taken = await answered - begun
    # An error message would be a fast answer.
    assert "acme/site" in slack.answers[-1], slack.answers[-1]
    return taken
