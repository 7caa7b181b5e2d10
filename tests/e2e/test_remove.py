"""Removing pull requests from the queue: the question, the rights, and what everybody sees."""

import asyncio
from pathlib import Path

import pytest

from bot.domain.audit import Action, ActResult
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.e2e.test_policies import start
from tests.e2e.test_who_may_act import acts
from tests.support.bot_tester import ALICE, BOB, CAROL, MERGE_QUEUE, RELEASES, BotTester
from tests.support.shown import Shown

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

SITE = "acme/site"
REMOVED = "*Removed from the queue* #{}"


async def question(bot: BotTester, number: int, *, by: str = ALICE) -> Shown:
    return await bot.ask(f"/mq remove {number} {SITE}", by=by)


async def test_a_removal_shows_its_impact_asks_and_is_said_once(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"{SITE}={MERGE_QUEUE}:dequeue;{SITE}={RELEASES}:dequeue")
    number = bot.enqueue(title="Add search", author="ana", hangs=True)
    bot.enqueue(title="On top", stacked_on=number, hangs=True)
    bot.enqueue(hangs=True)
    await bot.checks_run(1)
    asked = await question(bot, number)
    assert f"*Remove from the queue of {SITE}?* #{number} Add search by ana" in asked
    assert "1 running batch stops" in asked
    assert "1 pull request is checked again" in asked
    assert "1 stacked one leaves with it" in asked
    assert bot.requests("/dequeue") == []
    await bot.click(asked, "Remove")
    post = await bot.wait_for_post(REMOVED.format(number))
    assert post.words.startswith(
        f":leftwards_arrow_with_hook: *Removed from the queue* #{number} Add search: by alice"
    )
    await bot.wait_for_change(asked, f"#{number} is removed from the queue of {SITE}.")
    elsewhere = await bot.wait_for_post(REMOVED.format(number), RELEASES)
    assert "by alice" in elsewhere
    await bot.next_poll()
    await bot.has_posted()
    assert len(bot.posts()) == 1
    assert f"*alice* removed #{number} from the queue of {SITE}" in await bot.ask("/mq audit")
    assert "removed on request, by alice" in await bot.ask(f"/mq why {number}")
    assert "by alice" in await bot.ask(f"/mq log pr:{number} type:action.queue.leave")


async def test_people_remove_their_own_and_others_need_the_right(
    start_bot: StartBot, tmp_path: Path
) -> None:
    table = f'[MQBOT_POLICY."{SITE}"]\nwho_may_remove = ["{CAROL}"]\n'
    bot = await start(start_bot, tmp_path, table)
    number = bot.enqueue(author="ana", hangs=True)
    refusal = "Only carol may remove other people's pull requests from a queue."
    assert refusal in await question(bot, number)
    await bot.ask("/mq link ana")
    own = await question(bot, number)
    assert "Remove from the queue" in own
    await bot.ask("/mq link off")
    await bot.click(own, "Remove")
    assert refusal in await bot.wait_for_reply()
    assert bot.merge_queue.queued(SITE, number).number == number
    asked = await question(bot, number, by=CAROL)
    await bot.click(asked, "Remove", by=CAROL)
    await bot.wait_for_post(REMOVED.format(number))
    await bot.wait_for_change(asked, "is removed", by=CAROL)
    removals = [one for one in await acts(bot) if one.action is Action.REMOVE]
    assert [(one.actor.name, one.result) for one in removals] == [
        ("alice", ActResult.REFUSED),
        ("alice", ActResult.REFUSED),
        ("carol", ActResult.STARTED),
        ("carol", ActResult.DONE),
    ]


