"""Failures in a row on one check pause the queue, with the evidence, until its time or a person."""

from pathlib import Path

import pytest

from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import BOB, MERGE_QUEUE, REPOSITORY, BotTester
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = [pytest.mark.e2e, OVER_SOCKET_MODE]

POLICY = f"""
[MQBOT_POLICY."{REPOSITORY}"]
auto_pause_failures = 3
alert_mention = "S0ONCALL"
"""


async def start(start_bot: StartBot, tmp_path: Path, policy: str = POLICY) -> BotTester:
    file = tmp_path / "mqbot.toml"
    file.write_text(policy, "utf-8")
    file.chmod(0o600)
    return await start_bot(
        repositories={REPOSITORY: "quiet"},
        speed=1.0,
        channels=f"{REPOSITORY}={MERGE_QUEUE}:pause",
        environment={"MQBOT_CONFIG": str(file), "MQBOT_REMINDER_MINUTES": "0"},
    )


async def fail(bot: BotTester, *numbers: int, check: str = "unit <tests>") -> None:
    failed = [{"name": check, "description": "", "url": None, "state": "failure"}]
    for number in numbers:
        metadata = {
            "merged": False,
            "dequeue_code": "CHECKS_FAILED",
            "unsuccessful_checks": failed,
        }
        bot.emit("action.queue.leave", number, metadata=metadata)
    await bot.next_poll()


async def paused(bot: BotTester, *numbers: int) -> Shown:
    await fail(bot, *numbers)
    return await bot.wait_for_post(f"*{REPOSITORY} is paused*")


async def test_three_failures_on_one_check_pause_the_queue_until_it_resumes_by_itself(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    await fail(bot, 71, 72)
    await fail(bot, 73, check="lint")
    await fail(bot, 74, 75)
    assert bot.pause_reason() is None
    card = await paused(bot, 76)
    assert "unit <tests> failed in a row for #74, #75, #76 on main." in card
    assert "By auto-pause" in card
    assert "Until 20" in card
    assert "<!subteam^S0ONCALL>" in str(card.blocks)
    assert bot.pause_reason() == (
        "unit <tests> failed in a row for #74, #75, #76 on main (by auto-pause via mqbot)"
    )
    await fail(bot, 77)
    await bot.pass_time(19 * 60)
    assert bot.pause_reason() is not None

    await bot.pass_time(61)

    assert "By the timer set by auto-pause" in await bot.wait_for_post("has resumed*")
    assert bot.pause_reason() is None
    audit = await bot.ask(f"/mq audit {REPOSITORY}")
    assert "auto-pause paused acme/site" in audit
    assert "by a rule" in audit
    await fail(bot, 78, 79)
    await bot.next_poll()
    assert len(bot.posts()) == 2


async def test_a_person_who_resumes_is_not_overruled_by_the_same_failures(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    card = await paused(bot, 71, 72, 73)
    await bot.click(card, "Resume queue", by=BOB)
    await bot.wait_for_post("has resumed*")
    await bot.stop_bot()
    await bot.start_bot()
    await fail(bot, 74, 75)
    await bot.next_poll()
    assert bot.pause_reason() is None
    assert len(bot.posts()) == 2


async def test_keeping_it_takes_the_end_away_and_says_who_did(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path)
    card = await paused(bot, 71, 72, 73)
    await bot.click(card, "Keep paused", by=BOB)
    kept = await bot.wait_in_thread(card, "stays paused until someone resumes it")
    assert "bob removed the end" in kept
    await until(lambda: "Until someone" in bot.posts()[0], "the card without an end")
    await bot.pass_time(3600)
    assert bot.pause_reason() is not None
    await bot.click(card, "Keep paused", by=BOB)
    assert "there is no end to move. Nothing was changed." in await bot.wait_for_reply(by=BOB)
    await bot.click(bot.posts()[0], "Resume queue", by=BOB)
    await bot.wait_for_post("has resumed*")


async def test_it_leaves_a_persons_pause_alone(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start(start_bot, tmp_path)
    await bot.publish(f"/mq pause {REPOSITORY} Night", "is paused*")
    await fail(bot, 71, 72, 73)
    await bot.next_poll()
    assert bot.pause_reason() == "Night (by alice via Slack)"
    assert len(bot.posts()) == 1


async def test_without_the_setting_nothing_is_paused(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start(start_bot, tmp_path, POLICY.replace("= 3", "= 0"))
    await fail(bot, 71, 72, 73, 74)
    await bot.next_poll()
    assert bot.pause_reason() is None
    assert bot.posts() == []
