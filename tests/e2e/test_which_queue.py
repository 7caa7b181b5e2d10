"""Which queue is meant: asked for once, of whom it concerns, and never guessed."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select

from bot.desk.tables import questions
from bot.sandbox.merge_queue.controls import FreezeTerms
from bot.store.engines import create_engine
from bot.store.transactions import Store
from tests.e2e.conftest import NAMES, OVER_HTTP, StartBot
from tests.e2e.test_direct_messages import conversation
from tests.e2e.test_notices import UNTIL_KNOWN
from tests.support.bot_tester import ALICE, BOB, HURRIED, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until_true

pytestmark = [pytest.mark.e2e, OVER_HTTP]

FREEZE = FreezeTerms("made elsewhere")

LONG = "every runner is down " * 12
"""With the words in front, longer than a block's id; as long as a reason may be, nearly."""

SEVEN = {f"acme/r{number}": "quiet" for number in range(7)}


def write(bot: BotTester, text: str, *, beneath: Shown | None = None) -> None:
    """Write the bot a direct message, or into a thread there."""
    thread_ts = beneath.ts if beneath is not None else None
    bot.slack.people.message(ALICE, conversation(bot, ALICE), text, thread_ts)


# Groups and all repositories, in every command.


@pytest.mark.parametrize(
    ("typed", "title", "said"),
    [
        ("log", "*Event log · ", "• *acme/api* no events"),
        ("rules", "*", "• *acme/api* 3 rules: "),
        ("branches", "*", "• *acme/api* none"),
        ("stats", "*", "• *acme/api* 0 merges, 0 failed"),
        ("stats checks", "*", "• *acme/api* 0 left unmerged"),
        ("freezes", "*", "• *acme/api* no freeze"),
    ],
)
async def test_reading_commands_answer_for_every_repository_of_a_group(
    three: BotTester, typed: str, title: str, said: str
) -> None:
    of_group = await three.ask(f"/mq {typed} @release")
    assert f"{title}@release" in of_group
    assert said in of_group
    assert "acme/site" in of_group
    assert "acme/docs" not in of_group
    of_all = await three.ask(f"/mq {typed} all")
    assert f"{title}all" in of_all
    assert "acme/docs" in of_all
    three.break_service("error", path="/acme/docs/", status=503)
    assert "• *acme/docs* couldn't be read just now" in await three.ask(f"/mq {typed} all")
    three.fix_service()


async def test_the_log_of_all_finds_the_repository_of_a_number(three: BotTester) -> None:
    number = await three.merge("acme/docs")
    found = await three.ask(f"/mq log all {number}")
    lines = found.words.splitlines()
    assert next(line for line in lines if "acme/site" in line).endswith("no events")
    assert f"#{number}" in next(line for line in lines if "acme/docs" in line)


async def test_the_audit_of_a_group_has_its_repositories_alone(three: BotTester) -> None:
    for name in NAMES:
        await three.publish(f"/mq pause now {name} CI is down", "is paused")
    audit = await three.ask("/mq audit @release")
    assert "Actions in @release" in audit
    assert "paused acme/site" in audit
    assert "paused acme/api" in audit
    assert "acme/docs" not in audit
    assert "paused acme/docs" in await three.ask("/mq audit all")


async def test_a_page_of_the_audit_of_a_group_stays_with_the_group(three: BotTester) -> None:
    for _ in range(6):
        await three.publish("/mq pause now acme/site CI is down", "is paused")
        await three.publish("/mq resume acme/site", "has resumed")
    await three.publish("/mq pause now acme/docs CI is down", "is paused")
    audit = await three.ask("/mq audit @release")
    await three.click(audit, "Older")
    older = await three.wait_for_other(audit)
    assert "Actions in @release" in older
    assert "acme/docs" not in older


async def test_large_groups_are_answered_page_by_page(start_bot: StartBot) -> None:
    repositories = {f"acme/r{number:02}": "quiet" for number in range(12)}
    bot = await start_bot(repositories=repositories, channels="")
    answer = await bot.ask("/mq stats all")
    assert "Queues 1 to 10 of 12" in answer
    assert "(10 of 12 queues)" in answer
    await bot.click(answer, "Show more")
    answer = await bot.wait_for_change(answer, "Queues 11 to 12 of 12")
    assert "acme/r11" in answer
    await bot.click(answer, "Back")
    await bot.wait_for_change(answer, "Queues 1 to 10 of 12")


