"""One worker, two, four and one of them killed: every event is told once.

How fast, tests/unit/usecases/test_throughput_of_workers.py shows, in time that nothing else takes.
"""

import asyncio
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from bot.sandbox.merge_queue.controls import SeenRequest
from bot.sandbox.slack.workspace import Change
from tests.support.bot_tester import GENERAL, MERGE_QUEUE, RELEASES
from tests.support.several_processes import RunningProcess, SeveralProcesses
from tests.support.waiting import until

REPOSITORIES = [f"acme/r{number:03}" for number in range(60)]
CHANNELS = (RELEASES, GENERAL, MERGE_QUEUE)
ANSWER_SECONDS = 0.1
POLLS = 150
"""So many pass with each number of workers."""

ENTER_SECONDS = 1.5


def channel_of(repository: str) -> str:
    return CHANNELS[REPOSITORIES.index(repository) % len(CHANNELS)]


class Entries:
    """Pull requests that enter in one repository after the other, until told to stop."""

    def __init__(self, bot: SeveralProcesses) -> None:
        self.entered: list[tuple[str, str, int]] = []
        self._bot = bot
        self._stop = asyncio.Event()

    async def run(self) -> None:
        for number in range(100_000):
            repository = REPOSITORIES[number * 7 % len(REPOSITORIES)]
            pull_request = self._bot.enqueue(repository)
            self.entered.append((channel_of(repository), repository, pull_request))
            with suppress(TimeoutError):
                async with asyncio.timeout(ENTER_SECONDS):
                    await self._stop.wait()
                    return

    def stop(self) -> None:
        self._stop.set()


class Watched:
    """What the services saw, counted as it happens: looking again at all of it costs too much."""

    def __init__(self, bot: SeveralProcesses) -> None:
        self.polls = 0
        self.told: Counter[tuple[str, str, int]] = Counter()
        self._count = bot.merge_queue.count_request
        bot.merge_queue.count_request = self._on_request  # type: ignore[method-assign]  # the one place that all requests pass
        bot.slack.installation.workspace.on_change(self._on_change)

    def _on_request(self, seen: SeenRequest) -> None:
        self._count(seen)
        self.polls += "/logs" in seen.path

    def _on_change(self, change: Change) -> None:
        post = change.message
        if change.kind == "message" and post is not None and post.ephemeral_to is None:
            for number, repository in re.findall(
                r"#(\d+)\b.*?\((acme/\w+)\)", post.text, re.DOTALL
            ):
                self.told[post.channel, repository, int(number)] += 1

    async def goes_on(self) -> None:
        before = self.polls
        await until(lambda: self.polls >= before + POLLS, f"{POLLS} polls", 120)


async def shared_out(workers: list[RunningProcess]) -> None:
    """Wait until each knows of all the others."""

    def settled() -> bool:
        said = [
            [one for one in each.log() if one.get("action") == "shared_out"] for each in workers
        ]
        return all(each and each[-1]["workers"] == len(workers) for each in said)

    await until(settled, f"{len(workers)} workers that know of each other", 60)


@pytest.mark.postgres
@pytest.mark.timeout(600)
async def test_nothing_is_lost_or_doubled_while_workers_come_and_one_is_killed(
    postgres_url: str, tmp_path: Path
) -> None:
    bot = SeveralProcesses(
        postgres_url,
        repositories=dict.fromkeys(REPOSITORIES, "quiet"),
        folder=tmp_path,
        mode="http",
        webs=1,
        workers=1,
        channels=";".join(f"{name}={channel_of(name)}:enter" for name in REPOSITORIES),
        environment={"SLACK_APP_TOKEN": ""},
    )
    async with bot:
        bot.break_service("slow", seconds=ANSWER_SECONDS)
        entries = Entries(bot)
        watched = Watched(bot)
        running = asyncio.create_task(entries.run())
        await watched.goes_on()
        for number in (2, 4):
            while len(bot.running("worker")) < number:
                await bot.is_ready(await bot.begin("worker"))
            await shared_out(bot.running("worker"))
            await watched.goes_on()
        killed = bot.running("worker")[1]
        await killed.process.kill()
        await shared_out(bot.running("worker"))
        await watched.goes_on()
        entries.stop()
        await running
        bot.mend_service()
        await until(lambda: set(watched.told) >= set(entries.entered), "every event told", 120)
        assert watched.told == Counter(entries.entered)
        for channel in CHANNELS:
            bot.posts(channel)
