"""The same conversations over Socket Mode, and over signed requests with a worker beside."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import BOB, RELEASES, BotTester, Mode
from tests.support.waiting import until

pytestmark = pytest.mark.e2e


@pytest.fixture(params=["socket", "http"])
async def bot(request: pytest.FixtureRequest, start_bot: StartBot) -> BotTester:
    mode: Mode = request.param
    return await start_bot(mode=mode, channels="acme/site=C0RELEASE:pause")


async def test_status_is_answered_to_the_one_who_asks(bot: BotTester) -> None:
    bot.enqueue(title="Add search", author="ada")
    answer = await bot.ask("/mq status")
    assert "acme/site" in answer
    assert bot.replies(by=BOB) == []


async def test_a_pause_is_answered_here_and_posted_elsewhere(bot: BotTester) -> None:
    await bot.type("/mq pause the payload is too big")
    assert "the payload is too big" in await bot.wait_for_post()
    assert "the payload is too big" in await bot.wait_for_post(channel=RELEASES)
    assert "the payload is too big" in (bot.pause_reason() or "")

    await bot.type("/mq unpause", by=BOB)
    await bot.wait_for_post()
    await bot.wait_for_post(channel=RELEASES)
    assert bot.pause_reason() is None


async def test_the_form_takes_a_reason(bot: BotTester) -> None:
    await bot.type("/mq pause")
    answer = await bot.submit(await bot.modal("0 pull requests"), reason="deploying 4.2")
    assert answer["response_action"] == "update"
    await bot.modal("acme/site is paused.")
    await bot.wait_for_post("deploying 4.2")
    await bot.wait_for_post("deploying 4.2", RELEASES)
    assert "deploying 4.2" in (bot.pause_reason() or "")


async def test_a_bad_reason_is_refused_beside_its_field(bot: BotTester) -> None:
    await bot.type("/mq pause")
    answer = await bot.submit(await bot.modal("0 pull requests"), reason="\u200b")
    assert answer["errors"] == {"reason": "A reason needs at least one character that can be seen."}
    assert bot.pause_reason() is None


async def test_the_shortcut_opens_the_form(bot: BotTester) -> None:
    await bot.shortcut()
    await bot.modal("Reason")


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


async def test_the_home_tab_shows_the_queue(bot: BotTester) -> None:
    await bot.open_home()
    await bot.home("acme/site")
