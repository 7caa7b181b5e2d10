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
    await bot.wait_for_post("*acme/site is paused* · deploying 4.2 now")
    assert bot.pause_reason() == "deploying 4.2 now (by alice via Slack)"
    await bot.resume()

    await bot.type("/mq pause <b> & *see* #general or https://ci.example/1?a=1&b=2 <!here>")
    typed = "<b> & *see* #general or https://ci.example/1?a=1&b=2 @here"
    post = await bot.wait_for_post(typed)
    assert "<!here>" not in str(post.blocks)
    assert bot.pause_reason() == f"{typed} (by alice via Slack)"
    await bot.resume()

    await bot.publish("/mq pause 45 tests fail", "*acme/site is paused* · 45 tests fail")


async def test_among_several_repositories_the_bot_asks_and_continues_with_the_chosen_one(
    two: BotTester,
) -> None:
    question = await two.ask("/mq pause Deploying 4.2")
    assert "Pause which queue?" in question
    assert "You typed `pause Deploying 4.2`" in question
    assert question.labels == ["acme/site", "acme/api"]
    assert two.pause_reason(SECOND) is None
    await two.click(question, SECOND)
    await two.wait_for_post("*acme/api is paused* · Deploying 4.2")
    assert two.pause_reason("acme/site") is None
    assert two.pause_reason(SECOND) == "Deploying 4.2 (by alice via Slack)"


async def test_a_bare_name_in_front_of_a_reason_asks_which_queue_is_meant(
    two: BotTester,
) -> None:
    await two.publish("/mq default acme/site", "Default repository in this channel")
    await two.type("/mq me confirmations off")
    await two.wait_for_reply()
    question = await two.ask("/mq pause now api gateway returns 500s")
    assert question.words.startswith("*Pause acme/api or acme/site?*")
    question = await two.ask("/mq pause API gateway returns 500s")
    assert (two.pause_reason("acme/site"), two.pause_reason(SECOND)) == (None, None)
    assert question.labels == [
        "Pause acme/api: gateway returns 500s",
        "Pause acme/site: API gateway returns 500s",
    ]
    await two.click(question, "Pause acme/site: API gateway returns 500s")
    await two.wait_for_post("*acme/site is paused* · API gateway returns 500s")
    await two.wait_until_gone(question)
    assert two.pause_reason(SECOND) is None
    question = await two.ask("/mq pause now `api`: gateway returns 500s")
    await two.click(question, "Pause acme/api: gateway returns 500s")
    await two.wait_for_post("*acme/api is paused* · gateway returns 500s")


async def test_where_all_that_was_typed_means_one_queue_nothing_is_asked(two: BotTester) -> None:
    await two.publish("/mq default acme/api", "Default repository in this channel")
    await two.publish("/mq pause api gateway is down", "*acme/api is paused* · api gateway is down")


async def test_a_name_elsewhere_in_a_reason_asks_too(start_bot: StartBot) -> None:
    names = ("acme/site", "acme/docs", "umbrella/docs")
    bot = await start_bot(repositories=dict.fromkeys(names, "quiet"), channels="")
    await bot.publish("/mq default acme/site", "Default repository in this channel")
    question = await bot.ask("/mq pause docs CI is down")
    assert question.labels == [
        "Pause acme/docs: CI is down",
        "Pause umbrella/docs: CI is down",
        "Pause acme/site: docs CI is down",
    ]
    question = await bot.ask("/mq pause CI is down for acme/docs")
    assert question.labels == [
        "Pause acme/docs: CI is down for acme/docs",
        "Pause acme/site: CI is down for acme/docs",
    ]
    question = await bot.ask("/mq status docs")
    assert question.labels == ["Show acme/docs", "Show umbrella/docs"]
    await bot.click(question, "Show umbrella/docs")
    assert "umbrella/docs" in await bot.wait_for_reply("is running")
    await bot.wait_until_gone(question)
    assert all(bot.pause_reason(name) is None for name in names)


