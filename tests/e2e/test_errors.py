"""Errors are shown as sentences, never as a traceback or an empty queue."""

import pytest

from bot.desk.help import TASKS
from bot.desk.table import COMMAND_BY_WORD, COMMANDS
from bot.sandbox.merge_queue.credentials import Credential
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import ALICE, GENERAL, MERGE_QUEUE, RELEASES, BotTester
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

UNREACHABLE = "The merge queue service isn't responding"


async def test_an_unknown_verb_gets_the_nearest_ones_or_the_list(bot: BotTester) -> None:
    answer = await bot.ask("/mq pasue CI is down")
    assert "There is no command “pasue”. Did you mean `/mq pause CI is down`?" in answer
    assert "owner/name" not in answer

    answer = await bot.ask("/mq xyzzy")
    assert "I don't understand “xyzzy”." in answer
    assert "What I can do" in answer
    await bot.click(answer, "All commands")
    await bot.wait_for_reply("`/mq audit`")

    answer = await bot.ask("/mq `*x*`<!channel>")
    assert "<!channel>" not in str(answer.blocks)

    answer = await bot.ask("/mq stat acme/site")
    assert "Did you mean `/mq stats acme/site` or `/mq status acme/site`?" in answer
    assert answer.labels == ["Run /mq stats acme/site", "Run /mq status acme/site"]
    await bot.click(answer, "Run /mq status acme/site")
    await bot.wait_for_reply("*acme/site* is running")


async def test_an_unknown_verb_comes_with_a_button_that_runs_the_nearest(bot: BotTester) -> None:
    answer = await bot.ask("/mq stop CI is down")
    assert "There is no command “stop”. Did you mean `/mq pause CI is down`?" in answer
    await bot.click(answer, "Run /mq pause CI is down")
    await bot.wait_for_post("is paused")
    assert bot.pause_reason() == "CI is down (by alice via Slack)"


async def test_a_button_retries_a_failed_question(bot: BotTester) -> None:
    status = await bot.ask("/mq status")
    bot.break_service("error", path="/merge-queue/", status=503)
    await bot.click(status, "Refresh")
    failed = await bot.wait_for_reply(f"{UNREACHABLE} (last good answer ")
    assert failed.labels == ["Try again"]
    bot.fix_service()
    await bot.click(failed, "Try again")
    await bot.wait_for_reply("*acme/site* is running")


async def test_help_lists_every_verb_and_one_verb_in_detail(bot: BotTester) -> None:
    answer = await bot.ask("/mq help")
    for name in TASKS:
        assert f"`/mq {COMMAND_BY_WORD[name].examples[0]}`" in answer
    answer = await bot.ask("/mq help all")
    for verb in COMMANDS:
        assert f"`/mq {verb.examples[0]}`" in answer
        assert verb.task in answer
        assert f"{verb.task}: `/mq {verb.examples[0]}`" in answer.line
    answer = await bot.ask("/mq help unsubscribe")
    assert (
        "`/mq unsubscribe [owner/name|@group|all] [topic …] [branch:GLOB] [except:LOGIN]`" in answer
    )
    answer = await bot.ask("/mq help resume")
    assert "Also: `/mq unpause`" in answer


async def test_an_unknown_repository_is_refused_and_the_known_ones_are_named(
    bot: BotTester,
) -> None:
    answer = await bot.ask("/mq pause acme/stie CI is down")
    assert "I don't manage `acme/stie`. Did you mean `/mq pause acme/site CI is down`?" in answer
    assert answer.labels == ["Run /mq pause acme/site CI is down"]
    answer = await bot.ask("/mq pause other/place CI is down")
    assert "I don't manage `other/place`. Available: acme/site." in answer
    assert bot.pause_reason() is None


async def test_a_repository_hidden_from_the_credential_is_reported(start_bot: StartBot) -> None:
    bot = await start_bot(
        environment={"MQBOT_REPOSITORIES": "acme/hidden", "MQBOT_CHANNELS": ""},
        waits_for_begin=False,
    )
    answer = await bot.ask("/mq status")
    assert "doesn't find this in acme/hidden: 404 “Repository not found”." in answer
    assert "the bot's key can't see it, the person who runs the bot can fix it" in answer
    assert "`MQBOT_REPOSITORIES`" in answer
    assert "empty" not in answer


@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        ("unknown", "The merge queue service doesn't accept the bot's key for acme/site: 401 “"),
        ("reader", "The merge queue service doesn't let the bot do this in acme/site: 403 “You do"),
    ],
)
async def test_a_rejected_credential_says_who_can_fix_it(
    start_bot: StartBot, token: str, sentence: str
) -> None:
    reader = Credential("reader", kind="personal", owners=frozenset({"else"}))
    bot = await start_bot(
        credentials=(reader,),
        environment={"MQBOT_API_TOKEN": token},
        waits_for_begin=False,
        # A key that the service doesn't know, not one that may only read.
        expected_errors={"key_refused"},
    )
    answer = await bot.ask("/mq status")
    assert sentence in answer
    assert "(`MQBOT_API_TOKEN`)" in answer


