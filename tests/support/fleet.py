"""Any number of workers on one PostgreSQL, one of which polls many active repositories."""

import asyncio
import re
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from sqlalchemy import select

from bot.sandbox.slack.state.workspace import Change
from bot.store.engines import create_engine
from bot.store.tables import leases
from tests.support.bot_tester import GENERAL, MERGE_QUEUE, RELEASES
from tests.support.databases import PATIENT
from tests.support.polls_seen import PollsSeen
from tests.support.several_processes import RunningProcess, SeveralProcesses
from tests.support.waiting import until

CHANNELS = (RELEASES, GENERAL, MERGE_QUEUE)
ANSWER_SECONDS = 0.1
ENTER_SECONDS = 1.5
"""A channel takes one post a second: what is faster becomes a summary."""

POSTED_SECONDS = 240.0
"""What a worker had claimed that hangs or is dead is looked for when its claim has run out."""

Entry = tuple[str, str, int]
"""Channel, repository, and the number of a pull request that entered."""


class Fleet(SeveralProcesses):
    """One web process, and workers for repositories whose channels hear what enters."""

    @classmethod
    def of(cls, database_url: str, folder: Path, *, repositories: int, workers: int) -> "Fleet":
        names = [f"acme/r{number:03}" for number in range(repositories)]
        return cls(
            database_url,
            repositories=dict.fromkeys(names, "quiet"),
            folder=folder,
            mode="http",
            webs=1,
            workers=workers,
            channels=";".join(f"{name}={_channel_of(name)}:enter" for name in names),
            environment={"SLACK_APP_TOKEN": ""},
            waits_for_begin=False,
        )

    async def begin_to_answer_slowly(self, seconds: float = ANSWER_SECONDS) -> PollsSeen:
        """Each answer of the service takes so long from here on; every log was looked at."""
        seen = PollsSeen(self.merge_queue)
        await seen.all_again(self.repositories, 60)
        self.break_service("slow", seconds=seconds)
        return seen


class Entries:
    """Pull requests that enter one repository after another, until stopped."""

    def __init__(self, fleet: Fleet) -> None:
        self.entered: list[Entry] = []
        self.reported: Counter[Entry] = Counter()
        self._fleet = fleet
        self._names = list(fleet.repositories)
        self._stop = asyncio.Event()
        fleet.slack.installation.workspace.on_change(self._on_change)

    def enter(self, repository: str) -> None:
        pull_request = self._fleet.enqueue(repository)
        self.entered.append((_channel_of(repository), repository, pull_request))

    async def run(self) -> None:
        for number in range(100_000):
            self.enter(self._names[number * 7 % len(self._names)])
            with suppress(TimeoutError):
                async with asyncio.timeout(ENTER_SECONDS):
                    await self._stop.wait()
                    return

    def stop(self) -> None:
        self._stop.set()

    def unnotified(self) -> set[Entry]:
        return set(self.entered) - set(self.reported)

    async def all_posted_once(self) -> None:
        with suppress(AssertionError):
            await until(lambda: not self.unnotified(), "every event told", POSTED_SECONDS)
        unnotified = self.unnotified()
        assert not unnotified, (
            f"{len(unnotified)} of {len(self.entered)} not told: {sorted(unnotified)}"
        )
        assert self.reported == Counter(self.entered)
        for channel in CHANNELS:
            self._fleet.posts(channel)

    def _on_change(self, change: Change) -> None:
        post = change.message
        if change.kind == "message" and post is not None and post.ephemeral_to is None:
            for number, repository in re.findall(
                r"#(\d+)\b.*?\((acme/\w+)\)", post.text, re.DOTALL
            ):
                self.reported[post.channel, repository, int(number)] += 1


class Leases:
    """Who has which lease, from the database."""

    def __init__(self, database_url: str) -> None:
        self._engine = create_engine(database_url, **PATIENT)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._engine.dispose()

    async def holder(self, name: str, workers: list[RunningProcess]) -> RunningProcess | None:
        """The one of the workers that has it."""
        having = [worker for worker in workers if name in await self._names_of(worker)]
        return having[0] if having else None

    async def _names_of(self, worker: RunningProcess) -> frozenset[str]:
        in_force = select(leases.c.name, leases.c.holder).where(
            leases.c.expires_at > datetime.now(UTC)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(in_force).all()
        # A holder is host:process:chance.
        process = str(worker.process.process.pid)
        return frozenset(row.name for row in rows if row.holder.split(":")[-2] == process)


def _channel_of(repository: str) -> str:
    return CHANNELS[int(repository[-3:]) % len(CHANNELS)]
