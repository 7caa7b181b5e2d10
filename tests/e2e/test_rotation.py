"""Secrets are replaced while the bot runs, as docs/operations/secrets.md says."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from typing_extensions import override

from bot.sandbox.merge_queue.credentials import Credential
from tests.e2e.test_reload import SITE, FileOfProcess, is_polled
from tests.support.bot_tester import RELEASES, BotTester
from tests.support.database_fixtures import migrated
from tests.support.postgres import PostgresServer
from tests.support.several_processes import RunningProcess, SeveralProcesses
from tests.support.waiting import until, until_true

pytestmark = pytest.mark.e2e

OTHER = "other/one"
NEXT_KEY = "mq-next-key-1"
OTHERS_KEY = "mq-others-key-1"
OTHERS_NEXT_KEY = "mq-others-next-key-1"
OLD = "old-" * 8
NEW = "new-" * 8
"""Tokens of a machine."""


@dataclass
class WithSecretFiles(FileOfProcess):
    """Each secret stands in a file of its own."""

    @override
    def settings_environment(self) -> dict[str, str]:
        first = {
            "key": self.addresses.api_token,
            "others-key": OTHERS_KEY,
            "machines": f"deploy-job={OLD}",
            "bot-token": self.addresses.slack_bot_token,
            "app-token": self.addresses.slack_app_token,
            "database": self.database_url,
        }
        for name, secret in first.items():
            # Not again when the bot is restarted.
            if not (self.folder / name).exists():
                self.put(name, secret)
        self.tables = f"""[MQBOT_POLICY."other/*"]
