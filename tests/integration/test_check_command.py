"""`mqbot check` as a process against both local services: healthy, and with each fault."""

import io
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Self

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr
from rich.console import Console

from bot.channels.rows import Subscriptions
from bot.channels.subscription import DEFAULT_TOPICS, Subscription
from bot.cli.check import show
from bot.inspection import service
from bot.inspection.database import inspect_database, schema
from bot.inspection.results import CHECKS_AT_ONCE, Area, CheckResult, CheckStatus
from bot.kernel.actor import Actor
from bot.kernel.metrics import SuspendedChannel
from bot.kernel.repository import RepositoryName
from bot.log.rows import PullRequests
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.event_records import PullRequestRecord
from bot.merge_queue.http import Http
from bot.pauses.pause import PauseLine, PauseRecord
from bot.pauses.rows import Pauses
from bot.people.rows import People
from bot.posts.delivery import NewDelivery, Subject, SubjectKind, in_doubt
from bot.posts.outbox import Outbox
from bot.runtime.clock import SystemClock
from bot.sandbox.merge_queue.controls import SentEvent
from bot.sandbox.merge_queue.credentials import Credential
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.slack.server import SlackSandbox
from bot.store import migrate
from bot.store.engines import create_engine
from bot.store.errors import StoreUnusable
from bot.store.processes import ClockJumps, ProcessConnections
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.bot_process import MqbotProcess
from tests.support.bot_tester import ALICE, BOB, MANIFEST, REPOSITORY
from tests.support.postgres import PostgresServer, a_server
from tests.support.transactions import begin
from tests.support.waiting import until

SITE = RepositoryName.parse(REPOSITORY)
TOKEN = "queue-key-3141592653"
BOT_TOKEN = "xoxb-1111-2222-checkcheckcheck"
APP_TOKEN = "xapp-1-A0MQBOT-3333-checkcheckcheck"


OF_LIBRARIES = (
    "[Errno",
    "OperationalError",
    "psycopg",
    "sqlalche.me",
    "Expecting",
    "Extra data",
    "Input should",
    "Field required",
    "Cannot connect",
    "ClientConnector",
    "no such table",
    "connection to server",
    "FATAL:",
)
"""Words of drivers and libraries, which say nothing to people."""


@dataclass
class Report:
    code: int
    printed: str
    complaints: str
    findings: list[dict[str, Any]] = field(default_factory=list)

    def of(self, area: str, subject: str = "") -> dict[str, Any]:
        """The only result of an area whose subject begins like this."""
        found = [
            finding
            for finding in self.findings
            if finding["area"] == area and finding["subject"].startswith(subject)
        ]
        assert len(found) == 1, found
        return found[0]

    @property
    def not_well(self) -> set[str]:
        return {
            f"{finding['area']}: {finding['subject']}"
            for finding in self.findings
            if not _is_ok(finding)
        }


def _is_ok(finding: dict[str, Any]) -> bool:
    return bool(finding["standing"] == "ok")


class Installation:
    """Both services, a database, and the settings for them."""

    def __init__(
        self, database_url: str, folder: Path, repositories: Sequence[str] = (REPOSITORY,)
    ) -> None:
        self.database_url = database_url
        self.folder = folder
        self.merge_queue = MergeQueueSandbox(
            repositories=dict.fromkeys(repositories, "quiet"),
            token=TOKEN,
            credentials=(
                Credential("ci-key-141421356", scope="ci"),
                Credential("personal-271828182", kind="personal"),
            ),
        )
        self.slack = SlackSandbox(MANIFEST, bot_token=BOT_TOKEN, app_token=APP_TOKEN)
        self.changes: dict[str, str] = {}

    def environment(self) -> dict[str, str]:
        return {
            "MQBOT_API_URL": self.merge_queue.base_url,
            "MQBOT_API_TOKEN": TOKEN,
            "MQBOT_REPOSITORIES": REPOSITORY,
            "MQBOT_CHANNELS": f"{REPOSITORY}=C0MERGEQ",
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_URL": self.slack.api_url,
            "DATABASE_URL": self.database_url,
            **self.changes,
        }

    async def check(self, *options: str, **changes: str) -> Report:
        """Run it; nothing it says holds a secret or a traceback."""
        for name in ("stdout", "stderr"):
            (self.folder / name).unlink(missing_ok=True)
        process = await MqbotProcess.start(
            "check", *options, folder=self.folder, environ={**self.environment(), **changes}
        )
        code = await process.ends(240)
        report = Report(code, process.printed, process.complaints)
        assert "Traceback" not in report.printed + report.complaints
        for secret in (TOKEN, BOT_TOKEN, APP_TOKEN):
            assert secret not in report.printed + report.complaints
        found = [
            library for library in OF_LIBRARIES if library in report.printed + report.complaints
        ]
        assert not found, report.printed
        # What documentation and Slack show as code or as a link is only noise in a terminal.
        assert "`" not in report.printed
        assert "](" not in report.printed
        if "--json" in options:
            body = json.loads(report.printed)
            report.findings = body["findings"]
            assert body["ok"] is (code == 0)
            assert all(_is_ok(finding) or finding["sentence"] for finding in report.findings)
            wrong = [finding for finding in report.findings if finding["standing"] == "wrong"]
            assert all(finding["fix"] for finding in wrong)
        return report

    def store(self) -> Store:
        return Store(create_engine(self.database_url))

    async def __aenter__(self) -> Self:
        await self.merge_queue.start()
        await self.slack.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.merge_queue.stop()
        await self.slack.stop()


