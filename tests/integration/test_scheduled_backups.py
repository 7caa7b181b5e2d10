"""The commands that back up each day, of systemd, Compose and Kubernetes, run by a real shell.

Two programs of the shell are replaced: `date`, so that days pass, and `sleep`, so that they pass at
once and end. On the days between the first and the last, a copy of a file stands in for `mqbot`.
"""

import configparser
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from bot.store.engines import sqlite_path
from tests.documentation import ROOT

DAYS = 8
"""On the last one, the copy of the first is replaced."""

SECONDS = 60
UNIT = ROOT / "docs" / "operations" / "mqbot-backup.service"
OF_SYSTEMD = "/var/lib/mqbot-backups"
IN_CONTAINERS = "/var/backups/mqbot"
SECRETS = "/run/secrets"


def of_unit(text: str) -> list[str]:
    """The words of an ExecStart, as systemd.service(5) reads them."""
    return shlex.split(text.replace("%%", "%").replace("$$", "$"))


def of_systemd() -> list[str]:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's keys have capitals
    parser.read(UNIT)
    return of_unit(parser["Service"]["ExecStart"])


def of_systemd_on_postgresql() -> list[str]:
    page = (UNIT.parent / "README.md").read_text()
    (line,) = re.findall(r"^ExecStart=(/bin/sh .*pg_dump.*)$", page, re.MULTILINE)
    return of_unit(line)


def of_compose(file: str) -> list[str]:
    service = yaml.safe_load((ROOT / "deploy" / file).read_text())["services"]["backup"]
    words = [*service["entrypoint"], *service["command"]]
    return [word.replace("$$", "$") for word in words]


def of_kubernetes(file: str) -> list[str]:
    here = ROOT / "deploy" / "kubernetes" / file
    for one in yaml.safe_load_all(here.read_text()):
        spec = one["spec"].get("jobTemplate", one).get("spec", {})
        if "template" in spec:
            containers = spec["template"]["spec"]["containers"]
            (backup,) = [each for each in containers if each["name"] == "backup"]
            return [*backup["command"], *backup["args"]]
    raise AssertionError(file)


ON_SQLITE = {
    "systemd": of_systemd(),
    "compose": of_compose("compose.yaml"),
    "kubernetes": of_kubernetes("sqlite/mqbot.yaml"),
}
ON_POSTGRESQL = {
    "systemd": of_systemd_on_postgresql(),
    "compose": of_compose("compose.postgres.yaml"),
    "kubernetes": of_kubernetes("postgres/backup.yaml"),
}


