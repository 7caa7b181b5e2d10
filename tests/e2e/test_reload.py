"""New settings apply without a restart; invalid ones change nothing."""

import asyncio
import json
import signal
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import pytest
from typing_extensions import override

from bot.inspection.database import inspect_store, removed_while_paused
from bot.kernel.repository import RepositoryName
from bot.runtime.clock import SystemClock
from bot.sandbox.merge_queue.credentials import Credential
from bot.store.engines import create_engine
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.e2e.test_storms import fail
from tests.support.bot_process import ProcessTester
from tests.support.bot_tester import (
    ALICE,
    BOB,
    GENERAL,
    HURRIED,
    MERGE_QUEUE,
    RELEASES,
    BotTester,
    Mode,
)
from tests.support.waiting import until, until_true

pytestmark = pytest.mark.e2e

P = ParamSpec("P")
T = TypeVar("T")

SITE = "acme/site"
API = "acme/api"
ONE = {"MQBOT_REPOSITORIES": SITE, "MQBOT_CHANNELS": f"{SITE}={RELEASES}:enter"}
BOTH = {
    "MQBOT_REPOSITORIES": f"{SITE},{API}",
    "MQBOT_CHANNELS": f"{SITE}={RELEASES}:enter;{API}={GENERAL}:enter",
    "MQBOT_GROUPS": f"all-of-it={SITE},{API}",
}

RELOADING = replace(HURRIED, settings=0.2, restarts=0.2)


@dataclass
class SettingsFile(BotTester):
    """The bot takes all its settings from a file."""

    file: Path = field(kw_only=True)
    given: Mapping[str, str] = field(default_factory=lambda: ONE)
    tables: str = ""
    repositories: Mapping[str, str] = field(default_factory=lambda: {SITE: "quiet", API: "quiet"})
    environment: Mapping[str, str] = field(
        default_factory=lambda: {"MQBOT_QUIET_POLL_SECONDS": "1"}
    )
    waits_for_begin: bool = False

    @override
    def settings_environment(self) -> dict[str, str]:
        self.write(self.given)
        return {"MQBOT_CONFIG": str(self.file)}

    def write(self, changes: Mapping[str, str]) -> None:
        settings = {**super().settings_environment(), **changes}
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items() if value]
        self.write_text("\n".join([*lines, self.tables]))

    def write_text(self, text: str) -> None:
        self.file.write_text(text, "utf-8")

    def append(self, table: str) -> None:
        self.write_text(f"{self.file.read_text('utf-8')}\n{table}")


@dataclass
class FileOfProcess(SettingsFile, ProcessTester):
    """The same, as `mqbot run`."""

    def hang_up(self) -> None:
        assert self.running is not None
        self.running.process.send_signal(signal.SIGHUP)

    async def logs(self, action: str, times: int = 1) -> dict[str, object]:
        await until(lambda: self.logged_actions().count(action) >= times, action)
        return [record for record in self.log_records() if record.get("action") == action][-1]


def polls(bot: BotTester, repository: str) -> int:
    return sum(f"/repos/{repository}/logs" in request.path for request in bot.merge_queue.requests)


async def is_polled(bot: BotTester, repository: str) -> None:
    """Wait until it is polled once more."""
    before = polls(bot, repository)
    await until(lambda: polls(bot, repository) > before, f"a poll of {repository}")