@pytest.fixture
async def installation(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    async with Installation(sqlite_url, tmp_path) as one:
        yield one


async def test_a_healthy_installation_passes_every_part_of_the_check_and_is_not_changed(
    installation: Installation,
) -> None:
    channels = f"{REPOSITORY}=C0MERGEQ;{REPOSITORY}=C0RELEASE"
    report = await installation.check("--json", MQBOT_CHANNELS=channels)
    assert report.not_well == set()
    assert (report.code, report.complaints) == (0, "")
    assert {finding["area"] for finding in report.findings} == {
        "configuration",
        "database",
        "deliveries",
        "merge queue",
        "Slack",
        "channel",
        "clock",
    }
    assert report.of("merge queue", "credential")["sentence"].startswith("Key belongs to “mqbot”")
    assert report.of("merge queue", REPOSITORY)["sentence"].endswith("running.")
    assert report.of("Slack", "bot token")["sentence"] == "Belongs to merge-queue in Acme."
    assert report.of("channel", "C0MERGEQ")["subject"] == "C0MERGEQ #merge-queue"
    other = report.of("channel", "C0RELEASE")
    assert other["sentence"] == "It is public; the bot joins when it posts."
    assert [finding["subject"] for finding in report.findings if finding["area"] == "clock"] == [
        "the bot's clock",
        "merge queue service",
        "Slack",
    ]

    asked = {call["method"] for call in installation.slack.calls.since(0)}
    assert asked == {
        "auth.test",
        "apps.connections.open",
        "conversations.info",
        "users.conversations",
        "users.info",
    }
    requests = installation.merge_queue.requests
    assert {(request.method, request.path.partition("?")[0]) for request in requests} == {
        ("GET", "/v1/application"),
        ("GET", f"/v1/repos/{REPOSITORY}/logs"),
        ("GET", f"/v1/repos/{REPOSITORY}/merge-queue/pause"),
        ("OPTIONS", f"/v1/repos/{REPOSITORY}/merge-queue/pause"),
        ("GET", f"/v1/repos/{REPOSITORY}/merge-queue/status"),
    }
    assert installation.slack.socket_mode.connections == 0


async def test_a_personal_token_passes_and_over_http_the_app_level_token_is_not_checked(
    installation: Installation,
) -> None:
    report = await installation.check(
        "--json",
        MQBOT_API_TOKEN="personal-271828182",
        SLACK_APP_TOKEN="",
        SLACK_SIGNING_SECRET="e6b19c573432dcc6",
    )
    assert (report.code, report.not_well) == (0, set())
    assert "personal access token" in report.of("merge queue", "credential")["sentence"]
    subjects = {finding["subject"] for finding in report.findings if finding["area"] == "Slack"}
    assert "bot token" in subjects
    assert "app-level token" not in subjects


async def test_the_table_shows_a_mark_a_word_a_sentence_and_the_fix(
    installation: Installation,
) -> None:
    plain = await installation.check(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (plain.code, plain.complaints) == (0, "")
    assert "+ ok" in plain.printed
    assert "No problems found." in plain.printed
    report = await installation.check(SLACK_BOT_TOKEN="xoxb-9999-wrong", PYTHONIOENCODING="utf-8")
    assert report.code == 1
    assert "✓ ok" in report.printed
    assert "✗ wrong" in report.printed
    assert "Slack refuses it (invalid_auth)." in report.printed
    assert "Install the app and copy its bot token" in report.printed
    assert "problem found" in report.printed or "problems found" in report.printed


async def test_each_of_hundreds_of_repositories_and_channels_is_checked(
    sqlite_url: str, tmp_path: Path
) -> None:
    """More channels than Slack's limit per minute."""
    names = [f"acme/service-{number:04d}" for number in range(300)]
    async with Installation(sqlite_url, tmp_path, names) as installation:
        installation.merge_queue.pause(names[-1], "CI is down", "carol")
        arrangement = installation.slack.arrangement
        app = installation.slack.installation.bot_user_id
        many = [arrangement.add_channel(f"team{n}", [])["channel"] for n in range(60)]
        for channel in many:
            arrangement.set_member(channel, app, is_member=True)
        limited = {"name": "rate_limit", "method": "conversations.info", "retry_after": 1}
        installation.slack.faults.arm(limited)
        report = await installation.check(
            "--json",
            MQBOT_REPOSITORIES=",".join(names),
            MQBOT_CHANNELS=";".join(f"{names[0]}={one}" for one in [*many, "C0RELEASE"]),
        )
    assert (report.code, report.not_well) == (0, set())
    total, *each = [finding for finding in report.findings if finding["area"] == "channel"]
    assert total["sentence"].startswith("61 of 61 channels can be posted to: #")
    found = [finding["sentence"] for finding in each]
    assert sorted(set(found)) == ["It is public; the bot joins when it posts.", "The bot is in it."]
    assert len(found) == 61
    said = {finding["subject"]: finding["sentence"] for finding in report.findings}
    assert {said[name] for name in names[:-1]} == {"Readable, running."}
    assert said[names[-1]] == "Readable, paused."


async def test_queues_are_summed_up_and_what_is_wrong_comes_last_and_once(
    sqlite_url: str, tmp_path: Path
) -> None:
    names = [f"acme/service-{number:03d}" for number in range(30)]
    gone = [f"gone/service-{number:03d}" for number in range(7)]
    async with Installation(sqlite_url, tmp_path, names) as installation:
        installation.merge_queue.pause(names[3], "CI is down", "carol")
        given = {"MQBOT_REPOSITORIES": ",".join([*gone, *names]), "MQBOT_CHANNELS": ""}
        given["COLUMNS"] = "400"
        report = await installation.check(**given)
        everything = await installation.check("--all", **given)
    said = " ".join(report.printed.replace("│", " ").split())
    assert report.code == everything.code == 1
    assert f"30 of 37 queues can be read; paused: {names[3]}." in said
    assert "Readable, running." not in said
    assert said.count("The key can't read it (status 403).") == 1
    assert "gone/service-003, gone/service-004 and 2 more" in said
    assert said.rindex("✓") < said.index("✗")
    assert said.endswith("1 problem found.")
    each = " ".join(everything.printed.replace("│", " ").split())
    assert each.rindex("✓") < each.index("✗")
    assert each.count("Readable, running.") == 29
    assert each.count("The key can't read it (status 403).") == 7


async def test_a_refused_key_is_one_problem_for_all_its_repositories(
    sqlite_url: str, tmp_path: Path
) -> None:
    names = [f"acme/service-{number:03d}" for number in range(12)]
    async with Installation(sqlite_url, tmp_path, names) as installation:
        given = {"MQBOT_REPOSITORIES": ",".join(names), "MQBOT_CHANNELS": ""}
        given["MQBOT_API_TOKEN"] = "revoked-key-173205080"
        report = await installation.check(**given)
        each = await installation.check("--json", **given)
    assert report.code == 1
    assert report.printed.rstrip().endswith("\n1 problem found.")
    assert "The service refuses it (status 401)." in report.printed
    assert {f"merge queue: {name}" for name in names} < each.not_well


async def test_of_thousands_of_repositories_some_are_asked_for_and_the_bot_vouches_for_the_others(
    sqlite_url: str, tmp_path: Path
) -> None:
    survey_of = partial(service.Survey, all_up_to=10, seconds=0.0)
    names = [RepositoryName(f"acme/service-{number:03d}") for number in range(40)]
    clock = SystemClock()
    now = clock.now()
    read = dict.fromkeys(names[:30], now - timedelta(minutes=9))
    old = dict.fromkeys(names[30:], now - timedelta(minutes=11))
    async with Installation(sqlite_url, tmp_path, names) as installation:
        http = Http(base_url=installation.merge_queue.base_url, token=SecretStr(TOKEN), clock=clock)
        async with MergeQueueClient(http) as client:

            async def total(survey: service.Survey) -> CheckResult:
                found = await service.inspect_service(client, survey, clock, {})
                (queues,) = [one for one in found if one.subject == "queues"]
                return queues

            some = await total(survey_of(names, last_read={**read, **old}))
            vouched = survey_of(names, last_read=dict.fromkeys(names, now))
            well = await total(vouched)
            patient = survey_of(names, last_read=old | read, recent=timedelta(hours=1))
            quiet = await total(patient)
            each = await total(survey_of(names, asks_all=True))
    asked = len(vouched.asked)
    assert 0 < asked <= CHECKS_AT_ONCE
    assert well.sentence == (
        f"40 of 40 queues can be read: {asked} by this check, and {40 - asked} whose logs the bot "
        "has read in the last 10 min."
    )
    assert some.standing is CheckStatus.WARNING
    assert quiet.standing is CheckStatus.OK
    assert "31 of 40" in some.sentence or "32 of 40" in some.sentence
    assert " weren't checked." in some.sentence
    assert "mqbot check --all" in str(some.fix)
    assert each.sentence == "40 of 40 queues can be read."


async def test_every_id_in_the_settings_is_asked_for_in_slack(installation: Installation) -> None:
    arrangement = installation.slack.arrangement
    arrangement.set_group("release", [ALICE, BOB])
    arrangement.set_group("closed", [ALICE], is_enabled=False)
    arrangement.set_group("nobody", [])
    installation.slack.installation.workspace.users[BOB].deleted = True
    report = await installation.check(
        "--json",
        MQBOT_WHO_MAY_PAUSE=f"{ALICE},{BOB},U0NOBODY,S0RELEASE,S0GONE,machine:deploy-job",
        MQBOT_WHO_MAY_FREEZE="S0CLOSED",
        MQBOT_WHO_MAY_SUBSCRIBE="S0RELEASE,S0NOBODY",
        MQBOT_LOGINS="U0TYPO=alice-m",
    )
    assert report.code == 1
    assert report.of("configuration", "who may act")["sentence"] == (
        "Pausing and resuming: S0GONE, @release (S0RELEASE, 2 people), alice (U0ALICE), "
        "bob (U0BOB), U0NOBODY, machine:deploy-job. Freezing: @closed (S0CLOSED, 1 person). "
        "Subscribing channels: @nobody (S0NOBODY, 0 people), @release (S0RELEASE, 2 people)."
    )
    said = {
        (finding["subject"], finding["standing"], finding["sentence"])
        for finding in report.findings
        if finding["area"] == "configuration" and not _is_ok(finding)
    }
    pause, freeze, subscribe = (
        f"MQBOT_WHO_MAY_{right}" for right in ("PAUSE", "FREEZE", "SUBSCRIBE")
    )
    nobody = "Nobody has this right: it names no valid person, group or machine."
    assert said == {
        (f"U0NOBODY in {pause}", "wrong", "Slack knows no such person."),
        (f"S0GONE in {pause}", "wrong", "Slack has no such user group."),
        (f"machine:deploy-job in {pause}", "wrong", "It has no token."),
        (f"bob (U0BOB) in {pause}", "warning", "Is deactivated in Slack."),
        (
            f"@closed (S0CLOSED, 1 person) in {freeze}",
            "wrong",
            "It is disabled in Slack, so its members don't count.",
        ),
        (freeze, "wrong", nobody),
        (f"@nobody (S0NOBODY, 0 people) in {subscribe}", "warning", "It has no members."),
        ("U0TYPO in MQBOT_LOGINS", "warning", "Slack knows no such person."),
        (
            "ids",
            "warning",
            "Slack knows 2 of 4 people and 3 of 4 user groups in the settings.",
        ),
    }


async def test_with_a_refused_token_nobody_is_called_unknown(installation: Installation) -> None:
    given = {"MQBOT_WHO_MAY_PAUSE": f"{ALICE},S0RELEASE", "MQBOT_LOGINS": f"{BOB}=bob"}
    report = await installation.check("--json", SLACK_BOT_TOKEN="xoxb-9999-wrong", **given)
    assert report.of("Slack", "bot token")["standing"] == "wrong"
    configuration = [finding for finding in report.findings if finding["area"] == "configuration"]
    not_well = [one for one in configuration if not _is_ok(one)]
    assert [(finding["subject"], finding["standing"]) for finding in not_well] == [
        ("ids", "not checked")
    ]


async def test_secrets_that_end_soon_or_have_ended_are_warned_of(
    installation: Installation,
) -> None:
    today = datetime.now(UTC).date()
    near, past, far = (today + timedelta(days=days) for days in (3, -1, 90))
    tokens = (
        f"job={'a' * 24};job={'b' * 24} until {near};"
        f"nightly={'c' * 24} until {past};"
        f"weekly={'d' * 24} until {far}"
    )
    report = await installation.check(
        "--json",
        MQBOT_MACHINE_TOKENS=tokens,
        MQBOT_HEALTH_PORT="8080",
        SLACK_SIGNING_SECRET=f"signing-secret-1;signing-secret-2 until {today}",
    )
    rows = [
        (finding["subject"], finding["standing"], finding["sentence"], finding["fix"])
        for finding in report.findings
        if "Entry" in finding["sentence"]
    ]
    unused = "Make sure that nobody uses it any more, then remove it."
    assert rows == [
        (
            "SLACK_SIGNING_SECRET",
            "warning",
            f"Entry 2 is valid only through {today} (UTC).",
            unused,
        ),
        (
            "MQBOT_MACHINE_TOKENS",
            "warning",
            f"Entry 2 (job) is valid only through {near} (UTC).",
            unused,
        ),
        (
            "MQBOT_MACHINE_TOKENS",
            "warning",
            f"Entry 3 (nightly) ended with {past}; requests with it are refused.",
            "Replace it with a new one.",
        ),
        ("MQBOT_MACHINE_TOKENS", "ok", f"Entry 4 (weekly) is valid through {far} (UTC).", None),
    ]
    assert report.code == 0
    assert "aaaa" not in report.printed


async def test_hundreds_of_people_are_looked_up_in_slacks_list(
    installation: Installation,
) -> None:
    arrangement = installation.slack.arrangement
    people = [arrangement.add_user(f"person{number}")["user"] for number in range(60)]
    logins = ",".join(f"{one}=login-{number}" for number, one in enumerate(people))
    report = await installation.check("--json", MQBOT_LOGINS=f"{logins},U0TYPO=gone")
    assert report.not_well == {"configuration: U0TYPO in MQBOT_LOGINS", "configuration: ids"}
    assert report.of("configuration", "ids")["sentence"].startswith("Slack knows 60 of 61 people")
    asked = [call["method"] for call in installation.slack.calls.since(0)]
    assert asked.count("users.list") == 1
    assert asked.count("users.info") == 2


async def test_the_environment_of_a_service_is_read_from_its_file(
    installation: Installation,
) -> None:
    file = installation.folder / "environment"
    lines = [f"{name}={value}" for name, value in installation.environment().items()]
    file.write_text("\n".join(["# Of the unit", *lines, 'MQBOT_COMMAND="/queue"', ""]))
    others = dict.fromkeys(installation.environment(), "")
    of_the_shell = {"MQBOT_WHO_MAY_PAUSE": "U0NOBODY"}
    report = await installation.check("--json", "--env-file", str(file), **others, **of_the_shell)
    assert report.not_well == {"configuration: --env-file"}
    assert "chmod 600" in report.of("configuration", "--env-file")["fix"]
    file.chmod(0o600)
    report = await installation.check("--json", "--env-file", str(file), **others)
    assert (report.code, report.not_well) == (0, set())

    forgotten = installation.folder / "mqbot.toml"
    forgotten.write_text('MQBOT_COMMAND = "/forgotten"\n')
    report = await installation.check("--json", "--env-file", str(file), **others)
    found = report.of("configuration", "MQBOT_CONFIG")
    assert (found["standing"], found["fix"]) == (
        "warning",
        f"Set MQBOT_CONFIG={forgotten}, or move the file away.",
    )
    report = await installation.check("--json", "--env-file", str(forgotten), **others)
    assert report.code == 2
    assert "configuration: MQBOT_API_URL" in report.not_well


async def test_a_setting_in_the_environment_and_in_the_file_is_named_with_its_line(
    installation: Installation,
) -> None:
    path = installation.folder / "mqbot.toml"
    path.write_text('\ncommand = "/queue"\n')
    path.chmod(0o600)
    given = {"MQBOT_CONFIG": str(path), "MQBOT_COMMAND": "/mq"}
    report = await installation.check("--json", **given)
    assert (report.code, report.not_well) == (0, {"configuration: MQBOT_COMMAND"})
    assert f"line 2 of {path}" in report.of("configuration", "MQBOT_COMMAND")["sentence"]
    bot = await MqbotProcess.start(
        "run", folder=installation.folder, environ={**installation.environment(), **given}
    )
    await until(lambda: "settings_overridden" in bot.complaints, "the log of the start")
    assert await bot.stop() == 0
    assert f"line 2 of {path}" in bot.complaints


async def test_a_variable_of_the_environment_that_is_no_setting_is_named(
    installation: Installation,
) -> None:
    report = await installation.check("--json", MQBOT_POLLSECS="5")
    assert (report.code, report.not_well) == (0, {"configuration: MQBOT_POLLSECS"})
    fix = report.of("configuration", "MQBOT_POLLSECS")["fix"]
    assert fix == "Did you mean MQBOT_POLL_SECONDS?"
    bot = await MqbotProcess.start(
        "run",
        folder=installation.folder,
        environ={**installation.environment(), "MQBOT_WHO_MAY_RESUME": "U0ALICE"},
    )
    await until(lambda: "action=settings_unknown" in bot.complaints, "the log of the start")
    assert await bot.stop() == 0
    assert "MQBOT_WHO_MAY_RESUME" in bot.complaints


async def test_a_web_server_in_the_place_of_slack_is_named(installation: Installation) -> None:
    elsewhere = installation.merge_queue.base_url.removesuffix("v1")
    report = await installation.check("--json", SLACK_API_URL=f"{elsewhere}api/")
    assert report.code == 1
    for subject in ("bot token", "app-level token"):
        assert "Another web server answered" in report.of("Slack", subject)["sentence"]


@pytest.mark.parametrize("status", [200, 403, 404])
async def test_another_web_server_at_the_services_address_is_named(
    installation: Installation, status: int
) -> None:
    async def page(_request: web.Request) -> web.Response:
        return web.Response(text="<h1>Welcome</h1>", content_type="text/html", status=status)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", page)
    async with TestServer(application) as server:
        report = await installation.check("--json", MQBOT_API_URL=str(server.make_url("/v1")))
    assert report.code == 1
    for subject in ("credential", REPOSITORY):
        found = report.of("merge queue", subject)
        assert found["sentence"].startswith("Another web server answered at MQBOT_API_URL: ")
        assert "ending in /v1" in found["fix"]


async def test_a_wrong_address_is_one_problem_for_all_repositories(
    installation: Installation,
) -> None:
    elsewhere = installation.slack.api_url.removesuffix("/api/") + "/v1"
    report = await installation.check(
        MQBOT_API_URL=elsewhere, MQBOT_REPOSITORIES=f"{REPOSITORY},acme/api"
    )
    assert report.code == 1
    assert "Another web server answered at MQBOT_API_URL" in " ".join(report.printed.split())
    assert "Give the key access" not in report.printed
    assert "1 problem found" in report.printed


@pytest.mark.parametrize("address", ["sqlite:///tmp/mqbot.sqlite3", "sqlite:///mqbot.sqlite3"])
async def test_a_relative_path_of_the_database_is_named_with_where_it_leads(
    installation: Installation, address: str
) -> None:
    report = await installation.check("--json", DATABASE_URL=address)
    found = report.of("database", "DATABASE_URL")
    assert found["standing"] == "warning"
    assert str(installation.folder / address.removeprefix("sqlite:///")) in found["sentence"]
    assert "sqlite:////" in found["fix"]


@pytest.mark.parametrize("at_start", [True, False])
def test_a_database_of_another_version_is_migrated_at_start_or_by_hand(*, at_start: bool) -> None:
    found = schema("0000_before", migrates_at_start=at_start)
    assert found.standing is (CheckStatus.OK if at_start else CheckStatus.WRONG)
    assert found.sentence.startswith("It is at revision 0000_before")
    assert found.fix == (None if at_start else "Run: mqbot migrate")


@pytest.mark.postgres
async def test_a_server_database_must_be_migrated_first_and_needs_no_encoding(
    installation: Installation, postgres_server: PostgresServer
) -> None:
    options = "template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
    url = postgres_server.url(postgres_server.create_database(options))
    report = await installation.check("--json", DATABASE_URL=url)
    assert report.code == 1
    assert report.of("database")["fix"] == "Run: mqbot migrate"
    assert report.not_well == {"database: schema", "deliveries: outbox"}
    migrate.upgrade(url)
    report = await installation.check("--json", DATABASE_URL=url)
    assert report.not_well == set()


@pytest.mark.postgres
async def test_a_server_that_only_reads_is_reported(installation: Installation) -> None:
    """A failover has made it a standby, and the address still leads to it."""
    with a_server() as server:
        migrate.upgrade(server.url())
        server.become_standby()
        report = await installation.check("--json", DATABASE_URL=server.url())
    assert report.code == 1
    assert report.not_well == {"database: writing"}
    said = report.of("database", "writing")["sentence"]
    assert said == "It is read-only: it is read-only, as a standby is."


async def test_a_failing_service_is_reported_and_the_rest_is_checked(
    installation: Installation,
) -> None:
    installation.merge_queue.faults.arm(Fault("error", times=None, status=503))
    report = await installation.check("--json")
    assert report.code == 1
    assert "status 503" in report.of("merge queue", REPOSITORY)["sentence"]
    assert report.of("Slack", "bot token")["standing"] == "ok"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (None, "Its answer can't be read: no JSON from line 1, column "),
        ([], "Its answer can't be read: not such a value."),
        ({"batches": "many"}, "Its answer can't be read: batches: "),
    ],
)
async def test_an_answer_that_is_not_the_services_is_told_in_our_words(
    installation: Installation, body: object, sentence: str
) -> None:
    fault = Fault("malformed", path="/merge-queue/status", times=None)
    if body is not None:
        fault = Fault("error", path="/merge-queue/status", times=None, status=200, body=body)
    installation.merge_queue.faults.arm(fault)
    report = await installation.check("--json")
    assert report.code == 1
    assert report.of("merge queue", REPOSITORY)["sentence"].startswith(sentence)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("a file/bot.sqlite3", "a part of the path isn't a folder"),
        ("a folder", "the path is a folder"),
        ("a file", "the file is not a database"),
        ("x" * 300, "the path is too long"),
    ],
)
async def test_a_file_that_is_no_database_is_told_in_our_words(
    installation: Installation, tmp_path: Path, path: str, sentence: str
) -> None:
    (tmp_path / "a file").write_text("not a database, " * 100)
    (tmp_path / "a folder").mkdir()
    report = await installation.check("--json", DATABASE_URL=f"sqlite:///{tmp_path / path}")
    assert report.code == 1
    assert f"It can't be used: {sentence}" in report.of("database", "connection")["sentence"]