@pytest.mark.parametrize(
    ("typed", "because", "instead"),
    [
        ("why 41 all", "a pull request is in one of them", "why 41 acme/api"),
        ("remove @release #41", "a pull request is in one of them", "remove acme/api #41"),
        (
            "allow 41 @release urgent",
            "a pull request is in one of them",
            "allow 41 acme/api urgent",
        ),
        ("board all", "a board shows one queue", "board acme/api"),
        ("default all", "a channel has one default", "default acme/api"),
        ("subscriptions test all", "a test is about one of them", "subscriptions test acme/api"),
    ],
)
async def test_commands_about_one_repository_say_why_and_offer_each(
    three: BotTester, typed: str, because: str, instead: str
) -> None:
    answer = await three.ask(f"/mq {typed}")
    assert because in answer
    assert "repositories" in answer
    assert f"Run /mq {instead}" in answer.labels


# Which repository?


async def test_a_long_command_is_kept_while_it_is_asked_about(start_bot: StartBot) -> None:
    bot = await start_bot(repositories=SEVEN, channels="")
    question = await bot.ask(f"/mq pause now {LONG}")
    await bot.choose(question, "acme/r6", menu="Choose a repository")
    await bot.wait_for_post("*acme/r6 is paused*")
    await bot.wait_until_gone(question)
    reason = bot.pause_reason("acme/r6")
    assert reason is not None
    assert reason.startswith(LONG[:200])


async def test_a_question_that_was_answered_by_typing_does_nothing_after_a_restart(
    three: BotTester,
) -> None:
    question = await three.ask(f"/mq pause now {LONG}")
    await three.publish(f"/mq pause now acme/site {LONG}", "*acme/site is paused*")
    await three.stop_bot()
    await three.start_bot()
    await three.click(question, "acme/api")
    await three.wait_for_change(question, "You've already answered this question.")
    assert three.pause_reason("acme/api") is None


async def test_nothing_is_stored_of_a_question_about_what_only_reads(three: BotTester) -> None:
    """So it is asked and answered also while the database can't be written."""
    question = await three.ask("/mq rules")
    store = Store(create_engine(three.database_url))
    found = await store.read(lambda one: one.connection.execute(select(questions)).all())
    await store.close()
    assert found == []
    await three.click(question, "acme/api")
    await three.wait_for_reply("*acme/api* has 3 queue rules")


async def test_an_answer_that_failed_leaves_the_question_open(three: BotTester) -> None:
    question = await three.ask("/mq pause now CI is down")
    three.break_service("error", path="acme/api/merge-queue/pause", status=403)
    await three.click(question, "acme/api")
    await three.wait_for_reply("acme/api")
    three.fix_service()
    await three.click(question, "acme/docs")
    await three.wait_for_post("*acme/docs is paused*")
    await three.wait_until_gone(question)


async def test_of_two_presses_on_one_question_only_one_acts(three: BotTester) -> None:
    question = await three.ask("/mq pause now CI is down")
    labels = ("acme/api", "acme/docs")
    await asyncio.gather(*(three.click(question, label) for label in labels))
    await three.wait_for_post("is paused*")
    await three.wait_until_gone(question)
    await three.has_posted()
    paused = [name for name in labels if three.pause_reason(name) is not None]
    assert len(paused) == 1
    assert len(three.posts()) == 1


async def is_on_record(bot: BotTester, question: Shown) -> None:
    """Wait until the bot has heard which message asks the question."""
    store = Store(create_engine(bot.database_url))
    number = int(question.ts.replace(".", ""))
    asked = select(questions.c.message).where(questions.c.message == number)

    async def is_stored() -> bool:
        return bool(await store.read(lambda one: one.connection.execute(asked).all()))

    try:
        await until_true(is_stored, "the question on record")
    finally:
        await store.close()


async def test_in_direct_messages_an_answered_question_goes(three: BotTester) -> None:
    mine = conversation(three, ALICE)
    write(three, "pause now CI is down")
    question = await three.wait_for_direct_message("Pause which queue?")
    await is_on_record(three, question)
    write(three, "pause now acme/site CI is down")
    await three.wait_for_post("*acme/site is paused*", mine)
    await three.wait_until_gone(question)


