"""The systemd units are valid, and give their processes only what they need."""

import configparser
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from bot.cli.main import PROGRAMS
from bot.cli.process import CONFIGURATION_EXIT
from bot.config.file import CONFIG_FILE
from bot.config.settings import Settings, variable
from bot.desk.background import LAST_WORD_SECONDS
from bot.http.server import PortLimits
from bot.runtime.intervals import USUAL
from bot.slack import socket_mode
from bot.slack.web_api import clients
from tests.documentation import ROOT

LONGEST_STOP = {
    "run": socket_mode.LAST_ACKNOWLEDGEMENTS_SECONDS
    + socket_mode.CLOSE_SECONDS
    + USUAL.drain
    + LAST_WORD_SECONDS
    + clients.TOTAL_SECONDS,
    "web": PortLimits().first_request_seconds
    + PortLimits().drain_seconds
    + USUAL.drain
    + LAST_WORD_SECONDS,
    "worker": clients.TOTAL_SECONDS,
}
"""What a stop waits for at most, one after the other, when Slack doesn't answer any more."""

OPERATIONS = ROOT / "docs" / "operations"
UNIT = OPERATIONS / "mqbot.service"
BACKUP = OPERATIONS / "mqbot-backup.service"
TIMER = OPERATIONS / "mqbot-backup.timer"
COMMAND = OPERATIONS / "mqbot-command"


def settings(unit: Path = UNIT) -> dict[str, str]:
    """What the [Service] section says; of repeated keys the last."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's keys have capitals
    parser.read(unit)
    return dict(parser["Service"])


def environment(unit: Path) -> dict[str, str]:
    return dict(re.findall(r"^Environment=(\w+)=(.*)$", unit.read_text(), re.MULTILINE))


def analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_accepts_the_units_without_warnings_and_rates_them_as_well_confined(
    tmp_path: Path,
) -> None:
    done = analyze("verify", UNIT, BACKUP, TIMER)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    wrong = tmp_path / UNIT.name
    wrong.write_text(UNIT.read_text().replace("ProtectSystem=strict", "ProtectSystem=strictly"))
    assert "strictly" in analyze("verify", wrong).stderr
    for unit in (UNIT, BACKUP):
        said = analyze("security", "--offline=true", "--no-pager", unit).stdout
        exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", said)
        assert exposure, said
        assert float(exposure[1]) < 2.0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_copies_of_the_unit_for_web_and_worker_share_user_and_folder(tmp_path: Path) -> None:
    """As the unit's first lines say."""
    copies = []
    for command, port in (("web", 8080), ("worker", 8180)):
        copy = tmp_path / f"mqbot-{command}.service"
        copies.append(copy)
        own = f"Environment=MQBOT_HEALTH_PORT={port}\nRestart="
        text = UNIT.read_text().replace("mqbot run\n", f"mqbot {command}\n")
        copy.write_text(text.replace("Restart=", own, 1))
    done = analyze("verify", *copies)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    web, worker = (settings(one) for one in copies)
    # Without a name each would have a user of its own, and each start would take the folder.
    assert web["User"] == worker["User"] == settings(BACKUP)["User"]
    assert web["StateDirectory"] == worker["StateDirectory"]


def test_the_unit_can_write_to_one_folder_and_has_no_privileges() -> None:
    section = settings()
    assert section["ProtectSystem"] == "strict"
    assert section["DynamicUser"] == "yes"
    assert section["NoNewPrivileges"] == "yes"
    assert section["CapabilityBoundingSet"] == section["AmbientCapabilities"] == ""
    assert not {"ReadWritePaths", "PermissionsStartOnly"} & set(section)
    state = f"/var/lib/{section['StateDirectory']}"
    assert f"DATABASE_URL=sqlite:///{state}/mqbot.sqlite3" in UNIT.read_text()


def test_the_unit_agrees_with_the_program() -> None:
    section = settings()
    command = re.fullmatch(r"/usr/bin/env mqbot (\w+)", section["ExecStart"])
    assert command
    assert command[1] in PROGRAMS
    assert section["RestartPreventExitStatus"] == str(CONFIGURATION_EXIT)
    assert int(section["TimeoutStopSec"]) > max(LONGEST_STOP.values())
    known = {variable(name) for name in Settings.model_fields}
    others = {CONFIG_FILE, "HOME", "PATH", "PYTHONDONTWRITEBYTECODE"}
    assert set(environment(UNIT)) - known == others


def test_a_settings_file_is_read_through_a_group_and_reloaded_without_a_restart() -> None:
    section = settings()
    page = (ROOT / "docs" / "installation.md").read_text()
    group = section["SupplementaryGroups"]
    assert f"groupadd --system {group}\n" in page
    assert f"install -m 0640 -g {group} " in page
    assert f"| `{environment(UNIT)[CONFIG_FILE]}`, and files that it names | `root:{group}`" in page
    # The signal that the bot reloads on, sent to it and not to all of the unit.
    kill, sent, process = section["ExecReload"].split()
    assert kill == "/bin/kill"
    assert getattr(signal, f"SIG{sent.removeprefix('-')}") is signal.SIGHUP
    assert process == "$MAINPID"


def test_a_failed_start_is_tried_again_without_end_and_a_wrong_setting_is_not() -> None:
    section = settings()
    assert "\nStartLimitIntervalSec=0\n" in UNIT.read_text()
    assert section["Restart"] == "on-failure"
    assert int(section["RestartSec"]) > 0
    assert section["RestartPreventExitStatus"] == str(CONFIGURATION_EXIT)


SAME = ("DynamicUser", "User", "SupplementaryGroups", "EnvironmentFile", "StateDirectoryMode")
"""What makes another unit see the bot's files as the bot does."""


def test_backups_run_as_the_bot_does() -> None:
    bot = settings()
    backup = settings(BACKUP)
    confining = [text for text in bot if text.startswith(("Protect", "Private", "SystemCall"))]
    assert len(confining) > 10
    for name in (*SAME, *confining):
        assert (name, backup.get(name)) == (name, bot[name])
    assert backup["StateDirectory"].split()[0] == bot["StateDirectory"]
    shared = environment(BACKUP)
    assert shared.items() <= environment(UNIT).items()
    assert {CONFIG_FILE, "DATABASE_URL", "PATH"} <= set(shared)


def test_a_command_runs_as_the_bot_does(tmp_path: Path) -> None:
    """`systemd-run` needs a running systemd, so this one shows what it would get."""
    stub = tmp_path / "systemd-run"
    stub.write_text('#!/bin/sh\nfor one; do printf "%s\\n" "$one"; done\n')
    stub.chmod(0o755)
    done = subprocess.run(
        [COMMAND, "backup", "two words"],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    given = done.stdout.splitlines()
    assert given[-3:] == ["mqbot", "backup", "two words"]
    pairs = [text.removeprefix("--").split("=", 2) for text in given if text.count("=") > 1]
    properties = {name: value for kind, name, value in pairs if kind == "property"}
    for name in SAME:
        assert properties[name] == settings()[name]
    assert properties["StateDirectory"] == settings(BACKUP)["StateDirectory"]
    assert {name: value for kind, name, value in pairs if kind == "setenv"} == environment(UNIT)
    # A pipe for `mqbot-command audit > file`, and the exit code of the command.
    assert {"--pipe", "--wait"} <= set(given)


def test_a_crash_leaves_no_secrets_on_the_disk() -> None:
    assert settings()["LimitCORE"] == "0"