@pytest.mark.postgres
async def test_what_a_server_refuses_is_told_in_our_words(
    installation: Installation, postgres_server: PostgresServer
) -> None:
    name = postgres_server.create_database()
    migrate.upgrade(postgres_server.url(name))
    postgres_server.execute("ALTER TABLE deliveries RENAME TO others", name)
    report = await installation.check("--json", DATABASE_URL=postgres_server.url(name))
    postgres_server.drop_database(name)
    assert report.code == 1
    assert any("a table is missing" in finding["sentence"] for finding in report.findings)


async def test_a_log_that_cannot_be_read_is_reported(installation: Installation) -> None:
    installation.merge_queue.faults.arm(Fault("error", path="/logs", times=None, status=403))
    report = await installation.check("--json")
    assert report.code == 1
    assert report.of("merge queue", REPOSITORY)["standing"] == "ok"
    assert report.of("merge queue", f"event log of {REPOSITORY}")["standing"] == "wrong"


def _fill(transaction: Transaction) -> None:
    """Waiting deliveries, channels that are closed to the bot, and authors of the last days."""
    now = datetime.now(UTC)
    hour_ago = now - timedelta(hours=1)
    subject = Subject(SubjectKind.EVENT, SITE, 1)
    outbox = Outbox(transaction)
    outbox.add([NewDelivery("d-1", "C0MERGEQ", subject, hour_ago)])
    a_minute_later = hour_ago + timedelta(minutes=1)
    (claimed,) = outbox.claim(now=hour_ago, claimed_until=a_minute_later, at_most=1, per_channel=1)
    outbox.record([in_doubt(claimed, "timeout", hour_ago)])
    outbox.add([NewDelivery("d-2", "C0RELEASE", subject, hour_ago)])
    outbox.suspend(SuspendedChannel("C0RELEASE", "is_archived", hour_ago, hour_ago))
    outbox.add([NewDelivery("d-3", "C0GENERAL", subject, hour_ago)])
    outbox.suspend(SuspendedChannel("C0GENERAL", "token_revoked", hour_ago, hour_ago))
    for channel in ("C0RELEASE", "C0INCIDENT", "C0NOWHERE"):
        Subscriptions(transaction).save(Subscription(channel, SITE, DEFAULT_TOPICS))
    authors = {1: "Ada", 2: "bob", 3: "ada", 4: "renovate[bot]", 5: "zoe", 8: "gone"}
    PullRequests(transaction).save(
        [
            PullRequestRecord(SITE, days, "A title", "", author, now - timedelta(days=days))
            for days, author in authors.items()
        ]
    )
    People(transaction).assign({"U1": "ADA"})