async def test_allow_offers_frozen_queues_first(three: BotTester) -> None:
    number = three.enqueue("acme/api", hangs=True)
    await three.next_poll("acme/api")
    for name in ("acme/site", "acme/api"):
        three.merge_queue.freeze(name, FREEZE)
        await three.next_poll(name)
    question = await three.ask(f"/mq allow {number} fixes the outage")
    assert "Let it through the freeze of which queue?" in question
    assert set(question.labels[:2]) == {"acme/api", "acme/site"}
    assert question.labels[2:] == ["acme/docs"]


@pytest.mark.parametrize("typed", ["pause", "resume", "freeze 1h x", "remove 41", "unfreeze x"])
async def test_it_is_not_asked_of_somebody_without_the_right(
    start_bot: StartBot, typed: str
) -> None:
    rights = ("PAUSE", "FREEZE", "REMOVE")
    environment = dict.fromkeys((f"MQBOT_WHO_MAY_{right}" for right in rights), BOB)
    bot = await start_bot(
        repositories=dict.fromkeys(NAMES, "quiet"), channels="", environment=environment
    )
    bot.merge_queue.pause("acme/site", "Night", by="carol")
    bot.merge_queue.pause("acme/api", "Night", by="carol")
    await bot.next_poll("acme/api")
    refused = await bot.ask(f"/mq {typed}")
    assert "Only " in refused
    assert "which queue" not in refused
    assert refused.labels == []


# Resuming without a name.


async def test_resume_where_nothing_is_paused_says_so(three: BotTester) -> None:
    answer = await three.ask("/mq resume")
    assert "None of the 3 queues is paused, as far as I can see." in answer
    await three.click(answer, "Show all queues")
    await three.wait_for_reply("*all: 0 of 3 queues paused*")


async def test_nothing_is_called_running_that_nobody_could_read(three: BotTester) -> None:
    three.break_service("error", status=503)
    asked = await three.ask("/mq resume")
    assert "I couldn't check any of the 3 queues, so I can't tell which are paused." in asked
    assert set(asked.labels) == set(NAMES)


async def test_the_only_paused_queue_is_not_taken_while_another_cannot_be_read(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(NAMES, "quiet"),
        channels="",
        logs_pauses=False,
        every=replace(HURRIED, pauses_read=3600.0),
    )
    # The bot hears of this pause by asking for it only.
    bot.merge_queue.pause("acme/api", "Night", by="carol")
    bot.break_service("error", path="/acme/docs/", status=503)
    asked = await bot.ask("/mq resume")
    assert (
        "I checked only 2 of 3 queues, so I can't tell which are paused. Resume which queue?"
        in asked
    )
    assert asked.labels[0] == "acme/api"
    assert bot.pause_reason("acme/api") is not None
    bot.fix_service()
    await bot.click(asked, "acme/api")
    await bot.wait_for_post("*acme/api has resumed*")


@pytest.mark.parametrize("unread", ["acme/docs", "acme/api"])
async def test_the_only_known_pause_is_not_taken_while_a_queue_cannot_be_read(
    three: BotTester, unread: str
) -> None:
    await three.pause("acme/api Night")
    three.break_service("error", path=f"/{unread}/", status=503)
    asked = await three.ask("/mq resume")
    assert "I checked only 2 of 3 queues, so I can't tell which are paused." in asked
    assert asked.labels[0] == "acme/api"
    assert three.pause_reason("acme/api") is not None


async def test_the_only_known_pause_is_not_taken_while_the_service_shows_another(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(NAMES, "quiet"),
        channels="",
        logs_pauses=False,
        every=replace(HURRIED, pauses_read=3600.0),
    )
    await bot.pause("acme/api Night")
    # The bot hears of this pause by asking for it only.
    bot.merge_queue.pause("acme/docs", "Deploy", by="carol")
    asked = await bot.ask("/mq resume")
    assert "Resume which queue?" in asked
    assert asked.labels[:2] == ["acme/api", "acme/docs"]
    assert bot.pause_reason("acme/api") is not None


