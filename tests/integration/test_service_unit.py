"""The systemd unit is valid, and gives the process only what it needs."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.cli import COMMANDS
from bot.cli.process import CONFIGURATION_EXIT
from bot.config.settings import Settings, variable
from bot.runtime import DRAIN_SECONDS
from bot.slack import http, socket_mode
from bot.slack.background import LAST_WORD_SECONDS
from bot.slack.web_api import clients
from tests.documentation import ROOT

LONGEST_STOP = {
    "run": socket_mode.LAST_ACKNOWLEDGEMENTS_SECONDS
    + socket_mode.CLOSE_SECONDS
    + DRAIN_SECONDS
    + LAST_WORD_SECONDS
    + clients.TOTAL_SECONDS,
    "web": http.FIRST_REQUEST_SECONDS + http.DRAIN_SECONDS + DRAIN_SECONDS + LAST_WORD_SECONDS,
    "worker": clients.TOTAL_SECONDS,
}
"""What a stop waits for at most, one after the other, when Slack doesn't answer any more."""

UNIT = ROOT / "docs" / "operations" / "mqbot.service"


def settings() -> dict[str, str]:
    """What the [Service] section says; of repeated keys the last."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's keys have capitals
    parser.read(UNIT)
    return dict(parser["Service"])


def analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_accepts_the_unit_without_warnings_and_rates_it_as_well_confined(
    tmp_path: Path,
) -> None:
    done = analyze("verify", UNIT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    wrong = tmp_path / UNIT.name
    wrong.write_text(UNIT.read_text().replace("ProtectSystem=strict", "ProtectSystem=strictly"))
    assert "strictly" in analyze("verify", wrong).stderr
    said = analyze("security", "--offline=true", "--no-pager", UNIT).stdout
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", said)
    assert exposure, said
    assert float(exposure[1]) < 2.0


def test_the_unit_can_write_to_one_folder_and_has_no_privileges() -> None:
    section = settings()
    assert section["ProtectSystem"] == "strict"
    assert section["DynamicUser"] == "yes"
    assert section["NoNewPrivileges"] == "yes"
    assert section["CapabilityBoundingSet"] == section["AmbientCapabilities"] == ""
    assert not {"ReadWritePaths", "User", "PermissionsStartOnly"} & set(section)
    state = f"/var/lib/{section['StateDirectory']}"
    assert f"DATABASE_URL=sqlite:///{state}/mqbot.sqlite3" in UNIT.read_text()


def test_the_unit_agrees_with_the_program() -> None:
    section = settings()
    command = re.fullmatch(r"/usr/bin/env mqbot (\w+)", section["ExecStart"])
    assert command
    assert command[1] in COMMANDS
    assert section["RestartPreventExitStatus"] == str(CONFIGURATION_EXIT)
    assert int(section["TimeoutStopSec"]) > max(LONGEST_STOP.values())
    known = {variable(name) for name in Settings.model_fields}
    set_here = set(re.findall(r"^Environment=(\w+)=", UNIT.read_text(), re.MULTILINE))
    assert set_here - known == {"HOME", "PATH", "PYTHONDONTWRITEBYTECODE"}