async def test_what_is_wrong_with_queue_channels_and_deliveries_is_reported_together(
    installation: Installation,
) -> None:
    future = datetime.now(UTC) + timedelta(minutes=10, seconds=30)
    installation.merge_queue.pause(REPOSITORY, "CI is down", "carol")
    installation.merge_queue.emit(REPOSITORY, SentEvent("action.refresh", received_at=future))
    slack = installation.slack
    slack.arrangement.change_channel("C0RELEASE", {"is_archived": True})
    bot_user = slack.installation.bot_user_id
    slack.installation.workspace.users[bot_user].has_guest_flags = False
    store = installation.store()
    await store.run(_fill)
    await store.close()

    report = await installation.check("--json")

    assert report.code == 1
    assert report.not_well == {
        f"clock: event log of {REPOSITORY}",
        "Slack: guests",
        *(f"channel: {word}" for word in ("C0RELEASE #releases", "C0INCIDENT", "C0NOWHERE")),
        *(f"deliveries: {word}" for word in ("waiting", "in doubt", "C0RELEASE", "C0GENERAL")),
    }
    paused = report.of("merge queue", REPOSITORY)
    assert paused["sentence"] == "Readable, paused."
    early = report.of("clock", f"event log of {REPOSITORY}")
    assert early["standing"] == "wrong"
    assert "10 min in the future" in early["sentence"]
    assert "is_restricted" in report.of("Slack", "guests")["sentence"]
    assert "archived" in report.of("channel", "C0RELEASE")["sentence"]
    assert "Invite the bot" in report.of("channel", "C0INCIDENT")["fix"]
    assert report.of("channel", "C0NOWHERE")["standing"] == "wrong"
    assert report.of("channel", "C0MERGEQ")["standing"] == "ok"
    assert "the oldest for 60 min" in report.of("deliveries", "waiting")["sentence"]
    assert "since 60 min" in report.of("deliveries", "in doubt")["sentence"]
    assert "mqbot unsubscribe C0RELEASE" in report.of("deliveries", "C0RELEASE")["fix"]
    assert "set its SLACK_BOT_TOKEN" in report.of("deliveries", "C0GENERAL")["fix"]
    assert "is_archived" in report.of("deliveries", "C0RELEASE")["sentence"]
    assert report.of("configuration", "logins")["sentence"] == (
        "2 of 4 authors in the last 7 days linked to Slack. Unknown: bob, zoe."
    )


