"""Freezes: their card, and the posts before, at and after them."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.sandbox.merge_queue.controls import FreezeTerms
from tests.e2e.conftest import OVER_SOCKET_MODE, StartBot
from tests.support.bot_tester import HURRIED, MERGE_QUEUE, BotTester
from tests.support.clock import MovedClock
from tests.support.shown import Shown
from tests.support.waiting import until

pytestmark = OVER_SOCKET_MODE

SUBSCRIBED = f"acme/site={MERGE_QUEUE}:freeze"
MINUTE = timedelta(minutes=1)
OF_AN_END = re.compile("removed|ended|canceled", re.IGNORECASE)


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def utc(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


async def planned(bot: BotTester, starts_in: int = 45) -> tuple[FreezeTerms, str, Shown]:
    """A freeze of an hour, its id and its card."""
    start = now() + starts_in * MINUTE
    terms = FreezeTerms("release week", start, start + 60 * MINUTE, timezone="Europe/Paris")
    freeze_id = bot.merge_queue.freeze("acme/site", terms)
    card = await bot.wait_for_post("*A freeze of acme/site is planned* · release week")
    return terms, freeze_id, card


async def test_channels_read_of_a_freeze_before_its_start_at_its_start_and_at_its_end(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=SUBSCRIBED)
    terms, _, card = await planned(bot)
    assert terms.start is not None
    assert terms.end is not None
    assert "Europe/Paris" in card
    bot.enqueue(hangs=True)
    bot.enqueue(hangs=True)
    # Else the service would expect to merge them at any moment.
    bot.stand_still()

    await bot.pass_time(20 * 60)
    soon = await bot.wait_in_thread(card, f"Freeze starts {utc(terms.start)}")
    assert "2 queued pull requests won't merge before it" in soon
    await bot.wait_for_change(card, "2 queued pull requests won't merge before it")
    board = await bot.publish("/mq board", "acme/site* is running")

    await bot.stop_bot()
    await bot.pass_time(30 * 60)
    await bot.start_bot()
    begun = await bot.wait_in_thread(card, "Merging is frozen* acme/site")
    assert f"since {utc(terms.start)} · until {utc(terms.end)}" in begun
    await bot.wait_for_change(card, "*acme/site is frozen*")
    await bot.wait_for_change(board, "acme/site* is frozen")

    await bot.pass_time(60 * 60)
    over = await bot.wait_in_thread(card, "Freeze over* acme/site: release week")
    assert f"since {utc(terms.end)}" in over
    assert "Lasted 1 h" in await bot.wait_for_change(card, "*acme/site was frozen*")
    await bot.wait_for_change(board, "acme/site* is running")
    assert len(bot.thread(card)) == 3
    assert len(bot.posts()) == 5


async def test_a_freeze_removed_or_moved_before_its_start_does_not_start(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=SUBSCRIBED)
    terms, moved, card = await planned(bot)
    others, removed, other = await planned(bot)
    assert terms.start is not None
    assert others.start is not None
    await bot.pass_time(20 * 60)
    await bot.wait_in_thread(card, f"Freeze starts {utc(terms.start)}")
    await bot.wait_in_thread(other, f"Freeze starts {utc(others.start)}")
    later = FreezeTerms("release week", terms.start + 120 * MINUTE)
    bot.merge_queue.change_freeze("acme/site", moved, later)
    bot.merge_queue.unfreeze("acme/site", removed, "not needed", by="erin")
    await bot.wait_in_thread(card, "*Planned freeze changed*")
    await bot.wait_in_thread(other, "*Planned freeze canceled*")
    record = await bot.wait_for_change(other, "*The planned freeze of acme/site was canceled*")
    assert "Canceled by erin" in record
    assert "Reason for ending it: not needed" in record

    await bot.pass_time(70 * 60)
    await bot.next_poll()
    await bot.pass_time(60 * 60)
    await bot.wait_in_thread(card, f"Freeze starts {utc(terms.start + 120 * MINUTE)}")
    assert len(bot.thread(card)) == 3
    assert len(bot.thread(other)) == 2
    await bot.stop_bot()
    bot.posts()


@pytest.mark.parametrize("jump", [3600, -3600])
async def test_a_jump_of_our_clock_starts_no_freeze(
    start_bot: StartBot, clock: MovedClock, jump: int
) -> None:
    bot = await start_bot(channels=SUBSCRIBED)
    terms, _, card = await planned(bot)
    assert terms.start is not None
    clock.jump(jump)
    for _ in range(3):
        await bot.next_poll()
    assert bot.thread(card) == []
    _, _, other = await planned(bot)
    bot.break_service("wrong_date", seconds=50 * 60)
    for one in (card, other):
        await bot.wait_in_thread(one, "Merging is frozen* acme/site")
    await bot.stop_bot()
    bot.posts()


async def test_a_freeze_has_one_card_whose_thread_tells_of_its_changes_and_end(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=SUBSCRIBED)
    terms = FreezeTerms("release week", now() - MINUTE, matching_conditions=["base=main"])
    freeze_id = bot.merge_queue.freeze("acme/site", terms)
    card = await bot.wait_for_post("*acme/site is frozen* · release week")
    assert "*By* carol" in card
    assert "*Only* branch main" in card
    assert "*Until* someone ends it" in card

    longer = FreezeTerms("release week", terms.start, now() + 90 * MINUTE)
    bot.merge_queue.change_freeze("acme/site", freeze_id, longer, by="dave")
    changed = await bot.wait_in_thread(card, "*Freeze changed*")
    assert f"until {longer.end:%Y-%m-%d %H:%M} UTC" in changed
    assert "now for all (was only branch main)" in changed
    assert "by dave" in changed
    card = await bot.wait_for_change(card, f"*Until* {longer.end:%Y-%m-%d %H:%M} UTC")
    assert "*By* carol" in card

    bot.merge_queue.unfreeze("acme/site", freeze_id, "shipped", by="erin")
    await bot.wait_in_thread(card, "*Freeze ended*")
    record = await bot.wait_for_change(card, "*acme/site was frozen* · release week")
    assert "Lasted 1 min · Ended by erin" in record
    assert "Reason for ending it: shipped" in record
    assert len(bot.posts()) == 3


async def test_a_freeze_that_is_gone_without_an_event_is_over_and_its_late_event_says_who(
    start_bot: StartBot,
) -> None:
    every = replace(HURRIED, freezes_gone=0.25)
    bot = await start_bot(channels=f"acme/site={MERGE_QUEUE}:freeze", every=every)
    end = bot.clock.now() + timedelta(days=3)
    bot.merge_queue.freeze("acme/site", FreezeTerms("moving house", end=end))
    card = await bot.wait_for_post("*acme/site is frozen* · moving house")
    freezes = bot.merge_queue.repository("acme/site").freezes
    (made,) = freezes
    freezes.clear()
    read = len(bot.requests("/scheduled_freeze"))
    await until(lambda: len(bot.requests("/scheduled_freeze")) > read + 1, "a list without it")
    await bot.pass_time(120)
    over = await bot.wait_in_thread(card, "*Freeze over* acme/site: moving house")
    assert "someone removed it, and the event log doesn't say who" in over
    await bot.wait_for_change(card, "*acme/site was frozen* · moving house")

    freezes.append(made)
    bot.merge_queue.unfreeze("acme/site", made.id, reason="we have moved")
    await bot.wait_for_change(card, "Ended by carol")
    await bot.next_poll()
    told = [reply for reply in bot.thread(card) if OF_AN_END.search(reply.words)]
    assert told == [over]
    assert len(bot.posts()) == 2


async def test_the_end_of_a_freeze_names_those_that_still_keep_merges_waiting(
    start_bot: StartBot,
) -> None:
    bot = await start_bot(channels=SUBSCRIBED)
    end = now() + 90 * MINUTE
    cards = {}
    made = {}
    for reason, until_then in (("release week", None), ("moving house", end)):
        terms = FreezeTerms(reason, now() - MINUTE, until_then)
        made[reason] = bot.merge_queue.freeze("acme/site", terms)
        cards[reason] = await bot.wait_for_post(f"*acme/site is frozen* · {reason}")

    bot.merge_queue.unfreeze("acme/site", made["release week"], "shipped", by="erin")
    ended = await bot.wait_in_thread(cards["release week"], "*Freeze ended* acme/site: shipped")
    assert "Still frozen by another freeze: moving house by carol, from" in ended
    assert f"until {utc(end)}" in ended

    bot.merge_queue.unfreeze("acme/site", made["moving house"], "moved", by="erin")
    ended = await bot.wait_in_thread(cards["moving house"], "*Freeze ended* acme/site: moved")
    assert "Still frozen" not in ended
    assert len(bot.posts()) == 4
