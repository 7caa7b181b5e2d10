"""Notifications and how to turn them off: with `/mq me`, its card and the Home tab."""

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import ALICE, BOB, GENERAL, MERGE_QUEUE, RELEASES, BotTester
from tests.support.shown import MORE

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

MENU = "Choose notifications"
ON_BY_DEFAULT = "On: Mentions, Reminders, Replacements, Confirmations"
HALF_HOUR = 1801
UNTIL_KNOWN = 11
HEARING = f"acme/site={MERGE_QUEUE}:failure,enter,style:feed"


async def test_a_person_sees_and_switches_their_notifications_on_the_card(bot: BotTester) -> None:
    card = await bot.ask("/mq me")
    assert ON_BY_DEFAULT in card
    assert "Link your code host username to get pull request notifications." in card
    older = await bot.ask("/mq me")
    await bot.choose_all(card, ["Mentions", "Replacements", "Confirmations"], menu=MENU)
    off = await bot.wait_for_change(card, "Off: Failures, Merges, Reminders")
    assert "Reminders are off." in off
    await bot.choose_all(older, ["Mentions", "Replacements", "Confirmations"], menu=MENU)
    await bot.wait_for_change(older, "Nothing changed.")
    await bot.choose_all(off, ["Reminders", "Merges", "Confirmations"], menu=MENU)
    on = await bot.wait_for_change(card, "On: Merges, Reminders, Confirmations")
    assert "Merges and Reminders are on. Mentions and Replacements are off." in on
    await bot.choose_all(on, [], menu=MENU)
    await bot.wait_for_change(card, "Merges, Reminders and Confirmations are off.")
    assert ON_BY_DEFAULT in await bot.ask("/mq me", by=BOB)


async def test_the_home_tab_and_the_words_switch_the_same(bot: BotTester) -> None:
    await bot.open_home()
    await bot.choose_all(
        await bot.home(ON_BY_DEFAULT), ["Mentions", "Reminders", "Confirmations"], menu=MENU
    )
    await bot.home("Off: Failures, Merges, Replacements")
    assert bot.direct_messages(by=ALICE) == []
    assert "Off: Failures, Merges, Replacements" in await bot.ask("/mq me")
    said = await bot.ask("/mq me dm on")
    assert "Failures, Merges and Replacements are on." in said
    await bot.see_home("On: Mentions, Failures, Merges, Reminders, Replacements, Confirmations")


async def test_an_unknown_notification_option_changes_nothing_and_gets_a_reply(
    bot: BotTester,
) -> None:
    assert "Did you mean mentions?" in await bot.ask("/mq me mentoins off")
    assert "There is no notification called" in await bot.ask("/mq me <!channel> off")
    assert "Say on or off, for example “me dm off”." in await bot.ask("/mq me dm")
    assert "Say on or off" in await bot.ask("/mq me on off")
    assert "Say what to turn off: mentions" in await bot.ask("/mq me off")
    assert ON_BY_DEFAULT in await bot.ask("/mq me")


async def test_people_who_turned_mentions_off_are_not_mentioned(start_bot: StartBot) -> None:
    bot = await start_bot(channels=HEARING, speed=20.0)
    await bot.ask("/mq link carol")
    await bot.ask("/mq me failures off")
    assert "I won't mention you, as you asked." not in await bot.ask("/mq link carol")
    await bot.ask("/mq me mentions off")
    assert "I won't mention you, as you asked." in await bot.ask("/mq link carol")
    failing = bot.enqueue(author="carol", broken_check="lint")
    await bot.wait_for_post(f"*Queued* #{failing}")
    failed = await bot.wait_for_post("*Left the queue*")
    assert f"#{failing}" in failed
    assert "<@" not in str(failed.blocks)
    await bot.ask("/mq link off")
    await bot.ask("/mq link carol", by=BOB)
    await bot.ask("/mq me failures off", by=BOB)
    failing = bot.enqueue(author="carol", broken_check="unit tests")
    await bot.wait_for_post(f"*Queued* #{failing}")
    assert (
        f"Next step for @{BOB}: fix it, then comment `@mergifyio queue`"
        in await bot.wait_for_post(f"#{failing}")
    )