async def test_each_missing_scope_is_named_with_its_cost(installation: Installation) -> None:
    manifest = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    scopes = manifest["oauth_config"]["scopes"]["bot"]
    for missing in ("groups:history", "channels:join", "users:read"):
        scopes.remove(missing)
    narrow = SlackSandbox(manifest, bot_token=BOT_TOKEN, app_token=APP_TOKEN)
    await narrow.start()
    report = await installation.check("--json", SLACK_API_URL=narrow.api_url)
    await narrow.stop()
    assert report.code == 1
    assert "invited to public channels" in report.of("Slack", "channels:join")["sentence"]
    lost = report.of("Slack", "groups:history")
    assert lost["standing"] == "warning"
    assert "In private channels, a post may be missing" in lost["sentence"]
    # One that the bot cannot do without.
    assert report.of("Slack", "users:read")["standing"] == "wrong"


async def test_a_jump_of_the_bots_clock_is_reported_for_a_day(installation: Installation) -> None:
    store = installation.store()
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    with begin(store) as transaction:
        for ago, jump in ((25, 2 * hour), (2, hour), (1, -hour)):
            ClockJumps(transaction).add(now - ago * hour, jump)
    await store.close()

    report = await installation.check("--json")

    assert report.not_well == {"clock: the bot's clock"}
    sentence = report.of("clock", "the bot's clock")["sentence"]
    assert sentence.startswith("It jumped back by 60 min, to ")
    assert sentence.endswith("It jumped 2 times since yesterday.")