@pytest.mark.parametrize(
    "typed", ["`acme/api`", "*acme/api*:", "“acme/api”", "acme/api,", "(acme/api)", "acme/api/"]
)
async def test_a_decorated_name_acts_on_its_queue(two: BotTester, typed: str) -> None:
    await two.publish("/mq default acme/site", "Default repository in this channel")
    await two.publish(f"/mq pause {typed} CI  is down", "*acme/api is paused* · CI is down")
    assert two.pause_reason("acme/site") is None
    assert two.pause_reason(SECOND) == "CI  is down (by alice via Slack)"
    await two.publish(f"/mq resume {typed}", "*acme/api has resumed*")


async def test_a_name_of_letters_that_only_look_alike_is_refused(two: BotTester) -> None:
    await two.publish("/mq default acme/site", "Default repository in this channel")
    answer = await two.ask("/mq pause now acme/\u0430pi CI is down")
    assert "only looks like `acme/api`" in answer.line
    assert (two.pause_reason("acme/site"), two.pause_reason(SECOND)) == (None, None)


async def test_a_channel_subscribed_to_one_repository_defaults_to_it(start_bot: StartBot) -> None:
    bot = await start_bot(
        repositories={"acme/site": "quiet", "acme/api": "quiet"},
        channels=f"acme/api={MERGE_QUEUE}:failure",
    )
    await bot.publish("/mq pause Deploying 4.2", "*acme/api is paused* · Deploying 4.2")
    await bot.publish("/mq resume acme/api", "*acme/api has resumed*")


