"""`mqbot` as a process of its own, and BotTester with the bot in such a process."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from typing_extensions import override

from bot.sandbox.merge_queue.controls import SeenRequest
from bot.sandbox.slack.state.workspace import Change
from tests.support.bot_tester import BotTester
from tests.support.forked_mqbot import ForkedProcess, forked_mqbot
from tests.support.waiting import until

STOP_SECONDS = 10.0
"""The time in which a signal must have stopped a process."""

KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "PYTHONPATH")


@dataclass
class MqbotProcess:
    """A running `mqbot`; what it writes goes to files in its folder."""

    process: Process | ForkedProcess
    folder: Path

    @classmethod
    async def start(
        cls,
        *arguments: str,
        folder: Path,
        environ: Mapping[str, str] | None = None,
        is_forked: bool = True,
    ) -> "MqbotProcess":
        """Start it with nothing in its environment but `environ`; its home is `folder`.

        What is meant for Python itself, it reads only where it starts from nothing, as it does
        unless it `is_forked` from a process that has imported everything.
        """
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        given = environ or {}
        env = {**kept, "HOME": str(folder), "XDG_DATA_HOME": str(folder), **given}
        is_for_python = any(name.startswith("PYTHON") for name in given)
        start = forked_mqbot if is_forked and not is_for_python else _from_nothing
        with (folder / "stdout").open("ab") as stdout, (folder / "stderr").open("ab") as stderr:
            return cls(await start(arguments, folder, env, (stdout, stderr)), folder)

    @property
    def printed(self) -> str:
        return (self.folder / "stdout").read_text("utf-8")

    @property
    def complaints(self) -> str:
        return (self.folder / "stderr").read_text("utf-8")

    async def prints(self, text: str) -> str:
        """Wait until the text is printed; give the rest of its line."""

        def look() -> str | None:
            assert self.process.returncode is None or text in self.printed, self.complaints
            _, found, rest = self.printed.partition(text)
            return rest.splitlines()[0].strip() if found and "\n" in rest else None

        found = await until(look, f"“{text}” printed")
        assert found is not None
        return found

    async def stop(
        self, with_signal: signal.Signals = signal.SIGTERM, seconds: float = STOP_SECONDS
    ) -> int:
        """Send a signal and wait for the end, which must come within so many seconds."""
        if self.process.returncode is None:
            self.process.send_signal(with_signal)
        return await self.ends(seconds)

    async def ends(self, seconds: float = 60.0) -> int:
        try:
            async with asyncio.timeout(seconds):
                return await self.process.wait()
        except TimeoutError:
            await self.kill()
            msg = f"still running after {seconds:g} seconds: {self.complaints}"
            raise AssertionError(msg) from None

    async def kill(self) -> None:
        """SIGKILL: the process has no chance to do anything more."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


async def _from_nothing(
    arguments: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    output: tuple[IO[bytes], IO[bytes]],
) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", *arguments),
        cwd=folder,
        env=environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=output[0],
        stderr=output[1],
    )


@dataclass
class ProcessTester(BotTester):
    """The bot runs as `mqbot run`; everything else is as with BotTester."""

    folder: Path = field(kw_only=True)
    stop_signal: signal.Signals = signal.SIGTERM
    running: MqbotProcess | None = field(default=None, init=False)

    @override
    def settings_environment(self) -> dict[str, str]:
        logged = {"MQBOT_LOG_FORMAT": "json", "MQBOT_LOG_LEVEL": "INFO"}
        return {**logged, **super().settings_environment()}

    @override
    async def _open_bot(self) -> None:
        begun = self.logged_actions().count("ready")
        self.running = await MqbotProcess.start(
            "run", folder=self.folder, environ=self.settings_environment()
        )
        await until(self._is_ready_or_dead(begun), "“ready” in the log", seconds=90)
        assert self.running.process.returncode is None, self.running.complaints

    def _is_ready_or_dead(self, begun: int) -> Any:
        return lambda: (
            self.running is None
            or self.running.process.returncode is not None
            or self.logged_actions().count("ready") > begun
        )

    @override
    async def stop_bot(self) -> None:
        running = self.running
        self.running = None
        if running is not None:
            assert await running.stop(self.stop_signal) == 0, running.complaints
            assert "Traceback" not in running.complaints

    async def kill_bot(self) -> None:
        """End the process as a power cut does."""
        running = self.running
        self.running = None
        assert running is not None
        await running.kill()

    async def restart_bot(self) -> None:
        """Kill it and start it again, now with polls that follow soon."""
        await self.kill_bot()
        self.environment = {**self.environment, "MQBOT_POLL_SECONDS": "10"}
        await self.start_bot()

    def kill_when_slack_has_posted(self) -> asyncio.Event:
        """Kill the process the moment Slack has its next post, before it can hear of that."""
        killed = asyncio.Event()

        def look(change: Change) -> None:
            if change.kind == "message" and not killed.is_set():
                self._signal_now(killed, signal.SIGKILL)

        self.slack.installation.workspace.on_change(look)
        return killed

    def kill_when_service_has_answered(
        self, method: str, path: str, *, times: int = 1
    ) -> asyncio.Event:
        """Kill the process when the service has done this so often, before its answer is sent."""
        return self._signal_when_answered(method, path, signal.SIGKILL, times)

    def freeze_when_service_has_answered(self, method: str, path: str) -> asyncio.Event:
        """Stop the process at that moment until `thaw_bot`; the answer waits for it."""
        return self._signal_when_answered(method, path, signal.SIGSTOP, 1)

    def thaw_bot(self) -> None:
        assert self.running is not None
        self.running.process.send_signal(signal.SIGCONT)

    def _signal_when_answered(
        self, method: str, path: str, sent: signal.Signals, times: int
    ) -> asyncio.Event:
        done = asyncio.Event()
        answered = 0

        def look(seen: SeenRequest) -> None:
            nonlocal answered
            if seen.method != method or path not in seen.path:
                return
            answered += 1
            if answered == times:
                self._signal_now(done, sent)

        self.merge_queue.watchers.append(look)
        return done

    def _signal_now(self, done: asyncio.Event, sent: signal.Signals) -> None:
        assert self.running is not None
        self.running.process.send_signal(sent)
        done.set()

    def log_records(self) -> list[dict[str, Any]]:
        log = self.folder / "stderr"
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
        return [_record(line) for line in lines if line.startswith("{") and line[-1] == "}"]

    @override
    def logged_actions(self) -> list[str]:
        return [str(record.get("action")) for record in self.log_records()]

    @override
    def logged_errors(self) -> list[str]:
        records = self.log_records()
        return [str(record.get("action")) for record in records if record["level"] == "error"]


@lru_cache(maxsize=5_000)
def _record(line: str) -> dict[str, Any]:
    """Each look at a growing log would read all of its lines anew."""
    record: dict[str, Any] = json.loads(line)
    return record