@pytest.mark.parametrize(
    ("status", "body", "sentence", "remedy"),
    [
        (403, {"detail": "<!channel> No *role*"}, "403 “", "`MQBOT_API"),
        (403, {"detail": {"message": "App not installed"}}, "403 “App not installed”", "installed"),
        (401, {"message": "Token expired"}, "401 “Token expired”", "can replace it"),
        (404, {"detail": "Repository not found"}, "404 “Repository not found”", "MQBOT_REPOSIT"),
        (404, {}, "in acme/site: 404.", "renamed, moved or deleted"),
        (409, {"detail": "Queue is locked"}, "409 “Queue is locked”", "for its state now"),
        (
            422,
            {"detail": [{"loc": ["query", "branch"], "msg": "Too long"}]},
            "422 “branch: Too",
            "",
        ),
        (410, {"detail": "Gone since May"}, "no longer offers this: 410 “Gone since May”", ""),
        (451, {"detail": "x" * 5000}, "451 “xxx", "…”."),
        (503, {"detail": "Maintenance until 15:00"}, "Its answer: 503 “Maintenance until", ""),
    ],
)
async def test_a_refusal_quotes_the_services_sentence_and_says_what_fits_it(
    bot: BotTester, status: int, body: object, sentence: str, remedy: str
) -> None:
    path = "/merge-queue/status"
    if status == 401:
        bot.expected_errors.add("key_refused")
    bot.break_service("error", path=path, status=status, body=body, times=None)
    answer = await bot.ask("/mq status")
    assert sentence in answer
    assert remedy in answer
    assert "<!channel>" not in str(answer.blocks)


async def test_a_renamed_repository_is_named_and_nothing_is_followed(bot: BotTester) -> None:
    bot.merge_queue.rename("acme/site", "acme/website")
    answer = await bot.ask("/mq status")
    assert "acme/site was renamed or moved to `acme/website` (301)." in answer
    assert "`MQBOT_REPOSITORIES`" in answer
    assert bot.requests("acme/website") == []


async def test_service_errors_are_named_and_try_again_works_once_fixed(bot: BotTester) -> None:
    for kind, how in (
        ("error", {"status": 500}),
        ("error", {"status": 503}),
        ("html_error", {"status": 502}),
        ("drop_before", {}),
    ):
        bot.break_service(kind, path="/merge-queue/", **how)
        answer = await bot.ask("/mq status")
        assert UNREACHABLE in answer
        assert "empty" not in answer
        assert answer.labels == ["Try again"]
        bot.fix_service()
        await bot.click(answer, "Try again")
        again = await bot.wait_for_reply()
        assert "*acme/site* is running" in again


async def test_a_rate_limit_of_the_service_is_named(bot: BotTester) -> None:
    for retry_after, when in (("30", "in 30 s"), ("999999999", "in 5 min"), (None, "in a moment")):
        assert "*acme/site* is running" in await bot.ask("/mq status")
        bot.break_service("rate_limit", path="/merge-queue/", retry_after=retry_after)
        answer = await bot.ask("/mq status")
        assert f"The merge queue service is limiting requests. Try again {when}." in answer
        assert "last good answer" not in answer
        assert answer.labels == ["Try again"]
        bot.fix_service()
        await bot.pass_time(310)


async def test_a_refusal_of_the_service_is_reported_as_one(bot: BotTester) -> None:
    for status, sentence in (
        (410, "The merge queue service no longer offers this: 410 “Armed failure”."),
        (418, "The merge queue service refused this: 418 “Armed failure”."),
        (451, "The merge queue service refused this: 451 “Armed failure”."),
    ):
        bot.fix_service()
        bot.break_service("error", path="/merge-queue/status", status=status)
        assert sentence in await bot.ask("/mq status")


async def test_a_missing_endpoint_is_not_reported_as_a_missing_queue(bot: BotTester) -> None:
    bot.break_service("error", path="/queues/configuration", status=404)
    gone = "The merge queue service no longer offers this: 404 “Armed failure”."
    assert gone in await bot.ask("/mq rules")
    bot.break_service("error", path="/queues/branches", status=404)
    assert "The service no longer offers earlier activity." in await bot.ask("/mq branches")


async def test_an_unavailable_service_is_named(bot: BotTester) -> None:
    await bot.ask("/mq status")
    await bot.merge_queue.stop()
    answer = await bot.ask("/mq status")
    assert UNREACHABLE in answer
    assert "last good answer" in answer


async def test_the_bot_waits_for_a_slow_service(bot: BotTester) -> None:
    bot.break_service("slow", path="/merge-queue/", seconds=1.5, times=2)
    answer = await bot.ask("/mq status")
    assert "*acme/site* is running" in answer


