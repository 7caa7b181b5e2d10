"""Faults that `mqbot check` reports end `mqbot run` with the same words, or don't end it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.process import CONFIGURATION_EXIT, UNAVAILABLE_EXIT
from bot.store import migrate
from tests.integration.test_check_command import Installation, Report, installation
from tests.integration.test_exit_codes import NOBODY, NOT_OURS
from tests.support.bot_process import MqbotProcess
from tests.support.waiting import until

__all__ = ["installation"]

SOCKS = "socks5://someone:hunter2@proxy.example:1080"

ENDS_RUN = {
    "a missing setting": {"SLACK_BOT_TOKEN": ""},
    "two wrong settings": {"MQBOT_API_URL": "nowhere", "SLACK_APP_TOKEN": "xoxb-1"},
    "no settings file": {"MQBOT_CONFIG": "{folder}/none.toml"},
    "a settings file that is not TOML": {"MQBOT_CONFIG": "{folder}/letter"},
    "a proxy for the service": {
        "MQBOT_API_URL": "https://queue.example/v1",
        "HTTPS_PROXY": SOCKS,
    },
    "a proxy for Slack": {"SLACK_API_URL": "https://slack.example/api/", "HTTPS_PROXY": SOCKS},
    "no certificates": {
        "MQBOT_API_URL": "https://queue.example/v1",
        "SSL_CERT_FILE": "/no/such/file.pem",
    },
    "a refused bot token": {"SLACK_BOT_TOKEN": "xoxb-9-unknown"},
    "a refused app-level token": {"SLACK_APP_TOKEN": "xapp-9-unknown"},
    "a database below a file": {"DATABASE_URL": "sqlite:///{folder}/letter/mqbot.sqlite3"},
    "a database that is a folder": {"DATABASE_URL": "sqlite:///{folder}"},
    "a database that is none": {"DATABASE_URL": "sqlite:///{folder}/letter"},
    "an address of another kind": {"DATABASE_URL": "mysql://host/name"},
}

RUN_GOES_ON = {
    "a refused API token": {"MQBOT_API_TOKEN": "unknown-key"},
    "a key with too small a scope": {"MQBOT_API_TOKEN": "ci-key-141421356"},
    "a repository that is not there": {"MQBOT_REPOSITORIES": "acme/site,acme/gone"},
    "a service that is away": {"MQBOT_API_URL": "http://127.0.0.1:9/v1"},
    "a channel that is not there": {"MQBOT_CHANNELS": "acme/site=C0NOWHERE"},
}
"""Each may be mended while the bot runs, or passes."""


async def run(installation: Installation, changes: dict[str, str]) -> MqbotProcess:
    for name in ("stdout", "stderr"):
        (installation.folder / name).unlink(missing_ok=True)
    environ = {**installation.environment(), **changes}
    return await MqbotProcess.start("run", folder=installation.folder, environ=environ)


async def end_of_run(installation: Installation, changes: dict[str, str], code: int) -> list[str]:
    """What each line of its complaint says is wrong."""
    process = await run(installation, changes)
    assert await process.ends() == code, process.complaints
    assert "9-unknown" not in process.complaints
    lines = [line for line in process.complaints.splitlines() if line.startswith("mqbot: ")]
    settings = {line.split(": ")[1] for line in lines}
    assert settings & {*changes, "DATABASE_URL"}, process.complaints
    return [line.split(": ", 2)[2] for line in lines]


def assert_same_words(problems: list[str], report: Report) -> None:
    """Run names the file besides, check the way to mend it."""
    found = [one["sentence"] for one in report.findings if one["standing"] == "wrong"]
    assert len(found) == len(problems)
    for problem, sentence in zip(problems, found, strict=True):
        cause = sentence.removeprefix("It cannot be used: ").rstrip(".")
        assert cause in problem


@pytest.mark.parametrize("changes", ENDS_RUN.values(), ids=ENDS_RUN)
async def test_check_reports_a_fault_that_ends_run_in_the_same_words(
    installation: Installation, changes: dict[str, str]
) -> None:
    (installation.folder / "letter").write_text("Dear database, " * 500)
    made = {name: value.format(folder=installation.folder) for name, value in changes.items()}
    report = await installation.check("--json", **made)
    assert_same_words(await end_of_run(installation, made, CONFIGURATION_EXIT), report)


@pytest.mark.parametrize("revision", NOT_OURS)
async def test_check_reports_a_database_of_another_version_in_the_same_words(
    installation: Installation, revision: str
) -> None:
    with closing(sqlite3.connect(_path(installation))) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [revision])
    report = await installation.check("--json")
    assert_same_words(await end_of_run(installation, {}, CONFIGURATION_EXIT), report)


async def test_check_reports_a_temporarily_unavailable_database_in_the_same_words(
    installation: Installation,
) -> None:
    away = {"DATABASE_URL": NOBODY}
    report = await installation.check("--json", **away)
    assert_same_words(await end_of_run(installation, away, UNAVAILABLE_EXIT), report)
    with closing(sqlite3.connect(_path(installation), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        report = await installation.check("--json")
        assert_same_words(await end_of_run(installation, {}, UNAVAILABLE_EXIT), report)


@pytest.mark.parametrize("changes", RUN_GOES_ON.values(), ids=RUN_GOES_ON)
async def test_other_problems_that_check_reports_do_not_end_run(
    installation: Installation, changes: dict[str, str]
) -> None:
    report = await installation.check("--json", **changes)
    assert report.code == 1
    process = await run(installation, {**changes, "MQBOT_LOG_FORMAT": "json"})
    await until(lambda: '"ready"' in process.complaints, "a bot that runs")
    assert await process.stop() == 0, process.complaints


async def test_a_missing_database_file_passes_the_check_and_run_creates_it(
    installation: Installation,
) -> None:
    path = installation.folder / "new" / "mqbot.sqlite3"
    new = {"DATABASE_URL": f"sqlite:///{path}", "MQBOT_LOG_FORMAT": "json"}
    assert (await installation.check("--json", **new)).code == 0
    process = await run(installation, new)
    await until(lambda: '"ready"' in process.complaints, "a bot that runs")
    assert await process.stop() == 0, process.complaints
    assert migrate.is_current(new["DATABASE_URL"])


def _path(installation: Installation) -> Path:
    return Path(installation.database_url.removeprefix("sqlite:///"))
