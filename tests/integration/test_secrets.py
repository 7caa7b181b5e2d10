"""No secret reaches a log at DEBUG, in a run with commands, buttons, modals and failures."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from typing_extensions import override

from tests.support import slack_requests
from tests.support.bot_process import MqbotProcess, ProcessTester
from tests.support.bot_tester import ALICE, BOB, GENERAL, MERGE_QUEUE, BotTester
from tests.support.settings import NOWHERE
from tests.support.several_processes import SeveralProcesses
from tests.support.waiting import until

SIGNING_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
PASSWORD = "s3same-öpen"


def opens_something(bot: BotTester) -> dict[str, str]:
    """Everything that the workspace gave out, by what it is."""
    return {
        bot.addresses.api_token: "API credential",
        bot.addresses.slack_bot_token: "bot token",
        **dict.fromkeys(bot.slack.installation.triggers._triggers, "trigger id"),
        **dict.fromkeys(bot.slack.response_urls._minted, "response address"),
    }


@dataclass
class TalkativePair(SeveralProcesses):
    """`mqbot web` and `mqbot worker` at DEBUG, and what both wrote."""

    @override
    def settings_environment(self) -> dict[str, str]:
        return {**super().settings_environment(), "MQBOT_LOG_LEVEL": "DEBUG"}

    @override
    def assert_nothing_unexpected(self) -> None:
        """What is said to people is the matter of other tests."""

    def bearer_secrets(self) -> dict[str, str]:
        return {**opens_something(self), self.addresses.slack_signing_secret: "signing secret"}

    @property
    def written(self) -> str:
        processes = [process.process for process in self.processes]
        return "".join(process.printed + process.complaints for process in processes)

    def found_in_log(self) -> set[str]:
        written = self.written
        assert '"level": "debug"' in written
        return {kind for secret, kind in self.bearer_secrets().items() if secret in written}


@dataclass
class TalkativeProcess(ProcessTester):
    """`mqbot run` at DEBUG, with every ticket, response address and trigger id written down."""

    minted: set[str] = field(default_factory=set, init=False)

    @override
    def settings_environment(self) -> dict[str, str]:
        return {
            **super().settings_environment(),
            "MQBOT_LOG_LEVEL": "DEBUG",
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        }

    @override
    async def _open_bot(self) -> None:
        new_ticket = self.slack.socket_mode.new_ticket

        def noted_ticket() -> str:
            ticket = new_ticket()
            self.minted.add(ticket)
            return ticket

        # Tickets are forgotten by the workspace once they are used.
        self.slack.socket_mode.new_ticket = noted_ticket  # type: ignore[method-assign]  # see above
        await super()._open_bot()

    @override
    async def stop_bot(self) -> None:
        """Failures may be logged with where they happened."""
        running = self.running
        self.running = None
        if running is not None:
            assert await running.stop(self.stop_signal) == 0

    @override
    def assert_nothing_unexpected(self) -> None:
        """What is said to people is the matter of other tests."""

    def bearer_secrets(self) -> dict[str, str]:
        """Everything that opens something, by what it is."""
        return {
            **opens_something(self),
            self.addresses.slack_app_token: "app-level token",
            SIGNING_SECRET: "signing secret",
            **dict.fromkeys(self.minted, "ticket of a connection"),
        }

    def found_in_log(self) -> set[str]:
        written = (self.folder / "stderr").read_text("utf-8")
        written += (self.folder / "stdout").read_text("utf-8")
        return {kind for secret, kind in self.bearer_secrets().items() if secret in written}


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[TalkativeProcess]:
    url = f"sqlite:///{tmp_path / 'bot.sqlite3'}"
    channels = f"acme/site={MERGE_QUEUE}:enter,merge,failure,pause"
    async with TalkativeProcess(url, folder=tmp_path, channels=channels) as running:
        yield running


QUESTIONS = ("why 1", "log", "rules", "branches", "audit", "me", "link alice", "subscriptions")


async def talk(bot: BotTester) -> None:
    """Commands, buttons, a modal, the Home tab, the shortcut, a direct answer."""
    await bot.ask("/mq status")
    await bot.ask("/mq nonsense")
    await bot.pause("CI runners are down")
    await bot.type("/mq pause", by=BOB, channel=GENERAL)
    await bot.modal(by=BOB)
    status = await bot.ask("/mq status")
    await bot.click(status, "Resume queue")
    await bot.wait_for_post("has resumed")
    await bot.type("/mq pause", channel=MERGE_QUEUE)
    await bot.submit(await bot.modal("queued"), reason="From the form")
    await bot.modal("is paused")
    await bot.see_home()
    await bot.shortcut(by=BOB)
    await bot.resume()
    for question in QUESTIONS:
        await bot.ask(f"/mq {question}", by=BOB)
    await bot.merge()
    await bot.type("/mq pause all 45m Deploying 4.2")
    await bot.click(await bot.wait_for_reply("Pause 1 queue"), "Pause 1 queue")
    await bot.publish("/mq subscribe enter", "acme/site", channel=GENERAL)


async def meet_failures(bot: TalkativeProcess) -> None:
    """Slack, the service and the connections fail in the ways that the log tells of."""
    for fault, method in (
        ("drop_after_accept", "response_url"),
        ("http_500", "response_url"),
        ("html_500", "views.open"),
        ("invalid_json", "views.open"),
        ("truncate", "views.publish"),
        ("rate_limit", "chat.postMessage"),
        ("internal_error", "chat.postMessage"),
    ):
        bot.break_slack(fault, method)
    for _ in range(2):
        await bot.type("/mq status", by=BOB)
        await bot.type("/mq pause", by=BOB)
    await bot.open_home(by=BOB)
    bot.enqueue()
    bot.break_service("error", times=3)
    await bot.type("/mq status", by=ALICE)
    bot.break_service("malformed", times=2)
    await bot.type("/mq status", by=ALICE)
    bot.fix_service()
    opened = len(bot.calls("apps.connections.open"))
    bot.slack.faults.arm({"name": "refuse_handshake"})
    bot.slack.faults.arm({"name": "html_500", "method": "apps.connections.open"})
    bot.slack.faults.arm({"name": "drop_connections"})
    await until(lambda: len(bot.calls("apps.connections.open")) >= opened + 4, "new tickets")
    await until(lambda: bot.slack.socket_mode.connections == 2, "two connections")


async def test_a_run_at_debug_logs_no_secret(bot: TalkativeProcess) -> None:
    await talk(bot)
    await meet_failures(bot)
    await bot.stop_bot()
    kinds = set(bot.bearer_secrets().values())
    assert kinds == {
        "API credential",
        "bot token",
        "app-level token",
        "signing secret",
        "ticket of a connection",
        "trigger id",
        "response address",
    }
    actions = set(bot.logged_actions())
    assert {"ready", "socket_open", "socket_failed", "reply_failed"} <= actions
    assert bot.found_in_log() == set()
    # The search finds what is there.
    with (bot.folder / "stderr").open("a", encoding="utf-8") as log:
        log.writelines(f"leaked {secret}\n" for secret in bot.bearer_secrets())
    assert bot.found_in_log() == kinds


async def test_a_run_over_http_at_debug_logs_no_secret(tmp_path: Path) -> None:
    pair = TalkativePair(
        f"sqlite:///{tmp_path / 'bot.sqlite3'}",
        folder=tmp_path,
        webs=1,
        workers=1,
        mode="http",
        channels=f"acme/site={MERGE_QUEUE}:enter,merge,failure,pause",
        environment={"SLACK_APP_TOKEN": ""},
    )
    async with pair as bot:
        await talk(bot)
        bot.break_slack("drop_after_accept", "response_url")
        bot.break_slack("html_500", "views.open")
        await bot.type("/mq status", by=BOB)
        await bot.type("/mq pause", by=BOB)
        await bot.wait_for_reply(by=BOB)
        # What is not signed as Slack signs is refused, and logged without its body.
        forged = slack_requests.command(
            "status", response_url="https://hooks.slack.com/commands/T1/2/forged"
        )
        async with aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{bot.balancer.port}/slack/events"
            sent_with = slack_requests.signed(forged, 1)
            answer = await slack_requests.send(session, url, forged, sent_with)
        assert answer.status == 401
        assert set(bot.bearer_secrets().values()) == {
            "API credential",
            "bot token",
            "signing secret",
            "trigger id",
            "response address",
        }
        assert bot.found_in_log() == set()
        assert "forged" not in bot.written


@pytest.mark.parametrize("command", [["run"], ["check"], ["check", "--json"], ["migrate"]])
@pytest.mark.parametrize("written", [PASSWORD, quote(PASSWORD)])
async def test_the_password_of_a_database_that_cannot_be_reached_is_not_reported(
    tmp_path: Path, command: list[str], written: str
) -> None:
    environ = {
        **NOWHERE,
        "MQBOT_API_TOKEN": "queue-key-3141592653",
        "SLACK_BOT_TOKEN": "xoxb-1111-2222-secret",
        "SLACK_APP_TOKEN": "xapp-1-A1-3333-secret",
        "MQBOT_LOG_LEVEL": "DEBUG",
        "DATABASE_URL": f"postgresql://mqbot:{written}@127.0.0.1:9/mqbot",
    }
    process = await MqbotProcess.start(*command, folder=tmp_path, environ=environ)
    assert await process.ends() in {1, 2}
    reported = process.printed + process.complaints
    assert reported
    for secret in (PASSWORD, quote(PASSWORD), "queue-key", "xoxb-1111", "xapp-1-A1"):
        assert secret not in reported
