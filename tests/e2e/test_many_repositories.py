"""More repositories than a menu, a screen or a page holds."""

import pytest

from tests.e2e.conftest import StartBot
from tests.support.bot_tester import BOB, BotTester

pytestmark = pytest.mark.e2e

COUNT = 121
LAST = f"acme/repo{COUNT - 1}"
MENU = f"Type part of a name ({COUNT} repositories)"


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    repositories = {f"acme/repo{number}": "quiet" for number in range(COUNT)}
    return await start_bot(
        repositories=repositories,
        channels="acme/repo0=C0RELEASE:freeze",
        environment={"MQBOT_POLL_SECONDS": "30"},
    )


async def test_the_form_opens_for_a_repository_past_the_hundredth(bot: BotTester) -> None:
    await bot.type(f"/mq pause {LAST}")
    modal = await bot.modal("0 pull requests")
    assert modal.element(MENU).body["initial_option"]["value"] == LAST
    await bot.submit(modal, reason="CI runners are down")
    await bot.modal(f"{LAST} is paused")
    await bot.wait_for_post(f"*Queue paused* {LAST}", by=BOB)
    assert bot.pause_reason(LAST) == "CI runners are down (by alice via Slack)"


async def test_the_shortcut_finds_a_repository_past_the_hundredth_by_a_part_of_its_name(
    bot: BotTester,
) -> None:
    await bot.shortcut()
    modal = await bot.modal("Choose a repository")
    assert await bot.suggestions(modal, "PO120", menu=MENU) == [LAST]
    await bot.choose(modal, LAST, menu=MENU)
    await bot.submit(await bot.modal("0 pull requests"), reason="CI runners are down")
    await bot.modal(f"{LAST} is paused")


async def test_the_question_which_repository_takes_any_of_them(bot: BotTester) -> None:
    question = await bot.ask("/mq status")
    assert len(await bot.suggestions(question, "", menu=MENU)) == 100
    assert await bot.suggestions(question, "no such", menu=MENU) == []
    await bot.choose(question, LAST, menu=MENU)
    assert f"*{LAST}* is running" in await bot.wait_for_reply()


async def test_an_outsider_gets_no_names_as_suggestions(bot: BotTester) -> None:
    question = await bot.ask("/mq status", by=BOB)
    bot.slack.installation.workspace.users[BOB].kind = "guest"
    await bot.pass_time(600)
    assert await bot.suggestions(question, "repo", menu=MENU, by=BOB) == []
