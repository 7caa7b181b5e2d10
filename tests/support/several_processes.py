"""BotTester with any number of `mqbot web` and `mqbot worker` processes on one database."""

import json
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typing_extensions import override

from bot.blocks import modal
from bot.kernel.actor import REQUEST_SHOWN
from bot.slack.payloads import request_key
from tests.support.bot_process import MqbotProcess
from tests.support.bot_tester import BotTester
from tests.support.load_balancer import LoadBalancer, Taken
from tests.support.waiting import until

START_SECONDS = 90.0
STOP_SECONDS = 60.0
"""A process ends what it is about to do, for which it may have to wait: the others go on."""


@dataclass(eq=False)
class RunningProcess:
    """One of several, with its log."""

    command: str
    process: MqbotProcess
    port: int = field(default=0, init=False)
    _entries: list[dict[str, Any]] = field(default_factory=list, init=False)
    _read: int = field(default=0, init=False)

    @property
    def is_running(self) -> bool:
        return self.process.process.returncode is None

    def hang(self) -> None:
        """Stop it where it is; its connections stay open."""
        self.process.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.process.send_signal(signal.SIGCONT)

    def log(self) -> list[dict[str, Any]]:
        """All so far; only what is new is read, since tests look again and again."""
        with (self.process.folder / "stderr").open("rb") as written:
            written.seek(self._read)
            new, ended, _ = written.read().rpartition(b"\n")
        self._read += len(new) + len(ended)
        lines = new.decode().splitlines()
        self._entries += [json.loads(line) for line in lines if line.startswith("{")]
        return self._entries

    async def logged(self, action: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found = next((record for record in self.log() if record.get("action") == action), None)
            assert found or self.is_running, self.process.complaints
            return found

        found = await until(look, f"“{action}” in the log of a {self.command}", START_SECONDS)
        assert found is not None
        return found


@dataclass
class SeveralProcesses(BotTester):
    """Everything else is as with BotTester; Slack reaches the web processes by a load balancer."""

    folder: Path = field(kw_only=True)
    webs: int = 2
    workers: int = 2
    balancer: LoadBalancer = field(default_factory=LoadBalancer, init=False)
    processes: list[RunningProcess] = field(default_factory=list, init=False)

    def running(self, command: str) -> list[RunningProcess]:
        return [
            process
            for process in self.processes
            if process.command == command and process.is_running
        ]

    @override
    async def _open_bot(self) -> None:
        await self.balancer.__aenter__()
        try:
            await self._begin_all()
        except BaseException:
            await self._leave_none()
            raise

    async def _begin_all(self) -> None:
        begun = [await self.begin("web") for _ in range(self.webs)]
        begun += [await self.begin("worker") for _ in range(self.workers)]
        for one in begun:
            await self.is_ready(one)
        await self.give_request_url(f"http://127.0.0.1:{self.balancer.port}/slack/events")

    async def begin(self, command: str, **own_environment: str) -> RunningProcess:
        """Start one; it is not ready yet."""
        own = self.folder / f"{command}-{len(self.processes)}"
        own.mkdir()
        environ = {**self.settings_environment(), "MQBOT_LOG_FORMAT": "json", **own_environment}
        started = await MqbotProcess.start(command, folder=own, environ=environ)
        one = RunningProcess(command, started)
        self.processes.append(one)
        return one

    async def is_ready(self, one: RunningProcess) -> None:
        """Wait for it; a web process then has its share of the requests."""
        await one.logged("ready")
        if one.command == "web":
            one.port = (await one.logged("http_open"))["port"]
            self.balancer.ports.append(one.port)

    def answers(self) -> Counter[Taken]:
        """How often each command was answered that a process has acknowledged.

        That it takes a while, as on a busy machine, is no answer.
        """
        commands = [one for one in self.balancer.taken if "command" in one.fields]
        texts_of = self.slack.response_urls.texts_of
        progress = modal.still_working().text
        counts = {}
        for command in commands:
            texts = texts_of(command.fields["response_url"])
            counts[command] = sum(text != progress for text in texts)
        return Counter(counts)

    def reported_of(self, taken: Taken) -> str:
        """Which command it was, which process took it, and what that has logged of it."""
        process = next(one for one in self.processes if one.port == taken.port)
        key = request_key(taken.fields)
        assert key is not None
        shown = key[:REQUEST_SHOWN]
        logged = [record for record in process.log() if record.get("request") == shown]
        fields = taken.fields
        said = f"{fields['command']} {fields['text']} of {fields['user_id']}"
        return f"{said}, request {shown}, taken by {process.process.folder.name}: {logged}"

    async def stop(self, one: RunningProcess) -> None:
        assert await one.process.stop(seconds=STOP_SECONDS) == 0, one.process.complaints
        assert "Traceback" not in one.process.complaints, one.process.complaints

    @override
    async def stop_bot(self) -> None:
        try:
            for process in self.processes:
                if process.is_running:
                    await self.stop(process)
        finally:
            await self._leave_none()

    async def _leave_none(self) -> None:
        for process in self.processes:
            await process.process.kill()
        await self.balancer.__aexit__(None, None, None)

    @override
    def logged_actions(self) -> list[str]:
        return [str(entry.get("action")) for process in self.processes for entry in process.log()]

    @override
    def logged_errors(self) -> list[str]:
        return [
            str(entry.get("action"))
            for process in self.processes
            for entry in process.log()
            if entry["level"] == "error"
        ]
