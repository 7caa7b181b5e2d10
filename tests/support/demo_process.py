"""`mqbot demo` as a process of its own, used as a person uses it: by what it prints."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TypeVar

import httpx

START_SECONDS = 200.0
"""The demo tells its story first: ten seconds of work, maybe beside a dozen other processes."""

STOP_SECONDS = 10.0
ANSWER_SECONDS = 30.0
TIMES_TYPED = 3
POSTS_SECONDS = 60.0
"""The time in which the demo's channel must show posts, counted from its address being printed.

Of a busy machine. How soon the demo's service has something to tell is held in its own time, by
tests/unit/sandbox/merge_queue/test_scenarios.py.
"""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Slack:
    """The page of a local Slack workspace."""

    page_url: str

    def messages(self, channel: str = "C0MERGEQ", user: str = "U0ALICE") -> list[dict[str, Any]]:
        """The channel's messages as `user` sees them, oldest first."""
        answer = httpx.get(
            f"{self.page_url}control/channels/{channel}/messages",
            params={"user": user},
            trust_env=False,
            timeout=ANSWER_SECONDS,
        )
        found: list[dict[str, Any]] = answer.raise_for_status().json()["messages"]
        return found

    def type_command(self, text: str, channel: str = "C0MERGEQ", user: str = "U0ALICE") -> None:
        """Type it; again, as a person does, if Slack says that the app took more than 3 seconds."""
        for _ in range(TIMES_TYPED):
            answer = httpx.post(
                f"{self.page_url}control/commands",
                json={"user": user, "channel": channel, "text": text},
                trust_env=False,
                timeout=ANSWER_SECONDS,
            )
            if "operation_timeout" not in answer.text:
                break
        assert answer.is_success, answer.text

    def wait_for_messages(self, *said: str, seconds: float = POSTS_SECONDS) -> None:
        """Until each of `said` occurs in the text or the blocks of some message."""

        def look() -> bool | None:
            words = [_words(message) for message in self.messages()]
            return all(any(one in each for each in words) for one in said) or None

        wait_for(look, f"no messages say {', '.join(said)}", seconds)


@dataclass(frozen=True, slots=True)
class Demo(Slack):
    """A running demo."""

    process: subprocess.Popen[bytes]

    def bring_about(self, trigger: str) -> None:
        """Choose something in *What if…*."""
        httpx.post(
            f"{self.page_url}control/stage",
            json={"name": trigger},
            trust_env=False,
            timeout=ANSWER_SECONDS,
        ).raise_for_status()


def _words(message: Mapping[str, Any]) -> str:
    return f"{message['text']} {json.dumps(message['blocks'], ensure_ascii=False)}"


@contextmanager
def running_demo(
    *command: str | Path, cwd: Path, environ: Mapping[str, str] | None = None
) -> Iterator[Demo]:
    """Start `command`, which must be a form of `mqbot demo`; stop it with SIGTERM.

    Fails when it does not end by itself, with 0, within STOP_SECONDS.
    """
    with TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield Demo(_page_url(process, output), process)
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_SECONDS)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 0, _printed(output)


def _page_url(process: subprocess.Popen[bytes], output: IO[bytes]) -> str:
    def look() -> str | None:
        found = re.search(r"http://127\.0\.0\.1:\d+/", _printed(output))
        assert found or process.poll() is None, f"the demo ended: {_printed(output)}"
        return found[0] if found else None

    return wait_for(look, "the demo prints no address", START_SECONDS)


def _printed(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode()


def wait_for(look: Callable[[], T | None], complaint: str, seconds: float) -> T:
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found is not None:
            return found
        assert time.monotonic() < deadline, f"{complaint} within {seconds:.0f} s"
        time.sleep(0.05)
