"""More repositories, groups and subscriptions than fit in a message: all can be seen.

Slack takes 100 options in a menu, 50 blocks in a message and 3,000 characters in a section. The
local one refuses what is larger, which fails these tests. Every number here exceeds those limits;
`pytest --hypothesis-profile=long tests/e2e/test_large_installations.py` takes those of a large
company.
"""

import re
from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import settings

from bot.blocks.message import TEXT_LIMIT
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BOB, MERGE_QUEUE, BotTester
from tests.support.shown import Shown

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

if settings.get_current_profile_name() == "long":
    ALL = 1_000
    IN_GROUP = 500
    PAUSED = 500
    SUBSCRIBED = 300
else:
    ALL = 205
    IN_GROUP = 105
    PAUSED = 55
    SUBSCRIBED = 200
NAMES = [f"acme/service-with-a-rather-long-name-{number:04d}" for number in range(ALL)]
LAST = NAMES[-1]
MENU = f"Type part of a name ({ALL:,} repositories)"
GROUPS: Mapping[str, list[str]] = {
    "release": NAMES[:IN_GROUP],
    "heard": NAMES[:SUBSCRIBED],
    "timed": NAMES[-40:],
}
NAME = re.compile(r"acme/[a-z0-9-]+\d{4}")
SLOWLY = "600"
"""Seconds between two polls: these tests are about what is asked for, not about what happens."""


async def start_large(
    start_bot: StartBot,
    channels: str = f"{NAMES[0]}=C0RELEASE:freeze",
    names: Collection[str] = NAMES,
    groups: Mapping[str, Sequence[str]] = GROUPS,
) -> BotTester:
    set_up = ";".join(f"{group}={','.join(queues)}" for group, queues in groups.items())
    return await start_bot(
        repositories=dict.fromkeys(names, "quiet"),
        channels=channels,
        environment={"MQBOT_POLL_SECONDS": SLOWLY, "MQBOT_GROUPS": set_up},
        waits_for_begin=False,
    )


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    return await start_large(start_bot)


async def every_page(bot: BotTester, shown: Shown) -> list[Shown]:
    """The pages of an answer, from the first to the last."""
    pages = [shown]
    while "Show more" in shown.labels:
        await bot.click(shown, "Show more")
        shown = await bot.wait_for_other(shown)
        pages.append(shown)
    return pages


async def test_the_repository_menu_and_the_form_find_any_repository(bot: BotTester) -> None:
    question = await bot.ask("/mq status")
    assert len(question.line) <= TEXT_LIMIT
    named = len(NAME.findall(question.line))
    assert question.line.endswith(f"and {ALL - named} more. You typed `status`")
    assert await bot.suggestions(question, LAST[-9:], menu=MENU) == [LAST]
    await bot.choose(question, LAST, menu=MENU)
    assert f"*{LAST}* is running" in await bot.wait_for_reply()

    await bot.shortcut()
    form = await bot.modal("Choose a repository")
    assert len(await bot.suggestions(form, "", menu=MENU)) == 100
    assert await bot.suggestions(form, LAST[-9:], menu=MENU) == [LAST]
    await bot.choose(form, LAST, menu=MENU)
    await bot.submit(await bot.modal("0 queued"), reason="CI runners are down")
    await bot.modal(f"{LAST} is paused")

    answer = await bot.ask("/mq status acme/no-such-thing")
    named = len(NAME.findall(answer.words))
    assert f"and {ALL - named} more (`/mq status all` lists them)" in answer


