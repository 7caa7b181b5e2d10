"""Live messages: one per subject and channel, edited until they show the latest state."""

from bot.domain.live_messages import LiveKind, LiveSubject, Priority
from bot.store.transactions import Store
from tests.support.stored import NOW, SHOP, SITE, after
from tests.support.transactions import begin

SUBJECT = LiveSubject(LiveKind.PAUSE, SITE, "1")
OTHER = LiveSubject(LiveKind.PAUSE, SHOP, "1")


async def add(store: Store, name: LiveSubject = SUBJECT, channel_id: str = "C1") -> int:
    with begin(store) as transaction:
        message_id = transaction.live_messages.add(name, channel_id, now=NOW)
    assert message_id is not None
    return message_id


async def post(store: Store, message_id: int, shown: int = 1) -> None:
    await store.run(lambda transaction: transaction.live_messages.posted(message_id, "1.1", shown))


async def touch(store: Store, seconds: float = 0, *, closed: bool = False) -> int:
    return await store.run(
        lambda transaction: transaction.live_messages.mark(
            SUBJECT, due_at=after(seconds), closed=closed
        )
    )


async def due(store: Store, seconds: float = 0, limit: int = 10) -> list[int]:
    return await store.run(
        lambda transaction: [
            one.message_id for one in transaction.live_messages.due(after(seconds), limit)
        ]
    )


async def test_a_live_message_is_added_once_per_channel(store: Store) -> None:
    first = await add(store)
    with begin(store) as transaction:
        assert transaction.live_messages.add(SUBJECT, "C1", now=after(5)) is None
        elsewhere = transaction.live_messages.add(SUBJECT, "C2", now=NOW)
        assert transaction.live_messages.add(OTHER, "C1", now=NOW) is not None
    with begin(store) as transaction:
        found = transaction.live_messages.of(SUBJECT)
        by_id = transaction.live_messages.get([first, 999])

    assert [one.message_id for one in found] == [first, elsewhere]
    assert by_id == {first: found[0]}
    assert (found[0].wanted, found[0].shown, found[0].message_ts) == (1, 0, None)
    assert (found[0].due_at, found[0].created_at) == (NOW, NOW)


async def test_a_reposted_message_is_edited_once_it_has_an_id(store: Store) -> None:
    card = await add(store)
    await post(store, card)
    await touch(store)
    with begin(store) as transaction:
        transaction.live_messages.forget_message(card)
        found = transaction.live_messages.get([card])[card]
    assert (found.is_second, found.message_ts, found.shown) == (True, None, 0)
    assert await due(store, 100) == []

    await post(store, card)
    assert await due(store, 100) == [card]


async def test_the_shown_text_is_known_until_another_edit_may_have_changed_it(store: Store) -> None:
    card = await add(store)
    with begin(store) as transaction:
        live_messages = transaction.live_messages
        live_messages.posted(card, "1.1", 1, "first")
        live_messages.mark(SUBJECT, due_at=NOW)
        assert live_messages.get([card])[card].digest == "first"
        live_messages.showed(card, 2, "second")
        live_messages.showed(card, 1, "first")
        assert live_messages.get([card])[card].digest == "second"
        live_messages.mark(SUBJECT, due_at=NOW, force=True)
        assert live_messages.get([card])[card].digest is None


async def test_a_card_is_edited_only_after_it_was_posted(store: Store) -> None:
    card = await add(store)
    assert await due(store, 100) == []
    await post(store, card)
    assert await due(store, 100) == []

    assert await touch(store, 1) == 1
    assert await due(store, 0) == []
    assert await due(store, 1) == [card]

    with begin(store) as transaction:
        transaction.live_messages.showed(card, 2)
    assert await due(store, 100) == []


async def test_one_card_changes_without_the_other(store: Store) -> None:
    cards = [await add(store, channel_id=f"C{number}") for number in range(4)]
    for card in cards:
        await post(store, card)
    await touch(store)
    edited, put_off, lost, left = cards
    with begin(store) as transaction:
        transaction.live_messages.showed(edited, 2)
        transaction.live_messages.postpone(put_off, after(9))
        transaction.live_messages.lose(lost)
        found = transaction.live_messages.get(cards)

    assert await due(store) == [left]
    assert (found[left].shown, found[left].failures, found[left].due_at) == (1, 0, NOW)