async def test_an_unreadable_answer_is_never_an_empty_queue(bot: BotTester) -> None:
    for kind in ("malformed", "truncate"):
        bot.fix_service()
        bot.break_service(kind, path="/merge-queue/status")
        answer = await bot.ask("/mq status")
        assert "empty" not in answer
        assert "The merge queue service" in answer


async def test_a_pause_that_the_service_refuses_changes_nothing_and_is_reported(
    bot: BotTester,
) -> None:
    bot.break_service("error", path="/merge-queue/pause", method="PUT", status=409)
    answer = await bot.ask("/mq pause CI is down")
    assert "refused this for acme/site: 409 “Armed failure”. The queue isn't paused now." in answer
    assert bot.pause_reason() is None
    assert bot.posts() == []


async def test_a_conflict_reports_the_state_of_the_queue(bot: BotTester) -> None:
    bot.merge_queue.pause("acme/site", "Database migration", by="carol")
    bot.break_service("error", path="/merge-queue/pause", method="DELETE", status=409)
    answer = await bot.ask("/mq resume")
    assert "409 “Armed failure”. The queue is paused now: Database migration" in answer
    assert bot.pause_reason() == "Database migration"


async def test_a_pause_with_a_lost_response_is_reported_once(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter,pause")
    bot.break_service("drop_after_accept", path="/merge-queue/pause", method="PUT", times=1)
    card = await bot.publish("/mq pause CI is down", "*acme/site is paused* · CI is down")
    assert bot.pause_reason() == "CI is down (by alice via Slack)"
    bot.enqueue()
    await bot.wait_for_change(card, "1 queued")
    assert len(bot.posts()) == 1


async def test_a_post_with_a_lost_response_is_found_and_not_repeated(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter")
    bot.break_slack("drop_after_accept", "chat.postMessage")
    first = bot.enqueue()
    second = bot.enqueue()
    await bot.wait_for_post(f"#{first}")
    await bot.wait_for_post(f"#{second}")
    assert len(bot.posts()) == 2
    assert len(bot.calls("chat.postMessage")) == 2


@pytest.mark.parametrize("carried_out", [True, False])
async def test_every_ambiguous_answer_of_slack_leads_to_one_post(
    start_bot: StartBot, *, carried_out: bool
) -> None:
    channels = (MERGE_QUEUE, RELEASES, GENERAL, "C0QUIET")
    faults = ("http_500", "internal_error", "invalid_json", "truncate")
    bot = await start_bot(channels=";".join(f"acme/site={one}:enter" for one in channels))
    bot.slack.arrangement.add_channel("quiet", [ALICE])
    bot.expected_refusals = {f"chat.postMessage {fault}" for fault in faults[:2]}
    bot.expected_refusals.add("conversations.history not_in_channel")
    # The bot may have looked at its channels before this one was there.
    bot.expected_refusals.add("conversations.info channel_not_found")
    for fault in faults[:2]:
        bot.break_slack(fault, "chat.postMessage", carried_out=carried_out)
    for fault in faults[2:]:
        bot.break_slack(fault, "chat.postMessage")
    number = bot.enqueue()
    for channel in channels:
        await bot.wait_for_post(f"#{number}", channel)
        assert len(bot.posts(channel)) == 1
    assert len(bot.calls("chat.postMessage")) == (4 if carried_out else 6)


async def test_a_rate_limit_of_slack_delays_posts_and_loses_none(start_bot: StartBot) -> None:
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:enter")
    bot.expected_refusals = {"chat.postMessage rate_limit"}
    bot.break_slack("rate_limit", "chat.postMessage", retry_after=2)
    numbers = [bot.enqueue() for _ in range(3)]
    for number in numbers:
        await bot.wait_for_post(f"#{number}")
    order = [next(number for number in numbers if f"#{number}" in post) for post in bot.posts()]
    assert order == numbers
    assert len(bot.calls("chat.postMessage")) == 4


async def test_a_lost_reply_does_not_harm_the_bot(bot: BotTester) -> None:
    bot.break_slack("http_500", "response_url")
    await bot.type("/mq status", channel=GENERAL)
    await bot.logged("reply_failed")
    # It may have arrived, or not.
    await bot.wait_for_direct_message("*acme/site* is running")
    answer = await bot.ask("/mq status", channel=GENERAL)
    assert "*acme/site* is running" in answer
    bot.expected_refusals = {"response_url http_500", "chat.postEphemeral not_in_channel"}


async def test_a_lost_socket_is_renewed_and_commands_continue(bot: BotTester) -> None:
    opened = len(bot.calls("apps.connections.open"))
    bot.break_slack("disconnect", "*", reason="refresh_requested")
    await until(lambda: len(bot.calls("apps.connections.open")) >= 2 * opened, "new connections")
    await until(lambda: bot.slack.socket_mode.connections == opened, "the old ones closed")
    answer = await bot.ask("/mq status")
    assert "*acme/site* is running" in answer
