"""What Slack sends twice acts once, however it comes."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import BOB, RELEASES, BotTester
from tests.support.waiting import until

pytestmark = pytest.mark.e2e


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    return await start_bot(channels="acme/site=C0RELEASE:pause")


async def test_a_button_is_pressed_once_though_the_click_comes_twice(bot: BotTester) -> None:
    await bot.type("/mq pause deploying")
    post = await bot.wait_for_post()
    await bot.wait_for_post(channel=RELEASES)
    bot.slack.faults.arm({"name": "repeat_payload"})
    await bot.click(post, "Resume queue", by=BOB)
    await bot.logged("request_repeated")
    await bot.wait_for_post(channel=RELEASES)
    await until(lambda: bot.pause_reason() is None, "the queue to run again")
    deletions = [one for one in bot.merge_queue.requests if one.method == "DELETE"]
    assert len(deletions) == 1
    bot.posts()


async def test_a_command_that_comes_twice_is_answered_once(bot: BotTester) -> None:
    bot.slack.faults.arm({"name": "repeat_payload"})
    await bot.ask("/mq help")
    await bot.logged("request_repeated")
    assert len(bot.replies()) == 1
