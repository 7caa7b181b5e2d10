"""Being responsible for a pause: taking it over, what is told to whom, and who is asked next."""

import asyncio
from pathlib import Path

import pytest

from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import ALICE, BOB, CAROL, REPOSITORY, BotTester
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_HTTP]

MORE = "More actions"
HALF_HOUR = 1801
HOUR = 3601


async def test_who_takes_over_a_pause_is_on_its_card_and_hears_of_its_end(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down")
    await bot.choose(card, "Take over", menu=MORE, by=BOB)
    assert "You took over the pause of acme/site from alice." in await bot.wait_for_reply(by=BOB)
    card = await bot.wait_for_change(card, "By alice · With bob since ")
    await bot.wait_in_thread(card, "bob took over the pause of acme/site.")
    await bot.wait_for_direct_message("bob took over your pause of acme/site.", by=ALICE)

    await bot.choose(card, "Take over", menu=MORE, by=BOB)
    assert "yours already" in await bot.wait_for_reply(by=BOB)
    await bot.resume(by=CAROL)
    await bot.wait_for_direct_message("carol resumed acme/site", by=BOB)
    record = await bot.wait_for_change(card, "*acme/site was paused*")
    assert "By alice · With bob since " in record.line
    assert "Resumed by carol" in record
    await bot.wait_in_thread(card, "acme/site has resumed")
    assert len(bot.thread(card)) == 2


async def test_two_people_who_take_over_at_once_are_both_told_and_the_last_has_it(
    bot: BotTester,
) -> None:
    card = await bot.pause("CI runners are down")
    await asyncio.gather(
        *(bot.choose(card, "Take over", menu=MORE, by=who) for who in (BOB, CAROL))
    )
    replies = {who: await bot.wait_for_reply(by=who) for who in (BOB, CAROL)}
    await until(lambda: len(bot.thread(card)) == 2, "both entries in the thread")
    last = bot.thread(card)[-1].line.partition(" ")[0]
    await bot.wait_for_change(card, f"By alice · With {last} since ")
    first = {"carol": BOB, "bob": CAROL}[last]
    second = {"carol": CAROL, "bob": BOB}[last]
    assert "You took over the pause of acme/site from alice." in replies[first]
    name = {BOB: "bob", CAROL: "carol"}[first]
    assert f"You took over the pause of acme/site from {name}." in replies[second]
    await bot.wait_for_direct_message(f"{last} took over your pause of acme/site.", by=first)
    await bot.wait_for_direct_message("took over your pause of acme/site.", by=ALICE)


async def test_a_card_drawn_for_another_pause_takes_over_nothing(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down")
    await bot.resume()
    await bot.choose(card, "Take over", menu=MORE, by=BOB)
    assert "is over. Nothing was changed." in await bot.wait_for_reply(by=BOB)
    again = await bot.pause("Deploying 4.2")
    await bot.choose(card, "Take over", menu=MORE, by=BOB)
    assert "is now paused by alice: Deploying 4.2" in await bot.wait_for_reply(by=BOB)
    now = bot.now(again)
    assert now is not None
    assert "With" not in now.line


async def test_the_reason_is_changed_from_the_card_and_the_first_person_stays(
    bot: BotTester,
) -> None:
    card = await bot.pause("30m CI runners are down")
    await bot.choose(card, "Change the reason…", menu=MORE, by=BOB)
    form = await bot.modal("acme/site", by=BOB)
    await bot.submit(form, by=BOB, reason="The vendor is down")
    card = await bot.wait_for_change(card, "*acme/site is paused* · The vendor is down")
    assert "By alice · With bob since " in card.line
    assert "Until 20" in card.line
    assert "Previous reason: CI runners are down" in card
    entry = await bot.wait_in_thread(card, "bob changed why acme/site is paused")
    assert "Reason was: CI runners are down" in entry
    await bot.wait_for_direct_message("bob replaced your pause of acme/site", by=ALICE)
    await bot.modal("acme/site is paused", by=BOB)


async def test_a_reason_typed_while_somebody_resumes_pauses_nothing(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down")
    await bot.choose(card, "Change the reason…", menu=MORE, by=BOB)
    form = await bot.modal("acme/site", by=BOB)
    await bot.resume()
    await bot.submit(form, by=BOB, reason="The vendor is down")
    await bot.modal("acme/site is no longer paused", by=BOB)
    assert bot.pause_reason() is None


async def test_the_log_is_shown_to_the_person_who_asks(bot: BotTester) -> None:
    card = await bot.pause("CI runners are down")
    await bot.choose(card, "Show the log", menu=MORE, by=BOB)
    assert "Event log" in await bot.wait_for_reply(by=BOB)


@pytest.mark.usefixtures("hurried_reminders")
async def test_reminders_go_to_who_took_over_and_then_to_the_policys_group_once(
    start_bot: StartBot, tmp_path: Path
) -> None:
    file = tmp_path / "mqbot.toml"
    file.write_text(f'[MQBOT_POLICY."{REPOSITORY}"]\nalert_mention = "S0ONCALL"\n', "utf-8")
    file.chmod(0o600)
    bot = await start_bot(environment={"MQBOT_CONFIG": str(file)})
    card = await bot.pause("CI runners are down")
    await bot.choose(card, "Take over", menu=MORE, by=BOB)
    await bot.wait_for_reply(by=BOB)
    await bot.wait_for_direct_message("bob took over your pause", by=ALICE)
    await bot.pass_time(HALF_HOUR)
    await bot.wait_for_direct_message("still paused", by=BOB)
    await bot.pass_time(HOUR)
    reminder = await bot.wait_for_post("is still paused* after 1 h 30 min")
    assert "Asking bob and this channel" in reminder
    await bot.pass_time(2 * HOUR)
    called = await bot.wait_for_post("Nobody has answered the reminders.")
    assert "<!subteam^S0ONCALL>" in str(called.blocks)
    assert called.labels == ["Resume queue", MORE]
    await bot.pass_time(4 * HOUR)
    await bot.wait_for_change(reminder, "after 7 h 30 min")
    assert len([post for post in bot.posts() if "Nobody has answered" in post]) == 1
    await bot.click(called, "Resume queue", by=BOB)
    await bot.wait_for_post("has resumed")


async def test_a_groups_pause_is_taken_over_as_a_whole(start_bot: StartBot) -> None:
    names = ("acme/site", "acme/api")
    bot = await start_bot(
        repositories=dict.fromkeys(names, "quiet"),
        environment={"MQBOT_GROUPS": "release=acme/site,acme/api"},
    )
    card = await bot.publish("/mq pause now @release freeze", "2 of 2 queues paused")
    await bot.choose(card, "Take over", menu=MORE, by=BOB)
    assert "You took over the pause of @release from alice." in await bot.wait_for_reply(by=BOB)
    await bot.wait_for_change(card, "By alice · With bob since ")
    await bot.wait_in_thread(card, "bob took over the pause of @release.")
    await bot.wait_for_direct_message("bob took over your pause of @release.", by=ALICE)
    assert len(bot.thread(card)) == 1


async def test_one_queue_of_a_group_that_is_taken_over_is_not_shown_as_the_whole_group(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(("acme/site", "acme/api"), "quiet"),
        environment={"MQBOT_GROUPS": "release=acme/site,acme/api"},
    )
    card = await bot.publish("/mq pause now @release freeze", "2 of 2 queues paused")
    assert "You took over the pause of acme/api" in await bot.ask("/mq takeover acme/api", by=BOB)
    await bot.wait_for_direct_message("bob took over your pause", by=ALICE)
    await bot.has_posted()
    now = bot.now(card)
    assert now is not None
    assert "With bob" not in now.line
    assert "took over the pause of acme/site" in await bot.ask("/mq takeover acme/site", by=BOB)
    await bot.wait_for_direct_message("bob took over your pause", by=ALICE)
    await bot.wait_for_change(card, "By alice · With bob since ")


@pytest.mark.usefixtures("hurried_reminders")
async def test_after_a_pause_is_taken_over_and_back_the_channel_is_reminded(
    bot: BotTester,
) -> None:
    card = await bot.pause("CI runners are down")
    await bot.pass_time(HALF_HOUR)
    await bot.wait_for_direct_message("still paused", by=ALICE)
    for person, other in ((BOB, ALICE), (ALICE, BOB)):
        await bot.choose(card, "Take over", menu=MORE, by=person)
        await bot.wait_for_reply(by=person)
        await bot.wait_for_direct_message("took over", by=other)
    await bot.pass_time(HOUR)
    await bot.wait_for_post("is still paused* after 1 h 30 min")
