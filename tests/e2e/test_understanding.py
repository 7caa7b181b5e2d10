"""The same words as a command, a mention, in a thread and in a direct message."""

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_mentions import mention, write
from tests.support.bot_tester import ALICE, BOB, GENERAL, MERGE_QUEUE, BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

THREE = dict.fromkeys(("acme/site", "acme/api", "acme/docs"), "quiet")


async def with_three(start_bot: StartBot) -> BotTester:
    bot = await start_bot(repositories=THREE, channels=f"acme/api={MERGE_QUEUE}:failure,enter")
    await bot.publish("/mq default acme/docs", "Default repository in this channel")
    return bot


async def test_in_the_thread_of_a_pause_words_mean_that_pause(start_bot: StartBot) -> None:
    bot = await with_three(start_bot)
    card = await bot.pause("now acme/site 45m migration")
    await bot.pause("now acme/api deploying")
    await bot.has_posted()
    mention(bot, "extend 30m", beneath=card)
    await bot.wait_in_thread(card, "changed the end: acme/site resumes")
    mention(bot, "why?", beneath=card)
    assert "migration" in await bot.wait_in_thread(card, "acme/site is paused: migration")
    mention(bot, "pls resume, thanks", beneath=card)
    await bot.wait_for_post("*acme/site has resumed*")
    assert bot.pause_reason("acme/site") is None
    assert bot.pause_reason("acme/api") == "deploying (by alice via Slack)"


async def test_in_the_thread_of_a_pause_that_is_over_the_next_one_stays(
    start_bot: StartBot,
) -> None:
    bot = await with_three(start_bot)
    card = await bot.pause("now acme/site migration")
    await bot.publish("/mq resume acme/site", "has resumed")
    await bot.pause("now acme/site another one")
    await bot.has_posted()
    mention(bot, "resume", beneath=card)
    await bot.wait_in_thread(card, "another one")
    assert bot.pause_reason("acme/site") == "another one (by alice via Slack)"


async def test_in_the_thread_of_a_pause_fixed_offers_to_resume_its_queue(
    start_bot: StartBot,
) -> None:
    bot = await with_three(start_bot)
    card = await bot.pause("now acme/site migration")
    await bot.has_posted()
    mention(bot, "it's fixed", beneath=card)
    offer = await bot.wait_in_thread(card, "Did you mean `/mq resume acme/site it's fixed`?")
    await bot.click(offer, "Run /mq resume acme/site it's fixed")
    await bot.wait_for_post("*acme/site has resumed*")


async def test_typed_words_ask_to_be_notified_like_the_button(start_bot: StartBot) -> None:
    bot = await with_three(start_bot)
    card = await bot.pause("now acme/site migration")
    await bot.has_posted()
    mention(bot, "let me know when it's unpaused", by=BOB, beneath=card)
    told = "You'll get a direct message when acme/site resumes."
    await bot.wait_in_thread(card, told, by=BOB)
    again = await bot.ask("/mq notify acme/site", by=BOB)
    assert "You've already asked" in again
    await bot.publish("/mq resume acme/site", "has resumed")
    await bot.wait_for_direct_message("You asked to be notified", by=BOB)


async def test_nobody_waits_for_a_queue_that_is_not_paused(start_bot: StartBot) -> None:
    bot = await with_three(start_bot)
    assert "acme/docs is not paused" in await bot.ask("/mq notify me when it resumes")


async def test_words_in_the_thread_of_a_pause_take_it_over(start_bot: StartBot) -> None:
    bot = await with_three(start_bot)
    card = await bot.pause("now acme/site migration")
    await bot.has_posted()
    mention(bot, "take over", by=BOB, beneath=card)
    await bot.wait_in_thread(card, "You took over the pause of acme/site from alice.", by=BOB)
    await bot.wait_for_change(card, "By alice · With bob since ")
    await bot.wait_for_direct_message("bob took over your pause of acme/site.", by=ALICE)


async def test_where_no_queue_is_meant_a_person_says_which_pause_they_take_over(
    start_bot: StartBot,
) -> None:
    bot = await with_three(start_bot)
    card = await bot.pause("now acme/site migration")
    question = await bot.ask("/mq take over", by=BOB, channel=GENERAL)
    assert "Take over the pause of which queue?" in question
    await bot.click(question, "acme/site", by=BOB)
    await bot.wait_for_reply("You took over the pause of acme/site", by=BOB, channel=GENERAL)
    await bot.wait_for_change(card, "By alice · With bob since ")
    await bot.wait_for_direct_message("bob took over your pause of acme/site.", by=ALICE)


