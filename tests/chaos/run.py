"""One chaos run: the bot between both local services, a plan that disturbs it, and the verdict."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import bot.runtime.schema  # noqa: F401 - makes every table known
from bot.sandbox.merge_queue.faults import Fault as ServiceFault
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.faults import Fault as SlackFault
from bot.sandbox.slack.server import SlackSandbox
from bot.store import migrate
from tests.chaos import rules
from tests.chaos.bot_process import ROOT, BotProcess
from tests.chaos.databases import UNREADABLE, Database, PostgresDatabase, SqliteFile
from tests.chaos.faults import Faults
from tests.chaos.outbox import Outbox, delivery_rows, entry_cards
from tests.chaos.plan import (
    Act,
    CutOff,
    Freeze,
    Kill,
    KillDatabase,
    Options,
    Outage,
    Restart,
    Step,
    make_plan,
)
from tests.chaos.supervisor import Supervisor
from tests.chaos.traffic import REPOSITORIES, SIMULATED, Traffic, channels_setting, states
from tests.chaos.verdict import Verdict, judge
from tests.support.settings import between
from tests.support.tcp_route import TcpRoute

ALL_REPOSITORIES = (*REPOSITORIES, *rules.REPOSITORIES)
BEGIN_SECONDS = 90.0
SIMULATED_SPEED = 40.0
AFTER_SECONDS = 5.0
"""How long the channels are watched for repeated posts after everything was posted."""

LOOK_SECONDS = 0.5


@dataclass
class Result:
    """What a run did and found."""

    options: Options
    verdict: Verdict
    acts: Counter[str]
    faults: Counter[str]
    exits: list[int]
    defects: list[str]
    late: int
    log_events: int
    drained: bool
    seconds: float
    drain_seconds: float
    problems: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return self.verdict.is_good and self.drained and not self.defects and not self.problems


@asynccontextmanager
async def _database(options: Options, folder: Path) -> AsyncIterator[Database]:
    database: Database
    if options.database == "sqlite":
        database = SqliteFile(folder)
    else:
        database = await asyncio.to_thread(PostgresDatabase)
        migrate.upgrade(database.url)
    try:
        yield database
    finally:
        database.close()


async def run(options: Options, folder: Path) -> Result:
    """Run to the end; the bots' logs and a SQLite file stay in `folder`."""
    service = MergeQueueSandbox(
        repositories=dict.fromkeys(ALL_REPOSITORIES, "quiet"),
        seed=options.seed,
        speed=SIMULATED_SPEED,
    )
    slack = SlackSandbox(ROOT / "manifest.yml", rate_limits="all")
    async with _database(options, folder) as database, Sandbox(service, slack) as sandbox:
        environ = _environment(sandbox, database, folder)
        async with AsyncExitStack() as stack:
            bots = []
            routes = {}
            for number in range(options.processes):
                bot = BotProcess(f"bot{number + 1}", environ, folder)
                bots.append(bot)
                if options.database == "postgres":
                    route = await stack.enter_async_context(TcpRoute(database.url))
                    bot.environ["DATABASE_URL"] = route.url
                    routes[bot.name] = route
            chance = Random(options.seed + 1)
            supervisor = Supervisor(bots, slack, service, database, chance, routes)
            stack.push_async_callback(supervisor.remove)
            return await _Run(options, service, slack, database, supervisor).run()


def _environment(sandbox: Sandbox, database: Database, folder: Path) -> dict[str, str]:
    return between(
        sandbox.addresses,
        database.url,
        PATH=os.defpath,
        HOME=str(folder),
        MQBOT_REPOSITORIES=",".join(ALL_REPOSITORIES),
        MQBOT_CONFIG=str(rules.write_settings(folder)),
        MQBOT_CHANNELS=channels_setting(),
        MQBOT_LOG_FORMAT="json",
    )


