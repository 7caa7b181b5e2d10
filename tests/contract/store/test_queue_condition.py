"""Alerts about queues, and failures in a row."""

import asyncio
from dataclasses import replace

from bot.domain.alerts import Alert, AlertKind
from bot.domain.queue_condition import FailureStreak
from bot.ports import Store
from tests.support.stored import NOW, SHOP, SITE, after

HEAD = Alert(SITE, AlertKind.HEAD, 5460, 5400, NOW, 41)
BATCH = Alert(SITE, AlertKind.BATCH, 3601, 3600, NOW, 41, "B\N{SNOWMAN}12")


async def begin(store: Store, *alerts: Alert) -> list[int | None]:
    async with store.begin() as transaction:
        return [await transaction.queue_condition.begin(one) for one in alerts]


async def test_an_alert_lasts_until_it_is_ended_once(store: Store) -> None:
    first, second = await begin(store, HEAD, BATCH)
    assert first is not None
    assert second is not None
    async with store.begin() as transaction:
        kept = transaction.queue_condition
        assert await kept.active(SITE) == [
            replace(HEAD, alert_id=first),
            replace(BATCH, alert_id=second),
        ]
        assert await kept.active(SHOP) == []
        assert await kept.end(first, after(60))
        assert not await kept.end(first, after(61))
    async with store.begin() as transaction:
        kept = transaction.queue_condition
        assert await kept.active(SITE) == [replace(BATCH, alert_id=second)]
        assert await kept.get([first, second, 99]) == {
            first: replace(HEAD, alert_id=first, ended_at=after(60)),
            second: replace(BATCH, alert_id=second),
        }
        assert (await transaction.prune(after(60)))["alerts"] == 0
        assert (await transaction.prune(after(61)))["alerts"] == 1
        assert list(await kept.get([first, second])) == [second]


async def test_one_of_a_kind_lasts_at_a_time_for_a_repository(store: Store) -> None:
    first, again, elsewhere = await begin(store, HEAD, HEAD, replace(HEAD, repository=SHOP))
    assert again is None
    assert None not in {first, elsewhere}
    async with store.begin() as transaction:
        assert first is not None
        await transaction.queue_condition.end(first, after(1))
    (later,) = await begin(store, HEAD)
    assert later not in {None, first, elsewhere}


async def test_of_two_that_begin_at_once_one_is_begun(store: Store) -> None:
    found = await asyncio.gather(*(begin(store, HEAD) for _ in range(4)))
    assert sorted(one is None for (one,) in found) == [False, True, True, True]


async def test_a_streak_is_kept_by_repository(store: Store) -> None:
    async with store.begin() as transaction:
        assert await transaction.queue_condition.streak(SITE) == FailureStreak()
        await transaction.queue_condition.save_streak(SITE, FailureStreak(1, 41))
        await transaction.queue_condition.save_streak(SITE, FailureStreak(2, None))
        await transaction.queue_condition.save_streak(SHOP, FailureStreak(7, 43))
    async with store.begin() as transaction:
        assert await transaction.queue_condition.streak(SITE) == FailureStreak(2)
        assert await transaction.queue_condition.streak(SHOP) == FailureStreak(7, 43)


async def test_what_is_forgotten_ends_and_is_counted_anew(store: Store) -> None:
    kept, gone = await begin(store, replace(HEAD, repository=SHOP), HEAD)
    assert kept is not None
    assert gone is not None
    async with store.begin() as transaction:
        over = await transaction.queue_condition.begin(BATCH)
        assert over is not None
        assert await transaction.queue_condition.end(over, after(1))
        for each in (SITE, SHOP):
            await transaction.queue_condition.save_streak(each, FailureStreak(3, 41))
        await transaction.queue_condition.forget([SITE], after(5))
    async with store.begin() as transaction:
        condition = transaction.queue_condition
        assert await condition.active(SITE) == []
        ended = await condition.get([gone, over])
        assert (ended[gone].ended_at, ended[over].ended_at) == (after(5), after(1))
        assert await condition.streak(SITE) == FailureStreak()
        assert [one.alert_id for one in await condition.active(SHOP)] == [kept]
        assert await condition.streak(SHOP) == FailureStreak(3, 41)
