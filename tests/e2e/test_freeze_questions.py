"""What is planned, frozen, unknown or half done is said, before and after people act."""

from datetime import timedelta

import pytest

from bot.sandbox.merge_queue.controls import FreezeTerms
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

MAIN = FreezeTerms("night", matching_conditions=("base=main",))
DEV = FreezeTerms("day", matching_conditions=("base=dev",))


@pytest.fixture
async def bot(start_bot: StartBot) -> BotTester:
    return await start_bot(channels="")


def reasons(bot: BotTester) -> list[str | None]:
    return [freeze.reason for freeze in bot.merge_queue.repository("acme/site").freezes]


async def test_a_planned_freeze_blocks_only_what_overlaps_it(bot: BotTester) -> None:
    now = bot.clock.now()
    begins = now + timedelta(hours=2)
    ends = now + timedelta(hours=3)
    bot.merge_queue.freeze("acme/site", FreezeTerms("planned", start=begins, end=ends))
    unfreeze = await bot.ask("/mq unfreeze done")
    assert "acme/site isn't frozen now; a freeze is planned." in unfreeze
    await bot.type("/mq freeze now 4h an incident")
    await bot.wait_for_reply("is frozen from")
    await bot.wait_for_post("*acme/site is frozen* · an incident")
    assert len(reasons(bot)) == 2
    later = f"from {begins + timedelta(minutes=9):%H:%M} UTC until {ends:%H:%M} UTC"
    answer = await bot.ask(f"/mq freeze now {later} the same")
    assert "already" in answer
    assert len(reasons(bot)) == 2


async def test_the_form_shows_which_freeze_ends(bot: BotTester) -> None:
    bot.merge_queue.freeze("acme/site", MAIN)
    await bot.type("/mq unfreeze")
    form = await bot.modal("In force: night")
    assert "only branch main" in form
    await bot.submit(form, reason="4.2 is out")
    assert "Reason was: night" in await bot.modal("has ended")


async def test_where_no_freeze_is_nothing_is_asked_for(bot: BotTester) -> None:
    await bot.type("/mq unfreeze")
    form = await bot.modal("acme/site isn't frozen. Nothing was changed.")
    assert "Reason" not in form
    assert form.body["submit"] is None


async def test_a_pull_request_that_nobody_knows_is_asked_about(bot: BotTester) -> None:
    bot.merge_queue.freeze("acme/site", MAIN)
    question = await bot.ask("/mq allow 99999 fixes the outage")
    assert "I don't know #99999 of acme/site" in question
    assert bot.merge_queue.repository("acme/site").freezes[0].exclude_conditions == ()
    await bot.click(question, "Let #99999 merge anyway")
    await bot.wait_for_post("*#99999 of acme/site may merge during the freeze:* fixes the outage")


async def test_what_was_done_is_said_where_the_second_freeze_fails(bot: BotTester) -> None:
    first = bot.merge_queue.freeze("acme/site", MAIN)
    second = bot.merge_queue.freeze("acme/site", DEV)
    number = bot.enqueue()
    bot.break_service("error", path=second, status=403)
    said = await bot.ask(f"/mq allow {number} fixes the outage")
    assert f"#{number} is still held by a freeze" in said
    assert "night: lets it merge" in said
    assert "day: holds it" in said
    bot.fix_service()
    changes = len(bot.requests(first))
    (again,) = said.labels
    await bot.click(said, again)
    await bot.wait_for_post(
        f"*#{number} of acme/site may merge during the freeze:* fixes the outage"
    )
    kept = bot.merge_queue.repository("acme/site").freezes
    assert [freeze.exclude_conditions for freeze in kept] == [(f"number={number}",)] * 2
    # Only the one that was left is changed.
    assert len(bot.requests(first)) == changes


async def test_resuming_all_offers_what_was_paused_alone(start_bot: StartBot) -> None:
    bot = await start_bot(repositories={"acme/site": "quiet", "acme/api": "quiet"}, channels="")
    await bot.publish("/mq pause now acme/api CI is down", "is paused")
    answer = await bot.ask("/mq resume all")
    assert "1 queue is paused alone" in answer
    assert "acme/api" in answer
    await bot.click(answer, "Resume queue")
    await bot.wait_for_post("has resumed")
    assert bot.pause_reason("acme/api") is None
