"""Stays in the queue, and first posts that were folded away."""

from dataclasses import replace
from datetime import timedelta

from bot.domain.cards import CardKind, CardName
from bot.domain.deliveries import NewDelivery, Subject, SubjectKind
from bot.domain.stays import Stay
from bot.ports import Store
from tests.support.stored import NOW, SHOP, SITE, after

STAY = Stay(SITE, "41-7", 41, None, NOW, after(5), entered=True)


async def test_a_stay_comes_back_as_it_was_last_saved(store: Store) -> None:
    ended = replace(STAY, session_id="s-1", ended_at=after(9), last_at=after(9))
    other = replace(STAY, key="42-8", pull_request=42)
    elsewhere = replace(STAY, repository=SHOP)
    async with store.begin() as transaction:
        await transaction.stays.save([STAY, other, elsewhere])
        await transaction.stays.save([ended])
        await transaction.stays.save([])
    async with store.begin() as transaction:
        stays = transaction.stays
        assert await stays.of(SITE, [41], NOW) == [ended]
        assert await stays.of(SITE, [41, 42], after(6)) == [ended]
        assert await stays.of(SITE, [], NOW) == []
        assert await stays.get(SITE, ["41-7", "42-8", "none"]) == {"41-7": ended, "42-8": other}


async def test_a_transaction_reads_the_stays_it_saved_as_others_do_afterwards(
    store: Store,
) -> None:
    longer = replace(STAY, last_at=after(9))
    odd = replace(STAY, key="43-9", session_id="no\x00 text \ud800")
    keys = ["41-7", "43-9", "none"]
    async with store.begin() as transaction:
        await transaction.stays.save([STAY, odd])
        await transaction.stays.save([longer])
        inside = await transaction.stays.get(SITE, keys)
        assert await transaction.stays.get(SHOP, keys) == {}
    async with store.begin() as transaction:
        outside = await transaction.stays.get(SITE, keys)

    assert inside == outside
    assert outside["41-7"] == longer


async def test_stays_that_last_are_those_without_an_end(store: Store) -> None:
    later = replace(STAY, key="42-8", pull_request=42, began_at=after(1))
    ended = replace(STAY, key="43-9", pull_request=43, ended_at=after(5))
    elsewhere = replace(STAY, repository=SHOP)
    async with store.begin() as transaction:
        await transaction.stays.save([later, ended, elsewhere, STAY])
        assert await transaction.stays.lasting(SITE, NOW) == [STAY, later]
        assert await transaction.stays.lasting(SITE, after(6)) == []


async def test_old_stays_are_deleted(store: Store) -> None:
    later = replace(STAY, key="41-9", last_at=after(60))
    async with store.begin() as transaction:
        await transaction.stays.save([STAY, later])
        assert (await transaction.prune(after(30)))["stays"] == 1
        assert list(await transaction.stays.get(SITE, ["41-7", "41-9"])) == ["41-9"]


async def test_a_delivery_keeps_the_card_in_whose_thread_it_is_told(store: Store) -> None:
    new = NewDelivery("d1", "C1", Subject(SubjectKind.EVENT, SITE, 1), NOW, card_id=7)
    async with store.begin() as transaction:
        await transaction.outbox.add([new])
        (claimed,) = await transaction.outbox.claim(
            now=NOW, claimed_until=after(30), channels=9, per_channel=9
        )
    assert claimed.card_id == 7


async def test_a_first_post_that_was_folded_loses_its_card(store: Store) -> None:
    async with store.begin() as transaction:
        ids: list[int] = []
        new: list[NewDelivery] = []
        for number in range(4):
            name = CardName(CardKind.STAY, SITE, f"{number}-1")
            card_id = await transaction.cards.add(name, "C1", now=NOW)
            assert card_id is not None
            ids.append(card_id)
            subject = Subject(SubjectKind.CARD, SITE, card_id)
            new.append(NewDelivery(f"d{number}", "C1", subject, NOW))
        await transaction.outbox.add(new[:3])
        await transaction.outbox.add([replace(new[3], channel_id="C2")])
    async with store.begin() as transaction:
        assert await transaction.cards.lose_folded("none") == 0
        assert await transaction.outbox.fold(now=after(1), longer_than=2, at_most=100) == 2
        assert await transaction.cards.lose_folded("d0") == 3
        assert await transaction.cards.lose_folded("d0") == 0
        lost = {each: card.is_lost for each, card in (await transaction.cards.get(ids)).items()}
    assert [lost[each] for each in ids] == [True, True, True, False]


async def test_a_stay_that_nothing_is_told_of_any_more_loses_its_cards(store: Store) -> None:
    async with store.begin() as transaction:
        for kind in (CardKind.STAY, CardKind.PAUSE):
            await transaction.cards.add(CardName(kind, SITE, "1"), "C1", now=NOW)
        assert (await transaction.prune(NOW + timedelta(days=1)))["cards"] == 1