@dataclass
class Machine:
    """A folder with the programs that the commands find, and one for the copies."""

    folder: Path
    environ: Mapping[str, str]
    programs: Path = field(init=False)
    copies: Path = field(init=False)

    def __post_init__(self) -> None:
        self.programs = self.folder / "programs"
        self.copies = self.folder / "copies"
        for one in (self.programs, self.copies):
            one.mkdir()
        # Days of the week from 1 to 7, counted by the nights slept.
        self.program("date", f'test "$1" = +%u && echo $(($(cat {self.slept}) % 7 + 1))')
        self.program(
            "sleep",
            f'test "$1" = 86400 || exit 0\n'
            f"echo $(($(cat {self.slept}) + 1)) > {self.slept}\n"
            f'test "$(cat {self.slept})" -lt {DAYS} || kill -TERM $PPID',
        )
        self.slept.write_text("0\n")
        self.program("mqbot", f'exec {sys.executable} -m bot "$@"')

    def start_mqbot_on_first_and_last_day(self) -> None:
        """On the days between, which start it in the same way, take the copy of the first."""
        self.program(
            "mqbot",
            f'case "$(cat {self.slept})" in\n'
            f'0 | {DAYS - 1}) exec {sys.executable} -m bot "$@" ;;\n'
            "esac\n"
            f'test "$# $1" = "2 backup" && exec cp {self.copies}/mqbot-1.sqlite3 "$2"',
        )

    @property
    def slept(self) -> Path:
        return self.folder / "slept"

    def program(self, name: str, lines: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o755)

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        secrets = self.folder / "secrets"
        words = [
            word.replace(OF_SYSTEMD, str(self.copies))
            .replace(IN_CONTAINERS, str(self.copies))
            .replace(f"{SECRETS}/mqbot", str(secrets))
            .replace(SECRETS, str(secrets))
            for word in command
        ]
        return subprocess.run(
            words,
            cwd=ROOT,
            env={"PATH": f"{self.programs}:{os.environ['PATH']}", **self.environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )

    def for_days(self, command: list[str]) -> None:
        """Run it as long as it repeats itself, or once a day."""
        while int(self.slept.read_text()) < DAYS:
            before = self.slept.read_text()
            done = self.run(command)
            if self.slept.read_text() == before:
                assert done.returncode == 0, done.stderr
                self.slept.write_text(f"{int(before) + 1}\n")


@pytest.mark.timeout(180)
@pytest.mark.parametrize("command", ON_SQLITE.values(), ids=ON_SQLITE)
def test_a_copy_for_each_day_of_the_week_is_kept(
    command: list[str], sqlite_url: str, tmp_path: Path
) -> None:
    machine = Machine(tmp_path, {"DATABASE_URL": sqlite_url, "HOME": str(tmp_path)})
    machine.start_mqbot_on_first_and_last_day()
    machine.for_days(command)
    kept = sorted(machine.copies.iterdir())
    assert [one.name for one in kept] == [f"mqbot-{day}.sqlite3" for day in range(1, 8)]
    newest = max(kept, key=lambda one: one.stat().st_mtime_ns)
    assert newest.name == f"mqbot-{(DAYS - 1) % 7 + 1}.sqlite3"
    for one in kept:
        with closing(sqlite3.connect(one)) as copy:
            assert copy.execute("SELECT count(*) FROM deliveries").fetchone() == (0,)


@pytest.mark.parametrize("command", ON_SQLITE.values(), ids=ON_SQLITE)
def test_a_backup_that_fails_is_seen_and_leaves_the_copy_of_a_week_ago(
    command: list[str], sqlite_url: str, tmp_path: Path
) -> None:
    machine = Machine(tmp_path, {"DATABASE_URL": sqlite_url, "HOME": str(tmp_path)})
    old = machine.copies / "mqbot-1.sqlite3"
    old.write_text("of a week ago")
    sqlite_path(sqlite_url).write_text("no database at all, and long enough to be read as one" * 99)
    done = machine.run(command)
    assert done.returncode not in {0, 128 + signal.SIGTERM}
    assert "mqbot: " in done.stderr
    assert old.read_text() == "of a week ago"


@pytest.mark.parametrize("command", ON_POSTGRESQL.values(), ids=ON_POSTGRESQL)
def test_dumps_are_kept_and_replaced_in_the_same_way(command: list[str], tmp_path: Path) -> None:
    url = "postgresql://mqbot:secret@database/mqbot"
    machine = Machine(tmp_path, {"DATABASE_URL": url})
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "database_url").write_text(f"{url}\n")
    checked = f'test "$1 $2 $4" = "-Fc -f {url}" || exit 1'
    machine.program("pg_dump", f'{checked}\necho "on $(cat {machine.slept})" > "$3"')
    machine.for_days(command)
    kept = sorted(machine.copies.iterdir())
    assert [one.name for one in kept] == [f"mqbot-{day}.dump" for day in range(1, 8)]
    assert kept[0].read_text() == f"on {DAYS - 1}\n"

    machine.slept.write_text("1\n")
    machine.program("pg_dump", 'echo half > "$3"\nexit 1')
    assert machine.run(command).returncode == 1
    assert (machine.copies / "mqbot-2.dump").read_text() == "on 1\n"


@pytest.mark.parametrize("command", [ON_SQLITE["compose"], ON_POSTGRESQL["compose"]])
def test_a_service_that_waits_for_the_next_day_stops_at_once(
    command: list[str], tmp_path: Path
) -> None:
    machine = Machine(tmp_path, {})
    for name in ("mqbot", "pg_dump"):
        machine.program(name, 'test -z "$3" || echo done > "$3"')
    (machine.programs / "sleep").unlink()
    really = shutil.which("sleep")
    waiting = tmp_path / "waiting"
    machine.program("sleep", f'test "$1" = 86400 || exit 0\ntouch {waiting}\nexec {really} "$1"')
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "database_url").write_text("postgresql://database/mqbot")
    words = [
        word.replace(IN_CONTAINERS, str(machine.copies)).replace(SECRETS, str(tmp_path / "secrets"))
        for word in command
    ]
    environ = {"PATH": f"{machine.programs}:{os.environ['PATH']}"}
    with subprocess.Popen(words, env=environ, start_new_session=True) as process:
        deadline = time.monotonic() + SECONDS
        while not waiting.exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.terminate()
        process.wait(5)
        # The sleep, which a container takes with it.
        os.killpg(process.pid, signal.SIGKILL)