@dataclass
class ConfigMap(FileOfProcess):
    """The file and the list of repositories as Kubernetes mounts them.

    Names are links into `..data`, itself a link that a change replaces:
    https://kubernetes.io/docs/concepts/configuration/configmap/#mounted-configmaps-are-updated-automatically
    """

    names: str = SITE

    @override
    def write_text(self, text: str) -> None:
        folder = self.file.parent
        version = Path(tempfile.mkdtemp(prefix="..", dir=folder))
        (version / "repositories").write_text(self.names.replace(",", "\n"), "utf-8")
        (version / self.file.name).write_text(text, "utf-8")
        following = folder / "..data_tmp"
        following.symlink_to(version.name)
        following.replace(folder / "..data")
        for name in ("repositories", self.file.name):
            if not (folder / name).is_symlink():
                (folder / name).symlink_to(f"..data/{name}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mqbot.toml"


async def test_a_signal_adds_and_removes_repositories_and_rights(
    sqlite_url: str, tmp_path: Path, file: Path
) -> None:
    async with FileOfProcess(sqlite_url, folder=tmp_path, file=file) as bot:
        await is_polled(bot, SITE)
        assert polls(bot, API) == 0
        assert "don't manage" in await bot.ask(f"/mq status {API}")

        bot.write({**BOTH, "MQBOT_WHO_MAY_PAUSE": BOB})
        bot.hang_up()
        record = await bot.logs("settings_reloaded")
        assert record["changed"] == (
            "MQBOT_REPOSITORIES, MQBOT_GROUPS, MQBOT_CHANNELS, MQBOT_WHO_MAY_PAUSE"
        )
        await is_polled(bot, API)
        number = bot.enqueue(repository=API)
        await bot.wait_for_post(f"#{number}", GENERAL)
        assert "Only bob can" in await bot.ask("/mq pause @all-of-it Testing", by=ALICE)
        await bot.type(f"/mq pause {SITE} Testing", by=BOB)
        await bot.wait_for_post("is paused", MERGE_QUEUE)

        bot.write({**ONE, "MQBOT_WHO_MAY_PAUSE": ALICE})
        bot.hang_up()
        await bot.logs("settings_reloaded", 2)
        assert "Only alice can" in await bot.ask(f"/mq resume {SITE}", by=BOB)
        stopped = polls(bot, API)
        for _ in range(3):
            await is_polled(bot, SITE)
        assert polls(bot, API) <= stopped + 1
        number = bot.enqueue(repository=SITE)
        await bot.wait_for_post(f"#{number}", RELEASES)
        assert len(bot.posts(GENERAL)) == 1
        assert len(bot.posts(RELEASES)) == 1


async def test_a_config_map_of_kubernetes_applies_by_itself(
    sqlite_url: str, tmp_path: Path, file: Path
) -> None:
    given = {"MQBOT_REPOSITORIES": f"@{tmp_path / 'repositories'}", "MQBOT_CHANNELS": ""}
    async with ConfigMap(sqlite_url, folder=tmp_path, file=file, given=given) as bot:
        await is_polled(bot, SITE)
        assert polls(bot, API) == 0
        # Only the list differs.
        bot.names = f"{SITE},{API}"
        bot.write(given)
        assert (await bot.logs("settings_reloaded"))["changed"] == "MQBOT_REPOSITORIES"
        await is_polled(bot, API)
        bot.write({**given, "MQBOT_WHO_MAY_PAUSE": BOB})
        assert (await bot.logs("settings_reloaded", 2))["changed"] == "MQBOT_WHO_MAY_PAUSE"
        assert "Only bob can" in await bot.ask(f"/mq pause {SITE} Testing", by=ALICE)


async def test_a_changed_policy_applies_without_a_restart(
    sqlite_url: str, tmp_path: Path, file: Path
) -> None:
    async with FileOfProcess(sqlite_url, folder=tmp_path, file=file) as bot:
        await is_polled(bot, SITE)
        bot.append(f'[MQBOT_POLICY."{SITE}"]\nwho_may_pause = ["{BOB}"]\n')
        bot.hang_up()
        assert (await bot.logs("settings_reloaded"))["changed"] == "MQBOT_POLICY"
        assert "Only bob can" in await bot.ask(f"/mq pause {SITE} Testing", by=ALICE)

        bot.append('[MQBOT_POLICY."acme/docs"]\nwho_may_pause = "everyone"\n')
        bot.hang_up()
        await bot.logs("settings_invalid")
        assert "Only bob can" in await bot.ask(f"/mq pause {SITE} Testing", by=ALICE)


async def test_a_broken_file_changes_nothing_and_the_log_says_why(
    sqlite_url: str, tmp_path: Path, file: Path
) -> None:
    async with FileOfProcess(sqlite_url, folder=tmp_path, file=file) as bot:
        bot.write({**BOTH, "MQBOT_CHANNELS": f"acme/docs={GENERAL}"})
        bot.hang_up()
        record = await bot.logs("settings_invalid")
        assert record["setting"] == "MQBOT_CHANNELS"
        assert "acme/docs is not in MQBOT_REPOSITORIES" in str(record["problem"])
        await is_polled(bot, SITE)
        assert polls(bot, API) == 0

        bot.write_text("MQBOT_REPOSITORIES = [")
        bot.hang_up()
        await bot.logs("settings_invalid", 2)
        assert "isn't valid TOML" in str((await bot.logs("settings_invalid"))["problem"])
        await is_polled(bot, SITE)

        bot.write({**BOTH, "MQBOT_POLL_SECONDS": "5"})
        bot.hang_up()
        assert (await bot.logs("restart_needed"))["changed"] == "MQBOT_POLL_SECONDS"
        await is_polled(bot, API)


async def test_web_and_worker_reload_a_changed_file_without_a_signal(
    sqlite_url: str, tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MQBOT_CONFIG", str(file))
    listed = tmp_path / "repositories"
    listed.write_text(f"{SITE}\n", "utf-8")
    given = {"MQBOT_REPOSITORIES": f"@{listed}", "MQBOT_CHANNELS": ""}
    async with SettingsFile(
        sqlite_url, file=file, given=given, mode="http", every=RELOADING
    ) as bot:
        await is_polled(bot, SITE)
        assert "don't manage" in await bot.ask(f"/mq status {API}")
        listed.write_text(f"{SITE}\n{API}\n", "utf-8")
        await is_polled(bot, API)
        await until(lambda: bot.log.actions().count("settings_reloaded") == 2, "both reloaded")
        assert API in await bot.ask(f"/mq status {API}")


async def test_a_repository_added_to_an_organisation_gets_its_credential_and_thresholds(
    sqlite_url: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MQBOT_CONFIG", str(file))
    other = "other/one"
    docs = "other/docs"
    bot = SettingsFile(
        sqlite_url,
        file=file,
        mode="http",
        every=RELOADING,
        repositories=dict.fromkeys((SITE, other, docs), "quiet"),
        given={"MQBOT_REPOSITORIES": f"{SITE},{other}", "MQBOT_CHANNELS": ""},
        tables='[MQBOT_POLICY."other/*"]\napi_token = "other-key"\n',
        credentials=(Credential("other-key", name="other-bot", owners=frozenset({"other"})),),
    )
    async with bot:
        await is_polled(bot, other)
        bot.write(
            {
                "MQBOT_REPOSITORIES": f"{SITE},{other},{docs}",
                "MQBOT_CHANNELS": f"{docs}={MERGE_QUEUE}:health",
                "MQBOT_HEALTH_DEPTH": "1",
            }
        )
        await is_polled(bot, docs)
        await until(lambda: bot.log.actions().count("settings_reloaded") == 2, "both reloaded")
        for _ in range(2):
            bot.enqueue(docs, hangs=True)
        await bot.pass_time(31)
        await bot.wait_for_post("2 pull requests are in the queue*\n*Limit* 1")
        await bot.pause(f"now {docs} deploying")
        paused = await bot.happens("queue.pause.create", repository=docs)
        assert "'other-bot'" in str(paused.metadata["created_by"])
        assert "restart_needed" not in bot.log.actions()


async def test_changed_tokens_of_slack_wait_for_a_restart_and_the_log_names_them(
    sqlite_url: str, tmp_path: Path, file: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("xapp-1\n", "utf-8")
    given = {**ONE, "MQBOT_LOG_LEVEL": "INFO"}
    async with FileOfProcess(sqlite_url, folder=tmp_path, file=file, given=given) as bot:
        await is_polled(bot, SITE)
        bot.write({**given, "SLACK_BOT_TOKEN": "xoxb-next", "DATABASE_URL": "sqlite:////x/y"})
        record = await bot.logs("restart_needed")
        assert record["changed"] == "DATABASE_URL, SLACK_BOT_TOKEN"
        bot.write({**given, "SLACK_APP_TOKEN": "", "SLACK_APP_TOKEN_FILE": str(token)})
        assert (await bot.logs("restart_needed", 2))["changed"] == "SLACK_APP_TOKEN"
        bot.write(given)
        await bot.logs("restart_not_needed")
        assert "is running" in await bot.ask(f"/mq status {SITE}")


async def test_the_check_knows_of_a_pending_restart_and_when_none_is_needed_any_more(
    sqlite_url: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MQBOT_CONFIG", str(file))
    async with SettingsFile(sqlite_url, file=file, every=RELOADING) as bot:
        store = Store(create_engine(sqlite_url))

        async def waiting() -> list[str]:
            found = await inspect_store(store, SystemClock())
            return [one.subject for one in found if "Restart mqbot" in str(one.fix)]

        async def is_known() -> bool:
            return await waiting() == ["MQBOT_POLL_SECONDS"]

        async def is_over() -> bool:
            return not await waiting()

        bot.write({**ONE, "MQBOT_POLL_SECONDS": "7"})
        await until_true(is_known, "the setting that waits for a restart")
        bot.write(ONE)
        await until_true(is_over, "the setting as it was")
        bot.write({**ONE, "MQBOT_POLL_SECONDS": "7"})
        await until_true(is_known, "the setting that waits for a restart")
        await bot.stop_bot()
        await bot.start_bot()
        await until_true(is_over, "the restart")
        await store.close()


async def test_a_repository_removed_while_paused_is_named_and_stays_resumable(
    sqlite_url: str, tmp_path: Path, file: Path
) -> None:
    """Its timer goes on too. Once it runs, nobody can act on it any more."""
    async with FileOfProcess(sqlite_url, folder=tmp_path, file=file, given=BOTH) as bot:
        await is_polled(bot, API)
        card = await bot.publish(f"/mq pause now {API} moving house", "paused")
        bot.write(ONE)
        bot.hang_up()
        record = await bot.logs("removed_while_paused")
        assert (record["repository"], record["by"]) == (API, "alice")
        store = Store(create_engine(sqlite_url))
        found = await removed_while_paused(store, [RepositoryName(SITE)])
        (row,) = [one for one in found if one.subject == API]
        assert "paused by alice" in row.sentence
        assert f"/mq resume {API}" in (row.fix or "")
        await store.close()

        assert f"*{API}* is paused" in (await bot.ask(f"/mq status {API}")).words
        await bot.click(card, "Resume queue", by=BOB)
        await bot.wait_for_post("resumed")
        await bot.wait_for_change(card, "was paused")
        assert bot.pause_reason(API) is None
        await bot.wait_for_direct_message("bob resumed", by=ALICE)

        async def is_unknown() -> bool:
            answer = await bot.ask(f"/mq status {API}")
            return "don't manage" in answer.words

        await until_true(is_unknown, "nobody can act on it")


LOOK = "_removed_while_paused"


class HeldLook(Store):
    """Answers what is asked about removed repositories while it `holds` once it is `released`."""

    def __init__(self, url: str) -> None:
        super().__init__(create_engine(url))
        self.holds = False
        self.holds_one = asyncio.Event()
        self.released = asyncio.Event()

    @override
    async def read(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        is_held = self.holds and LOOK in body.__qualname__
        found = await super().read(body, *args, **kwargs)
        if is_held:
            self.holds_one.set()
            await self.released.wait()
        return found


async def test_what_was_left_before_a_reload_is_no_answer_for_the_new_settings(
    sqlite_url: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which removed repositories are still paused is read now and then, and by the reload."""
    monkeypatch.setenv("MQBOT_CONFIG", str(file))
    store = HeldLook(sqlite_url)
    bot = SettingsFile(
        sqlite_url,
        file=file,
        given=BOTH,
        every=replace(RELOADING, removed=2.0),
        open_store=lambda _url: store,
    )
    async with bot:
        await bot.publish(f"/mq pause now {API} moving house", "paused")
        try:
            store.holds = True
            async with asyncio.timeout(60):
                await store.holds_one.wait()
            store.holds = False
            bot.write(ONE)
            await bot.logged("settings_reloaded")
        finally:
            # A stop waits for it.
            store.released.set()
        assert f"*{API}* is paused" in (await bot.ask(f"/mq status {API}")).words
        await bot.publish(f"/mq resume {API}", "has resumed")


STORMY = {**BOTH, "MQBOT_CHANNELS": f"{SITE}={MERGE_QUEUE}:failure"}


async def test_a_storm_of_a_repository_that_is_removed_ends_and_says_why(
    sqlite_url: str, tmp_path: Path, file: Path
) -> None:
    async with FileOfProcess(sqlite_url, folder=tmp_path, file=file, given=STORMY) as bot:
        await is_polled(bot, SITE)
        for number in range(41, 47):
            fail(bot, number)
        storm = await bot.wait_for_post(f"{SITE}: ")
        await bot.wait_for_change(storm, f"{SITE}: 6 pull requests have failed since")
        bot.write({"MQBOT_REPOSITORIES": API, "MQBOT_CHANNELS": "", "MQBOT_GROUPS": ""})
        bot.hang_up()
        await bot.logs("settings_reloaded")
        over = await bot.wait_for_change(storm, f"{SITE}: 6 pull requests failed")
        assert f"I don't follow {SITE} any more: it was removed from my settings." in over
        assert over.labels == []
        bot.posts()


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_a_repository_removed_at_a_restart_is_resumed_by_command_or_timer(
    sqlite_url: str, mode: Mode
) -> None:
    queues = {SITE: "quiet", API: "quiet", "acme/docs": "quiet"}
    async with BotTester(sqlite_url, queues, channels="", mode=mode) as bot:
        timed = await bot.publish(f"/mq pause now {API} 45m moving house", "paused")
        await bot.publish("/mq pause now acme/docs for good", "paused")
        await bot.stop_bot()
        bot.environment = {"MQBOT_REPOSITORIES": SITE}
        await bot.start_bot()
        await bot.logged("removed_while_paused")
        await bot.publish("/mq resume docs", "resumed")
        assert bot.pause_reason("acme/docs") is None
        # All there is, as people say it: what is left isn't meant.
        assert "acme/api" not in (await bot.ask("/mq status all")).words
        await bot.pass_time(46 * 60)
        await bot.wait_for_change(timed, "was paused")
        await bot.wait_for_post("resumed")
        assert bot.pause_reason(API) is None
