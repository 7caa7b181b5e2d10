"""Processes are replaced one by one under traffic, and nothing is lost or repeated."""

import asyncio
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.support.bot_tester import ALICE, BOB, CAROL, GENERAL, RELEASES
from tests.support.several_processes import SeveralProcesses
from tests.support.waiting import until

PEOPLE = (ALICE, BOB, CAROL)
ASK_SECONDS = 1.0
"""A person who asks faster for long is asked to slow down."""
ENTER_SECONDS = 1.5
"""A channel takes one post a second: what is faster becomes a summary."""


class Traffic:
    """People who type commands and pull requests that enter, until stopped."""

    def __init__(self, bot: SeveralProcesses) -> None:
        self.asked: Counter[str] = Counter()
        self.entered: list[int] = []
        self.turned_away: list[str] = []
        self._bot = bot
        self._stop = asyncio.Event()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._enter())
            for person in PEOPLE:
                group.create_task(self._ask(person))

    def stop(self) -> None:
        self._stop.set()

    async def passed(self, asked: int, entered: int) -> None:
        """Wait until so much more has happened; nobody may have been turned away by then."""
        asked = self.asked.total() + asked
        entered = len(self.entered) + entered

        def is_passed() -> bool:
            assert self.turned_away == []
            return self.asked.total() >= asked and len(self.entered) >= entered

        await until(is_passed, "traffic", 90)

    async def _ask(self, person: str) -> None:
        while not self._stop.is_set():
            answer = await self._bot.slack.people.command(person, GENERAL, "/mq status")
            if not answer["acknowledged"]:
                self.turned_away.append(f"{person}: {answer}")
            self.asked[person] += 1
            await self._breathe(ASK_SECONDS)

    async def _enter(self) -> None:
        while not self._stop.is_set():
            self.entered.append(self._bot.enqueue())
            await self._breathe(ENTER_SECONDS)

    async def _breathe(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return


def reported(bot: SeveralProcesses) -> Counter[int]:
    posts = "\n".join(post.line for post in bot.posts(RELEASES))
    return Counter(int(number) for number in re.findall(r"#(\d+)\b", posts))


async def everything_is_answered(bot: SeveralProcesses, traffic: Traffic) -> None:
    """Once each; counted as Slack's addresses for answers were used, not as a channel shows.

    A channel keeps the newest few hundred of what only one person sees, and on a slow machine
    people have asked more by the time when every process is replaced.
    """

    def lost() -> list[str]:
        return [bot.reported_of(one) for one, answers in bot.answers().items() if not answers]

    await until(
        lambda: all(bot.answers().values()), lambda: f"answers, which were not given: {lost()}", 60
    )
    answers = bot.answers()
    by_person = Counter(answer.fields["user_id"] for answer in answers)
    assert by_person == traffic.asked
    assert [bot.reported_of(one) for one, times in answers.items() if times > 1] == []
    for person in PEOPLE:
        assert all(reply.words for reply in bot.replies(by=person, channel=GENERAL))


@pytest.mark.postgres
@pytest.mark.timeout(400)
async def test_every_process_is_replaced_and_nobody_notices(
    postgres_url: str, tmp_path: Path
) -> None:
    bot = SeveralProcesses(
        postgres_url,
        folder=tmp_path,
        mode="http",
        channels=f"acme/site={RELEASES}:enter",
        environment={"SLACK_APP_TOKEN": ""},
    )
    async with bot:
        traffic = Traffic(bot)
        running = asyncio.create_task(traffic.run())
        await traffic.passed(asked=6, entered=3)
        for old in list(bot.processes):
            new = await bot.begin(old.command)
            await bot.is_ready(new)
            await bot.stop(old)
            await traffic.passed(asked=3, entered=2)
        traffic.stop()
        await running
        assert traffic.turned_away == []
        assert {one.command for one in bot.running("web")} == {"web"}
        assert (len(bot.running("web")), len(bot.running("worker"))) == (2, 2)
        await until(lambda: set(reported(bot)) >= set(traffic.entered), "every event told", 90)
        await everything_is_answered(bot, traffic)
        assert reported(bot) == Counter(traffic.entered)
        # What was refused by a process that had closed its port went to another one.
        assert bot.balancer.refused > 0
