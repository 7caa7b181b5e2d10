"""Set up from the Home tab: subscriptions, logins, rights and freezes, by buttons and forms."""

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import (
    ALICE,
    BOB,
    GENERAL,
    MERGE_QUEUE,
    RELEASES,
    BotTester,
)
from tests.support.shown import ShownView

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

TWO = {"acme/site": "quiet", "acme/api": "quiet"}
IN_HOME = "by alice, in my Home tab"


async def all_subscriptions(bot: BotTester, *, by: str = ALICE) -> ShownView:
    await bot.click(await bot.see_home("Merge queues", by=by), "All subscriptions", by=by)
    return await bot.home("Subscriptions 1 to", by=by)


async def seen_in(bot: BotTester, channel: str, containing: str) -> None:
    assert IN_HOME in await bot.wait_for_post(containing, channel)


async def test_a_channel_is_added_changed_and_ended_from_home(start_bot: StartBot) -> None:
    bot = await start_bot(repositories=TWO)
    await bot.click(await bot.see_home("Merge queues"), "Add a channel…")
    form = await bot.modal("Repository or group")
    sent = await bot.submit(form, channel=MERGE_QUEUE, repository="acme/api", level="Quiet")
    assert "errors" not in sent
    await bot.modal(f"#{MERGE_QUEUE} is now subscribed to acme/api: failure, pause, health")
    await seen_in(bot, MERGE_QUEUE, "Subscribed this channel to acme/api: failure, pause, health")

    page = await all_subscriptions(bot)
    assert "Subscriptions 1 to 2 of 2" in page
    assert f"#{MERGE_QUEUE} · *acme/api*\n*Quiet*: failure, pause, health · in threads" in page
    await bot.click(page, "Change…")
    form = await bot.modal("Quiet")
    await bot.submit(form, level="Normal", digest="08:30")
    await bot.modal("a digest at 08:30")
    await seen_in(bot, MERGE_QUEUE, "a digest at 08:30")

    page = await bot.home("*Normal*")
    assert page.element("End").question is not None
    await bot.click(page, "End")
    await seen_in(bot, MERGE_QUEUE, "Unsubscribed this channel from acme/api")
    page = await bot.home("Subscriptions 1 to 1 of 1")
    # What the settings say can't be changed here.
    assert "(from the configuration)" in page
    assert page.labels == ["Back to Home", "Add a channel…"]
    await bot.click(page, "Back to Home")
    await bot.home("Merge queues")
    audit = await bot.ask("/mq audit acme/api", channel=GENERAL)
    assert "alice* " in audit


async def test_a_digest_keeps_its_zone_and_its_end_leaves_the_topics(bot: BotTester) -> None:
    await bot.publish("/mq subscribe merge digest:07:00 Europe/Paris", "Subscribed this channel")
    page = await all_subscriptions(bot)
    await bot.click(page, "Change…")
    form = await bot.modal("A level replaces these topics. Without one, they stay.")
    await bot.submit(form)
    await bot.modal("was already subscribed to acme/site like that")
    await bot.click(page, "Change…")
    await bot.submit(await bot.modal("07:00 Europe/Paris"), digest="")
    await bot.modal("is now subscribed to acme/site: merge · in threads")
    await seen_in(bot, MERGE_QUEUE, "acme/site: merge · in threads")


async def test_two_people_end_a_subscription_at_once(bot: BotTester) -> None:
    await bot.publish("/mq subscribe quiet", "Subscribed this channel")
    pages = {person: await all_subscriptions(bot, by=person) for person in (ALICE, BOB)}
    await bot.click(pages[ALICE], "End")
    await seen_in(bot, MERGE_QUEUE, "Unsubscribed this channel from acme/site")
    await bot.click(pages[BOB], "End", by=BOB)
    late = await bot.wait_for_direct_message("isn't subscribed to acme/site any more", by=BOB)
    assert "Nothing was changed" in late
    await bot.click(pages[BOB], "Change…", by=BOB)
    await bot.wait_for_direct_message("isn't subscribed to acme/site any more", by=BOB)


async def test_the_end_of_a_selection_leaves_what_was_subscribed_by_name(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(repositories=TWO)
    await bot.publish("/mq subscribe acme/api ci", "Subscribed this channel")
    await bot.publish("/mq subscribe all merge", "Subscribed this channel to all 2 repositories")
    page = await all_subscriptions(bot)
    assert f"#{MERGE_QUEUE} · *all repositories (1 repository)*" in page
    line = next(block for block in page.blocks if "all repositories" in str(block))
    buttons = page.blocks[list(page.blocks).index(line) + 1]
    await bot.click(ShownView([buttons], page.view_id, page.title, page.body), "End")
    await seen_in(bot, MERGE_QUEUE, "Unsubscribed this channel from")
    listed = await bot.ask("/mq subscriptions")
    assert "acme/api*: merge, ci" in listed
    assert "acme/site" not in listed


async def test_whose_right_ended_is_refused_and_sees_no_buttons(bot: BotTester) -> None:
    await bot.publish("/mq subscribe quiet", "Subscribed this channel")
    page = await all_subscriptions(bot, by=BOB)
    await bot.stop_bot()
    bot.environment = {"MQBOT_WHO_MAY_SUBSCRIBE": ALICE}
    await bot.start_bot()
    await bot.click(page, "End", by=BOB)
    await bot.wait_for_direct_message("Only alice can change a channel's subscriptions", by=BOB)
    assert "acme/site" in await bot.ask("/mq subscriptions")
    page = await all_subscriptions(bot, by=BOB)
    assert page.labels == ["Back to Home"]


async def test_a_login_is_linked_in_a_form(bot: BotTester) -> None:
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    number = bot.enqueue(title="Add search", author="ada")
    await bot.click(await bot.see_home("Link your code host username"), "Link my login…")
    form = await bot.modal("Your code host username")
    refused = await bot.submit(form, login="<no>")
    assert "A login has letters" in refused["errors"]["login"]
    await bot.submit(form, login="@ada")
    await bot.modal("Linked to the code host user *ada*")

    home = await bot.see_home("Add search")
    assert "Change my login…" in home.labels
    assert home.element("Mute").body["accessibility_label"] == f"Mute #{number} of acme/site"
    await bot.click(home, "Mute")
    home = await bot.home("muted for you")
    await bot.click(home, "Unmute")
    await bot.home("Add search", without="muted for you")


async def test_home_says_who_may_pause(start_bot: StartBot) -> None:
    bot = await start_bot(environment={"MQBOT_WHO_MAY_PAUSE": f"{ALICE},{BOB}"})
    await bot.click(await bot.see_home("Merge queues"), "Who may pause")
    said = await bot.modal("*Pause a queue*: alice and bob")
    assert "*Change a channel's subscriptions*: full members of this workspace" in said


async def test_a_freeze_is_planned_from_home(start_bot: StartBot) -> None:
    bot = await start_bot(repositories=TWO, channels=f"acme/api={RELEASES}:freeze")
    await bot.click(await bot.see_home_with_freezes("Merge queues"), "Plan a freeze…")
    form = await bot.modal("What to freeze")
    await bot.submit(form, repository="acme/api", reason="cutting 4.3", end="2h")
    await bot.modal("acme/api is frozen from")
    await bot.wait_for_post("*acme/api is frozen*", RELEASES)
    await bot.click(await bot.see_home("*acme/site* is running"), "Freeze…")
    await bot.modal("acme/api")