api_token_file = "{self.folder / "others-key"}"
"""
        self.given = {
            "MQBOT_REPOSITORIES": f"{SITE},{OTHER}",
            "MQBOT_CHANNELS": f"{SITE}={RELEASES}:enter",
            "MQBOT_API_TOKEN": "",
            "MQBOT_API_TOKEN_FILE": str(self.folder / "key"),
            "MQBOT_MACHINE_TOKENS_FILE": str(self.folder / "machines"),
            "SLACK_BOT_TOKEN": "",
            "SLACK_BOT_TOKEN_FILE": str(self.folder / "bot-token"),
            "SLACK_APP_TOKEN": "",
            "SLACK_APP_TOKEN_FILE": str(self.folder / "app-token"),
            "DATABASE_URL": "",
            "DATABASE_URL_FILE": str(self.folder / "database"),
            "MQBOT_HEALTH_PORT": "0",
        }
        return super().settings_environment()

    def put(self, name: str, secret: str) -> None:
        (self.folder / name).write_text(f"{secret}\n", "utf-8")

    async def restart(self) -> None:
        await self.stop_bot()
        await self.start_bot()

    def revoke(self, key: str) -> None:
        del self.merge_queue.known_credentials[key]

    async def readiness(self) -> object:
        """What `/readyz` says is wrong."""
        port = (await self.logs("health_open"))["port"]
        url = f"http://127.0.0.1:{port}/readyz"
        async with aiohttp.ClientSession() as session, session.get(url) as got:
            return (await got.json())["problems"]

    async def ask_as_machine(self, token: str) -> int:
        port = (await self.logs("health_open"))["port"]
        url = f"http://127.0.0.1:{port}/api/v1/status"
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.post(url, json={"target": SITE}) as got,
        ):
            return got.status


@pytest.fixture
def bot(sqlite_url: str, tmp_path: Path) -> WithSecretFiles:
    owners = frozenset({"other"})
    return WithSecretFiles(
        sqlite_url,
        folder=tmp_path,
        file=tmp_path / "mqbot.toml",
        repositories=dict.fromkeys((SITE, OTHER), "quiet"),
        credentials=(
            Credential(NEXT_KEY, name="next-bot", owners=frozenset({"acme"})),
            Credential(OTHERS_KEY, name="other-bot", owners=owners),
            Credential(OTHERS_NEXT_KEY, name="other-bot", owners=owners),
        ),
    )


async def test_the_services_keys_are_replaced_while_the_bot_runs(bot: WithSecretFiles) -> None:
    async with bot:
        await is_polled(bot, OTHER)
        bot.put("key", NEXT_KEY)
        assert (await bot.logs("settings_reloaded"))["changed"] == "MQBOT_API_TOKEN"
        assert (await bot.logs("key_accepted"))["setting"] == "MQBOT_API_TOKEN"
        bot.put("others-key", OTHERS_NEXT_KEY)
        assert (await bot.logs("settings_reloaded", 2))["changed"] == "MQBOT_POLICY"
        accepted = await bot.logs("key_accepted", 2)
        assert accepted["setting"] == 'api_token_file in MQBOT_POLICY."other/*"'
        bot.revoke(bot.addresses.api_token)
        bot.revoke(OTHERS_KEY)
        for name in (SITE, OTHER):
            await is_polled(bot, name)
            assert "is running" in await bot.ask(f"/mq status {name}")
        await bot.pause(f"now {SITE} deploying")
        paused = await bot.happens("queue.pause.create", repository=SITE)
        assert "next-bot" in str(paused.metadata["created_by"])
        assert not {"key_refused", "restart_needed"} & set(bot.logged_actions())
        assert bot.running is not None
        for secret in (NEXT_KEY, OTHERS_NEXT_KEY, OTHERS_KEY, bot.addresses.api_token):
            assert secret not in bot.running.complaints


async def test_a_key_revoked_too_early_stops_reading_until_the_new_one_is_in_the_file(
    bot: WithSecretFiles,
) -> None:
    async with bot:
        await is_polled(bot, SITE)
        bot.expected_errors |= {"key_refused", "poll_failed"}
        bot.revoke(bot.addresses.api_token)
        assert (await bot.logs("key_refused"))["setting"] == "MQBOT_API_TOKEN"
        bot.put("key", "mq-mistyped-key")
        await bot.logs("key_refused", 2)
        bot.put("key", "mq-mistyped-key-again")
        await bot.logs("key_refused", 3)
        bot.put("key", "")
        invalid = await bot.logs("settings_invalid")
        assert invalid["setting"] == "MQBOT_API_TOKEN_FILE"
        assert "empty" in str(invalid["problem"])
        (bot.folder / "key").unlink()
        gone = await bot.logs("settings_invalid", 2)
        assert gone["setting"] == "MQBOT_API_TOKEN_FILE"
        assert "No such file" in str(gone["problem"])
        bot.put("key", NEXT_KEY)
        await bot.logs("key_accepted")
        assert "is running" in await bot.ask(f"/mq status {SITE}")
        assert bot.running is not None
        assert "mq-mistyped-key" not in bot.running.complaints
        await bot.stop_bot()
        # On a slow machine the log isn't read for so long that the channel is told.
        bot.posts(RELEASES)


async def test_a_machine_has_two_tokens_until_it_uses_the_new_one(bot: WithSecretFiles) -> None:
    today = datetime.now(UTC).date()
    async with bot:
        assert await bot.ask_as_machine(OLD) == 200
        bot.put("machines", f"deploy-job={NEW}\ndeploy-job={OLD} until {today}")
        assert (await bot.logs("settings_reloaded"))["changed"] == "MQBOT_MACHINE_TOKENS"
        ending = await bot.logs("secret_ending")
        assert (ending["machine"], ending["entry"]) == ("deploy-job", 2)
        assert ending["has_successor"] is True
        assert [await bot.ask_as_machine(one) for one in (OLD, NEW)] == [200, 200]
        assert (await bot.logs("machine_old_token"))["entry"] == 2
        assert bot.logged_actions().count("machine_old_token") == 1

        yesterday = today - timedelta(days=1)
        bot.put("machines", f"deploy-job={NEW}\ndeploy-job={OLD} until {yesterday}")
        await bot.logs("secret_ended")
        assert [await bot.ask_as_machine(one) for one in (OLD, NEW)] == [401, 200]
        assert (await bot.logs("machine_refused"))["machine"] == "deploy-job"
        bot.put("machines", f"deploy-job={NEW}")
        await bot.logs("settings_reloaded", 3)
        assert [await bot.ask_as_machine(one) for one in (OLD, NEW)] == [401, 200]
        assert bot.running is not None
        assert not any(one in bot.running.complaints for one in (OLD, NEW))


async def test_slacks_tokens_are_replaced_by_a_restart(bot: WithSecretFiles) -> None:
    async with bot:
        slack = bot.slack
        old_app = bot.slack.app_token
        old_bot = bot.slack.bot_token
        for name, old, setting in (
            ("app-token", old_app, "SLACK_APP_TOKEN"),
            ("bot-token", old_bot, "SLACK_BOT_TOKEN"),
        ):
            new = f"{old[:5]}next-one"
            slack.credentials.replace(old, new)
            bot.put(name, new)
            restarts = bot.logged_actions().count("restart_needed")
            assert (await bot.logs("restart_needed", restarts + 1))["changed"] == setting
            await bot.restart()
            slack.credentials.revoke(old)
            assert "is running" in await bot.ask(f"/mq status {SITE}")
            # A connection made after the old token's end.
            slack.socket_mode.drop_all()
            await until(lambda: slack.delivery.connections, "a connection")
            assert "is running" in await bot.ask(f"/mq status {SITE}")
        card = await bot.publish(f"/mq pause now {SITE} deploying", "paused")
        await bot.click(card, "Resume queue")
        await bot.wait_for_post("resumed")


async def test_what_people_see_between_the_end_of_the_bot_token_and_the_restart(
    bot: WithSecretFiles,
) -> None:
    async with bot:
        old = bot.slack.bot_token
        new = "xoxb-next-one"
        await is_polled(bot, SITE)
        bot.slack.credentials.replace(old, new)
        bot.slack.credentials.revoke(old)
        bot.expected_errors |= {"post_refused", "channel_suspended"}
        bot.expected_refusals = {
            f"{method} invalid_auth" for method in ("auth.test", "chat.postMessage", "users.info")
        }
        bot.enqueue(SITE)
        assert "Please try again" in await bot.ask(f"/mq status {SITE}")
        await bot.logs("post_refused")
        assert "SLACK_BOT_TOKEN" in str(await bot.readiness())
        bot.put("bot-token", new)
        await bot.logs("restart_needed")
        await bot.restart()
        assert "is running" in await bot.ask(f"/mq status {SITE}")


async def test_posts_that_a_revoked_bot_token_held_up_follow_within_two_minutes(
    sqlite_url: str,
) -> None:
    async with BotTester(sqlite_url, channels=f"{SITE}={RELEASES}:enter") as bot:
        bot.slack.credentials.replace(bot.slack.bot_token, "xoxb-next-one")
        bot.slack.credentials.revoke(bot.slack.bot_token)
        bot.expected_errors |= {"post_refused", "channel_suspended"}
        bot.expected_refusals = {
            f"{word} invalid_auth" for word in ("auth.test", "chat.postMessage")
        }
        number = bot.enqueue(SITE)
        await bot.logged("post_refused")
        await bot.stop_bot()
        bot.environment = {"SLACK_BOT_TOKEN": "xoxb-next-one"}
        await bot.start_bot()
        await bot.pass_time(121)
        await bot.wait_for_post(f"#{number}", RELEASES)


@pytest.mark.postgres
async def test_the_databases_password_is_replaced_by_a_restart(
    postgres_server: PostgresServer, bot: WithSecretFiles
) -> None:
    name = migrated(postgres_server)
    postgres_server.execute("CREATE ROLE rotated SUPERUSER LOGIN PASSWORD 'first'")
    address = f"postgresql://rotated:{{}}@127.0.0.1:{postgres_server.port}/{name}"
    bot.database_url = address.format("first")
    try:
        async with bot:
            await is_polled(bot, SITE)
            bot.put("database", address.format("second"))
            assert (await bot.logs("restart_needed"))["changed"] == "DATABASE_URL"
            postgres_server.execute("ALTER ROLE rotated PASSWORD 'second'")
            # The connections that are open stay.
            assert "is running" in await bot.ask(f"/mq status {SITE}")
            assert await bot.readiness() == {}
            postgres_server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotated'"
            )
            assert "database isn't available" in await bot.ask(f"/mq status {SITE}")

            async def says_why() -> bool:
                return "password authentication failed" in str(await bot.readiness())

            # An answer counts for a second.
            await until_true(says_why, "readiness to say why")
            await bot.restart()
            assert await bot.readiness() == {}
            assert "is running" in await bot.ask(f"/mq status {SITE}")
            bot.database_url = address.format("second")
    finally:
        postgres_server.drop_database(name)
        postgres_server.execute("DROP ROLE rotated")


async def test_tokens_of_machines_are_added_and_taken_away_while_the_bot_runs(
    bot: WithSecretFiles,
) -> None:
    async with bot:
        assert await bot.ask_as_machine(OLD) == 200
        without = {name: value for name, value in bot.given.items() if "MACHINE" not in name}
        bot.write(without)
        assert (await bot.logs("settings_reloaded"))["changed"] == "MQBOT_MACHINE_TOKENS"
        assert await bot.ask_as_machine(OLD) == 404
        bot.put("machines", f"deploy-job={NEW}")
        bot.write(bot.given)
        await bot.logs("settings_reloaded", 2)
        assert [await bot.ask_as_machine(one) for one in (OLD, NEW)] == [401, 200]
        # Written under another name first, as careful programs do.
        (bot.folder / "next").write_text(f"deploy-job={OLD}\n", "utf-8")
        (bot.folder / "next").replace(bot.folder / "machines")
        await bot.logs("settings_reloaded", 3)
        assert [await bot.ask_as_machine(one) for one in (OLD, NEW)] == [200, 401]


@dataclass
class WithSigningFile(SeveralProcesses):
    """`mqbot web` and `mqbot worker`; the signing secret stands in a file."""

    webs: int = 1
    workers: int = 1

    @override
    def settings_environment(self) -> dict[str, str]:
        environ = super().settings_environment()
        self.put(environ.pop("SLACK_SIGNING_SECRET"))
        return {**environ, "SLACK_SIGNING_SECRET_FILE": str(self.folder / "signing")}

    def put(self, *secrets: str) -> None:
        (self.folder / "signing").write_text("\n".join([*secrets, ""]), "utf-8")


async def reloaded(process: RunningProcess, times: int) -> None:
    def count() -> bool:
        actions = [record.get("action") for record in process.log()]
        return actions.count("settings_reloaded") >= times

    await until(count, f"{times} reloads")


async def test_the_signing_secret_is_replaced_while_slack_sends(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with WithSigningFile(sqlite_url, folder=tmp_path, mode="http") as bot:
        (web,) = bot.running("web")
        old = bot.addresses.slack_signing_secret
        new = "0123456789abcdef" * 2
        assert "is running" in await bot.ask(f"/mq status {SITE}")
        until_then = datetime.now(UTC).date() + timedelta(days=2)
        bot.put(new, f"{old} until {until_then}")
        await reloaded(web, 1)
        assert "is running" in await bot.ask(f"/mq status {SITE}")
        assert (await web.logged("signing_secret_used"))["entry"] == 2
        bot.slack.request_url.sign_with(new)
        assert "is running" in await bot.ask(f"/mq status {SITE}")
        used = [
            record["entry"] for record in web.log() if record.get("action") == "signing_secret_used"
        ]
        assert used == [2, 1]
        bot.put(new)
        await reloaded(web, 2)
        assert "is running" in await bot.ask(f"/mq status {SITE}")
        assert new not in web.process.complaints
        assert "signature_refused" not in bot.logged_actions()
