"""Repositories and groups with rules of their own, from tables of the file."""

from pathlib import Path

import pytest

from bot.sandbox.merge_queue.credentials import Credential
from tests.e2e.conftest import OVER_HTTP, StartBot
from tests.support.bot_tester import ALICE, BOB, CAROL, GENERAL, MERGE_QUEUE, BotTester
from tests.support.shown import Shown

pytestmark = [pytest.mark.e2e, OVER_HTTP]

SITE = "acme/site"
API = "acme/api"
DOCS = "other/docs"
OWN_KEY = "key-of-the-other-organisation"


async def start(start_bot: StartBot, tmp_path: Path, tables: str, **options: object) -> BotTester:
    file = tmp_path / "mqbot.toml"
    file.write_text(tables, "utf-8")
    file.chmod(0o600)
    settings = {"MQBOT_CONFIG": str(file), "MQBOT_GROUPS": f"release={SITE},{API}"}
    given = {"repositories": dict.fromkeys((SITE, API, DOCS), "quiet"), "channels": "", **options}
    return await start_bot(environment=settings, **given)


async def test_who_may_pause_and_resume_differs_by_repository(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(
        start_bot,
        tmp_path,
        f"""
        [MQBOT_POLICY."@release"]
        who_may_pause = ["{BOB}", "{CAROL}"]
        [MQBOT_POLICY."{SITE}"]
        who_may_resume = ["{CAROL}"]
        """,
    )
    refused = await bot.ask(f"/mq pause {API} deploying", by=ALICE)
    assert "Only bob and carol can pause a queue." in refused
    await bot.publish(f"/mq pause {DOCS} deploying", f"*{DOCS} is paused*", by=ALICE)
    card = await bot.publish(f"/mq pause {SITE} deploying", f"*{SITE} is paused*", by=BOB)
    card = await bot.wait_for_change(card, "0 queued")
    await bot.click(card, "Resume queue", by=BOB)
    assert "Only carol can resume a queue." in await bot.wait_for_reply(by=BOB)
    await bot.click(card, "Resume queue", by=CAROL)
    await bot.wait_for_post(f"*{SITE} has resumed*")
    await bot.wait_for_direct_message(f"carol resumed {SITE}", by=BOB)


async def test_a_group_is_paused_only_by_a_person_who_may_pause_all_of_it(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, f'[MQBOT_POLICY."{API}"]\nwho_may_pause = ["{BOB}"]\n')
    refused = await bot.ask("/mq pause now @release deploying", by=ALICE)
    assert "Only bob can pause a queue." in refused
    assert [bot.pause_reason(name) for name in (SITE, API)] == [None, None]
    await bot.publish("/mq pause now @release deploying", "2 of 2 queues", by=BOB)


async def test_an_alert_mentions_the_user_group_at_the_repositorys_own_threshold(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(
        start_bot,
        tmp_path,
        f'[MQBOT_POLICY."{SITE}"]\nhealth_depth = 1\nalert_mention = "S0RELEASERS"\n',
        channels=f"{SITE}={MERGE_QUEUE}:health;{API}={GENERAL}:health",
    )
    for name in (SITE, API):
        for _ in range(2):
            bot.enqueue(name, hangs=True)
    alert = await bot.wait_for_post(":rotating_light:")
    assert "2 pull requests are in the queue*" in alert
    assert "*Limit* 1" in alert
    assert "<!subteam^S0RELEASERS>" in str(alert.blocks)
    await bot.next_poll(API)
    assert bot.posts(GENERAL) == []


@pytest.mark.usefixtures("hurried_reminders")
async def test_reminders_come_when_the_repositorys_policy_says(
    start_bot: StartBot, tmp_path: Path
) -> None:
    tables = f"""
    [MQBOT_POLICY."{SITE}"]
    reminder_minutes = 5
    [MQBOT_POLICY."{API}"]
    reminder_minutes = 0
    """
    bot = await start(start_bot, tmp_path, tables)
    for name in (SITE, API, DOCS):
        await bot.publish(f"/mq pause {name} deploying", f"*{name} is paused*")
    await bot.pass_time(301)
    await bot.wait_for_direct_message(f"{SITE} is still paused")
    await bot.pass_time(1500)
    await bot.wait_for_direct_message(f"{DOCS} is still paused")
    assert not any(f"{API} is still" in message for message in bot.direct_messages(by=ALICE))
    await bot.stop_bot()
    bot.posts()


async def test_two_organisations_have_a_credential_each(
    start_bot: StartBot, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    key.write_text(f"{OWN_KEY}\n", "utf-8")
    bot = await start(
        start_bot,
        tmp_path,
        f'[MQBOT_POLICY."other/*"]\napi_token_file = "{key}"\n',
        credentials=(Credential(OWN_KEY, name="other-bot", owners=frozenset({"other"})),),
    )
    by = {}
    for name in (SITE, DOCS):
        await bot.publish(f"/mq pause {name} deploying", f"*{name} is paused*")
        paused = await bot.happens("queue.pause.create", repository=name)
        by[name] = str(paused.metadata["created_by"])
    assert "'mqbot'" in by[SITE]
    assert "'other-bot'" in by[DOCS]
    bot.merge_queue.known_credentials.pop(OWN_KEY)
    bot.expected_errors.add("key_refused")
    refused = await bot.ask(f"/mq status {DOCS}")
    assert '(`api_token_file in MQBOT_POLICY."other/*"`)' in refused


TWO_PEOPLE = f'[MQBOT_POLICY."{SITE}"]\nsecond_person = true\n'


async def paused_by_alice(bot: BotTester) -> Shown:
    card = await bot.publish(f"/mq pause {SITE} incident", f"*{SITE} is paused*", by=ALICE)
    return await bot.wait_for_change(card, "0 queued")


async def test_two_people_resume_somebody_elses_pause(start_bot: StartBot, tmp_path: Path) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE)
    card = await paused_by_alice(bot)
    await bot.click(card, "Resume queue", by=BOB)
    assert f"{SITE} is paused by alice, so a second person" in await bot.wait_for_reply(by=BOB)
    asking = await bot.wait_for_post(f"bob wants to resume {SITE}. Someone else has to confirm.")
    await bot.click(asking, "Resume queue", by=BOB)
    assert "a second person" in await bot.wait_for_reply(by=BOB)
    assert len(bot.posts()) == 2
    assert bot.pause_reason(SITE) == "incident (by alice via Slack)"
    await bot.click(asking, "Resume queue", by=CAROL)
    assert "By carol" in await bot.wait_for_post("has resumed")
    await bot.wait_for_direct_message(f"carol resumed {SITE}", by=ALICE)
    assert "waiting for a second person" in await bot.ask(f"/mq audit {SITE}")


async def test_an_old_wish_to_resume_counts_for_nothing(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE + "reminder_minutes = 0\n")
    card = await paused_by_alice(bot)
    await bot.click(card, "Resume queue", by=BOB)
    await bot.wait_for_reply(by=BOB)
    await bot.wait_for_post("bob wants to resume")
    await bot.pass_time(3601)
    await bot.click(card, "Resume queue", by=CAROL)
    await bot.wait_for_reply("a second person", by=CAROL)
    await bot.wait_for_post("carol wants to resume")
    assert bot.pause_reason(SITE) is not None


async def test_the_person_who_paused_resumes_alone_and_others_cannot_take_the_pause_over(
    start_bot: StartBot, tmp_path: Path
) -> None:
    bot = await start(start_bot, tmp_path, TWO_PEOPLE)
    card = await paused_by_alice(bot)
    question = await bot.ask(f"/mq pause {SITE} mine now", by=BOB)
    await bot.click(question, "Replace reason", by=BOB)
    assert "Only they can change that pause" in await bot.wait_for_reply(by=BOB)
    await bot.choose(card, "in 15 min", menu="Set an end…", by=BOB)
    assert "Only they can change that pause" in await bot.wait_for_reply(by=BOB)
    assert bot.pause_reason(SITE) == "incident (by alice via Slack)"
    await bot.click(card, "Resume queue", by=ALICE)
    assert "By alice" in await bot.wait_for_post("has resumed")
