"""How a failed act left the queue, and what became of one that nobody could tell yet."""

from http import HTTPStatus

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import ALICE, BotTester
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

UNREACHABLE = "The merge queue service isn't responding"


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "error", "status": 503},
        {"kind": "error", "status": 500},
        {"kind": "rate_limit", "retry_after": "30"},
        {"kind": "drop_before"},
    ],
    ids=lambda manifest: f"{manifest['kind']}-{manifest.get('status', '')}",
)
async def test_pause_resume_and_status_fail_in_words_of_their_own(
    bot: BotTester, fault: dict[str, str]
) -> None:
    await bot.ask("/mq status")
    bot.break_service(path="/merge-queue/", **fault)

    paused = await bot.ask("/mq pause CI is down")
    assert "*acme/site was not paused.*" in paused
    assert paused.labels == ["Try pausing again"]
    status = await bot.ask("/mq status")
    assert "paused" not in status
    assert status.labels == ["Try again"]

    bot.fix_service()
    await bot.pass_time(40)
    await bot.click(paused, "Try pausing again")
    await bot.wait_for_post("is paused")
    bot.break_service(path="/merge-queue/", **fault)
    resumed = await bot.ask("/mq resume")
    assert "*acme/site is still paused*" in resumed
    assert resumed.labels == ["Try resuming again"]
    bot.fix_service()
    await bot.pass_time(40)
    await bot.click(resumed, "Try resuming again")
    await bot.wait_for_post("has resumed")


@pytest.mark.parametrize("status", [401, 403, 404, 410, 422])
async def test_a_refused_act_says_how_it_left_the_queue(start_bot: StartBot, status: int) -> None:
    bot = await start_bot(pause_endpoints="current")
    if status == HTTPStatus.UNAUTHORIZED:
        bot.expected_errors.add("key_refused")
    bot.break_service("error", path="/merge-queue/pause", method="PUT", status=status)
    answer = await bot.ask("/mq pause CI is down")
    assert "*acme/site is not paused.*" in answer
    assert bot.pause_reason() is None
    bot.fix_service()
    await bot.pause("CI is down")
    bot.break_service("error", path="/merge-queue/pause", method="DELETE", status=status)
    answer = await bot.ask("/mq resume")
    assert "*acme/site is still paused.*" in answer
    assert bot.pause_reason() is not None


async def test_a_pause_that_was_carried_out_is_told_once_the_service_answers(
    bot: BotTester,
) -> None:
    bot.break_service("drop_after_accept", path="/merge-queue/pause", method="PUT", times=1)
    await _breaks_after(bot, "PUT")
    answer = await bot.ask("/mq pause CI is down")
    assert "*I can't tell yet whether acme/site is paused.*" in answer
    assert "I keep checking and will post the outcome here." in answer
    bot.fix_service()
    await bot.wait_for_post("is paused")
    assert bot.pause_reason() is not None


async def test_a_resume_that_was_carried_out_is_told_once_the_service_answers(
    bot: BotTester,
) -> None:
    await bot.pause("CI is down")
    bot.break_service("drop_after_accept", path="/merge-queue/pause", method="DELETE", times=1)
    await _breaks_after(bot, "DELETE")
    answer = await bot.ask("/mq resume")
    assert "*I can't tell yet whether acme/site is still paused.*" in answer
    bot.fix_service()
    await bot.wait_for_post("has resumed")


async def test_who_types_a_resume_again_resumes_no_other_pause_made_since(bot: BotTester) -> None:
    """They had no answer, so they mean the pause that was in force then."""
    await bot.pause("CI is down")
    bot.break_service("drop_after_accept", path="/merge-queue/pause", method="DELETE", times=1)
    await _breaks_after(bot, "DELETE")
    failed = await bot.ask("/mq resume")
    assert "*I can't tell yet whether acme/site is still paused.*" in failed
    bot.merge_queue.watchers.clear()
    bot.fix_service()
    bot.merge_queue.pause("acme/site", "incident")
    await bot.click(failed, "Try resuming again")
    other = await bot.wait_for_reply("That pause is over.")
    assert "acme/site is now paused: incident" in other
    assert bot.pause_reason() == "incident"
    # Having seen it, they mean this one.
    await bot.type("/mq resume")
    await until(lambda: bot.pause_reason() is None, "the pause to end")
    await bot.stop_bot()
    bot.posts()
    bot.replies()
    bot.direct_messages(by=ALICE)


async def test_a_resume_whose_answer_alone_was_lost_tells_at_once_how_the_queue_stands(
    bot: BotTester,
) -> None:
    """Only the log says whose doing it is, and the post names them then."""
    await bot.pause("CI is down")
    bot.break_service("drop_after_accept", path="/merge-queue/pause", method="DELETE", times=1)
    answer = await bot.ask("/mq resume")
    assert "acme/site is not paused any more. The service's answer was lost" in answer
    post = await bot.wait_for_post("has resumed")
    assert "By alice" in post


async def test_an_act_that_was_not_carried_out_is_told_too(bot: BotTester) -> None:
    bot.break_service("slow", path="/merge-queue/pause", method="PUT", times=1, seconds=0)
    await _lost_before(bot)
    answer = await bot.ask("/mq pause CI is down")
    assert "*I can't tell yet whether acme/site is paused.*" in answer
    bot.fix_service()
    await bot.pass_time(60)
    outcome = await bot.wait_for_post("acme/site is not paused")
    assert bot.pause_reason() is None
    await bot.click(outcome, "Try pausing again")
    await bot.wait_for_post("is paused")


async def _breaks_after(bot: BotTester, method: str) -> None:
    """Once the service has carried the request out, it answers nothing any more."""

    def look(seen: object) -> None:
        if getattr(seen, "method", "") == method:
            bot.break_service("error", path="/merge-queue/", status=503)

    bot.merge_queue.watchers.append(look)


async def _lost_before(bot: BotTester) -> None:
    bot.fix_service()
    bot.break_service("error", path="/merge-queue/pause", method="PUT", status=502, times=1)
