"""The log of a whole bot: records that belong together carry one id, and the level is a setting."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from typing_extensions import override

from tests.support.bot_process import MqbotProcess, ProcessTester
from tests.support.bot_tester import MERGE_QUEUE, RELEASES


@asynccontextmanager
async def running(url: str, folder: Path, **environment: str) -> AsyncIterator[ProcessTester]:
    bot = ProcessTester(
        url, folder=folder, channels=f"acme/site={RELEASES}:pause", environment=environment
    )
    async with bot:
        yield bot


def records(bot: ProcessTester, action: str) -> list[dict[str, Any]]:
    return [record for record in bot.log_records() if record.get("action") == action]


async def test_requests_and_deliveries_can_be_traced_by_their_ids_and_a_clean_stop_is_reported(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with running(sqlite_url, tmp_path) as bot:
        await bot.type("/mq pause CI runners are down")
        for channel in (MERGE_QUEUE, RELEASES):
            await bot.wait_for_post("is paused", channel)
        await bot.type("/mq pause other words")
        await bot.wait_for_reply()
        decided = {record["request"] for record in records(bot, "decision")}
        assert len(decided) == 2
        posted = records(bot, "posted")
        assert {post["channel"] for post in posted} == {MERGE_QUEUE, RELEASES}
        assert len({post["delivery_id"] for post in posted}) == 2
        assert {finding["subject"].partition(" ")[0] for finding in posted} == {"live_message"}
        # A post is not of the request that happened to have the bot look for what waits.
        assert [post for post in posted if "request" in post] == []
        begun, done, *_ = records(bot, "act")
        assert (begun["result"], done["result"]) == ("started", "done")
        assert (done["repository"], done["act_kind"]) == ("acme/site", "pause")
        assert (done["person"], done["reason"]) == ("alice", "CI runners are down")
        assert done["act"] == begun["act"]
        assert done["request"] in decided

        assert "health_open" not in bot.logged_actions()

        await bot.kill_bot()
        assert {"stopping", "stopped"}.isdisjoint(bot.logged_actions())
        await bot.start_bot()
        await bot.stop_bot()
        ended = [action for action in bot.logged_actions() if action in {"stopping", "stopped"}]
        assert (ended, bot.logged_actions()[-1]) == (["stopping", "stopped"], "stopped")


async def test_a_search_for_a_number_finds_all_about_that_pull_request(
    sqlite_url: str, tmp_path: Path
) -> None:
    bot = ProcessTester(
        sqlite_url,
        folder=tmp_path,
        channels=f"acme/site={RELEASES}:enter,merge",
        environment={"MQBOT_LOG_LEVEL": "DEBUG"},
    )
    async with bot:
        number = 1460
        bot.expected_refusals = {"chat.postMessage rate_limit"}
        bot.break_slack("rate_limit", "chat.postMessage", retry_after=1)
        bot.emit("action.queue.enter", number)
        post = await bot.wait_for_post(f"#{number}", RELEASES)
        bot.emit("action.queue.merged", number)
        await bot.wait_for_change(post, "Merged")
        await bot.logged("edited")
        bot.emit("action.queue.leave", number)
        await bot.logged("nobody_subscribed")
        found = [record for record in bot.log_records() if record.get("pull_request") == number]
    said = {(event["action"], event.get("event_type")) for event in found}
    assert ("post_postponed", "action.queue.enter") in said
    assert ("posted", "action.queue.enter") in said
    assert ("edited", "action.queue.merged") in said
    assert ("nobody_subscribed", "action.queue.leave") in said
    (posted,) = (record for record in found if record["action"] == "posted")
    assert posted["repository"] == "acme/site"
    assert posted["channel"] == RELEASES
    assert posted["ts"] == post.ts


class QuietBot(ProcessTester):
    """Says only what is wrong, and so not that it is ready."""

    @override
    async def _open_bot(self) -> None:
        environ = {**self.settings_environment(), "MQBOT_LOG_LEVEL": "WARNING"}
        self.running = await MqbotProcess.start("run", folder=self.folder, environ=environ)


async def test_the_log_level_follows_the_setting(sqlite_url: str, tmp_path: Path) -> None:
    bot = QuietBot(sqlite_url, folder=tmp_path, channels=f"acme/site={RELEASES}:pause")
    async with bot:
        bot.break_service("error", path="/logs", status=503)
        await bot.ask("/mq status")
        await bot.logged("poll_failed")
    assert {record["level"] for record in bot.log_records()} == {"warning"}
    # Bolt would warn of a token that it ignores.
    assert "SLACK_BOT_TOKEN" not in str(bot.log_records())