async def test_resuming_without_a_name_takes_the_only_queue_that_is_paused(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(
        repositories=dict.fromkeys(("acme/site", "acme/api", "acme/docs"), "quiet"), channels=""
    )
    await bot.pause("acme/api Deploying 4.2")
    await bot.publish("/mq resume", "*acme/api has resumed*")
    assert "None of the 3 queues is paused" in await bot.ask("/mq resume")


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
    await two.wait_for_post("*acme/api has resumed*")
    await two.wait_for_change(question, "*acme/api* is running")
    await two.wait_for_direct_message("alice resumed acme/api", by=BOB)


async def test_the_channels_own_queue_is_resumed_before_other_paused_ones(
    two: BotTester,
) -> None:
    await two.publish("/mq default acme/site", "Default repository in this channel")
    await two.pause("acme/api Deploying 4.2")
    two.merge_queue.pause("acme/site", "Night", by="carol")
    await two.publish("/mq resume", "*acme/site has resumed*")
    assert two.pause_reason(SECOND) is not None


async def test_of_several_paused_queues_the_question_offers_no_other(start_bot: StartBot) -> None:
    names = ("acme/site", "acme/api", "acme/docs", "acme/web")
    bot = await start_bot(repositories=dict.fromkeys(names, "quiet"), channels="")
    for name in ("acme/web", "acme/api"):
        await bot.publish(f"/mq pause {name} Deploying 4.2", f"*{name} is paused*")
    question = await bot.ask("/mq resume")
    assert question.labels == ["acme/api", "acme/web"]
    await bot.publish("/mq default acme/site", "Default repository in this channel")
    again = await bot.ask("/mq resume")
    asked = "acme/site is running. Which paused queue do you want to resume?"
    assert again.words.startswith(f"*{asked}*")
    await bot.click(again, "acme/web")
    await bot.wait_for_post("*acme/web has resumed*")
    assert bot.pause_reason("acme/api") is not None


async def test_resuming_without_a_name_takes_the_queue_paused_on_the_dashboard(
    two: BotTester,
) -> None:
    two.merge_queue.pause(SECOND, "Night", by="carol")
    await two.next_poll(SECOND)
    await two.publish("/mq resume", "*acme/api has resumed*")


async def test_a_lone_number_asks_whether_it_is_a_duration(bot: BotTester) -> None:
    question = await bot.ask("/mq pause 45")
    assert "Pause acme/site until when?" in question
    assert bot.pause_reason() is None
    await bot.click(question, "Resume in 45 min")
    await bot.wait_until_gone(question)
    await bot.submit(await bot.modal("0 queued"), reason="CI runners are down")
    await bot.modal("is paused, resumes")
    await bot.wait_for_post("Until 20")
    assert bot.pause_reason() == "CI runners are down (by alice via Slack)"


async def test_a_duration_at_the_end_of_a_reason_asks_for_its_meaning(bot: BotTester) -> None:
    question = await bot.ask("/mq pause CI down 45m")
    assert "Pause acme/site until when?" in question
    assert "“CI down 45m”" in question
    await bot.click(question, "Resume in 45 min")
    card = await bot.wait_for_post("*acme/site is paused* · CI down\n")
    await bot.wait_for_change(card, "Until 20")
    await bot.wait_for_change(question, "acme/site is paused, resumes")
    assert bot.pause_reason() == "CI down (by alice via Slack)"


@pytest.mark.parametrize("reason", ["45", "checks take until 15:00"])
async def test_what_looks_like_a_duration_may_belong_to_the_reason(
    bot: BotTester, reason: str
) -> None:
    question = await bot.ask(f"/mq pause {reason}")
    await bot.click(question, f"No end; the reason is “{reason}”")
    card = await bot.wait_for_post(f"*acme/site is paused* · {reason}")
    assert "Until someone" in card
    await bot.wait_for_change(question, "acme/site is paused.")


@pytest.fixture
async def seven(start_bot: StartBot) -> BotTester:
    """Seven repositories, two of them in a group."""
    names = [f"acme/r{number}" for number in range(7)]
    return await start_bot(
        repositories=dict.fromkeys(names, "quiet"),
        channels="",
        environment={"MQBOT_GROUPS": "release=acme/r5,acme/r6"},
    )


async def test_among_many_repositories_a_menu_follows_what_fits(seven: BotTester) -> None:
    question = await seven.ask("/mq pause CI is down")
    assert "Pause which queue?" in question
    assert question.labels == ["Choose a repository"]
    await seven.choose(question, "acme/r3", menu="Choose a repository")
    await seven.wait_for_post("*acme/r3 is paused* · CI is down")
    await seven.wait_until_gone(question)

    question = await seven.ask("/mq pause all CI is down")
    await seven.click(question, question.labels[0])
    await seven.wait_for_post("7 queues")


async def test_the_group_whose_pause_is_in_force_is_offered_first(seven: BotTester) -> None:
    await seven.publish("/mq pause now @release deploying", "2 of 2 queues")
    await seven.publish("/mq pause acme/r2 migration", "*acme/r2 is paused*")
    question = await seven.ask("/mq resume")
    assert question.labels == ["@release (2 queues)", "acme/r2", "acme/r5", "acme/r6"]
    await seven.click(question, "@release (2 queues)")
    await seven.wait_for_post("2 of 2 queues")
    assert seven.pause_reason("acme/r2") is not None
    assert seven.pause_reason("acme/r5") is None


async def test_a_question_that_was_answered_elsewhere_changes_nothing(two: BotTester) -> None:
    question = await two.ask("/mq pause Deploying 4.2")
    await two.publish("/mq pause acme/site Deploying 4.2", "*acme/site is paused*")
    await two.click(question, SECOND)
    await two.wait_for_change(question, "You've already answered this question")
    assert two.pause_reason(SECOND) is None


@pytest.mark.parametrize("typed", ["acme/site,acme/api CI", "repo:acme/api CI", "see:acme/api CI"])
async def test_a_list_of_names_or_a_name_behind_another_word_is_asked_about(
    two: BotTester, typed: str
) -> None:
    await two.publish("/mq default acme/site", "Default repository in this channel")
    question = await two.ask(f"/mq pause now {typed}")
    assert "Pause acme/" in question
    assert {"acme/site", "acme/api"} <= {label.split()[1].rstrip(":") for label in question.labels}
    assert two.pause_reason() is None
    assert two.pause_reason(SECOND) is None


async def test_a_pattern_of_names_pauses_nothing(two: BotTester) -> None:
    await two.publish("/mq default acme/site", "Default repository in this channel")
    assert "I don't manage `acme/a*`" in await two.ask("/mq pause now acme/a* CI is down")
    assert two.pause_reason() is None


async def test_a_read_that_fails_names_its_queue(two: BotTester) -> None:
    two.break_service("error", path=f"/{SECOND}/", status=503)
    for typed in ("status", "why 41", "rules", "resume"):
        answer = await two.ask(f"/mq {typed} {SECOND}")
        assert answer.words.startswith((":warning: *acme/api:* The", ":warning: *acme/api was not"))
