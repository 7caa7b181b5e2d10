"""More repositories than a menu, a screen or a page holds."""

import pytest

from bot.acts.record import AuditSelection
from bot.acts.rows import Audit
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import BOB, MERGE_QUEUE, RELEASES, BotTester
from tests.support.shown import ShownView
from tests.support.transactions import begin
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_HTTP]

COUNT = 121
LAST = f"acme/repo{COUNT - 1}"
MENU = f"Type part of a name ({COUNT} repositories)"


async def start_with_many(
    start_bot: StartBot, channels: str = "acme/repo0=C0RELEASE:freeze"
) -> BotTester:
    repositories = {f"acme/repo{number}": "quiet" for number in range(COUNT)}
    environment = {"MQBOT_POLL_SECONDS": "600"}
    return await start_bot(repositories=repositories, channels=channels, environment=environment)


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    """Each log is read once: these tests are about what is asked for, not about what happens."""
    return await start_with_many(start_bot)


async def test_menus_and_forms_reach_a_repository_past_the_hundredth(bot: BotTester) -> None:
    question = await bot.ask("/mq status")
    assert len(await bot.suggestions(question, "", menu=MENU)) == 100
    assert await bot.suggestions(question, "no such", menu=MENU) == []
    await bot.choose(question, LAST, menu=MENU)
    assert f"*{LAST}* is running" in await bot.wait_for_reply()

    await bot.shortcut()
    modal = await bot.modal("Choose a repository")
    assert await bot.suggestions(modal, "PO120", menu=MENU) == [LAST]
    await bot.choose(modal, LAST, menu=MENU)
    await bot.submit(await bot.modal("0 queued"), reason="CI runners are down")
    await bot.modal(f"{LAST} is paused")
    await bot.publish(f"/mq resume {LAST}", "has resumed")

    await bot.type(f"/mq pause {LAST}")
    modal = await bot.modal("0 queued")
    assert modal.element(MENU).body["initial_option"]["value"] == LAST
    await bot.submit(modal, reason="CI runners are down")
    await bot.modal(f"{LAST} is paused")
    await bot.wait_for_post(f"*{LAST} is paused*", by=BOB)
    assert bot.pause_reason(LAST) == "CI runners are down (by alice via Slack)"


async def test_a_guests_refused_shortcut_leaves_no_record_and_nothing_is_suggested(
    bot: BotTester,
) -> None:
    guest = str(bot.slack.arrangement.add_user("guy", "guest")["user"])
    await bot.shortcut(by=guest)
    await bot.wait_for_direct_message("you're a guest here", by=guest)
    store = Store(create_engine(bot.database_url))
    with begin(store) as transaction:
        assert Audit(transaction).oldest(AuditSelection(), 1000) == []
    await store.close()

    question = await bot.ask("/mq status", by=BOB)
    bot.slack.installation.workspace.users[BOB].kind = "guest"
    await bot.pass_time(600)
    assert await bot.suggestions(question, "repo", menu=MENU, by=BOB) == []


async def home_is_opened_while_its_next_page_is_read(bot: BotTester, home: ShownView) -> None:
    """It shows the first page; the test ends with an error if the person is told of one."""

    def readings() -> int:
        return len(bot.requests("acme/repo15/merge-queue/status"))

    before = readings()
    bot.break_service("slow", path="acme/repo15", seconds=1.0)
    await bot.click(home, "Show more")
    await bot.open_home()
    await until(lambda: readings() > before, "the next page read")
    await bot.home("Repositories 1 to 10")
    bot.fix_service()


async def test_home_and_the_status_of_all_show_a_paused_queue_first_and_have_pages(
    bot: BotTester,
) -> None:
    await bot.type(f"/mq pause {LAST} CI runners are down", channel=MERGE_QUEUE)
    await bot.wait_for_post("is paused")
    home = await bot.see_home(f"*{LAST}* is paused")
    assert home.words.index(f"*{LAST}* is paused") < home.words.index("is running")
    assert f"Repositories 1 to 10 of {COUNT}, paused ones first" in home
    await home_is_opened_while_its_next_page_is_read(bot, home)
    await bot.click(home, "Show more")
    home = await bot.home("Repositories 11 to 20")
    assert "*acme/repo10* is running" in home
    await bot.click(home, "Refresh")
    await bot.click(await bot.home("Repositories 11 to 20"), "Back")
    await bot.home("Repositories 1 to 10")
    await bot.see_home("Repositories 1 to 10")

    answer = await bot.ask("/mq status all")
    assert f"all: 1 of {COUNT} queues paused" in answer
    assert answer.words.index(f"*{LAST}* paused by alice") < answer.words.index("running")
    assert f"Queues 1 to 50 of {COUNT}" in answer
    await bot.click(answer, "Show more")
    answer = await bot.wait_for_change(answer, f"Queues 51 to 100 of {COUNT}")
    assert f"all: 1 of {COUNT} queues paused" in answer
    await bot.click(answer, "Show more")
    answer = await bot.wait_for_change(answer, f"Queues 101 to {COUNT} of {COUNT}")
    assert answer.labels == ["Back"]
    await bot.click(answer, "Back")
    await bot.wait_for_change(answer, f"Queues 51 to 100 of {COUNT}")


async def test_home_shows_my_pull_requests_wherever_they_are(start_bot: StartBot) -> None:
    bot = await start_with_many(start_bot, channels=f"{LAST}=C0RELEASE:enter")
    assert "Linked to the code host user *ada*" in await bot.ask("/mq link ada")
    bot.enqueue(LAST, title="Add search", author="ada", hangs=True)
    await bot.pass_time(600)
    await bot.wait_for_post("Queued", RELEASES)
    home = await bot.see_home("Add search")
    assert f"*{LAST}* is" not in home
    assert f"Looked at 41 of {COUNT} repositories" in home