@pytest.mark.parametrize("author", ["dependabot[bot]", "renovate", "acme-release-bot"])
async def test_a_failure_of_a_bots_pull_request_addresses_who_queued_it(
    start_bot: StartBot, author: str
) -> None:
    bot = await start_bot(channels=HEARING, speed=20.0)
    await bot.ask("/mq link carol")
    await bot.ask("/mq me failures off")
    nobodys = bot.enqueue(author=author, broken_check="lint")
    await bot.wait_for_post(f"*Queued* #{nobodys}")
    failed = await bot.wait_for_post("*Left the queue*")
    assert f"#{nobodys}" in failed
    assert "*Next step:* fix it" in failed
    assert "<@" not in str(failed.blocks)
    carols = bot.enqueue(author=author, broken_check="unit tests", by="carol")
    await bot.wait_for_post(f"*Queued* #{carols}")
    failed = await bot.wait_for_post(f"*Left the queue* #{carols}")
    assert f"Next step for @{ALICE}:* fix it" in failed
    assert "*Next step for carol:*" in await bot.ask(f"/mq why {carols}")
    assert "*Next step:*" in await bot.ask(f"/mq why {nobodys}")


async def test_the_first_login_link_offers_author_notifications_once(start_bot: StartBot) -> None:
    bot = await start_bot(speed=20.0)
    offer = await bot.ask("/mq link carol")
    assert "I'll send you a direct message when one of them fails." in offer.line
    assert "On: Mentions, Failures, Reminders, Replacements" in offer
    await bot.pass_time(UNTIL_KNOWN)
    failing = bot.enqueue(author="carol", broken_check="lint")
    failed = await bot.wait_for_direct_message("*Left the queue*")
    assert f"#{failing}" in failed
    await bot.choose_all(offer, ["Mentions", "Confirmations"], menu=MENU)
    await bot.wait_for_change(offer, "Failures, Reminders and Replacements are off.")
    again = await bot.ask("/mq link carol")
    assert again.labels == []
    assert "Off: Failures, Merges, Reminders, Replacements" in await bot.ask("/mq me")


async def test_a_failure_sent_to_its_author_directly_mentions_nobody(start_bot: StartBot) -> None:
    levels = {MERGE_QUEUE: "failure,enter,style:feed", RELEASES: "failure,enter", GENERAL: "quiet"}
    channels = ";".join(f"acme/site={one}:{level}" for one, level in levels.items())
    bot = await start_bot(channels=channels, speed=20.0)
    await bot.ask("/mq link carol")
    await bot.pass_time(UNTIL_KNOWN)
    failing = bot.enqueue(author="carol", broken_check="lint")
    await bot.wait_for_direct_message("*Next step for you:*")
    await bot.happens("action.queue.leave", failing)
    for channel in levels:
        failed = await bot.wait_for_post(f"*Left the queue* #{failing}", channel)
        assert "*Next step for carol:* fix it, then comment `@mergifyio queue`" in failed
        assert "<@" not in str(bot.posts(channel))


async def test_authors_are_notified_even_when_no_channel_is_subscribed(start_bot: StartBot) -> None:
    bot = await start_bot(speed=40.0)
    await bot.ask("/mq link Carol")
    assert "Merges are on." in await bot.ask("/mq me merges on")
    await bot.pass_time(UNTIL_KNOWN)
    merged = bot.enqueue(author="carol")
    notice = await bot.wait_for_direct_message("*Merged*")
    assert f"#{merged}" in notice
    assert notice.options(MORE) == ["Stop these messages"]
    of_another = bot.enqueue(author="zoe", broken_check="unit tests")
    failing = bot.enqueue(author="carol", broken_check="lint")
    failed = await bot.wait_for_direct_message("*Left the queue*")
    assert f"#{failing}" in failed
    assert f"#{of_another}" not in failed
    first, *others = failed.words.splitlines()
    assert first.startswith(f":x: *Left the queue* #{failing}")
    assert first.endswith(": lint failed · open the run")
    assert "*Next step for you:* fix it, then comment `@mergifyio queue`" in others
    assert "<@" not in str(failed.blocks)
    assert failed.labels == [MORE, "Why?", "Log", "Mute this pull request"]

    await bot.choose(failed, "Stop these messages", menu=MORE)
    said = await bot.wait_for_reply("Failures are off.", channel=failed.channel)
    assert "On: Mentions, Merges" in said
    await bot.choose(failed, "Stop these messages", menu=MORE)
    await bot.wait_for_reply("Nothing changed.", channel=failed.channel)
    bot.enqueue(author="carol", broken_check="lint")
    await bot.happens("action.queue.leave")
    merged = bot.enqueue(author="carol")
    assert f"#{merged}" in await bot.wait_for_direct_message()


