"""What a typed pause or resume means: which queue, which reason, and for how long."""

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BOB, MERGE_QUEUE, BotTester

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

SECOND = "acme/api"


@pytest.fixture
async def two(start_bot: StartBot) -> BotTester:
    """Two quiet repositories that no channel is subscribed to."""
    return await start_bot(repositories=dict.fromkeys(("acme/site", SECOND), "quiet"), channels="")


async def test_a_reason_has_255_characters_and_is_signed_within_them(bot: BotTester) -> None:
    answer = await bot.ask(f"/mq pause {'x' * 256}")
    assert "A reason has at most 255 characters; yours has 256." in answer
    assert bot.pause_reason() is None
    await bot.type(f"/mq pause {'é' * 255}")
    await bot.wait_for_post("é" * 255)
    stored = bot.pause_reason()
    assert stored is not None
    assert len(stored) == 255
    assert stored.endswith("… (by alice via Slack)")


async def test_a_reason_appears_as_typed_without_control_and_bidirectional_characters(
    bot: BotTester,
) -> None:
    await bot.type("/mq pause deploy\x07ing \u202e4.2\u200b now")
    await bot.wait_for_post("*Queue paused* acme/site: deploying 4.2 now")
    assert bot.pause_reason() == "deploying 4.2 now (by alice via Slack)"
    await bot.resume()

    await bot.type("/mq pause <b> & *see* #general or https://ci.example/1?a=1&b=2 <!here>")
    typed = "<b> & *see* #general or https://ci.example/1?a=1&b=2 <!here>"
    post = await bot.wait_for_post(typed)
    assert "<!here>" not in str(post.blocks)
    assert bot.pause_reason() == f"{typed} (by alice via Slack)"
    await bot.resume()

    await bot.publish("/mq pause 45 tests fail", "*Queue paused* acme/site: 45 tests fail")


async def test_among_several_repositories_the_bot_asks_and_continues_with_the_chosen_one(
    two: BotTester,
) -> None:
    question = await two.ask("/mq pause Deploying 4.2")
    assert "Which repository?" in question
    assert two.pause_reason(SECOND) is None
    await two.choose(question, SECOND, menu="Choose a repository")
    await two.wait_for_post("*Queue paused* acme/api: Deploying 4.2")
    assert two.pause_reason("acme/site") is None
    assert two.pause_reason(SECOND) == "Deploying 4.2 (by alice via Slack)"
    # With one owner, the name alone is enough.
    await two.publish("/mq pause site Deploying 4.3", "*Queue paused* acme/site: Deploying 4.3")


async def test_a_channel_subscribed_to_one_repository_defaults_to_it(start_bot: StartBot) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        channels=f"acme/api={MERGE_QUEUE}:failure",
    )
    await bot.publish("/mq pause Deploying 4.2", "*Queue paused* acme/api: Deploying 4.2")
    await bot.publish("/mq resume acme/api", "*Queue resumed* acme/api")


async def test_resuming_without_a_name_takes_the_only_queue_that_is_paused(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(("acme/site", "acme/api", "acme/docs"), "quiet"), channels=""
    )
    await bot.pause("acme/api Deploying 4.2")
    await bot.publish("/mq resume", "*Queue resumed* acme/api")
    assert "Which repository?" in await bot.ask("/mq resume")


async def test_the_channels_own_queue_runs_and_the_only_paused_one_is_asked_about(
    two: BotTester,
) -> None:
    await two.publish("/mq default acme/site", "Default repository in this channel")
    await two.pause("acme/api Deploying 4.2", by=BOB)
    question = await two.ask("/mq resume")
    asked = "acme/site is running. acme/api is paused by bob: Deploying 4.2. Resume it?"
    assert question.line.startswith(f"{asked}\nsince ")
    assert two.pause_reason(SECOND) is not None
    await two.click(question, "Resume queue")
    await two.wait_for_post("*Queue resumed* acme/api")
    await two.wait_for_change(question, "*acme/api* is running")
    await two.wait_for_direct_message("alice resumed acme/api", by=BOB)


async def test_the_channels_own_queue_is_resumed_before_other_paused_ones(
    two: BotTester,
) -> None:
    await two.publish("/mq default acme/site", "Default repository in this channel")
    await two.pause("acme/api Deploying 4.2")
    two.merge_queue.pause("acme/site", "Night", by="carol")
    await two.publish("/mq resume", "*Queue resumed* acme/site")
    assert two.pause_reason(SECOND) is not None


async def test_of_several_paused_queues_the_menu_offers_no_other(start_bot: StartBot) -> None:
    names = ("acme/site", "acme/api", "acme/docs", "acme/web")
    bot = await start_bot(repositories=dict.fromkeys(names, "quiet"), channels="")
    for name in ("acme/web", "acme/api"):
        await bot.publish(f"/mq pause {name} Deploying 4.2", f"*Queue paused* {name}")
    question = await bot.ask("/mq resume")
    assert question.options("Choose a repository") == ["acme/api", "acme/web"]
    await bot.publish("/mq default acme/site", "Default repository in this channel")
    again = await bot.ask("/mq resume")
    assert again.words == "acme/site is running. Which paused queue do you want to resume?"
    await bot.choose(again, "acme/web", menu="Choose a repository")
    await bot.wait_for_post("*Queue resumed* acme/web")
    assert bot.pause_reason("acme/api") is not None


async def test_resuming_without_a_name_takes_the_queue_paused_on_the_dashboard(
    two: BotTester,
) -> None:
    two.merge_queue.pause(SECOND, "Night", by="carol")
    await two.next_poll(SECOND)
    await two.publish("/mq resume", "*Queue resumed* acme/api")


async def test_a_lone_number_asks_whether_it_is_a_duration(bot: BotTester) -> None:
    question = await bot.ask("/mq pause 45")
    assert "Pause acme/site for 45 min?" in question
    assert bot.pause_reason() is None
    await bot.click(question, "Yes, pause for 45 min")
    await bot.wait_until_gone(question)
    await bot.submit(await bot.modal("0 pull requests"), reason="CI runners are down")
    await bot.modal("is paused, resumes")
    await bot.wait_for_post("resumes")
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_a_duration_at_the_end_of_a_reason_asks_for_its_meaning(bot: BotTester) -> None:
    question = await bot.ask("/mq pause CI down 45m")
    assert "Pause acme/site for 45 min?" in question
    assert "“CI down 45m”" in question
    await bot.click(question, "Yes, pause for 45 min")
    card = await bot.wait_for_post("*Queue paused* acme/site: CI down\n")
    await bot.wait_for_change(card, "resumes")
    await bot.wait_for_change(question, "acme/site is paused, resumes")
    assert bot.pause_reason() == "CI down (by alice via Slack)"


@pytest.mark.parametrize("reason", ["45", "checks take until 15:00"])
async def test_what_looks_like_a_duration_may_belong_to_the_reason(
    bot: BotTester, reason: str
) -> None:
    question = await bot.ask(f"/mq pause {reason}")
    await bot.click(question, "No, pause without an end")
    card = await bot.wait_for_post(f"*Queue paused* acme/site: {reason}")
    assert "resumes" not in card
    await bot.wait_for_change(question, "acme/site is paused.")
