"""Why somebody resumed a queue: in the post, and in the audit."""

import pytest

from tests.e2e.conftest import NAMES, OVER_HTTP, TWO_GROUPS, StartBot
from tests.support.bot_tester import BOB, MERGE_QUEUE, BotTester

pytestmark = [pytest.mark.e2e, OVER_HTTP]


async def test_a_reason_to_resume_is_posted_and_kept(bot: BotTester) -> None:
    card = await bot.pause("now CI is down")
    await bot.type("/mq resume CI is *green* again, #41 fixed it", by=BOB)
    line = await bot.wait_for_post("has resumed")
    assert "acme/site has resumed · CI is *green* again, #41 fixed it\n" in line.line
    assert "By bob · Paused for" in line
    await bot.wait_for_change(card, "Resumed by bob")
    await bot.wait_for_direct_message("bob resumed acme/site")
    audit = await bot.ask("/mq audit")
    assert "bob resumed acme/site: CI is *green* again, #41 fixed it\n" in audit.line


async def test_a_reason_is_not_kept_for_the_next_resume(bot: BotTester) -> None:
    for reason in ("first one fixed", ""):
        await bot.pause("now CI is down")
        await bot.type(f"/mq resume {reason}")
        line = await bot.wait_for_post("has resumed")
        assert ("first one fixed" in line) is bool(reason)


async def test_the_named_queue_is_resumed_and_a_bare_name_is_asked_about(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(NAMES, "quiet"),
        channels=f"acme/site={MERGE_QUEUE}:pause",
        environment=TWO_GROUPS,
    )
    for name in ("acme/site", "acme/api"):
        await bot.pause(f"now {name} CI is down")
    question = await bot.ask("/mq resume api CI is green")
    assert bot.pause_reason("acme/api") is not None
    assert bot.pause_reason("acme/site") is not None
    assert "acme/api" in question
    await bot.type("/mq resume acme/api CI is green")
    line = await bot.wait_for_post("has resumed")
    assert "acme/api has resumed · CI is green\n" in line.line
    assert bot.pause_reason("acme/site") is not None


async def test_a_group_is_resumed_with_a_reason(start_bot: StartBot) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(NAMES, "quiet"), channels="", environment=TWO_GROUPS
    )
    await bot.type("/mq pause now @release freeze for 4.2")
    await bot.wait_for_post("freeze for 4.2")
    await bot.type("/mq resume @release 4.2 is out")
    await bot.wait_for_post("4.2 is out")
    audit = await bot.ask("/mq audit")
    assert audit.line.count(": 4.2 is out") == 2
