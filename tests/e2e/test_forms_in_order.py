"""A form shows what its person did last: nothing that was read before replaces it, nor is lost."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.runtime.intervals import Intervals
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import HURRIED, BotTester
from tests.support.shown import ShownView

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

TARGETS = "Choose a repository or a group"
SITE = "acme/site"
API = "acme/api"
DOCS = "acme/docs"
READING = "Reading the queue"


async def begun(start_bot: StartBot, every: Intervals = HURRIED) -> BotTester:
    """Queues with one, two and three pull requests that stay there."""
    bot = await start_bot(
        every=every,
        repositories={SITE: "quiet", API: "quiet", DOCS: "quiet"},
        channels=f"{DOCS}=C0RELEASE:freeze",
    )
    for count, name in enumerate((SITE, API, DOCS), 1):
        for _ in range(count):
            bot.enqueue(name, hangs=True)
    return bot


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    return await begun(start_bot)


def slow(bot: BotTester, repository: str, seconds: float = 1.5) -> None:
    path = f"/{repository}/merge-queue/status"
    bot.break_service("slow", path=path, seconds=seconds)


async def shown_at_last(bot: BotTester, containing: str) -> ShownView:
    """The form once nothing is being read any more."""
    form = await bot.modal(containing)
    await asyncio.sleep(2)
    (top,) = bot.open_modals()
    assert top.words == form.words
    return top


@pytest.mark.parametrize("slow_one", [SITE, API])
async def test_the_choice_made_last_is_shown_whichever_queue_is_read_last(
    bot: BotTester, slow_one: str
) -> None:
    slow(bot, slow_one)
    await bot.type(f"/mq pause {SITE}")
    form = await bot.modal()
    await bot.choose(form, API, menu=TARGETS)
    await bot.choose(form, DOCS, menu=TARGETS)
    form = await shown_at_last(bot, "3 queued")
    await bot.submit(form, reason="CI is down")
    await bot.modal("acme/docs is paused.")
    assert bot.pause_reason(DOCS) is not None
    assert [bot.pause_reason(repository) for repository in (SITE, API)] == [None, None]
    await bot.stop_bot()
    bot.posts()


async def test_until_the_chosen_queue_is_read_no_other_ones_facts_are_shown(
    bot: BotTester,
) -> None:
    await bot.type(f"/mq pause {SITE}")
    form = await bot.modal("1 queued")
    slow(bot, API)
    await bot.choose(form, API, menu=TARGETS)
    form = await bot.modal(READING)
    assert "1 pull request" not in form
    await bot.modal("2 queued")


async def test_a_form_that_was_sent_while_it_was_read_shows_the_result(bot: BotTester) -> None:
    slow(bot, SITE)
    await bot.type(f"/mq pause {SITE}")
    await bot.submit(await bot.modal(READING), repository=SITE, reason="CI is down")
    done = await shown_at_last(bot, "acme/site is paused.")
    assert done.labels == []
    await bot.stop_bot()
    bot.posts()


async def test_a_form_whose_queue_takes_long_to_read_stays_a_form(
    start_bot: StartBot,
) -> None:
    bot = await begun(start_bot, every=replace(HURRIED, progress=0.2))
    await bot.type(f"/mq pause {SITE}")
    form = await bot.modal("1 queued")
    slow(bot, API, seconds=4.0)
    await bot.choose(form, API, menu=TARGETS)
    await bot.modal(READING)
    # Several times as long as an answer takes before the bot says that it takes longer.
    await asyncio.sleep(0.8)
    (form,) = bot.open_modals()
    assert READING in form
    form = await bot.modal("2 queued")
    await bot.submit(form, reason="CI is down")
    await bot.modal("acme/api is paused.")
    await bot.stop_bot()
    bot.posts()


async def test_two_choices_at_once_are_shown_in_order(bot: BotTester) -> None:
    await bot.type(f"/mq pause {SITE}")
    form = await bot.modal("1 queued")
    bot.break_slack("slow", "views.update", seconds=0.3, times=4)
    await bot.choose(form, API, menu=TARGETS)
    await bot.choose(form, DOCS, menu=TARGETS)
    await shown_at_last(bot, "3 queued")


async def test_a_form_too_large_for_an_acknowledgement_is_shown_all_the_same(
    start_bot: StartBot,
) -> None:
    """Slack closes a connection for a frame over 20 KiB."""
    names = [f"acme/{'x' * 70}-{number}" for number in range(90)]
    bot = await start_bot(
        repositories=dict.fromkeys(names, "quiet"),
        channels=f"{names[0]}=C0RELEASE:freeze",
        environment={"MQBOT_POLL_SECONDS": "60"},
    )
    await bot.type(f"/mq pause {names[1]}")
    form = await bot.modal("0 queued")
    far = datetime.now(UTC) + timedelta(days=3)
    connections = len(bot.calls("apps.connections.open"))
    end = f"until {far:%A} 9pm UTC"
    await bot.submit(form, reason="CI is down", end=end)
    again = await bot.modal("Send the form again to confirm.")
    assert len(bot.calls("apps.connections.open")) == connections
    await bot.submit(again, reason="CI is down", end=end)
    await bot.modal("is paused")
    await bot.stop_bot()
    bot.posts()
