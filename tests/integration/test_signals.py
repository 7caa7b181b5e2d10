"""What init systems and configuration managers send ends no bot, at whatever moment it comes."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from bot.runtime.signals import IGNORED
from tests.integration.test_run_command import StartProcess, start_process
from tests.support.bot_process import MqbotProcess
from tests.support.waiting import until

__all__ = ["start_process"]

HARMLESS = [signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE]
STOPPING = [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT]
if sys.platform == "linux":
    STOPPING.append(signal.SIGPWR)
EVERY_SECONDS = 0.01


def begun(pid: int) -> bool:
    """Whether the program's first lines have run: it ignores the last signal that they take.

    The kernel's masks of what is ignored and caught: https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
    """
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    masks = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    bit = 1 << (IGNORED[-1] - 1)
    return bool(int(masks["SigIgn"], 16) & bit)


async def started(folder: Path, environ: dict[str, str]) -> MqbotProcess:
    """A `mqbot run` that has run its first lines, and nothing slow."""
    running = await MqbotProcess.start("run", folder=folder, environ=environ, is_forked=False)
    pid = running.process.pid
    await until(lambda: running.process.returncode is not None or begun(pid), "its first lines")
    assert running.process.returncode is None, running.complaints
    return running


async def test_from_its_first_line_until_its_end_a_bot_lives_on(
    start_process: StartProcess, tmp_path: Path
) -> None:
    """Each signal comes all the time while the bot starts, runs and stops.

    The exit code names the one that ended it.
    """
    bot = await start_process()
    await bot.stop_bot()
    before = bot.logged_actions().count("ready")
    bot.running = running = await started(tmp_path, bot.settings_environment())

    async def keep_sending() -> None:
        with suppress(ProcessLookupError):
            while running.process.returncode is None:
                for sent in HARMLESS:
                    # Popen.send_signal would take the exit code away from the event loop.
                    os.kill(running.process.pid, sent)
                await asyncio.sleep(EVERY_SECONDS)

    sending = asyncio.create_task(keep_sending())

    def is_ready_or_dead() -> bool:
        has_ended = running.process.returncode is not None
        return has_ended or bot.logged_actions().count("ready") > before

    await until(is_ready_or_dead, "“ready” in the log", 90)
    assert running.process.returncode is None, (running.process.returncode, running.complaints)
    await bot.next_poll()
    bot.running = None
    assert await running.stop(seconds=60) == 0, running.complaints
    await sending
    assert "stopped" in bot.logged_actions()


@pytest.mark.parametrize("sent", STOPPING)
async def test_a_signal_to_stop_ends_a_start_cleanly_at_any_moment(
    start_process: StartProcess, sent: signal.Signals, tmp_path: Path
) -> None:
    bot = await start_process()
    await bot.stop_bot()
    for milliseconds in (0, 30, 150, 500, 1200, 2500):
        folder = tmp_path / str(milliseconds)
        folder.mkdir()
        running = await started(folder, bot.settings_environment())
        await asyncio.sleep(milliseconds / 1000)
        assert await running.stop(sent, seconds=60) == 0, (milliseconds, running.complaints)
        assert "Traceback" not in running.complaints, milliseconds


def test_signals_are_taken_before_anything_slow_is_imported() -> None:
    """Everything before is the interpreter's own start."""
    listed = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bot", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    names = [line.rpartition("|")[2].strip() for line in listed.stderr.splitlines()]
    first = names.index("bot.runtime.signals")
    slow = [names.index(name) for name in ("click", "asyncio") if name in names]
    assert slow
    assert first < min(slow)


@pytest.mark.parametrize("arguments", [["--help"], ["manifest"]])
def test_a_command_that_ends_by_itself_leaves_signals_as_it_found_them(
    arguments: list[str],
) -> None:
    """So that a closed terminal, or Ctrl-C, ends it."""
    program = (
        "import signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "from bot.__main__ import main\n"
        f"sys.argv = ['mqbot', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('after:', signal.getsignal(signal.SIGHUP), file=sys.stderr)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )
    if arguments == ["manifest"]:
        assert "after: 0" in ended.stderr or "SIG_DFL" in ended.stderr


SLOW_TO_STOP = """
import asyncio, signal
from contextlib import AsyncExitStack
from bot.cli.process import cancelled_by_signals, forever
from bot.runtime.signals import {takes}

async def close():
    print("closing", flush=True)
    await asyncio.sleep(60)

async def main():
    async with cancelled_by_signals(), AsyncExitStack() as stack:
        for _ in range(3):
            stack.push_async_callback(close)
        print("up", flush=True)
        await forever()
    print("stopped", flush=True)

{takes}()
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [*((sent, sent) for sent in STOPPING), (signal.SIGTERM, signal.SIGINT)],
)
@pytest.mark.parametrize("takes", ["take_signals", "give_signals_back"])
def test_a_second_signal_ends_a_slow_stop_at_once(
    takes: str, first: signal.Signals, second: signal.Signals
) -> None:
    """Whichever it is, it doesn't count as an end in order."""
    program = SLOW_TO_STOP.format(takes=takes)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        for line, sent in (("up\n", first), ("closing\n", second)):
            assert process.stdout.readline() == line
            process.send_signal(sent)
        assert process.wait(30) == -second
        assert process.stdout.read() == ""


@pytest.mark.parametrize("sent", STOPPING)
def test_a_signal_in_a_callback_of_the_interpreter_is_not_lost(sent: signal.Signals) -> None:
    """An exception raised there is printed and ignored.

    https://docs.python.org/3/reference/datamodel.html#object.__del__
    """
    program = (
        "import os\n"
        "from bot.runtime.signals import take_signals\n"
        "class Dying:\n"
        f"    def __del__(self):\n        os.kill(os.getpid(), {sent.value})\n"
        "take_signals()\n"
        "Dying()\n"
        "print('went on')\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
