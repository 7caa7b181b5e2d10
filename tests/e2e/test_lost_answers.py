"""Slack doesn't take an answer: it is sent again, or another way, and an act is never silent."""

from typing import Any

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import ALICE, GENERAL, INCIDENTS, MERGE_QUEUE, RELEASES, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

# An address answers five times within thirty minutes, then 404 with a code; like any method it may
# be limited (429 with `Retry-After`) or fail (500).
CLEAR: dict[str, dict[str, Any]] = {
    "limited": {"name": "rate_limit", "retry_after": 1},
    "limited for long": {"name": "rate_limit", "retry_after": 3000},
    "limited twice": {"name": "rate_limit", "retry_after": 1, "times": 2},
    "expired": {"name": "refuse", "code": "expired_url", "times": 5},
    "used": {"name": "refuse", "code": "used_url", "times": 5},
    "archived": {"name": "refuse", "code": "is_archived", "times": 5},
    "gone": {"name": "refuse", "code": "no_service", "status": 410, "times": 5},
    "not found": {"name": "refuse", "code": "no_service", "status": 404, "times": 5},
    "forbidden": {"name": "refuse", "code": "action_prohibited", "status": 403, "times": 5},
}
UNCLEAR: dict[str, dict[str, Any]] = {
    "error": {"name": "http_500", "times": 5},
    "error page": {"name": "html_500", "times": 5},
    "internal": {"name": "internal_error", "times": 5},
    "made, then error": {"name": "http_500", "times": 5, "carried_out": True},
    "made, then internal": {"name": "internal_error", "times": 5, "carried_out": True},
    "cut before": {"name": "drop_before", "times": 5},
    "cut after": {"name": "drop_after_accept", "times": 5},
    "late": {"name": "slow", "seconds": 9.0, "times": 5},
}
FAULTS = CLEAR | UNCLEAR
BOTH_WAYS = 2


def expecting(bot: BotTester) -> None:
    codes = {fault.get("code", fault["name"]) for fault in FAULTS.values()} | {"internal_error"}
    bot.expected_refusals |= {f"response_url {one}" for one in codes}
    bot.expected_refusals |= {
        f"{method} {code}"
        for method in ("chat.postEphemeral", "chat.postMessage")
        for code in ("channel_not_found", "not_in_channel", "rate_limit", "http_500")
    }
    bot.expected_refusals |= {"conversations.info channel_not_found"}


def private_answers(bot: BotTester, containing: str, channel: str) -> list[Shown]:
    """What alice alone sees of it: in the channel, or in a direct message."""
    seen = [*bot.replies(channel=channel), *bot.direct_messages(by=ALICE)]
    return [one for one in seen if containing in one]


async def private_answer(bot: BotTester, containing: str, channel: str) -> list[Shown]:
    found = await until(
        lambda: private_answers(bot, containing, channel), f"“{containing}” for alice"
    )
    assert found is not None
    return found


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_answer_to_a_question_arrives(bot: BotTester, fault: str) -> None:
    expecting(bot)
    bot.break_slack(**{"method": "response_url", **FAULTS[fault]})
    await bot.type("/mq status")
    await private_answer(bot, "*acme/site* is running", MERGE_QUEUE)
    await bot.stop_bot()
    shown = await private_answer(bot, "*acme/site* is running", MERGE_QUEUE)
    # Only what may have arrived is shown in two ways.
    assert len(shown) == 1 or fault in UNCLEAR
    if fault == "late":
        # Slack carries out what the bot no longer waits for.
        await until(
            lambda: len(private_answers(bot, "*acme/site* is running", MERGE_QUEUE)) == BOTH_WAYS,
            "the late answer",
        )


@pytest.mark.parametrize("fault", FAULTS)
async def test_everybody_or_at_least_the_actor_learns_of_an_act_where_the_bot_cannot_post(
    bot: BotTester, fault: str
) -> None:
    """The bot isn't in the private channel: that has no address but Slack's own."""
    expecting(bot)
    bot.break_slack(**{"method": "response_url", **FAULTS[fault]})
    await bot.type("/mq pause now CI is down", channel=INCIDENTS)

    def seen() -> list[Shown]:
        private = [*bot.replies(channel=INCIDENTS), *bot.direct_messages(by=ALICE)]
        return [one for one in [*bot.posts(INCIDENTS), *private] if "CI is down" in one]

    await until(seen, "the pause shown to alice")
    assert bot.pause_reason() is not None
    await bot.stop_bot()
    if fault == "late":
        await until(lambda: bot.posts(INCIDENTS), "the late post")
    assert len(bot.posts(INCIDENTS)) <= 1
    seen()


async def test_a_mention_is_answered_privately_where_its_thread_takes_nothing(
    bot: BotTester,
) -> None:
    expecting(bot)
    bot.expected_refusals |= {"chat.postMessage is_archived"}
    bot.break_slack(name="refuse", code="is_archived", method="chat.postMessage", times=1)
    bot.slack.people.message(ALICE, MERGE_QUEUE, "@merge-queue status")
    await private_answer(bot, "*acme/site* is running", MERGE_QUEUE)


async def test_no_way_at_all_leaves_the_answer_to_the_outbox(start_bot: StartBot) -> None:
    bot = await start_bot()
    expecting(bot)
    bot.break_slack(name="refuse", code="expired_url", method="response_url", times=9)
    bot.break_slack(name="http_500", method="chat.postEphemeral", times=9)
    bot.break_slack(name="http_500", method="chat.postMessage", times=3)
    await bot.type("/mq pause now CI is down", channel=INCIDENTS)
    await bot.wait_for_direct_message("acme/site is paused")


@pytest.mark.parametrize("typed", ["status", "pause now CI is down", "freeze 2h CI is down"])
async def test_a_channel_archived_meanwhile_is_answered_in_a_direct_message(
    bot: BotTester, typed: str
) -> None:
    expecting(bot)
    bot.expected_errors.add("post_refused")
    bot.expected_refusals |= {
        "response_url is_archived",
        "chat.postMessage is_archived",
        "chat.postEphemeral is_archived",
    }
    for path in ("/merge-queue/", "/scheduled_freeze"):
        bot.break_service("slow", path=path, seconds=1.0)
    await bot.type(f"/mq {typed}", channel=GENERAL)
    bot.slack.arrangement.change_channel(GENERAL, {"is_archived": True})
    await bot.wait_for_direct_message("acme/site")
    bot.fix_service()
    await bot.stop_bot()
    bot.posts(RELEASES)
    bot.direct_messages(by=ALICE)


async def test_a_refused_direct_message_is_told_in_the_channel_or_sent_later(
    bot: BotTester,
) -> None:
    """The form is closed, and Slack takes no message to the person at this moment."""
    expecting(bot)
    bot.expected_refusals |= {"views.update not_found", "chat.postMessage user_disabled"}
    await bot.type("/mq pause", channel=GENERAL)
    form = await bot.modal("0 queued")
    bot.break_service("slow", path="pause", method="PUT", seconds=1.0, times=1)
    await bot.submit(form, reason="CI is down")
    bot.slack.people.close(ALICE, form.view_id)
    bot.break_slack(name="refuse", code="user_disabled", method="chat.postMessage", times=1)
    await private_answer(bot, "acme/site is paused", GENERAL)
    await bot.stop_bot()
    bot.posts(GENERAL)
    bot.direct_messages(by=ALICE)
