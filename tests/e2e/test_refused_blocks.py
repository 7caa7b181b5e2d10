"""Slack rejects the blocks of a reply: its text is sent alone, and the error is logged."""

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BOB, MERGE_QUEUE, BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]


@pytest.fixture
async def refusing(bot: BotTester) -> BotTester:
    bot.expected_errors.add("blocks_refused")
    return bot


def refuse(bot: BotTester, method: str, code: str, times: int = 1) -> None:
    bot.expected_refusals.add(f"{method} {code}")
    bot.break_slack("refuse", method, code=code, times=times)


async def test_an_answer_to_a_command(refusing: BotTester) -> None:
    refuse(refusing, "response_url", "invalid_blocks")
    answer = await refusing.ask("/mq status")
    assert "acme/site is running" in answer
    assert answer.labels == []
    await refusing.logged("blocks_refused")


async def test_a_workspace_without_charts_gets_the_rest(refusing: BotTester) -> None:
    await refusing.merge()
    refuse(refusing, "response_url", "invalid_blocks")
    answer = await refusing.ask("/mq stats")
    assert "1 merge in 7 days" in answer
    assert "data_visualization" not in [block["type"] for block in answer.blocks]
    assert answer.labels == ["Share in channel"]
    await refusing.logged("blocks_refused")


async def test_the_post_of_a_pause(refusing: BotTester) -> None:
    refuse(refusing, "chat.postMessage", "invalid_blocks")
    await refusing.type("/mq pause CI runners are down", by=BOB)
    post = await refusing.wait_for_post("is paused", MERGE_QUEUE)
    assert "CI runners are down" in post
    assert "bob" in post
    await refusing.logged("blocks_refused")


async def test_the_buttons_at_the_end_of_a_modal(refusing: BotTester) -> None:
    await refusing.shortcut()
    form = await refusing.modal("0 queued")
    refuse(refusing, "views.update", "invalid_arguments")
    await refusing.submit(form, reason="CI runners are down")
    await refusing.modal("paused")
    await refusing.logged("blocks_refused")
    assert refusing.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_a_home_tab_is_published_plainer(refusing: BotTester) -> None:
    refuse(refusing, "views.publish", "invalid_arguments")
    await refusing.open_home()
    await refusing.see_home()
    await refusing.logged("blocks_refused")


async def test_a_form_opens_plainer_and_still_pauses(refusing: BotTester) -> None:
    refuse(refusing, "views.open", "invalid_blocks")
    await refusing.shortcut()
    form = await refusing.modal("0 queued")
    await refusing.submit(form, reason="CI runners are down")
    await refusing.modal("paused")
    await refusing.logged("blocks_refused")
    assert refusing.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_a_form_opens_plainer_at_the_second_try_where_a_refusal_uses_up_the_click(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(refusals_use_triggers=True)
    bot.expected_errors.add("blocks_refused")
    bot.expected_refusals.add("views.open exchanged_trigger_id")
    refuse(bot, "views.open", "invalid_blocks")
    await bot.type("/mq pause")
    answer = await bot.wait_for_reply("Slack didn't take my answer")
    assert "`invalid_blocks`" in answer
    assert "Please try again." in answer
    await bot.type("/mq pause")
    form = await bot.modal("Some of this can't be shown right now")
    await bot.submit(form, reason="CI runners are down")
    await bot.modal("paused")
    await bot.wait_for_post("is paused")
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_a_home_tab_that_is_refused_in_any_form_is_reported(refusing: BotTester) -> None:
    refuse(refusing, "views.publish", "invalid_arguments", times=3)
    await refusing.open_home()
    assert "invalid_arguments" in await refusing.wait_for_direct_message()
    await refusing.logged("blocks_refused")


async def test_a_form_that_is_refused_in_any_form_is_reported(refusing: BotTester) -> None:
    refuse(refusing, "views.open", "invalid_arguments", times=3)
    refuse(refusing, "chat.postMessage", "invalid_blocks")
    await refusing.shortcut()
    assert "invalid_arguments" in await refusing.wait_for_direct_message()
    await refusing.logged("blocks_refused")


@pytest.mark.parametrize("method", ["views.open", "chat.getPermalink", "conversations.info"])
async def test_an_answer_without_its_field_is_no_defect(bot: BotTester, method: str) -> None:
    bot.break_slack("bare_ok", method)
    await bot.type("/mq pause")
    if method == "views.open":
        assert "unreadable_answer" in await bot.wait_for_reply()
    else:
        await bot.modal("Reason")
