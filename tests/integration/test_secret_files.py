"""`mqbot` with its secrets in files, as containers mount them."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typing_extensions import override

from tests.support.bot_process import MqbotProcess, ProcessTester
from tests.support.settings import NOWHERE

SECRETS = ("DATABASE_URL", "MQBOT_API_TOKEN", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")


def in_files(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The same settings, their secrets in files of a folder that only its owner reads."""
    folder.mkdir()
    given = {name: value for name, value in environ.items() if name not in SECRETS}
    for name in SECRETS:
        file = folder / name.lower()
        file.write_text(f"{environ[name]}\n", "utf-8")
        file.chmod(0o400)
        given[f"{name}_FILE"] = str(file)
    folder.chmod(0o500)
    return given


@dataclass
class Container(ProcessTester):
    """The bot as a container starts it."""

    given: dict[str, str] = field(default_factory=dict, init=False)

    @override
    def settings_environment(self) -> dict[str, str]:
        environ = {
            **super().settings_environment(),
            "SLACK_SIGNING_SECRET": "",
            "MQBOT_LOG_LEVEL": "DEBUG",
        }
        self.given = in_files(environ, self.folder / "secrets")
        return self.given


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Container]:
    url = f"sqlite:///{tmp_path / 'own.sqlite3'}"
    async with Container(url, folder=tmp_path) as running:
        yield running


async def test_the_bot_and_its_check_read_secrets_in_files_and_log_none(bot: Container) -> None:
    assert "acme/site" in str(await bot.ask("/mq status"))
    assert (bot.folder / "own.sqlite3").exists()
    assert bot.running is not None
    written = bot.running.printed + bot.running.complaints
    for name in SECRETS[1:]:
        assert (bot.folder / "secrets" / name.lower()).read_text().strip() not in written

    folder = bot.folder / "check"
    folder.mkdir()
    process = await MqbotProcess.start("check", "--json", folder=folder, environ=bot.given)
    assert await process.ends() == 0, process.printed
    assert json.loads(process.printed)["ok"]


@pytest.mark.parametrize("command", ["run", "check", "web", "worker"])
async def test_a_file_that_holds_no_secret_is_named_without_its_content(
    command: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_bytes(b"xoxb-hush\nhush\n")
    environ = {
        **NOWHERE,
        "SLACK_BOT_TOKEN": "",
        "SLACK_BOT_TOKEN_FILE": str(file),
        "SLACK_SIGNING_SECRET": "e6b19c573432dcc6",
    }
    process = await MqbotProcess.start(command, folder=tmp_path, environ=environ)
    assert await process.ends() == 2
    reported = process.printed + process.complaints
    assert reported.count("SLACK_BOT_TOKEN_FILE") == (2 if command == "check" else 1)
    assert "hush" not in reported
    assert "Traceback" not in reported
