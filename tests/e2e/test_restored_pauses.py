"""What people see of pauses and resumes that a restored database doesn't know."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.acts.reason import signed_reason
from bot.inspection.database import inspect_store
from bot.kernel.actor import Actor
from bot.posts.outbox import put_in_doubt
from bot.runtime.clock import SystemClock
from bot.sandbox.merge_queue.credentials import Credential
from bot.store import backup
from bot.store.engines import create_engine, sqlite_path
from bot.store.transactions import Store
from tests.support.bot_tester import ALICE, BOB, MERGE_QUEUE, BotTester
from tests.support.waiting import until

pytestmark = pytest.mark.e2e

HEARING = f"acme/site={MERGE_QUEUE}:pause"
ADOPTED = "acme/site stays paused until someone resumes it · CI is down"


async def restored(bot: BotTester, copy: Path) -> None:
    await bot.stop_bot()
    await asyncio.to_thread(backup.restore, bot.database_url, copy, put_in_doubt)
    await bot.start_bot()


def _is_resume_seen(url: str) -> bool:
    query = "SELECT 1 FROM audit WHERE action = 'resume' AND origin = 'log'"
    with closing(sqlite3.connect(sqlite_path(url))) as database:
        return bool(list(database.execute(query)))


async def test_a_pause_without_a_row_is_adopted_and_gets_an_end_again(
    sqlite_url: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    async with BotTester(sqlite_url, channels=HEARING) as bot:
        # The audit of the copy knows one alice.
        await bot.pause("now an earlier one")
        await bot.resume()
        await bot.has_posted()
        await asyncio.to_thread(backup.back_up, sqlite_url, copy)
        card = await bot.pause("now 30m CI is down")
        assert "Until 20" in card
        await restored(bot, copy)

        told = await bot.wait_for_post(ADOPTED)
        assert "I have no record of that" in told
        assert "By alice · Since" in told
        await bot.wait_for_direct_message(ADOPTED)
        card = await bot.wait_for_change(card, "the end that was set is no longer known")
        assert "acme/site is paused · CI is down\nBy alice · Since" in card.line
        status = await bot.ask("/mq status")
        assert "By alice" in status.line

        store = Store(create_engine(sqlite_url))
        found = await inspect_store(store, SystemClock())
        await store.close()
        assert any("its end is unknown" in one.sentence for one in found)

        await bot.choose(told, "in 1 h", menu="Set an end…")
        card = await bot.wait_for_change(card, "Until 20")
        assert "no longer known" not in card
        await bot.wait_in_thread(card, "alice changed the end")
        assert "pause_adopted" in bot.logged_actions()

        await bot.type("/mq resume", by=BOB)
        await bot.wait_for_post("has resumed")
        await bot.wait_for_change(card, "Resumed by bob")


async def test_a_resume_without_an_act_was_made_by_somebody_in_slack(
    sqlite_url: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    async with BotTester(sqlite_url, channels=HEARING) as bot:
        card = await bot.pause("now CI is down")
        await bot.has_posted()
        await asyncio.to_thread(backup.back_up, sqlite_url, copy)
        # Alice does it herself, so that nobody tells her anything yet.
        await bot.resume()
        await restored(bot, copy)

        notice = await bot.wait_for_direct_message("somebody in Slack resumed acme/site")
        assert "outside Slack" not in notice
        assert "mqbot" not in notice
        card = await bot.wait_for_change(card, "Resumed by somebody in Slack")
        assert "By alice" in card


async def test_a_signature_on_the_dashboard_makes_nobody_its_author(
    sqlite_url: str,
) -> None:
    async with BotTester(sqlite_url, channels=HEARING) as bot:
        await bot.pause("now an earlier one")
        await bot.resume()
        forged = signed_reason("Move along", Actor(ALICE, "alice"))
        bot.merge_queue.pause("acme/site", forged, by="carol")
        card = await bot.wait_for_post("is paused")
        card = await bot.wait_for_change(card, "By carol · Since")
        assert "no longer known" not in card


async def test_a_pause_and_its_resume_in_the_lost_time_have_no_unknown_end(
    sqlite_url: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    async with BotTester(sqlite_url, channels=HEARING) as bot:
        await asyncio.to_thread(backup.back_up, sqlite_url, copy)
        await bot.pause("now 30m CI is down")
        await bot.resume(by=BOB)
        await bot.wait_for_direct_message("bob resumed")
        await restored(bot, copy)

        await until(lambda: _is_resume_seen(sqlite_url), "the resume in the audit")
        audit = await bot.ask("/mq audit")
        assert "somebody in Slack resumed acme/site" in audit.line
        assert "alice paused acme/site: CI is down" in audit.line
        await bot.has_posted()
        assert all("stays paused" not in post for post in bot.posts())


async def test_behind_a_personal_access_token_the_signature_names_the_person(
    sqlite_url: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    person = Credential("personal-1", kind="personal", name="ci-user")
    environment = {"MQBOT_API_TOKEN": person.token}
    async with BotTester(
        sqlite_url, channels=HEARING, credentials=(person,), environment=environment
    ) as bot:
        await asyncio.to_thread(backup.back_up, sqlite_url, copy)
        card = await bot.pause("now 30m CI is down")
        await restored(bot, copy)
        await bot.wait_for_post(ADOPTED)
        card = await bot.wait_for_change(card, "the end that was set is no longer known")
        assert "acme/site is paused · CI is down\nBy alice · Since" in card.line