async def test_a_change_before_the_first_post_is_edited_in_afterwards(store: Store) -> None:
    card = await add(store)
    await touch(store, 1)
    assert await due(store, 100) == []
    await post(store, card)
    assert await due(store) == [card]
    await post(store, card, 2)
    assert await due(store, 100) == []


async def test_a_change_during_an_edit_leads_to_another_edit(store: Store) -> None:
    card = await add(store)
    await post(store, card)
    await touch(store)
    await touch(store)
    with begin(store) as transaction:
        transaction.live_messages.showed(card, 2)
    assert await due(store) == [card]

    with begin(store) as transaction:
        transaction.live_messages.showed(card, 3)
        transaction.live_messages.showed(card, 2)
    assert await due(store) == []


async def test_a_later_change_does_not_postpone_a_waiting_edit(store: Store) -> None:
    card = await add(store)
    await post(store, card)
    await touch(store, 60)
    assert await due(store, 59) == []
    await touch(store, 5)
    await touch(store, 90)

    assert await due(store, 5) == [card]
    with begin(store) as transaction:
        transaction.live_messages.showed(card, 4)
    await touch(store, 90)
    assert await due(store, 60) == []


async def test_pauses_come_first_then_failures_then_boards(store: Store) -> None:
    kinds = (LiveKind.ENTRY, LiveKind.BOARD, LiveKind.GROUP, LiveKind.BISECTION, LiveKind.PAUSE)
    cards: dict[LiveKind, int] = {}
    failed = LiveSubject(LiveKind.ENTRY, SITE, "failed")
    with begin(store) as transaction:
        live_messages = transaction.live_messages
        for number, kind in enumerate(kinds):
            added = live_messages.add(LiveSubject(kind, SITE, "1"), "C1", now=NOW)
            assert added is not None
            cards[kind] = added
            live_messages.posted(added, f"1.{number}", 1)
            live_messages.mark(LiveSubject(kind, SITE, "1"), due_at=after(number))
        left = live_messages.add(failed, "C1", now=NOW)
        assert left is not None
        live_messages.posted(left, "1.9", 1)
        live_messages.mark(failed, due_at=after(9), priority=Priority.FAILURE)
        live_messages.mark(failed, due_at=after(9))
    first = [cards[LiveKind.GROUP], cards[LiveKind.PAUSE], left, cards[LiveKind.BOARD]]
    assert await due(store, 10) == [*first, cards[LiveKind.ENTRY], cards[LiveKind.BISECTION]]
    assert await due(store, 10, limit=1) == first[:1]


async def test_failures_are_remembered_until_slack_accepts_an_edit(store: Store) -> None:
    card = await add(store)
    await post(store, card)
    await touch(store)
    with begin(store) as transaction:
        transaction.live_messages.postpone(card, after(9), 2)
        failed = (transaction.live_messages.get([card]))[card]
        transaction.live_messages.postpone(card, after(10))
        answered = (transaction.live_messages.get([card]))[card]
        transaction.live_messages.postpone(card, after(9), 2)
        transaction.live_messages.showed(card, 2)
        shown = (transaction.live_messages.get([card]))[card]

    assert (failed.failures, failed.due_at) == (2, after(9))
    assert (answered.failures, answered.due_at) == (0, after(10))
    assert (shown.failures, shown.shown) == (0, 2)


async def test_only_final_cards_are_deleted(store: Store) -> None:
    card = await add(store)
    with begin(store) as transaction:
        assert (transaction.upkeep.prune(after(100)))["live_messages"] == 0
    await touch(store, 10, closed=True)
    await touch(store, 20)
    with begin(store) as transaction:
        assert (transaction.live_messages.get([card]))[card].closed
        assert (transaction.upkeep.prune(after(20)))["live_messages"] == 0
        assert (transaction.upkeep.prune(after(21)))["live_messages"] == 1
        assert transaction.live_messages.of(SUBJECT) == []


async def test_a_moved_message_shows_the_new_subject_and_is_open_again(store: Store) -> None:
    card = await add(store)
    await post(store, card)
    await touch(store, closed=True)
    to = LiveSubject(SUBJECT.kind, SITE, "2")
    other = await add(store, OTHER)

    with begin(store) as transaction:
        transaction.live_messages.move([card], to)
    with begin(store) as transaction:
        assert transaction.live_messages.of(SUBJECT) == []
        (moved,) = transaction.live_messages.of(to)
        assert [one.message_id for one in transaction.live_messages.of(OTHER)] == [other]

    assert (moved.message_id, moved.message_ts, moved.closed) == (card, "1.1", False)
