"""`python -m tests.journeys`: count the files and functions that a typed command runs.

The bot runs on both local services, over sockets, with default settings. What it runs while nobody
asks for anything is left out, and so is what not every repetition of a command ran: a job of the
schedule came in between.
"""

import argparse
import asyncio
import sqlite3
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Self

import click
from typing_extensions import override

import bot.runtime.schema  # noqa: F401 - makes every table known
from bot.cli.manifest import manifest_path
from bot.config.settings import RunSettings
from bot.runtime.process import build_runtime
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.server import Sandbox
from bot.sandbox.slack.server import SlackSandbox
from bot.store import migrate
from tests.support.settings import between, settings_in
from tests.support.waiting import PATIENT_SECONDS, until

ROOT = Path(__file__).parents[1]
BOT = f"{ROOT / 'bot'}/"
SANDBOX = f"{ROOT / 'bot' / 'sandbox'}/"
INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>")
"""Functions in some versions of Python only."""

ALICE = "U0ALICE"
CHANNEL = "C0MERGEQ"
IDLE_SECONDS = 20.0
"""Every job runs in that time that runs more than a few times a minute, and leases are renewed."""

START_SECONDS = 1.0
GRACE_SECONDS = 0.3
"""For what follows when Slack has taken the last post."""

REPETITIONS = 5


@dataclass(frozen=True)
class Typed:
    """A command, and how many calls of which method of Slack it leads to."""

    command: str
    calls: Mapping[str, int]


@dataclass(frozen=True)
class Journey:
    """A command, and the one that takes it back."""

    typed: Typed
    undo: Typed | None = None


_ANSWER = {"response_url": 1}

JOURNEYS: Mapping[str, Journey] = {
    # A card in this channel, one in the channel that is subscribed to pauses.
    "pause": Journey(
        Typed("/mq pause acme/site 30m reason", {"chat.postMessage": 2}),
        Typed("/mq resume acme/site", {"chat.postMessage": 2, "chat.update": 2}),
    ),
    "subscribe": Journey(
        Typed("/mq subscribe acme/site", _ANSWER), Typed("/mq unsubscribe acme/site", _ANSWER)
    ),
    "status": Journey(Typed("/mq status acme/site", _ANSWER)),
}


@dataclass(frozen=True)
class Function:
    """A function of the bot."""

    file: str
    line: int
    name: str

    @classmethod
    def of(cls, code: CodeType) -> Self:
        return cls(code.co_filename.removeprefix(f"{ROOT}/"), code.co_firstlineno, code.co_qualname)


@dataclass(frozen=True)
class Count:
    """What a journey ran, in call order."""

    functions: Sequence[Function]

    @property
    def files(self) -> Sequence[str]:
        return list(dict.fromkeys(function.file for function in self.functions))

    @override
    def __str__(self) -> str:
        return f"{len(self.files)} files, {len(self.functions)} functions"

    def listing(self) -> Iterator[str]:
        for file in self.files:
            yield f"  {file}"
            for function in self.functions:
                if function.file == file:
                    yield f"    {function.line:4} {function.name}"


class Recorder:
    """Sees every call in every thread that begins while it watches."""

    def __init__(self) -> None:
        self._seen: dict[CodeType, None] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def forget(self) -> None:
        self._seen = {}

    def ran(self) -> Sequence[Function]:
        """Functions of the bot that ran since `forget`, in the order of their first calls."""
        return [Function.of(code) for code in list(self._seen) if _counts(code)]

    def _see(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self._seen.setdefault(frame.f_code)


def _counts(code: CodeType) -> bool:
    is_ours = code.co_filename.startswith(BOT) and not code.co_filename.startswith(SANDBOX)
    return is_ours and code.co_name not in INLINED


@dataclass
class Watched:
    """A bot on both local services, whose calls are recorded."""

    sandbox: Sandbox
    database: Path
    recorder: Recorder = field(default_factory=Recorder)
    idle: frozenset[Function] = frozenset()

    async def rest(self) -> None:
        """Record what runs while nobody asks for anything, once the start is over."""
        await until(self._has_begun, "the first look at the event log")
        await asyncio.sleep(START_SECONDS)
        self.recorder.forget()
        await asyncio.sleep(IDLE_SECONDS)
        self.idle = frozenset(self.recorder.ran())

    def _has_begun(self) -> bool:
        # The first walk ends with a look at the queue.
        asked = self.sandbox.merge_queue.requests
        return any("/merge-queue/status" in one.path and one.status for one in asked)

    async def count(self, journey: Journey, repetitions: int = REPETITIONS) -> Count:
        """The first time, when not everything is warm, does not count."""
        await self._repeat(journey)
        runs = [await self._repeat(journey) for _ in range(repetitions)]
        common = frozenset.intersection(*map(frozenset, runs)) - self.idle
        return Count([function for function in runs[0] if function in common])

    async def _repeat(self, journey: Journey) -> Sequence[Function]:
        self.recorder.forget()
        await self._type(journey.typed)
        ran = self.recorder.ran()
        if journey.undo is not None:
            await self._type(journey.undo)
        return ran

    async def _type(self, typed: Typed) -> None:
        """Type a command, and wait until everything is posted and stored."""
        awaited = self._calls() + Counter(typed.calls)
        taken = await self.sandbox.slack.people.command(ALICE, CHANNEL, typed.command)
        assert taken["acknowledged"], taken
        await until(lambda: self._calls() >= awaited, f"what {typed.command} leads to")
        await until(self._is_settled, "the outbox settled")
        await asyncio.sleep(GRACE_SECONDS)

    def _calls(self) -> Counter[str]:
        """How often the bot has called each method of Slack."""
        return Counter(call["method"] for call in self.sandbox.slack.calls.since(0))

    def _is_settled(self) -> bool:
        with closing(sqlite3.connect(self.database)) as connection:
            open_ones = connection.execute("SELECT 1 FROM deliveries WHERE settled_at IS NULL")
            return open_ones.fetchone() is None


@asynccontextmanager
async def watched_bot() -> AsyncIterator[Watched]:
    """A bot that has rested."""
    services = Sandbox(
        MergeQueueSandbox(repositories={"acme/site": "quiet"}),
        SlackSandbox(manifest_path(), ack_seconds=PATIENT_SECONDS),
    )
    with tempfile.TemporaryDirectory(prefix="mqbot-journeys-") as folder:
        watched = Watched(services, Path(folder) / "mqbot.sqlite3")
        migrate.upgrade(f"sqlite:///{watched.database}")
        async with services:
            settings = settings_in(_environment(watched), RunSettings)
            with watched.recorder.watching():
                async with build_runtime(settings):
                    await watched.rest()
                    yield watched


def _environment(watched: Watched) -> Mapping[str, str]:
    database_url = f"sqlite:///{watched.database}"
    found = between(
        watched.sandbox.addresses, database_url, MQBOT_CHANNELS="acme/site=C0RELEASE:pause"
    )
    del found["MQBOT_POLL_SECONDS"]
    return found


async def _print(*, is_listed: bool) -> None:
    async with watched_bot() as watched:
        for name, journey in JOURNEYS.items():
            count = await watched.count(journey)
            click.echo(f"{name}: {count}")
            if is_listed:
                click.echo("\n".join(count.listing()))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.journeys", description=__doc__)
    parser.add_argument("--list", action="store_true", help="name them, in call order by file")
    asyncio.run(_print(is_listed=parser.parse_args().list))


if __name__ == "__main__":
    main()
