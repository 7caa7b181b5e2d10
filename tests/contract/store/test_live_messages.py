"""Live messages: one per subject and channel, edited until they show the latest state."""

from bot.domain.live_messages import LiveKind, LiveSubject, Priority
from bot.store.transactions import Transaction
from tests.support.stored import NOW, SHOP, SITE, after

SUBJECT = LiveSubject(LiveKind.PAUSE, SITE, "1")
OTHER = LiveSubject(LiveKind.PAUSE, SHOP, "1")


def add(transaction: Transaction, name: LiveSubject = SUBJECT, channel_id: str = "C1") -> int:
    message_id = transaction.live_messages.add(name, channel_id, now=NOW)
    assert message_id is not None
    return message_id


def post(transaction: Transaction, message_id: int, shown: int = 1) -> None:
    transaction.live_messages.posted(message_id, "1.1", shown)


def touch(transaction: Transaction, seconds: float = 0, *, closed: bool = False) -> int:
    return transaction.live_messages.mark(SUBJECT, due_at=after(seconds), closed=closed)


def due(transaction: Transaction, seconds: float = 0, limit: int = 10) -> list[int]:
    return [one.message_id for one in transaction.live_messages.due(after(seconds), limit)]


def test_a_live_message_is_added_once_per_channel(transaction: Transaction) -> None:
    first = add(transaction)
    assert transaction.live_messages.add(SUBJECT, "C1", now=after(5)) is None
    elsewhere = transaction.live_messages.add(SUBJECT, "C2", now=NOW)
    assert transaction.live_messages.add(OTHER, "C1", now=NOW) is not None
    found = transaction.live_messages.of(SUBJECT)
    by_id = transaction.live_messages.get([first, 999])

    assert [one.message_id for one in found] == [first, elsewhere]
    assert by_id == {first: found[0]}
    assert (found[0].wanted, found[0].shown, found[0].message_ts) == (1, 0, None)
    assert (found[0].due_at, found[0].created_at) == (NOW, NOW)


def test_a_reposted_message_is_edited_once_it_has_an_id(transaction: Transaction) -> None:
    card = add(transaction)
    post(transaction, card)
    touch(transaction)
    transaction.live_messages.forget_message(card)
    found = transaction.live_messages.get([card])[card]
    assert (found.is_second, found.message_ts, found.shown) == (True, None, 0)
    assert due(transaction, 100) == []

    post(transaction, card)
    assert due(transaction, 100) == [card]


def test_the_shown_text_is_known_until_another_edit_may_have_changed_it(
    transaction: Transaction,
) -> None:
    card = add(transaction)
    live_messages = transaction.live_messages
    live_messages.posted(card, "1.1", 1, "first")
    live_messages.mark(SUBJECT, due_at=NOW)
    assert live_messages.get([card])[card].digest == "first"
    live_messages.showed(card, 2, "second")
    live_messages.showed(card, 1, "first")
    assert live_messages.get([card])[card].digest == "second"
    live_messages.mark(SUBJECT, due_at=NOW, force=True)
    assert live_messages.get([card])[card].digest is None


def test_a_card_is_edited_only_after_it_was_posted(transaction: Transaction) -> None:
    card = add(transaction)
    assert due(transaction, 100) == []
    touch(transaction, 1)
    assert due(transaction, 100) == []
    post(transaction, card)
    assert due(transaction) == [card]
    post(transaction, card, 2)
    assert due(transaction, 100) == []

    assert touch(transaction, 1) == 1
    assert due(transaction, 0) == []
    assert due(transaction, 1) == [card]
    transaction.live_messages.showed(card, 3)
    assert due(transaction, 100) == []


def test_one_card_changes_without_the_other(transaction: Transaction) -> None:
    cards = [add(transaction, channel_id=f"C{number}") for number in range(4)]
    for card in cards:
        post(transaction, card)
    touch(transaction)
    edited, put_off, lost, left = cards
    transaction.live_messages.showed(edited, 2)
    transaction.live_messages.postpone(put_off, after(9))
    transaction.live_messages.lose(lost)
    found = transaction.live_messages.get(cards)

    assert due(transaction) == [left]
    assert (found[left].shown, found[left].failures, found[left].due_at) == (1, 0, NOW)


def test_a_change_during_an_edit_leads_to_another_edit(transaction: Transaction) -> None:
    card = add(transaction)
    post(transaction, card)
    touch(transaction)
    touch(transaction)
    transaction.live_messages.showed(card, 2)
    assert due(transaction) == [card]

    transaction.live_messages.showed(card, 3)
    transaction.live_messages.showed(card, 2)
    assert due(transaction) == []

    # A later change does not postpone a waiting edit.
    touch(transaction, 60)
    assert due(transaction, 59) == []
    touch(transaction, 5)
    touch(transaction, 90)
    assert due(transaction, 5) == [card]
    transaction.live_messages.showed(card, 6)
    touch(transaction, 90)
    assert due(transaction, 60) == []


def test_pauses_come_first_then_failures_then_boards(transaction: Transaction) -> None:
    kinds = (LiveKind.ENTRY, LiveKind.BOARD, LiveKind.GROUP, LiveKind.BISECTION, LiveKind.PAUSE)
    cards: dict[LiveKind, int] = {}
    failed = LiveSubject(LiveKind.ENTRY, SITE, "failed")
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
    assert due(transaction, 10) == [*first, cards[LiveKind.ENTRY], cards[LiveKind.BISECTION]]
    assert due(transaction, 10, limit=1) == first[:1]


def test_failures_are_remembered_until_slack_accepts_an_edit(transaction: Transaction) -> None:
    card = add(transaction)
    post(transaction, card)
    touch(transaction)
    transaction.live_messages.postpone(card, after(9), 2)
    failed = transaction.live_messages.get([card])[card]
    transaction.live_messages.postpone(card, after(10))
    answered = transaction.live_messages.get([card])[card]
    transaction.live_messages.postpone(card, after(9), 2)
    transaction.live_messages.showed(card, 2)
    shown = transaction.live_messages.get([card])[card]

    assert (failed.failures, failed.due_at) == (2, after(9))
    assert (answered.failures, answered.due_at) == (0, after(10))
    assert (shown.failures, shown.shown) == (0, 2)


def test_only_final_cards_are_deleted(transaction: Transaction) -> None:
    card = add(transaction)
    assert transaction.upkeep.prune(after(100))["live_messages"] == 0
    touch(transaction, 10, closed=True)
    touch(transaction, 20)
    assert transaction.live_messages.get([card])[card].closed
    assert transaction.upkeep.prune(after(20))["live_messages"] == 0
    assert transaction.upkeep.prune(after(21))["live_messages"] == 1
    assert transaction.live_messages.of(SUBJECT) == []


def test_a_moved_message_shows_the_new_subject_and_is_open_again(transaction: Transaction) -> None:
    card = add(transaction)
    post(transaction, card)
    touch(transaction, closed=True)
    to = LiveSubject(SUBJECT.kind, SITE, "2")
    other = add(transaction, OTHER)

    transaction.live_messages.move([card], to)
    assert transaction.live_messages.of(SUBJECT) == []
    (moved,) = transaction.live_messages.of(to)
    assert [one.message_id for one in transaction.live_messages.of(OTHER)] == [other]

    assert (moved.message_id, moved.message_ts, moved.closed) == (card, "1.1", False)
