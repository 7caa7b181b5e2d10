"""Faults that `mqbot check` reports end `mqbot run` with the same words, or don't end it."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field

import pytest

from bot.cli.process import CONFIGURATION_EXIT, UNAVAILABLE_EXIT
from bot.store import migrate
from bot.store.engines import sqlite_path
from tests.integration.test_check_command import Installation, Report, installation
from tests.integration.test_exit_codes import NOBODY, NOT_OURS
from tests.support.bot_process import MqbotProcess
from tests.support.waiting import until

__all__ = ["installation"]

ELSEWHERE = {"MQBOT_API_URL": "https://queue.example/v1"}
SLACK_ELSEWHERE = {"SLACK_API_URL": "https://slack.example/api/"}
SOCKS = {"HTTPS_PROXY": "socks5://someone:hunter2@proxy.example:1080"}


@dataclass(frozen=True)
class Fault:
    """Settings that differ, a part of what rows of the check say of it, and the check's code.

    `only`: the row that isn't "ok", if there is no other but that of the repository.
    """

    changes: Mapping[str, str]
    rows: Mapping[str, str] = field(default_factory=dict)
    code: int = 1
    only: str = ""

    def assert_reported(self, report: Report) -> None:
        assert report.code == self.code
        assert report.not_well
        if self.only:
            assert report.not_well - {"merge queue: acme/site"} == {self.only}
        for row, part in self.rows.items():
            assert part in str(report.of(*row.split(": ", 1)))
        assert "itself failed" not in str(report.findings)
        assert "hunter2" not in str(report.findings)


NO_PROXY = {"configuration: HTTPS_PROXY": "NO_PROXY"}
ENDS_RUN = {
    "a missing setting": Fault({"SLACK_APP_TOKEN": ""}, {"configuration: SLACK_APP_TOKEN": ""}, 2),
    "two wrong settings": Fault(
        {"MQBOT_API_URL": "nowhere", "SLACK_APP_TOKEN": "xoxb-1"},
        {
            "configuration: MQBOT_API_URL": "wrong",
            "configuration: SLACK_APP_TOKEN": "xapp-…",
            "database: schema": "ok",
            "merge queue": "not checked",
            "Slack": "not checked",
        },
        2,
    ),
    "no settings file": Fault({"MQBOT_CONFIG": "{folder}/none.toml"}, code=2),
    "a settings file that is not TOML": Fault({"MQBOT_CONFIG": "{folder}/letter"}, code=2),
    "a proxy for the service": Fault(ELSEWHERE | SOCKS, NO_PROXY | {"database: schema": "ok"}),
    "a proxy for Slack": Fault(SLACK_ELSEWHERE | SOCKS, NO_PROXY),
    "an invalid proxy": Fault(
        ELSEWHERE | SLACK_ELSEWHERE | {"HTTPS_PROXY": "http://proxy.example:port:3128"}, NO_PROXY
    ),
    "no certificates": Fault(
        ELSEWHERE | {"SSL_CERT_FILE": "/no/such/file.pem"},
        {"configuration: SSL_CERT_FILE": "No such file"},
    ),
    "a refused bot token": Fault({"SLACK_BOT_TOKEN": "xoxb-9-unknown"}),
    "a refused app-level token": Fault(
        {"SLACK_APP_TOKEN": "xapp-9-unknown"},
        {"Slack: app-level token": "connections:write", "Slack: app": "refuses it (invalid_auth)"},
        only="Slack: app-level token",
    ),
    "a database below a file": Fault({"DATABASE_URL": "sqlite:///{folder}/letter/mqbot.sqlite3"}),
    "a database that is a folder": Fault({"DATABASE_URL": "sqlite:///{folder}"}),
    "a database that is none": Fault({"DATABASE_URL": "sqlite:///{folder}/letter"}),
    "an address of another kind": Fault({"DATABASE_URL": "mysql://host/name"}),
}

RUN_GOES_ON = {
    "a refused API token": Fault(
        {"MQBOT_API_TOKEN": "9-unknown-key"},
        {"merge queue: credential": "refuses it (status 401)"},
        only="merge queue: credential",
    ),
    "a key with too small a scope": Fault(
        {"MQBOT_API_TOKEN": "ci-key-141421356"}, {"merge queue: acme/site": "wrong"}
    ),
    "a repository that is not there": Fault(
        {"MQBOT_REPOSITORIES": "acme/site,acme/gone"},
        {"merge queue: acme/gone": "wrong", "merge queue: acme/site": "ok"},
        only="merge queue: acme/gone",
    ),
    "a service that is away": Fault({"MQBOT_API_URL": "http://127.0.0.1:9/v1"}),
    "a channel that is not there": Fault({"MQBOT_CHANNELS": "acme/site=C0NOWHERE"}),
}
"""Each may be mended while the bot runs, or passes."""


async def run(installation: Installation, changes: Mapping[str, str]) -> MqbotProcess:
    for name in ("stdout", "stderr"):
        (installation.folder / name).unlink(missing_ok=True)
    environ = {**installation.environment(), **changes}
    return await MqbotProcess.start("run", folder=installation.folder, environ=environ)


async def end_of_run(
    installation: Installation, changes: Mapping[str, str], code: int
) -> list[str]:
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
    found = [finding["sentence"] for finding in report.findings if finding["standing"] == "wrong"]
    assert len(found) == len(problems)
    for problem, sentence in zip(problems, found, strict=True):
        cause = sentence.removeprefix("It can't be used: ").rstrip(".")
        assert cause in problem


@pytest.mark.parametrize("fault", ENDS_RUN.values(), ids=ENDS_RUN)
async def test_check_reports_a_fault_that_ends_run_in_the_same_words(
    installation: Installation, fault: Fault
) -> None:
    (installation.folder / "letter").write_text("Dear database, " * 500)
    folder = installation.folder
    made = {name: value.format(folder=folder) for name, value in fault.changes.items()}
    report = await installation.check("--json", **made)
    fault.assert_reported(report)
    assert_same_words(await end_of_run(installation, made, CONFIGURATION_EXIT), report)


@pytest.mark.parametrize("revision", NOT_OURS)
async def test_check_reports_a_database_of_another_version_in_the_same_words(
    installation: Installation, revision: str
) -> None:
    with closing(sqlite3.connect(sqlite_path(installation.database_url))) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [revision])
    report = await installation.check("--json")
    assert report.code == 1
    sentence = report.of("database")["sentence"]
    assert NOT_OURS[revision] in sentence
    assert ("move the file away" in sentence) is (revision == "0026")
    assert_same_words(await end_of_run(installation, {}, CONFIGURATION_EXIT), report)


async def test_check_reports_a_temporarily_unavailable_database_in_the_same_words(
    installation: Installation,
) -> None:
    away = {"DATABASE_URL": NOBODY}
    report = await installation.check("--json", **away)
    assert_same_words(await end_of_run(installation, away, UNAVAILABLE_EXIT), report)
    with closing(
        sqlite3.connect(sqlite_path(installation.database_url), isolation_level=None)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        report = await installation.check("--json")
        assert_same_words(await end_of_run(installation, {}, UNAVAILABLE_EXIT), report)


@pytest.mark.parametrize("fault", RUN_GOES_ON.values(), ids=RUN_GOES_ON)
async def test_other_problems_that_check_reports_do_not_end_run(
    installation: Installation, fault: Fault
) -> None:
    report = await installation.check("--json", **fault.changes)
    fault.assert_reported(report)
    process = await run(installation, {**fault.changes, "MQBOT_LOG_FORMAT": "json"})
    await until(lambda: '"ready"' in process.complaints, "a bot that runs")
    assert await process.stop() == 0, process.complaints


async def test_a_missing_database_file_passes_the_check_and_run_creates_it(
    installation: Installation,
) -> None:
    path = installation.folder / "new" / "mqbot.sqlite3"
    new = {"DATABASE_URL": f"sqlite:///{path}", "MQBOT_LOG_FORMAT": "json"}
    report = await installation.check("--json", **new)
    assert (report.code, report.not_well) == (0, set())
    assert report.of("database")["sentence"] == (
        f"It has no tables yet; mqbot upgrades it to {migrate.head_revision()} when it starts."
    )
    assert not path.parent.exists()
    process = await run(installation, new)
    await until(lambda: '"ready"' in process.complaints, "a bot that runs")
    assert await process.stop() == 0, process.complaints
    assert migrate.is_current(new["DATABASE_URL"])