async def test_another_process_with_the_same_tokens_is_reported(
    installation: Installation,
) -> None:
    """Two processes on this database keep two connections each; a fifth is a stranger's."""
    store = installation.store()
    for counted, others in ((4, 0), (5, 1), (8, 4)):

        def note(transaction: Transaction, counted: int = counted) -> None:
            ProcessConnections(transaction).note("one", kept=2, counted=2)
            ProcessConnections(transaction).note("two", kept=2, counted=counted)

        await store.run(note)
        report = await installation.check("--json")
        assert (report.code, report.not_well) == (
            (1, {"deliveries: other processes"}) if others else (0, set())
        )
        if others:
            said = report.of("deliveries", "other processes")["sentence"]
            assert said.startswith(f"Slack counts {others} connection")
    await store.close()


async def test_a_wrong_clock_is_reported(installation: Installation) -> None:
    for seconds, direction in ((3630, "behind"), (-3630, "ahead of")):
        faults = installation.merge_queue.faults
        faults.disarm()
        faults.arm(Fault("wrong_date", times=None, seconds=seconds))
        report = await installation.check("--json")
        assert report.not_well == {"clock: merge queue service"}
        found = report.of("clock", "merge queue service")
        assert found["sentence"] == f"This machine's clock is 60 min {direction} it."


