"""Cards: one for a name, a channel and a generation, edited while something newer is wanted."""

from bot.domain.cards import CardKind, CardName
from bot.store.transactions import Store
from tests.support.stored import NOW, SHOP, SITE, after
from tests.support.transactions import begin

NAME = CardName(CardKind.PAUSE, SITE, "1")
OTHER = CardName(CardKind.PAUSE, SHOP, "1")


async def add(store: Store, name: CardName = NAME, channel_id: str = "C1") -> int:
    with begin(store) as transaction:
        card_id = transaction.cards.add(name, channel_id, now=NOW)
    assert card_id is not None
    return card_id


async def post(store: Store, card_id: int, shown: int = 1) -> None:
    await store.run(lambda transaction: transaction.cards.posted(card_id, "1.1", shown))


async def touch(store: Store, seconds: float = 0, *, closed: bool = False) -> int:
    return await store.run(
        lambda transaction: transaction.cards.touch(NAME, due_at=after(seconds), closed=closed)
    )


async def due(store: Store, seconds: float = 0, limit: int = 10) -> list[int]:
    return await store.run(
        lambda transaction: [one.card_id for one in transaction.cards.due(after(seconds), limit)]
    )


async def test_a_card_is_added_once_for_each_channel_and_generation(store: Store) -> None:
    first = await add(store)
    with begin(store) as transaction:
        assert transaction.cards.add(NAME, "C1", now=after(5)) is None
        second = transaction.cards.add(NAME, "C1", now=after(5), generation=2)
        elsewhere = transaction.cards.add(NAME, "C2", now=NOW)
        assert transaction.cards.add(OTHER, "C1", now=NOW) is not None
    with begin(store) as transaction:
        found = transaction.cards.of(NAME)
        by_id = transaction.cards.get([first, 999])

    assert [one.card_id for one in found] == [first, second, elsewhere]
    assert by_id == {first: found[0]}
    assert (found[0].wanted, found[0].shown, found[0].message_ts) == (1, 0, None)
    assert (found[0].due_at, found[0].created_at) == (NOW, NOW)


async def test_a_card_is_edited_from_when_its_message_is_there_and_says_less(store: Store) -> None:
    card = await add(store)
    assert await due(store, 100) == []
    await post(store, card)
    assert await due(store, 100) == []

    assert await touch(store, 1) == 1
    assert await due(store, 0) == []
    assert await due(store, 1) == [card]

    with begin(store) as transaction:
        transaction.cards.showed(card, 2)
    assert await due(store, 100) == []


async def test_what_becomes_of_a_card_becomes_of_none_beside_it(store: Store) -> None:
    cards = [await add(store, channel_id=f"C{number}") for number in range(4)]
    for card in cards:
        await post(store, card)
    await touch(store)
    edited, put_off, lost, left = cards
    with begin(store) as transaction:
        transaction.cards.showed(edited, 2)
        transaction.cards.postpone(put_off, after(9))
        transaction.cards.lose(lost)
        found = transaction.cards.get(cards)

    assert await due(store) == [left]
    assert (found[left].shown, found[left].failures, found[left].due_at) == (1, 0, NOW)


async def test_what_changes_before_the_first_post_is_there_is_edited(store: Store) -> None:
    card = await add(store)
    await touch(store, 1)
    assert await due(store, 100) == []
    await post(store, card)
    assert await due(store) == [card]
    await post(store, card, 2)
    assert await due(store, 100) == []


async def test_what_changes_during_an_edit_is_edited_again(store: Store) -> None:
    card = await add(store)
    await post(store, card)
    await touch(store)
    await touch(store)
    with begin(store) as transaction:
        transaction.cards.showed(card, 2)
    assert await due(store) == [card]

    with begin(store) as transaction:
        transaction.cards.showed(card, 3)
        transaction.cards.showed(card, 2)
    assert await due(store) == []


async def test_an_edit_that_waits_is_not_put_off_by_a_later_change(store: Store) -> None:
    card = await add(store)
    await post(store, card)
    await touch(store, 60)
    assert await due(store, 59) == []
    await touch(store, 5)
    await touch(store, 90)

    assert await due(store, 5) == [card]
    with begin(store) as transaction:
        transaction.cards.showed(card, 4)
    await touch(store, 90)
    assert await due(store, 60) == []


