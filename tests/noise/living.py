"""Simulates the week: the repository's clock and the bot's, side by side."""

from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta

from bot.merge_queue.event_records import EventRecord
from tests.noise.busy_repository import MONDAY, BusyRepository
from tests.noise.figures import Day, Ear, happened
from tests.noise.listening import POLL, WAYS, ListeningBot

AT_REST = timedelta(minutes=10)
"""How far both clocks go at once while nothing happens."""

DAY = timedelta(days=1)
MORNING = timedelta(hours=9, minutes=30)


async def morning(seed: int) -> Day:
    """Monday until half past nine (UTC): its first merges and failures."""
    return await anext(days(seed, 1, MORNING))


async def night(repository: BusyRepository) -> Day:
    """The first eight hours of Monday with something bad in them."""
    bot = ListeningBot(MONDAY)
    ear = Ear(bot.poster)
    await bot.subscribe(WAYS)
    events = await _live(bot, repository, MONDAY + timedelta(hours=8))
    return Day(happened(events), ear.heard())


async def days(seed: int, count: int, length: timedelta = DAY) -> AsyncIterator[Day]:
    """The first days of the week, from midnight to midnight (UTC), or only so much of each."""
    bot = ListeningBot(MONDAY)
    repository = BusyRepository(seed)
    ear = Ear(bot.poster)
    await bot.subscribe(WAYS)
    for number in range(count):
        events = await _live(bot, repository, MONDAY + number * DAY + length)
        yield Day(happened(events), ear.heard())
        await bot.forget_the_past()


async def _live(bot: ListeningBot, repository: BusyRepository, end: datetime) -> list[EventRecord]:
    events: list[EventRecord] = []
    for at in _moments(bot, repository, end):
        new = repository.advance_to(at)
        if new:
            bot.serve(new, repository.status(), repository.pause())
        events += new
        await bot.live_until(at, is_news=bool(new))
    return events


def _moments(bot: ListeningBot, repository: BusyRepository, end: datetime) -> Iterator[datetime]:
    """One after the other, each when the one before has been lived."""
    while bot.clock.now() < end:
        now = bot.clock.now()
        step = AT_REST if repository.is_at_rest else POLL
        next_at = repository.next_happening()
        soonest = now + step if next_at is None else min(now + step, max(next_at, now + POLL))
        yield min(soonest, end)
