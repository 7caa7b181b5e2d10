"""Scheduled freezes: their card, and the posts before, at and after them."""

from datetime import UTC, datetime, timedelta

from bot.sandbox.merge_queue.controls import FreezeTerms
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import MERGE_QUEUE

pytestmark = OVER_SOCKET_MODE

SUBSCRIBED = f"acme/site={MERGE_QUEUE}:freeze"
MINUTE = timedelta(minutes=1)


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


async def test_a_freeze_has_one_card_whose_thread_tells_of_its_changes_and_end(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=SUBSCRIBED)
    terms = FreezeTerms("release week", now() - MINUTE, matching_conditions=["base=main"])
    freeze_id = bot.merge_queue.freeze("acme/site", terms)
    card = await bot.wait_for_post("Scheduled freeze in force* acme/site: release week")
    assert "by carol" in card
    assert "only branch main" in card
    assert "no end given" in card

    longer = FreezeTerms("release week", terms.start, now() + 90 * MINUTE)
    bot.merge_queue.change_freeze("acme/site", freeze_id, longer, by="dave")
    changed = await bot.wait_in_thread(card, "Scheduled freeze changed")
    assert f"until {longer.end:%Y-%m-%d %H:%M} UTC" in changed
    assert "now for all (was only branch main)" in changed
    assert "by dave" in changed
    card = await bot.wait_for_change(card, f"until {longer.end:%Y-%m-%d %H:%M} UTC")
    assert "by carol" in card

    bot.merge_queue.unfreeze("acme/site", freeze_id, "shipped", by="erin")
    await bot.wait_in_thread(card, "Scheduled freeze removed")
    record = await bot.wait_for_change(card, "Scheduled freeze over* acme/site: release week")
    assert "removed by erin · shipped · lasted 1 min" in record
    assert len(bot.posts()) == 3