async def test_of_two_people_at_once_one_removes_and_the_other_sees_who(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    asked = {one: await question(bot, number, by=one) for one in (ALICE, BOB)}
    await asyncio.gather(*(bot.click(asked[one], "Remove", by=one) for one in asked))
    await bot.wait_for_post(REMOVED.format(number))
    answers = [await bot.wait_for_other(asked[one], by=one) for one in asked]
    late = next(one for one in answers if "any more" in one)
    first = "bob" if late is answers[0] else "alice"
    assert f"#{number} isn't in the queue of {SITE} any more: {first} removed it" in late
    assert late.labels == ["Why?"]
    assert len(bot.requests("/dequeue")) == 1
    assert len(bot.posts()) == 1


async def test_a_button_removes_only_the_queue_entry_it_was_drawn_for(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    asked = await question(bot, number)
    (entry,) = bot.merge_queue.repository(SITE).line("main").queued()
    entry.queued_at += 1
    await bot.click(asked, "Remove")
    await bot.wait_for_change(asked, "was queued again since I asked you. Nothing was changed.")
    asked = await question(bot, number)
    bot.merge_queue.dequeue(SITE, number)
    await bot.click(asked, "Remove")
    await bot.wait_for_change(asked, f"#{number} isn't in the queue of {SITE}. Nothing")
    assert bot.requests("/dequeue") == []


@pytest.mark.parametrize("lacks", ["merge-queue/pull", None])
async def test_a_service_without_removals_is_reported_in_one_sentence(
    start_bot: StartBot, lacks: str | None
) -> None:
    bot = await start_bot(lacks=(lacks,) if lacks else ())
    if lacks is None:
        bot.break_service("error", path="/dequeue-impact", status=410)
    number = bot.enqueue(hangs=True)
    answer = await question(bot, number)
    status = 404 if lacks else 410
    said = f":warning: The merge queue service no longer offers this ({status})."
    assert answer.words == said
    assert bot.merge_queue.queued(SITE, number).number == number


async def test_a_lost_answer_is_reported_as_it_is(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    asked = await question(bot, number)
    bot.break_service("drop_after_accept", path="/dequeue", method="POST")
    await bot.click(asked, "Remove")
    post = await bot.wait_for_post(f"*Left the queue* #{number}")
    assert "alice removed it, or it left by itself" in post
    assert "the service's answer was lost" in post
    await bot.wait_for_change(asked, "I can't tell whether your request removed it.")
    assert "its answer was lost" not in await bot.ask("/mq audit")


async def test_a_removal_that_nobody_wants_or_that_did_not_arrive_changes_nothing(
    bot: BotTester,
) -> None:
    answer = await question(bot, 4711)
    assert answer.words.startswith(f"#4711 isn't in the queue of {SITE}. Nothing was changed.")
    await bot.click(answer, "Why?")
    await bot.wait_for_reply("#4711 is not in the merge queue")

    number = bot.enqueue(hangs=True)
    asked = await question(bot, number)
    await bot.click(asked, "Leave it in the queue")
    await bot.wait_until_gone(asked)
    assert bot.merge_queue.queued(SITE, number).number == number

    asked = await question(bot, number)
    bot.break_service("error", path="/dequeue", method="POST", status=503)
    await bot.click(asked, "Remove")
    await bot.wait_for_reply("The merge queue service isn't responding")
    bot.fix_service()
    await bot.click(asked, "Remove")
    await bot.wait_for_post(REMOVED.format(number))
    await bot.wait_for_change(asked, "is removed")
    assert "tried to remove" in await bot.ask("/mq audit")


async def test_where_the_bot_cannot_post_the_channel_sees_the_answer(bot: BotTester) -> None:
    number = bot.enqueue(hangs=True)
    secret = bot.slack.arrangement.add_channel("secret", [ALICE], is_private=True)["channel"]
    bot.expected_refusals = {"conversations.info channel_not_found"}
    asked = await bot.ask(f"/mq remove {number}", channel=secret)
    await bot.click(asked, "Remove")
    await bot.wait_for_post(REMOVED.format(number), secret)
    await bot.wait_for_change(asked, "is removed")