async def test_with_everything_down_every_part_is_still_reported(
    installation: Installation, tmp_path: Path
) -> None:
    closed = "http://127.0.0.1:9"
    report = await installation.check(
        "--json",
        MQBOT_API_URL=f"{closed}/v1",
        SLACK_API_URL=f"{closed}/api/",
        DATABASE_URL=f"sqlite:///{tmp_path}",
    )
    assert report.code == 1
    assert report.of("configuration", "settings")["standing"] == "ok"
    standings = {
        f"{finding['area']}: {finding['subject']}": finding["standing"]
        for finding in report.findings
        if finding["area"] != "configuration"
    }
    assert standings == {
        "database: connection": "wrong",
        "deliveries: outbox": "not checked",
        "merge queue: credential": "wrong",
        f"merge queue: {REPOSITORY}": "wrong",
        "clock: merge queue service": "not checked",
        "Slack: bot token": "wrong",
        "Slack: app-level token": "wrong",
        "clock: Slack": "not checked",
        "channel: C0MERGEQ": "not checked",
    }


async def test_a_service_that_hangs_ends_the_check_in_time(installation: Installation) -> None:
    installation.merge_queue.faults.arm(Fault("slow", times=None, seconds=60))
    installation.slack.faults.arm({"name": "slow", "seconds": 60, "times": 100})
    report = await installation.check("--json")
    assert report.code == 1
    assert report.of("database", "schema")["standing"] == "ok"
    assert report.of("database", "writing")["standing"] == "ok"
    assert report.of("merge queue", REPOSITORY)["standing"] == "wrong"
    assert report.of("Slack", "bot token")["standing"] == "wrong"


@pytest.mark.parametrize("width", [40, 80, 120])
def test_setting_names_are_never_wrapped_on_narrow_terminals(width: int) -> None:
    names = ["MQBOT_REPOSITORIES", "SLACK_SIGNING_SECRET"]
    found = [
        CheckResult(
            Area.CONFIGURATION, name, CheckStatus.WRONG, "is missing.", f"Set {name}: it takes one."
        )
        for name in names
    ]
    shown = io.StringIO()
    show(found, str, Console(file=shown, width=width, force_terminal=True, color_system=None))
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert [shown.getvalue().count(name) for name in names] == [2, 2]
    assert lines[-1] == "2 problems found."


async def test_a_settings_file_shows_its_policies_and_a_warning_if_others_may_read_it(
    installation: Installation,
) -> None:
    installation.slack.arrangement.set_group("release", [ALICE])
    installation.slack.arrangement.set_group("oncall", [BOB])
    path = installation.folder / "mqbot.toml"
    path.write_text(
        f"""
        SLACK_BOT_TOKEN = "{BOT_TOKEN}"
        [MQBOT_POLICY."{REPOSITORY}"]
        who_may_resume = ["S0RELEASE", "U0BOB"]
        health_depth = 20
        alert_mention = "S0ONCALL"
        reminder_minutes = 0
        api_token = "{TOKEN}"
        """,
        "utf-8",
    )
    path.chmod(0o644)
    in_file = {"MQBOT_CONFIG": str(path), "SLACK_BOT_TOKEN": ""}
    report = await installation.check("--json", **in_file)
    found = report.of("configuration", "MQBOT_CONFIG")
    assert (found["standing"], report.code) == ("warning", 0)
    assert "chmod 600" in found["fix"]
    assert report.of("configuration", f"policy of {REPOSITORY}")["sentence"] == (
        "Pausing: everyone. Resuming: @release (S0RELEASE, 1 person), bob (U0BOB). "
        "Removing others' pull requests: everyone. "
        "Alerts: head after 1 h 30 min, batch after 1 h, more than 20 queued, "
        "5 failures in a row, stuck for 10 min; they mention @oncall (S0ONCALL, 1 person). "
        "Reminders: none. "
        f'Credential: api_token in MQBOT_POLICY."{REPOSITORY}".'
    )
    assert report.of("merge queue", REPOSITORY)["standing"] == "ok"
    printed = (await installation.check(**in_file)).printed
    assert "No problems found; 1 warning." in printed
    path.chmod(0o600)
    report = await installation.check("--json", **in_file)
    assert report.not_well == set()


async def test_files_of_secrets_that_others_may_read_or_change_are_named(
    installation: Installation,
) -> None:
    folder = installation.folder
    files = {
        "SLACK_BOT_TOKEN_FILE": (folder / "bot token", BOT_TOKEN, 0o640),
        "MQBOT_API_TOKEN_FILE": (folder / "api_token", TOKEN, 0o644),
        "MQBOT_REPOSITORIES": (folder / "repositories", REPOSITORY, 0o602),
        "MQBOT_LOGINS": (folder / "logins", "U0BOB=bob", 0o604),
        "api_token_file": (folder / "own_token", TOKEN, 0o666),
    }
    for path, content, mode in files.values():
        path.write_text(content)
        path.chmod(mode)
    config = folder / "mqbot.toml"
    own = f'api_token_file = "{files["api_token_file"][0]}"'
    config.write_text(f'[MQBOT_POLICY."{REPOSITORY}"]\n{own}\n')
    config.chmod(0o600)
    given = {
        "MQBOT_CONFIG": str(config),
        "SLACK_BOT_TOKEN": "",
        "SLACK_BOT_TOKEN_FILE": str(files["SLACK_BOT_TOKEN_FILE"][0]),
        "MQBOT_API_TOKEN": "",
        "MQBOT_API_TOKEN_FILE": str(files["MQBOT_API_TOKEN_FILE"][0]),
        "MQBOT_REPOSITORIES": f"@{files['MQBOT_REPOSITORIES'][0]}",
        "MQBOT_LOGINS": f"@{files['MQBOT_LOGINS'][0]}",
    }
    report = await installation.check("--json", **given)
    warned = [finding for finding in report.findings if finding["standing"] == "warning"]
    said = {
        finding["subject"]: finding["sentence"].partition(" can ")[2].split()[0]
        for finding in warned
    }
    assert said == {
        "SLACK_BOT_TOKEN_FILE": "read",
        "MQBOT_API_TOKEN_FILE": "read",
        "MQBOT_REPOSITORIES": "change",
        "MQBOT_LOGINS": "read",
        f"api_token_file of {REPOSITORY}": "change",
    }
    fixes = [finding["fix"] for finding in warned]
    assert f"Run: chmod 600 '{folder}/bot token'" in fixes
    for path, _, _ in files.values():
        path.chmod(0o600)
    assert (await installation.check("--json", **given)).not_well == set()


