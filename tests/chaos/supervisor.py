"""Kills, freezes, stops and starts the bots of a run, and restarts those that end by themselves."""

import asyncio
import contextlib
import json
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random

from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.workspace import Change
from tests.chaos.bot_process import BotProcess
from tests.chaos.databases import UNREADABLE, Database
from tests.chaos.plan import Moment
from tests.support.tcp_route import TcpRoute
from tests.support.waiting import until

MOMENT_SECONDS = 5.0
"""The longest that a kill waits for its moment."""

ACCEPTED_SECONDS = 20.0
"""Longer for a post: only then is a message left whose response is lost."""

LONG_SECONDS = 30.0
RESTART_SECONDS = (0.0, 1.5)
AFTER_EXIT_SECONDS = 1.0
STARTING_SECONDS = (0.1, 3.0)
WATCH_SECONDS = 0.2


@dataclass
class Supervisor:
    """Acts on one bot at a time; `kills` counts the kills by moment.

    `went_on`: the times at which a bot was started again, or went on after it was stopped.
    """

    bots: Sequence[BotProcess]
    slack: SlackSandbox
    service: MergeQueueSandbox
    database: Database
    random: Random
    routes: Mapping[str, TcpRoute] = field(default_factory=dict)
    """The way of each bot to the database, by the bot's name; empty with SQLite."""

    kills: Counter[str] = field(default_factory=Counter)
    database_turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    went_on: list[float] = field(default_factory=list)
    _kill_at_start: int = 0
    _problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._turns = {bot.name: asyncio.Lock() for bot in self.bots}

    async def start(self) -> None:
        for bot in self.bots:
            await bot.start()

    async def remove(self) -> None:
        for bot in self.bots:
            await bot.remove()

    async def watch(self) -> None:
        """Restart bots that ended by themselves, as a service manager does."""
        while True:
            for bot in self.bots:
                turn = self._turns[bot.name]
                if not turn.locked() and not bot.is_running:
                    async with turn:
                        await bot.notice_exit()
                        await asyncio.sleep(AFTER_EXIT_SECONDS)
                        await self._start(bot)
            await asyncio.sleep(WATCH_SECONDS)

    async def kill(self, moment: Moment) -> None:
        """`kill -9` when the moment comes, and a new start."""
        if moment == "starting":
            self._kill_at_start += 1
            return
        wanted = None
        if moment == "accepted":
            wanted = await self._holder("post")
        if moment == "polling":
            wanted = await self._holder("poll")
        async with self._one(wanted) as bot:
            await self._wait_for(moment, bot)
            await self._killed(bot, moment)

    async def finish_kills(self) -> None:
        """Start the bots that still wait for a start."""
        while self._kill_at_start:
            async with self._one(None) as bot:
                self._kill_at_start -= 1
                await self._killed(bot, "any")

    async def restart(self) -> None:
        async with self._one(None) as bot:
            if bot.is_running:
                await self._stopped(bot)
                self.kills["stopped with SIGTERM"] += 1
                await self._start(bot)

    async def freeze(self, seconds: float) -> None:
        """SIGSTOP; one that is longer than the leases hits the process that posts or polls."""
        is_long = seconds > LONG_SECONDS
        job = self.random.choice(["post", "poll"])
        async with self._one(await self._holder(job) if is_long else None) as bot:
            bot.signal(signal.SIGSTOP)
            try:
                await asyncio.sleep(seconds)
            finally:
                bot.signal(signal.SIGCONT)
                self.went_on.append(time.time())
            longer = "longer" if is_long else "shorter"
            self.kills[f"SIGSTOP, {longer} than the leases"] += 1

    async def cut_off(self, seconds: float) -> None:
        """The process that polls can't reach the database; the others can."""
        async with self._one(await self._holder("poll")) as bot:
            route = self.routes[bot.name]
            route.cut()
            try:
                await asyncio.sleep(seconds)
            finally:
                route.mend()
                self.went_on.append(time.time())
            self.kills["cut off from the database, longer than the lease of polling"] += 1

    async def stop(self) -> list[str]:
        """Stop all with SIGTERM; what went wrong with that, in this run."""
        for bot in self.bots:
            if bot.is_running:
                await self._stopped(bot)
            else:
                self._problems.append(f"{bot.name} was not running at the end; see {bot.log}")
        return self._problems

    def exits(self) -> list[int]:
        return [code for bot in self.bots for code in bot.exits]

    def last_words(self) -> str:
        return "\n".join(bot.log.read_text(errors="replace")[-3000:] for bot in self.bots)

    def defects(self) -> list[str]:
        """Error lines of the bots' logs that no disturbance explains."""
        return [
            f"{log.name}: {line[:300]}"
            for bot in self.bots
            for log in bot.logs
            for line in log.read_text(errors="replace").splitlines()
            if _is_defect(line)
        ]

    @asynccontextmanager
    async def _one(self, wanted: BotProcess | None) -> AsyncIterator[BotProcess]:
        """The wanted bot, or one of those that nothing is being done to."""
        free = [bot for bot in self.bots if not self._turns[bot.name].locked()]
        bot = wanted or self.random.choice(free or self.bots)
        async with self._turns[bot.name]:
            yield bot

    async def _holder(self, lease: str) -> BotProcess | None:
        """The bot that has the lease, as far as the database can tell."""
        try:
            rows = await self.database.rows(f"SELECT holder FROM leases WHERE name = '{lease}'")  # noqa: S608 - a word of this module
        except UNREADABLE:
            return None
        pids = {int(holder.split(":")[1]) for (holder,) in rows}
        return next((bot for bot in self.bots if bot.pid in pids), None)

    async def _start(self, bot: BotProcess) -> None:
        await bot.start()
        while self._kill_at_start:
            self._kill_at_start -= 1
            await asyncio.sleep(self.random.uniform(*STARTING_SECONDS))
            await bot.kill()
            self.kills["killed, starting"] += 1
            await bot.start()
        self.went_on.append(time.time())

    async def _killed(self, bot: BotProcess, moment: str) -> None:
        if bot.pid is not None:
            await bot.kill()
        self.kills[f"killed, {moment}"] += 1
        await asyncio.sleep(self.random.uniform(*RESTART_SECONDS))
        await self._start(bot)

    async def _stopped(self, bot: BotProcess) -> None:
        try:
            code = await bot.stop()
        except AssertionError as slow:
            self._problems.append(str(slow))
            await bot.kill()
            return
        # Before it listens to signals, a signal ends a Python process at once.
        if code not in {0, -signal.SIGTERM}:
            self._problems.append(f"{bot.name} ended with {code} on SIGTERM; see {bot.log}")

    async def _wait_for(self, moment: Moment, bot: BotProcess) -> None:
        match moment:
            case "accepted":
                await self._accepted(bot)
            case "polling":
                before = self.service.request_count
                await _until(lambda: self.service.request_count > before)
            case "looking":
                number = self._last_call()
                await _until(lambda: self._has_looked_since(number))
            case "any" | "starting":
                await asyncio.sleep(self.random.random())

    def _last_call(self) -> int:
        calls = self.slack.calls.since(0)
        return int(calls[-1]["n"]) if calls else 0

    def _has_looked_since(self, number: int) -> bool:
        return any(
            call["method"] == "conversations.history" for call in self.slack.calls.since(number)
        )

    async def _accepted(self, bot: BotProcess) -> None:
        """Kill from within Slack's own handling: it has the post, and has not answered yet."""
        done = asyncio.Event()

        def on_change(change: Change) -> None:
            if not done.is_set() and change.kind == "message" and _is_post(change):
                bot.signal(signal.SIGKILL)
                done.set()

        self.slack.installation.workspace.on_change(on_change)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ACCEPTED_SECONDS):
                await done.wait()
                self.kills["killed with a post accepted and unanswered, of these"] += 1
        done.set()


def _is_post(change: Change) -> bool:
    return change.message is not None and change.message.from_app


async def _until(condition: Callable[[], bool]) -> None:
    """Until the condition holds, but no longer than MOMENT_SECONDS."""
    with contextlib.suppress(AssertionError):
        await until(condition, "the moment of a kill", MOMENT_SECONDS)


def _is_defect(line: str) -> bool:
    try:
        entry = json.loads(line)
    except ValueError:
        return "Traceback (most recent call last)" in line
    return entry.get("action") == "job_defect" or "never retrieved" in str(entry.get("event"))