async def test_words_in_the_thread_of_a_failure_mute_its_pull_request(
    start_bot: StartBot,
) -> None:
    bot = await with_three(start_bot)
    number = bot.enqueue(repository="acme/api", broken_check="lint")
    root = await bot.wait_for_post(f"#{number}")
    await bot.wait_for_post(f":x: *Left the queue* #{number}")
    mention(bot, "mute this pull request", beneath=root)
    await bot.wait_in_thread(root, f"Muted #{number} of acme/api for you")
    undone = await bot.ask(f"/mq unmute {number} acme/api")
    assert "is no longer muted" in undone
    again = await bot.ask(f"/mq unmute {number} acme/api")
    assert "wasn't muted" in again


async def test_a_queue_is_not_resumed_at_once_by_words_that_name_a_later_time(
    start_bot: StartBot,
) -> None:
    bot = await with_three(start_bot)
    card = await bot.pause("now acme/site migration")
    await bot.has_posted()
    mention(bot, "resume at 23:59", beneath=card)
    await bot.wait_in_thread(card, "I resume a queue right away.")
    assert bot.pause_reason("acme/site") == "migration (by alice via Slack)"


async def test_in_the_thread_of_a_failure_a_question_is_about_that_pull_request(
    start_bot: StartBot,
) -> None:
    bot = await with_three(start_bot)
    number = bot.enqueue(repository="acme/api", broken_check="lint")
    root = await bot.wait_for_post(f"#{number}")
    await bot.wait_for_post(f":x: *Left the queue* #{number}")
    mention(bot, "what happened?", beneath=root)
    assert "acme/api" in await bot.wait_in_thread(root, "its checks failed")
    mention(bot, "is the queue stuck?", beneath=root)
    await bot.wait_in_thread(root, "Nothing is queued in acme/api")


async def test_a_polite_question_in_a_direct_message_is_answered(bot: BotTester) -> None:
    write(bot, "Hi! Is the queue stuck?")
    await bot.wait_for_direct_message("Nothing is queued in acme/site")
    write(bot, "could you pls pause the queue because CI is down")
    await bot.wait_for_direct_message("is paused")
    assert bot.pause_reason() == "because CI is down (by alice via Slack)"


async def test_other_words_for_an_act_are_offered_and_nothing_is_done(
    start_bot: StartBot,
) -> None:
    bot = await with_three(start_bot)
    answer = await bot.ask("/mq stop the queue until 23:59")
    assert answer.labels == ["Run /mq pause acme/docs until 23:59"]
    assert all(bot.pause_reason(name) is None for name in THREE)


async def test_my_pull_request_is_the_persons_own(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter")
    assert "Link your GitHub username" in await bot.ask("/mq why isn\u2019t my PR merging?")
    await bot.ask("/mq link carol")
    number = bot.enqueue(author="carol", hangs=True)
    # The post names the author once the bot has seen the pull request in the queue.
    await bot.wait_for_post("by carol")
    assert f"#{number}" in await bot.ask("/mq where is my pr")


async def test_a_pause_is_extended_by_a_command(bot: BotTester) -> None:
    card = await bot.pause("45m CI runners are down")
    await bot.type("/mq extend by another 30 min please")
    await bot.wait_in_thread(card, "changed the end")
    await bot.pass_time(60 * 60)
    assert bot.pause_reason() is not None
    await bot.pass_time(16 * 60)
    await bot.wait_for_post("has resumed")


async def test_a_pause_without_an_end_gets_one_only_after_a_question(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down")
    answer = await bot.ask("/mq extend 30m")
    assert "no end to move. Nothing was changed." in answer
    await bot.click(answer, "Resume in 30 min")
    await bot.wait_in_thread(card, "changed the end")


async def test_to_extend_without_an_end_opens_the_form(bot: BotTester) -> None:
    card = await bot.pause("45m CI runners are down")
    await bot.type("/mq extend")
    form = await bot.modal("acme/site")
    await bot.submit(form, end="2h")
    await bot.wait_in_thread(card, "changed the end")


async def test_to_extend_another_pause_than_the_channels_is_asked_about(
    start_bot: StartBot,
) -> None:
    bot = await with_three(start_bot)
    await bot.pause("now acme/site 45m migration")
    answer = await bot.ask("/mq extend 30m")
    assert "acme/docs is running. Which paused queue do you want to extend?" in answer
    assert "acme/site" in answer.labels