async def test_a_large_groups_queues_are_one_click_away_and_home_shows_paused_ones_first(
    start_bot: StartBot,
) -> None:
    heard = ";".join(f"{name}={MERGE_QUEUE}:freeze" for name in NAMES[:SUBSCRIBED])
    bot = await start_large(start_bot, channels=heard)
    question = await bot.ask("/mq pause @timed 2h CI is down", channel="C0GENERAL")
    await bot.click(question, "Show all queues")
    answer = await bot.wait_for_reply(channel="C0GENERAL")
    assert NAME.findall(answer.words) == GROUPS["timed"]
    await bot.click(question, "Pause 40 queues")
    card = await bot.wait_for_post("@timed: 40 of 40 queues paused", "C0GENERAL", by=BOB)
    await bot.click(card, "Show all queues")
    answer = await bot.wait_for_reply(channel="C0GENERAL")
    assert "@timed: 40 of 40 queues paused" in answer
    assert NAME.findall(answer.words) == GROUPS["timed"]

    home = await bot.see_home(f"Repositories 1 to 10 of {ALL:,}, paused ones first")
    assert home.words.count("* is paused") == 10
    assert "and 30 more: `/mq status all` shows paused queues first" in home
    assert f"and {SUBSCRIBED - 5} more" in home
    for place in ("11 to 20", "21 to 30", "31 to 40"):
        await bot.click(home, "Show more")
        home = await bot.home(f"Repositories {place}")
        assert home.words.count("* is paused") == 10
    await bot.click(home, "Show more")
    home = await bot.home("Repositories 41 to 50")
    assert "* is paused" not in home

    await bot.click(home, "All subscriptions")
    listed: list[str] = []
    for first in range(1, SUBSCRIBED, 20):
        page = await bot.home(f"Subscriptions {first} to {first + 19} of {SUBSCRIBED}")
        listed += NAME.findall(page.words)
        if "Show more" in page.labels:
            await bot.click(page, "Show more")
    assert listed == NAMES[:SUBSCRIBED]


async def test_a_large_groups_status_lists_each_queue_once_and_its_form_links_there(
    bot: BotTester,
) -> None:
    pages = await every_page(bot, await bot.ask("/mq status @release"))
    assert [name for page in pages for name in NAME.findall(page.words)] == GROUPS["release"]
    for page in pages:
        assert len(page.line) <= TEXT_LIMIT
        assert f"@release: 0 of {IN_GROUP} queues paused" in page
    assert f"to {IN_GROUP} of {IN_GROUP}" in pages[-1]

    await bot.type("/mq pause @release")
    form = await bot.modal("0 queued")
    named = len(NAME.findall(form.words))
    assert f"and {IN_GROUP - named} more (`/mq status @release` lists them all)" in form


async def test_a_channel_of_many_subscriptions_lists_each_of_them(bot: BotTester) -> None:
    await bot.type("/mq subscribe @heard")
    notice = await bot.wait_for_post(
        f"Subscribed this channel to the {SUBSCRIBED} repositories of @heard", by=BOB
    )
    named = len(NAME.findall(notice.words))
    assert f"and {SUBSCRIBED - named} more" in notice
    assert "`/mq subscriptions` lists all subscriptions of this channel" in notice

    pages = await every_page(bot, await bot.ask("/mq subscriptions"))
    assert [name for page in pages for name in NAME.findall(page.words)] == GROUPS["heard"]
    assert f"Page 1 of {len(pages)} · {SUBSCRIBED} subscriptions" in pages[0]
    assert all("enter, merge, failure, pause" in page for page in pages)


async def test_many_subscriptions_that_all_differ_are_listed_too(start_bot: StartBot) -> None:
    heard = ";".join(
        f"{name}={MERGE_QUEUE}:enter,branch:release-{number}/*"
        for number, name in enumerate(NAMES[:SUBSCRIBED])
    )
    bot = await start_large(start_bot, channels=heard)
    pages = await every_page(bot, await bot.ask("/mq subscriptions"))
    words = "\n".join(page.words for page in pages)
    for number, name in enumerate(NAMES[:SUBSCRIBED]):
        assert f"*{name}*: enter · on `release-{number}/*`" in words
    await bot.click(pages[-1], "Back")
    await bot.wait_for_change(pages[-1], f"Page {len(pages) - 1} of {len(pages)}")


async def test_a_large_group_is_paused_and_resumed_as_one(start_bot: StartBot) -> None:
    names = NAMES[:PAUSED]
    bot = await start_large(start_bot, names=names, groups={"release": names})
    question = await bot.ask("/mq pause @release CI is down")
    await bot.click(question, f"Pause {PAUSED} queues")
    card = await bot.wait_for_post(
        f"@release: {PAUSED} of {PAUSED} queues paused", by=BOB, seconds=100
    )
    assert all(bot.pause_reason(name) for name in names)
    await bot.click(card, "Resume @release")
    await bot.wait_for_post(f"@release: {PAUSED} of {PAUSED} queues resumed", by=BOB, seconds=100)
    assert not any(bot.pause_reason(name) for name in names)
