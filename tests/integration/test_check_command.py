"""`mqbot check` as a process against both local services: healthy, and with each fault."""

import io
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

import pytest
import yaml
from rich.console import Console

from bot.cli.check import show
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind, SuspendedChannel, in_doubt
from bot.domain.errors import StoreUnusable
from bot.domain.event_records import PullRequestRecord
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import DEFAULT_TOPICS, Subscription
from bot.inspection.database import inspect_database, schema
from bot.inspection.results import Area, CheckResult, CheckStatus
from bot.sandbox.merge_queue.controls import SentEvent
from bot.sandbox.merge_queue.credentials import Credential
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.slack.server import SlackSandbox
from bot.store import migrate
from bot.store.engines import create_engine
from bot.store.transactions import Store, Transaction
from tests.support.bot_process import MqbotProcess
from tests.support.bot_tester import MANIFEST, REPOSITORY
from tests.support.postgres import PostgresServer
from tests.support.transactions import begin

SITE = RepositoryName.parse(REPOSITORY)
TOKEN = "queue-key-3141592653"
BOT_TOKEN = "xoxb-1111-2222-checkcheckcheck"
APP_TOKEN = "xapp-1-A0MQBOT-3333-checkcheckcheck"


@dataclass
class Report:
    code: int
    printed: str
    complaints: str
    findings: list[dict[str, Any]] = field(default_factory=list)

    def of(self, area: str, subject: str = "") -> dict[str, Any]:
        """The only result of an area whose subject begins like this."""
        found = [
            one
            for one in self.findings
            if one["area"] == area and one["subject"].startswith(subject)
        ]
        assert len(found) == 1, found
        return found[0]

    @property
    def not_well(self) -> set[str]:
        return {f"{one['area']}: {one['subject']}" for one in self.findings if not _is_ok(one)}


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
        if "--json" in options:
            body = json.loads(report.printed)
            report.findings = body["findings"]
            assert body["ok"] is (code == 0)
            assert all(_is_ok(one) or one["sentence"] for one in report.findings)
            wrong = [one for one in report.findings if one["standing"] == "wrong"]
            assert all(one["fix"] for one in wrong)
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
    assert {one["area"] for one in report.findings} == {
        "configuration",
        "database",
        "deliveries",
        "merge queue",
        "Slack",
        "channel",
        "clock",
    }
    assert report.of("merge queue", "credential")["sentence"].startswith("The service knows it")
    assert report.of("merge queue", REPOSITORY)["sentence"].endswith("it is running.")
    assert report.of("Slack", "bot token")["sentence"] == "It is merge-queue in Acme."
    assert report.of("channel", "C0MERGEQ")["subject"] == "C0MERGEQ #merge-queue"
    other = report.of("channel", "C0RELEASE")
    assert other["sentence"] == "It is public; the bot joins when it posts."
    assert [one["subject"] for one in report.findings if one["area"] == "clock"] == [
        "the bot's clock",
        "merge queue service",
        "Slack",
    ]

    asked = {one["method"] for one in installation.slack.calls.since(0)}
    assert asked == {
        "auth.test",
        "apps.connections.open",
        "conversations.info",
        "users.conversations",
        "users.info",
    }
    requests = installation.merge_queue.requests
    assert {(one.method, one.path.partition("?")[0]) for one in requests} == {
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
    subjects = {one["subject"] for one in report.findings if one["area"] == "Slack"}
    assert "bot token" in subjects
    assert "app-level token" not in subjects


async def test_the_table_shows_a_mark_a_word_a_sentence_and_the_fix(
    installation: Installation,
) -> None:
    plain = await installation.check(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (plain.code, plain.complaints) == (0, "")
    assert "+ ok" in plain.printed
    assert "All is well." in plain.printed
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
    found = [one["sentence"] for one in report.findings if one["area"] == "channel"]
    assert sorted(set(found)) == ["It is public; the bot joins when it posts.", "The bot is in it."]
    assert len(found) == 61
    said = {one["subject"]: one["sentence"] for one in report.findings}
    assert {said[name] for name in names[:-1]} == {"Its queue can be read; it is running."}
    assert said[names[-1]] == "Its queue can be read; it is paused."


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


async def test_a_failing_service_is_reported_and_the_rest_is_checked(
    installation: Installation,
) -> None:
    installation.merge_queue.faults.arm(Fault("error", times=None, status=503))
    report = await installation.check("--json")
    assert report.code == 1
    assert "status 503" in report.of("merge queue", REPOSITORY)["sentence"]
    assert report.of("Slack", "bot token")["standing"] == "ok"


async def test_a_log_that_cannot_be_read_is_reported(installation: Installation) -> None:
    installation.merge_queue.faults.arm(Fault("error", path="/logs", times=None, status=403))
    report = await installation.check("--json")
    assert report.code == 1
    assert report.of("merge queue", REPOSITORY)["standing"] == "ok"
    assert report.of("merge queue", f"event log of {REPOSITORY}")["standing"] == "wrong"


def _fill(transaction: Transaction) -> None:
    """Waiting deliveries, channels that are closed to the bot, and authors of the last days."""
    now = datetime.now(UTC)
    hour_ago, subject = now - timedelta(hours=1), Subject(SubjectKind.EVENT, SITE, 1)
    outbox = transaction.outbox
    outbox.add([NewDelivery("d-1", "C0MERGEQ", subject, hour_ago)])
    a_minute_later = hour_ago + timedelta(minutes=1)
    (claimed,) = outbox.claim(now=hour_ago, claimed_until=a_minute_later, at_most=1, per_channel=1)
    outbox.record([in_doubt(claimed, "timeout", hour_ago)])
    outbox.add([NewDelivery("d-2", "C0RELEASE", subject, hour_ago)])
    outbox.suspend(SuspendedChannel("C0RELEASE", "is_archived", hour_ago, hour_ago))
    for channel in ("C0RELEASE", "C0INCIDENT", "C0NOWHERE"):
        transaction.subscriptions.save(Subscription(channel, SITE, DEFAULT_TOPICS))
    authors = {1: "Ada", 2: "bob", 3: "ada", 4: "renovate[bot]", 5: "zoe", 8: "gone"}
    transaction.pull_requests.save(
        [
            PullRequestRecord(SITE, days, "A title", "", author, now - timedelta(days=days))
            for days, author in authors.items()
        ]
    )
    transaction.people.assign({"U1": "ADA"})


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
        *(f"channel: {one}" for one in ("C0RELEASE #releases", "C0INCIDENT", "C0NOWHERE")),
        *(f"deliveries: {one}" for one in ("waiting", "in doubt", "C0RELEASE")),
    }
    paused = report.of("merge queue", REPOSITORY)
    assert paused["sentence"] == "Its queue can be read; it is paused."
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
    assert "is_archived" in report.of("deliveries", "C0RELEASE")["sentence"]
    assert report.of("configuration", "logins")["sentence"] == (
        "Of 4 authors in the last 7 days, 2 are linked to Slack. Unknown: bob, zoe."
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
    store, now, hour = installation.store(), datetime.now(UTC), timedelta(hours=1)
    with begin(store) as transaction:
        for ago, jump in ((25, 2 * hour), (2, hour), (1, -hour)):
            transaction.expiring_keys.add_jump(now - ago * hour, jump)
    await store.close()

    report = await installation.check("--json")

    assert report.not_well == {"clock: the bot's clock"}
    sentence = report.of("clock", "the bot's clock")["sentence"]
    assert sentence.startswith("It jumped back by 60 min, to ")
    assert sentence.endswith("It jumped 2 times since yesterday.")


async def test_a_wrong_clock_is_reported(installation: Installation) -> None:
    for seconds, direction in ((3630, "behind"), (-3630, "ahead of")):
        faults = installation.merge_queue.faults
        faults.disarm()
        faults.arm(Fault("wrong_date", times=None, seconds=seconds))
        report = await installation.check("--json")
        assert report.not_well == {"clock: merge queue service"}
        found = report.of("clock", "merge queue service")
        assert found["sentence"] == f"Our clock is 60 min {direction} it."


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
    assert report.of("configuration")["standing"] == "ok"
    standings = {
        f"{one['area']}: {one['subject']}": one["standing"]
        for one in report.findings
        if one["area"] != "configuration"
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
    assert report.of("database")["standing"] == "ok"
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
    report = await installation.check("--json", MQBOT_CONFIG=str(path))
    found = report.of("configuration", "MQBOT_CONFIG")
    assert (found["standing"], report.code) == ("warning", 0)
    assert "chmod 600" in found["fix"]
    assert report.of("configuration", f"policy of {REPOSITORY}")["sentence"] == (
        "Pausing: everyone. Resuming: S0RELEASE, U0BOB. Removing others' pull requests: everyone. "
        "Alerts: head after 1 h 30 min, batch after 1 h, more than 20 queued, "
        "5 failures in a row; they mention S0ONCALL. Reminders: none. "
        f'Credential: api_token in MQBOT_POLICY."{REPOSITORY}".'
    )
    assert report.of("merge queue", REPOSITORY)["standing"] == "ok"
    printed = (await installation.check(MQBOT_CONFIG=str(path))).printed
    assert "All is well, with 1 warning." in printed
    path.chmod(0o600)
    report = await installation.check("--json", MQBOT_CONFIG=str(path))
    assert report.not_well == set()


async def test_plain_http_to_another_machine_is_a_warning(installation: Installation) -> None:
    report = await installation.check("--json", MQBOT_API_URL="http://queue.invalid/v1")
    found = report.of("configuration", "MQBOT_API_URL")
    assert found["standing"] == "warning"
    assert "plain http" in found["sentence"]


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
    other, gone = "other/docs", "gone/web"
    key, file = tmp_path / "key", tmp_path / "mqbot.toml"
    key.write_text("revoked-key-173205080", "utf-8")
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
