"""Requests that Slack repeats act once, in both modes."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import BOB, RELEASES, BotTester
from tests.support.waiting import until

pytestmark = pytest.mark.e2e


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    return await start_bot(channels="acme/site=C0RELEASE:pause")


async def test_a_click_that_arrives_twice_acts_once(bot: BotTester) -> None:
    await bot.type("/mq pause deploying")
    post = await bot.wait_for_post()
    await bot.wait_for_post(channel=RELEASES)
    bot.slack.faults.arm({"name": "repeat_payload"})
    await bot.click(post, "Resume queue", by=BOB)
    await bot.logged("request_repeated")
    await bot.wait_for_post(channel=RELEASES)
    await until(lambda: bot.pause_reason() is None, "the queue to run again")
    await bot.wait_for_direct_message("bob resumed acme/site")
    deletions = [request for request in bot.merge_queue.requests if request.method == "DELETE"]
    assert len(deletions) == 1
    await bot.stop_bot()
    bot.posts()


async def test_a_command_that_arrives_twice_is_answered_once(bot: BotTester) -> None:
    bot.slack.faults.arm({"name": "repeat_payload"})
    await bot.ask("/mq help")
    await bot.logged("request_repeated")
    assert len(bot.replies()) == 1


async def test_an_event_without_a_handler_is_acknowledged_at_once(bot: BotTester) -> None:
    events: list[dict[str, object]] = [
        {"type": "channel_shared", "channel": RELEASES, "connected_team_id": "T0OTHER"},
        {"type": "message", "channel": RELEASES, "user": BOB, "text": "hello", "ts": "1.1"},
        {"type": "app_home_opened", "tab": "messages", "user": BOB, "channel": "D1"},
        {"type": "something_new"},
    ]
    for event in events:
        assert await bot.slack.app_events.send(event) is None
    assert "defect" not in bot.logged_actions()