async def test_resume_offers_the_group_whose_pause_is_in_force(three: BotTester) -> None:
    await three.publish("/mq default acme/site", "Default repository")
    question = await three.ask("/mq pause @release CI is down")
    await three.click(question, "Pause 2 queues")
    await three.wait_for_post("@release: 2 of 2 queues paused")
    await three.wait_until_gone(question)
    which = await three.ask("/mq resume")
    assert "acme/site was paused together with @release. Resume which?" in which
    assert which.labels == ["@release (2 queues)", "acme/site"]
    await three.click(which, "@release (2 queues)")
    await three.wait_for_post("2 of 2 queues resumed")
    await three.wait_until_gone(which)
    assert [three.pause_reason(name) for name in NAMES] == [None] * 3


async def test_resume_elsewhere_offers_the_group_too(three: BotTester) -> None:
    await three.publish("/mq default acme/docs", "Default repository")
    question = await three.ask("/mq pause @release CI is down")
    await three.click(question, "Pause 2 queues")
    await three.wait_for_post("@release: 2 of 2 queues paused")
    await three.wait_until_gone(question)
    which = await three.ask("/mq resume")
    assert "acme/docs is running. Which paused queue do you want to resume?" in which
    assert which.labels[0] == "@release (2 queues)"


# What was replaced.


async def test_another_login_says_which_one_it_replaced(bot: BotTester) -> None:
    await bot.ask("/mq link alice-m")
    answer = await bot.ask("/mq link alice-n")
    assert "This replaced alice-m. `/mq link alice-m` restores it." in answer
    ended = await bot.ask("/mq link off")
    assert "alice-n is no longer linked. `/mq link alice-n` restores it." in ended
    assert "replaced" not in await bot.ask("/mq link alice-n")


# Words that mean something else in the thread of a direct message.


async def test_stop_in_the_thread_of_a_subscription_asks_too(bot: BotTester) -> None:
    mine = conversation(bot, ALICE)
    await bot.type("/mq subscribe acme/site enter", channel=mine)
    await bot.wait_for_post("Subscribed", mine)
    number = bot.enqueue(hangs=True)
    post = await bot.wait_for_post(f"#{number}", mine)
    await bot.has_posted()
    write(bot, "stop", beneath=post)
    question = await bot.wait_in_thread(post, "which messages should I stop?")
    assert question.labels == ["Only acme/site", "All direct messages"]
    await bot.click(question, "Only acme/site")
    await bot.wait_for_post("Unsubscribed", mine)


async def test_mute_in_the_thread_of_a_notice_asks_what_to_stop(start_bot: StartBot) -> None:
    bot = await start_bot(channels="", speed=20.0)
    await bot.ask("/mq link carol")
    await bot.pass_time(UNTIL_KNOWN)
    number = bot.enqueue(author="carol", broken_check="lint")
    notice = await bot.wait_for_direct_message(f"#{number}")
    await bot.has_posted()
    write(bot, "mute", beneath=notice)
    question = await bot.wait_in_thread(notice, "acme/site: which messages should I stop?")
    assert question.labels == ["Only failures", "All direct messages"]
    await bot.click(question, "Only failures")
    said = await bot.wait_for_reply("Failures are off.", channel=notice.channel)
    assert "On: Mentions, Reminders, Replacements, Confirmations" in said


async def test_the_thread_of_a_notice_means_its_pull_request(start_bot: StartBot) -> None:
    bot = await start_bot(repositories=dict.fromkeys(NAMES, "quiet"), channels="", speed=20.0)
    await bot.ask("/mq link carol")
    await bot.pass_time(UNTIL_KNOWN)
    number = bot.enqueue("acme/api", author="carol", broken_check="lint")
    notice = await bot.wait_for_direct_message(f"#{number}")
    await bot.has_posted()
    write(bot, "why", beneath=notice)
    answer = await bot.wait_in_thread(notice, "*Left the queue*")
    assert f"#{number}" in answer


async def test_one_of_a_list_of_queues_is_paused_for_the_reason_alone(three: BotTester) -> None:
    asked = await three.ask("/mq pause now acme/site, acme/api and acme/docs for 1h CI is down")
    assert "I take one queue or one group at a time." in asked
    await three.click(asked, "Pause acme/api: CI is down")
    await three.wait_for_post("*acme/api is paused*")
    assert three.pause_reason("acme/api") == "CI is down (by alice via Slack)"
    assert three.pause_reason("acme/site") is None
    assert three.pause_reason("acme/docs") is None
