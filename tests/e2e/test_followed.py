"""`all`, `@group` and `owner/*` stay what they say when the settings change."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.e2e.test_reload import FileOfProcess, is_polled
from tests.support.bot_tester import BOB, GENERAL, MERGE_QUEUE, RELEASES
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

SITE = "acme/site"
API = "acme/api"
DOCS = "acme/docs"
OTHER = "other/one"
FEW = {
    "MQBOT_REPOSITORIES": f"{SITE},{API}",
    "MQBOT_GROUPS": f"release={SITE}",
    "MQBOT_CHANNELS": f"all={RELEASES}:merge",
}
MORE = {
    **FEW,
    "MQBOT_REPOSITORIES": f"{SITE},{API},{DOCS},{OTHER}",
    "MQBOT_GROUPS": f"release={SITE},{OTHER}",
}


@pytest.fixture
def bot(sqlite_url: str, tmp_path: Path) -> FileOfProcess:
    return FileOfProcess(
        sqlite_url,
        folder=tmp_path,
        file=tmp_path / "mqbot.toml",
        given=FEW,
        repositories=dict.fromkeys((SITE, API, DOCS, OTHER), "quiet"),
    )


async def test_new_repositories_are_greeted_once_in_each_channel_that_follows_them(
    bot: FileOfProcess,
) -> None:
    async with bot:
        await is_polled(bot, SITE)
        await bot.publish("/mq subscribe all enter", "Repositories added later are included")
        await bot.type("/mq subscribe acme/* merge", channel=RELEASES)
        await bot.wait_for_post("Repositories that join acme/* later are included", RELEASES)

        bot.write(MORE)
        bot.hang_up()
        here = await bot.wait_for_post("are new", MERGE_QUEUE)
        follows = "This channel follows all repositories, so I've subscribed it to these too."
        assert f"*{DOCS}, {OTHER}* are new. {follows}" in here
        assert "*Subscription* enter" in here
        assert "*Asked for by* alice" in here
        assert here.labels == [f"Leave {DOCS} out", f"Leave {OTHER} out"]
        configured = await bot.wait_for_post("are new", RELEASES)
        assert "*From* the configuration (MQBOT_CHANNELS)" in configured
        assert configured.labels == []
        # It follows acme/* too, and is told of it once.
        listed = await bot.ask("/mq subscriptions", channel=RELEASES)
        assert f"*all repositories of acme: {API}, {DOCS}, {SITE}*: merge · in threads" in listed

        await is_polled(bot, DOCS)
        number = bot.enqueue(repository=DOCS, hangs=True)
        await bot.wait_for_post(f"#{number}")


async def test_what_is_left_out_stays_out_and_what_leaves_a_group_ends(bot: FileOfProcess) -> None:
    async with bot:
        await is_polled(bot, SITE)
        await bot.publish("/mq subscribe all enter", "Repositories added later are included")
        await bot.type("/mq subscribe @release enter", channel=GENERAL)
        await bot.wait_for_post("Repositories that join @release later are included", GENERAL)
        await bot.type(f"/mq unsubscribe {API}", by=BOB)
        await bot.wait_for_post(f"Unsubscribed this channel from {API}")

        bot.write(MORE)
        bot.hang_up()
        here = await bot.wait_for_post("are new", MERGE_QUEUE)
        await bot.wait_for_post(f"*{OTHER}* is new in @release", GENERAL)
        await bot.wait_for_post("are new", RELEASES)
        await bot.click(here, f"Leave {DOCS} out")
        await bot.wait_for_post(f"Unsubscribed this channel from {DOCS}")

        bot.given = {**MORE, "MQBOT_GROUPS": f"release={SITE}"}
        bot.write(bot.given)
        bot.hang_up()
        gone = await bot.wait_for_post("left @release", GENERAL)
        assert "This channel is no longer subscribed to it." in gone
        audit = await bot.ask(f"/mq audit {OTHER}")
        assert "*alice* unsubscribed a channel from other/one" in audit
        assert "by a rule · in #C0GENERAL · as part of @release" in audit

        channels = (MERGE_QUEUE, RELEASES, GENERAL)
        counts = [len(bot.posts(channel)) for channel in channels]
        await bot.stop_bot()
        await bot.start_bot()
        await is_polled(bot, DOCS)
        listed = await bot.ask("/mq subscriptions")
        assert f"*all repositories: {SITE}, {OTHER}*: enter · in threads" in listed
        assert [len(bot.posts(channel)) for channel in channels] == counts


async def test_a_bot_that_is_killed_as_it_greets_neither_loses_nor_repeats_it(
    bot: FileOfProcess,
) -> None:
    async with bot:
        await is_polled(bot, SITE)
        await bot.publish("/mq subscribe all enter", "Repositories added later are included")
        bot.given = MORE
        bot.write(MORE)
        killed = bot.kill_when_slack_has_posted()
        bot.hang_up()
        await killed.wait()
        await bot.kill_bot()
        await bot.start_bot()
        await bot.wait_for_post("are new", MERGE_QUEUE)
        await bot.wait_for_post("are new", RELEASES)
        await is_polled(bot, DOCS)
        assert sum("are new" in post for post in bot.posts(MERGE_QUEUE)) == 1
        assert sum("are new" in post for post in bot.posts(RELEASES)) == 1


async def test_policies_and_windows_of_a_group_follow_it(bot: FileOfProcess) -> None:
    at = datetime.now(UTC) + timedelta(minutes=30)
    bot.tables = f"""
    [MQBOT_POLICY."@release"]
    who_may_pause = ["{BOB}"]

    [MQBOT_WINDOW."night"]
    applies_to = "@release"
    starts = "{at.minute} {at.hour} * * *"
    lasts = "2h"
    zone = "UTC"
    reason = "No merges at night"
    """
    async with bot:
        await until(lambda: bot.merge_queue.repository(SITE).freezes, "a planned freeze")
        assert not bot.merge_queue.repository(OTHER).freezes

        bot.write(MORE)
        bot.hang_up()
        await bot.wait_for_post("are new", RELEASES)
        await until(lambda: bot.merge_queue.repository(OTHER).freezes, "its planned freeze")
        refusal = await bot.ask(f"/mq pause now {OTHER} deploying")
        assert "Only bob can pause" in refusal
        assert not bot.merge_queue.repository(DOCS).freezes