@pytest.mark.parametrize(("mode", "is_named"), [(0o757, True), (0o1777, False), (0o770, False)])
async def test_a_folder_in_which_others_may_replace_a_secret_is_named(
    installation: Installation, mode: int, *, is_named: bool
) -> None:
    """A file that only its owner may read can still be exchanged there."""
    folder = installation.folder / "open to all"
    folder.mkdir()
    token = folder / "bot token"
    token.write_text(BOT_TOKEN)
    token.chmod(0o600)
    folder.chmod(mode)
    given = {"SLACK_BOT_TOKEN": "", "SLACK_BOT_TOKEN_FILE": str(token)}
    report = await installation.check("--json", **given)
    assert report.code == 0
    assert report.not_well == ({"configuration: SLACK_BOT_TOKEN_FILE"} if is_named else set())
    if is_named:
        found = report.of("configuration", "SLACK_BOT_TOKEN_FILE")
        assert found["sentence"] == f"Other users of this machine can replace files in {folder}."
        assert found["fix"] == f"Run: chmod o-w '{folder}'"


def _let_others_read(database_url: str) -> None:
    Path(database_url.removeprefix("sqlite:///")).chmod(0o644)


async def test_a_database_that_others_may_read_is_named(installation: Installation) -> None:
    report = await installation.check("--json")
    assert report.not_well == set()
    _let_others_read(installation.database_url)
    report = await installation.check("--json")
    found = report.of("configuration", "DATABASE_URL")
    assert (found["standing"], report.code) == ("warning", 0)


async def test_a_token_over_plain_http_to_another_machine_is_refused_unless_allowed(
    installation: Installation,
) -> None:
    for name, address in (
        ("MQBOT_API_URL", "http://queue.invalid/v1"),
        ("SLACK_API_URL", "HTTP://127.0.0.1.invalid/api/"),
    ):
        report = await installation.check("--json", **{name: address})
        found = report.of("configuration", name)
        assert (found["standing"], report.code) == ("wrong", 2)
        assert "MQBOT_ALLOW_HTTP" in found["sentence"]
        report = await installation.check("--json", **{name: address}, MQBOT_ALLOW_HTTP="true")
        found = report.of("configuration", name)
        assert found["standing"] == "warning"
        assert "Plain http" in found["sentence"]


@pytest.mark.parametrize("path", ["file/mqbot.sqlite3", "\0", "n" * 300])
async def test_check_rejects_a_database_path_that_run_refuses(
    installation: Installation, path: str
) -> None:
    (installation.folder / "file").write_text("not a folder")
    url = f"sqlite:///{installation.folder}/{path}"
    found = await inspect_database(url)
    assert [one.standing for one in found] == [CheckStatus.WRONG]
    with pytest.raises((StoreUnusable, ValueError)):
        migrate.upgrade(url)


def test_checking_a_path_creates_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a/b/mqbot.sqlite3"
    assert migrate.current_revision(url) is None
    assert list(tmp_path.iterdir()) == []


async def test_each_credential_has_a_row_and_a_refused_one_is_named_by_its_setting(
    sqlite_url: str, tmp_path: Path
) -> None:
    other = "other/docs"
    gone = "gone/web"
    key = tmp_path / "key"
    file = tmp_path / "mqbot.toml"
    key.write_text("revoked-key-173205080", "utf-8")
    key.chmod(0o600)
    file.write_text(
        f"""
        MQBOT_REPOSITORIES = ["{REPOSITORY}", "{other}", "{gone}"]
        [MQBOT_POLICY."other/*"]
        api_token = "personal-271828182"
        [MQBOT_POLICY."{gone}"]
        api_token_file = "{key}"
        """,
        "utf-8",
    )
    file.chmod(0o600)
    environment = {"MQBOT_CONFIG": str(file), "MQBOT_REPOSITORIES": ""}
    async with Installation(sqlite_url, tmp_path, (REPOSITORY, other, gone)) as installation:
        report = await installation.check("--json", **environment)
    assert report.not_well == {f"merge queue: credential of {gone}", f"merge queue: {gone}"}
    fix = report.of("merge queue", f"credential of {gone}")["fix"]
    assert fix.startswith(f'Set api_token_file in MQBOT_POLICY."{gone}" to an application key')
    assert f'api_token_file in MQBOT_POLICY."{gone}"' in report.of("merge queue", gone)["fix"]
    sentence = report.of("merge queue", f"credential of {other}")["sentence"]
    assert "a personal access token" in sentence


def test_nothing_that_was_found_controls_the_terminal_or_looks_like_another_line() -> None:
    orders = "\x1b[2J\x1b]0;title\x07 \x9b1m \u202egnp.exe \u2028next\x85\r\n+ ok  all: well"
    found = [Area.CHANNEL.problem(orders, f"It is {orders}.", f"Ask {orders}.")]
    for width in (60, 160):
        written = io.StringIO()
        console = Console(file=written, width=width, force_terminal=True, color_system=None)
        show(found, lambda text: text, console)
        said = written.getvalue()
        assert all(one.isprintable() or one == "\n" for one in said), ascii(said)
        assert "title" in said
        assert not any(line.startswith("+ ok") for line in said.splitlines())


async def test_a_repository_removed_while_paused_is_named(installation: Installation) -> None:
    store = installation.store()
    gone = RepositoryName.parse("acme/gone")
    since = datetime.now(UTC) - timedelta(hours=1)
    pauses = [
        PauseRecord(
            gone, PauseLine(since, "moving (by Ada via Slack)", "moving", Actor("U1", "Ada"))
        ),
        PauseRecord(SITE, PauseLine(since, "busy", "busy")),
    ]
    await store.run(lambda transaction: [Pauses(transaction).save(pause) for pause in pauses])
    await store.close()
    report = await installation.check("--json")
    found = report.of("configuration", "acme/gone")
    assert found["standing"] == "warning"
    assert "paused by Ada, without an end" in found["sentence"]
    assert found["fix"].startswith("Resume it: /mq resume acme/gone still works. Or")
    assert report.not_well == {"configuration: acme/gone"}
    assert report.code == 0