async def test_merges_of_one_author_in_a_batch_share_one_direct_message(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:merge,style:feed", speed=40.0)
    await bot.ask("/mq link carol")
    await bot.ask("/mq me merges on")
    await bot.pass_time(UNTIL_KNOWN)
    red, _, blue = (
        bot.enqueue(title=f"Door {one}", author=author)
        for one, author in (("red", "carol"), ("green", "zoe"), ("blue", "carol"))
    )
    notice = await bot.wait_for_direct_message("*Merged* 2 pull requests together")
    assert f"#{red} Door red" in notice
    assert f"#{blue} Door blue" in notice
    assert "green" not in notice
    assert notice.options(MORE) == ["Stop these messages"]
    await bot.wait_for_post("*Merged* 3 pull requests together")


async def test_a_person_without_a_login_link_gets_no_more_notifications(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=HEARING, speed=20.0)
    await bot.ask("/mq link carol")
    await bot.ask("/mq me mentions off")
    await bot.ask("/mq link off")
    await bot.pass_time(UNTIL_KNOWN)
    failing = bot.enqueue(author="carol", broken_check="lint")
    await bot.wait_for_post(f"*Queued* #{failing}")
    await bot.wait_for_post("*Left the queue*")
    assert bot.direct_messages(by=ALICE) == []
    assert "Link your code host username to get pull request notifications." in await bot.ask(
        "/mq me"
    )


@pytest.mark.usefixtures("hurried_reminders")
async def test_the_channel_is_reminded_when_the_pauser_turned_reminders_off(bot: BotTester) -> None:
    await bot.ask("/mq me reminders off")
    await bot.pause("CI runners are down")
    await bot.pass_time(HALF_HOUR)
    assert "CI runners are down" in await bot.wait_for_post("still paused")
    assert bot.direct_messages(by=ALICE) == []


async def test_people_can_turn_off_notices_of_replaced_pauses(bot: BotTester) -> None:
    await bot.ask("/mq me replacements off")
    card = await bot.pause("CI runners are down")
    asked = await bot.ask("/mq pause database migration", by=BOB)
    await bot.click(asked, "Replace reason", by=BOB)
    await bot.wait_for_change(card, "database migration")
    asked = await bot.ask("/mq pause second thoughts")
    await bot.click(asked, "Replace reason")
    await bot.wait_for_direct_message("alice replaced your pause", by=BOB)
    await bot.wait_in_thread(card, "second thoughts")
    assert bot.direct_messages(by=ALICE) == []


async def test_people_can_list_and_stop_the_queues_they_wait_for(bot: BotTester) -> None:
    paused = await bot.pause("CI runners are down")
    await bot.choose(paused, "Notify me when it resumes", menu="More actions")
    await bot.wait_for_reply("You'll get a direct message when acme/site resumes.")
    await bot.see_home("you're waiting for acme/site")
    card = await bot.ask("/mq me")
    await bot.click(card, "Stop waiting")
    await bot.wait_for_change(card, "You're no longer waiting for any queue.")
    await bot.resume()
    assert bot.direct_messages(by=ALICE) == []


async def test_a_person_who_became_a_guest_gets_no_more_notifications(start_bot: StartBot) -> None:
    """They couldn't even turn it off."""
    bot = await start_bot(speed=40.0)
    for person, login in ((ALICE, "carol"), (BOB, "zoe")):
        await bot.ask(f"/mq link {login}", by=person)
        await bot.ask("/mq me merges on", by=person)
    bot.slack.arrangement.change_user(ALICE, {"kind": "guest"})
    await bot.pass_time(UNTIL_KNOWN + 60)
    for _ in range(2):
        bot.enqueue(author="carol")
        merged = bot.enqueue(author="zoe")
        await bot.wait_for_direct_message(f"#{merged}", by=BOB)
    assert bot.direct_messages(by=ALICE) == []