async def test_cards_of_pauses_come_before_all_others(store: Store) -> None:
    kinds = (CardKind.STAY, CardKind.BOARD, CardKind.GROUP, CardKind.BISECTION, CardKind.PAUSE)
    cards: dict[CardKind, int] = {}
    for number, kind in enumerate(kinds):
        with begin(store) as transaction:
            name = CardName(kind, SITE, "1")
            added = transaction.cards.add(name, "C1", now=NOW)
            assert added is not None
            cards[kind] = added
            transaction.cards.posted(added, f"1.{number}", 1)
            transaction.cards.touch(name, due_at=after(number))
    first = [cards[CardKind.GROUP], cards[CardKind.PAUSE]]
    rest = [cards[CardKind.STAY], cards[CardKind.BOARD], cards[CardKind.BISECTION]]
    assert await due(store, 10) == [*first, *rest]
    assert await due(store, 10, limit=1) == first[:1]


async def test_those_due_first_come_first(store: Store) -> None:
    cards = [await add(store, channel_id=f"C{number}") for number in range(3)]
    for card in cards:
        await post(store, card)
    await touch(store, 2)
    with begin(store) as transaction:
        transaction.cards.postpone(cards[0], after(3))

    assert await due(store, 2) == cards[1:]
    assert await due(store, 3) == [*cards[1:], cards[0]]
    assert await due(store, 3, limit=1) == [cards[1]]


async def test_failures_are_kept_until_slack_answers_an_edit(store: Store) -> None:
    card = await add(store)
    await post(store, card)
    await touch(store)
    with begin(store) as transaction:
        transaction.cards.postpone(card, after(9), 2)
        failed = (transaction.cards.get([card]))[card]
        transaction.cards.postpone(card, after(10))
        answered = (transaction.cards.get([card]))[card]
        transaction.cards.postpone(card, after(9), 2)
        transaction.cards.showed(card, 2)
        shown = (transaction.cards.get([card]))[card]

    assert (failed.failures, failed.due_at) == (2, after(9))
    assert (answered.failures, answered.due_at) == (0, after(10))
    assert (shown.failures, shown.shown) == (0, 2)


async def test_a_lost_card_is_not_edited_any_more(store: Store) -> None:
    card = await add(store)
    await post(store, card)
    await touch(store)
    with begin(store) as transaction:
        transaction.cards.lose(card)

    assert await due(store, 100) == []


async def test_only_cards_that_will_not_change_are_deleted(store: Store) -> None:
    card = await add(store)
    with begin(store) as transaction:
        assert (transaction.prune(after(100)))["cards"] == 0
    await touch(store, 10, closed=True)
    await touch(store, 20)
    with begin(store) as transaction:
        assert (transaction.cards.get([card]))[card].closed
        assert (transaction.prune(after(20)))["cards"] == 0
        assert (transaction.prune(after(21)))["cards"] == 1
        assert transaction.cards.of(NAME) == []


async def test_a_transaction_reads_the_cards_it_added_as_others_do_afterwards(
    store: Store,
) -> None:
    before = await add(store)
    with begin(store) as transaction:
        cards = transaction.cards
        added = cards.add(OTHER, "C2", now=after(1), generation=2, closed=True)
        changed = cards.add(NAME, "C3", now=after(1))
        assert added is not None
        assert changed is not None
        unchanged = cards.get([before, added, changed])
        assert cards.touch(NAME, due_at=after(9)) == 2
        cards.posted(changed, "3.3", 1)
        inside = cards.get([before, added, changed])
    with begin(store) as transaction:
        outside = transaction.cards.get([before, added, changed])

    assert inside == outside
    assert unchanged[added] == outside[added]
    assert [unchanged[one].wanted for one in (before, changed)] == [1, 1]
    assert [outside[one].wanted for one in (before, changed)] == [2, 2]
    assert outside[changed].message_ts == "3.3"