@dataclass
class _Run:
    """The run itself, with everything open."""

    options: Options
    service: MergeQueueSandbox
    slack: SlackSandbox
    database: Database
    supervisor: Supervisor
    acts: Counter[str] = field(default_factory=Counter)
    database_back: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.faults = Faults(self.service, self.slack)

    async def run(self) -> Result:
        started = time.monotonic()
        await self.supervisor.start()
        await self._begun()
        traffic = Traffic(self.service, Random(self.options.seed + 2), datetime.now(UTC))
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(self.supervisor.watch())
            talking = group.create_task(self._talk(traffic))
            await self._hurt(make_plan(self.options))
            await self.supervisor.finish_kills()
            talking.cancel()
            self.faults.off()
            draining = time.monotonic()
            drained = await self._drained(traffic)
            drain_seconds = time.monotonic() - draining
            await asyncio.sleep(AFTER_SECONDS)
            watching.cancel()
        problems = await self.supervisor.stop()
        if isinstance(self.database, SqliteFile) and self.database.integrity() != "ok":
            problems.append(f"the file is corrupt: {self.database.integrity()}")
        cards = await entry_cards(self.database)
        outbox = Outbox(traffic.expected(), await delivery_rows(self.database), cards)
        calm_from = [*self.supervisor.went_on, *self.faults.came_back, *self.database_back]
        workspace = self.slack.installation.workspace
        problems += [*traffic.freezes.findings(workspace), *rules.findings(self.service)]
        return Result(
            options=self.options,
            verdict=judge(outbox, states(self.service), workspace, calm_from),
            acts=self.acts + self.supervisor.kills,
            faults=self.faults.struck(),
            exits=self.supervisor.exits(),
            defects=self.supervisor.defects(),
            late=traffic.late,
            log_events=sum(len(self.service.events(name)) for name in REPOSITORIES),
            drained=drained,
            seconds=time.monotonic() - started,
            drain_seconds=drain_seconds,
            problems=problems,
        )

    async def _begun(self) -> None:
        """Wait until the bot has a position in every log; earlier events are history to it."""
        deadline = time.monotonic() + BEGIN_SECONDS
        while await self._number("SELECT count(origin) FROM repositories") != len(ALL_REPOSITORIES):
            assert time.monotonic() < deadline, self.supervisor.last_words()
            await asyncio.sleep(LOOK_SECONDS)

    async def _number(self, query: str) -> int:
        try:
            return await self.database.number(query)
        except UNREADABLE:
            return -1

    async def _talk(self, traffic: Traffic) -> None:
        chance = Random(self.options.seed + 3)
        while True:
            traffic.one()
            if chance.random() < 0.01:
                traffic.burst()
            await asyncio.sleep(chance.uniform(0.5, 1.5) * self.options.event_seconds)

    async def _hurt(self, steps: list[Step]) -> None:
        begun = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for step in steps:
                await asyncio.sleep(max(0.0, step.at - (time.monotonic() - begun)))
                group.create_task(self._act(step.act))

    async def _act(self, act: Act) -> None:
        match act:
            case Kill() | Restart() | Freeze() | CutOff():
                await self._disturb(act)
            case SlackFault():
                self.faults.arm_slack(act)
            case ServiceFault():
                self.faults.arm_service(act)
            case Outage():
                await self.faults.outage(act)
            case KillDatabase(seconds):
                assert isinstance(self.database, PostgresDatabase)
                async with self.supervisor.database_turn:
                    await self.database.kill_for(seconds)
                self.database_back.append(time.time())
                self.acts["database server killed"] += 1

    async def _disturb(self, act: Kill | Restart | Freeze | CutOff) -> None:
        """What is done to one of the processes."""
        match act:
            case Kill(moment):
                await self.supervisor.kill(moment)
            case Restart():
                await self.supervisor.restart()
            case Freeze(seconds):
                await self.supervisor.freeze(seconds)
            case CutOff(seconds):
                await self.supervisor.cut_off(seconds)

    async def _drained(self, traffic: Traffic) -> bool:
        """Whether everything is settled before the deadline."""
        deadline = time.monotonic() + self.options.drain_seconds
        while time.monotonic() < deadline:
            expected = len(traffic.expected())
            settled = await self._number(
                "SELECT count(*) FROM deliveries WHERE settled_at IS NOT NULL"
                " AND (subject_kind = 'event' OR subject_kind = 'live_message')"
                " AND COALESCE(kind, '') <> 'freeze'"
            )
            to_edit = await self._number(
                "SELECT count(*) FROM live_messages WHERE wanted > shown AND message_ts IS NOT NULL"
            )
            of_freezes = await self._number(
                "SELECT (SELECT count(*) FROM freezes"
                " WHERE due_at IS NOT NULL AND repository = 'acme/api')"
                " + (SELECT count(*) FROM deliveries WHERE settled_at IS NULL AND kind = 'freeze')"
            )
            is_shown = to_edit == of_freezes == 0
            if settled >= expected and is_shown and self._is_idle():
                return True
            await asyncio.sleep(LOOK_SECONDS)
        return False

    def _is_idle(self) -> bool:
        """Whether the simulated repository has come to rest."""
        repository = self.service.repository(SIMULATED)
        return not any(line.batches or line.waiting for line in repository.lines.values())
