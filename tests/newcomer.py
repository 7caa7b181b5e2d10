"""`python3 -m tests.newcomer`: runs the README's commands as a newcomer has them, for `.ci/run`.

The newcomer is an ordinary user with a new home, an empty environment and a copy of the repository.
On the PATH are Python, git, a shell and the basic tools, and nothing else: no apt, no Chromium, no
systemd. Needs root to make that user, and Debian. Imports only the standard library, because
nothing is installed yet.

    prepare HOME              make the user, the home and the copy HOME/mqbot
    demo HOME                 start the README's demo; its page must answer and show posts
    run HOME bare|full LINE   run a line of shell in the copy, with the bare PATH or the machine's
"""

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
USER = "newcomer"
DEMO_COMMAND = re.compile(r"^python3 -m venv .* \.venv/bin/mqbot demo$", re.MULTILINE)
BASIC_PACKAGES = ("bash", "coreutils", "dash", "findutils", "git", "grep", "sed")
"""Debian's packages whose programs every newcomer has."""

PASSED_ON = ("CI", "MQBOT_FAIL_ON_SKIP")
"""Variables of the tests alone: the same random examples each time, and no test left out."""

INSTALL_SECONDS = 600.0
"""For the demo's command to install what it needs and print its address."""

POSTS_SECONDS = 120.0
STOP_SECONDS = 30.0
PAGE_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")
CHANNEL_MESSAGES = "control/channels/C0MERGEQ/messages?user=U0ALICE"


def prepare(home: Path) -> None:
    """Make the user, the home, the bare PATH and a copy of what is committed."""
    try:
        pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(["useradd", "--no-create-home", "--shell=/bin/bash", USER], check=True)
    home.mkdir(parents=True)
    changes = subprocess.run(
        ["git", "-C", ROOT, "status", "--porcelain"], check=True, capture_output=True, text=True
    )
    if changes.stdout:
        print("What is not committed is not tried.", flush=True)
    subprocess.run(["git", "clone", "--quiet", "--no-local", ROOT, home / "mqbot"], check=True)
    subprocess.run(["chown", "-R", f"{USER}:", home], check=True)
    programs = home / "bin"
    programs.mkdir()
    for program in _basic_programs():
        (programs / program.name).symlink_to(program)
    # A link would make a virtual environment look for Python's library beside the link.
    wrapper = programs / "python3"
    wrapper.write_text(f'#!/bin/sh\nexec {_python()} "$@"\n')
    wrapper.chmod(0o755)


def _basic_programs() -> set[Path]:
    listed = subprocess.run(
        ["dpkg", "--listfiles", *BASIC_PACKAGES], check=True, capture_output=True, text=True
    )
    files = {Path(line) for line in listed.stdout.splitlines() if line.startswith("/")}
    folders = {Path("/bin"), Path("/usr/bin")}
    return {file for file in files if file.parent in folders and os.access(file, os.X_OK)}


def _python() -> str:
    """Give the first Python on the PATH that the newcomer may run and that makes environments."""
    enough = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
    for folder in os.environ["PATH"].split(os.pathsep):
        candidate = Path(folder) / "python3"
        if not candidate.exists():
            continue
        try:
            done = subprocess.run(
                [candidate, "-c", enough], user=USER, env={}, check=False, capture_output=True
            )
        except PermissionError:
            continue
        if done.returncode == 0:
            return str(candidate)
    sys.exit(f"No Python 3.11 or newer with ensurepip that {USER} may run")


def start(
    home: Path, path: str, line: str, *, output: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a line of shell in the copy, in a session of its own; CI=true is all it is told."""
    account = pwd.getpwnam(USER)
    environment = {"HOME": str(home), "PATH": path}
    for name in PASSED_ON:
        if name in os.environ:
            environment[name] = os.environ[name]
    return subprocess.Popen(
        ["/bin/bash", "-c", line],
        cwd=home / "mqbot",
        env=environment,
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=[],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=None if output is None else subprocess.STDOUT,
        start_new_session=True,
    )


def demo(home: Path) -> None:
    """Start the README's demo, look at its page, wait for a post, and end it as Ctrl-C does."""
    (line,) = DEMO_COMMAND.findall((ROOT / "README.md").read_text())
    with tempfile.TemporaryFile() as output:
        started = time.monotonic()
        process = start(home, str(home / "bin"), line, output=output.fileno())
        try:
            page = _wait_for_page(process, output.fileno(), started + INSTALL_SECONDS)
            answered = time.monotonic()
            posts = _wait_for_posts(page, answered + POSTS_SECONDS)
            shown = time.monotonic()
            os.killpg(process.pid, signal.SIGINT)
            process.wait(STOP_SECONDS)
        except BaseException:
            print(_printed(output.fileno()), flush=True)
            raise
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    print(
        f"demo     its page answered after {answered - started:.0f} s with the installation, and"
        f" showed {posts} posts {shown - answered:.0f} s later"
    )


def _wait_for_page(process: subprocess.Popen[bytes], output: int, deadline: float) -> str:
    while True:
        found = PAGE_ADDRESS.search(_printed(output))
        if found and _get(found[0]) is not None:
            return found[0]
        if process.poll() is not None:
            sys.exit(f"The demo ended with {process.returncode}:\n{_printed(output)}")
        if time.monotonic() > deadline:
            sys.exit(f"The demo's page doesn't answer:\n{_printed(output)}")
        time.sleep(0.2)


def _wait_for_posts(page: str, deadline: float) -> int:
    while True:
        answer = _get(page + CHANNEL_MESSAGES)
        posts = json.loads(answer)["messages"] if answer else []
        if posts:
            return len(posts)
        if time.monotonic() > deadline:
            sys.exit("The demo's channel shows no post")
        time.sleep(0.2)


def _get(address: str) -> bytes | None:
    """Read a page on this machine; None while it doesn't answer."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=10) as answer:
            content: bytes = answer.read()
            return content
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


def _printed(output: int) -> str:
    size = os.fstat(output).st_size
    return os.pread(output, size, 0).decode(errors="replace")


def run(home: Path, kind: str, line: str) -> int:
    """Run a line of shell to its end; give its exit code."""
    path = str(home / "bin") if kind == "bare" else f"{home / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    process = start(home, path, line)
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def main(arguments: list[str]) -> int:
    match arguments:
        case ["prepare", home]:
            prepare(Path(home))
        case ["demo", home]:
            demo(Path(home))
            shutil.rmtree(Path(home) / "mqbot" / ".venv")
        case ["run", home, "bare" | "full" as kind, line]:
            return run(Path(home), kind, line)
        case _:
            sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
