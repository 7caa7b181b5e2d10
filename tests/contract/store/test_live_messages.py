"""Live messages: one per subject and channel, edited until they show the latest state."""

from bot.posts.live_message import LiveKind, LiveSubject, Priority
from bot.posts.live_messages import LiveMessages
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SHOP, SITE, after

SUBJECT = LiveSubject(LiveKind.PAUSE, SITE, "1")
OTHER = LiveSubject(LiveKind.PAUSE, SHOP, "1")


def add(transaction: Transaction, name: LiveSubject = SUBJECT, channel_id: str = "C1") -> int:
    message_id = LiveMessages(transaction).add(name, channel_id, now=NOW)
    assert message_id is not None
    return message_id


def post(transaction: Transaction, message_id: int, shown: int = 1) -> None:
    LiveMessages(transaction).posted(message_id, "1.1", shown)


def touch(transaction: Transaction, seconds: float = 0, *, closed: bool = False) -> int:
    return LiveMessages(transaction).mark(SUBJECT, due_at=after(seconds), closed=closed)


def due(transaction: Transaction, seconds: float = 0, limit: int = 10) -> list[int]:
    return [message.message_id for message in LiveMessages(transaction).due(after(seconds), limit)]


def test_a_live_message_is_added_once_per_channel(transaction: Transaction) -> None:
    first = add(transaction)
    assert LiveMessages(transaction).add(SUBJECT, "C1", now=after(5)) is None
    elsewhere = LiveMessages(transaction).add(SUBJECT, "C2", now=NOW)
    assert LiveMessages(transaction).add(OTHER, "C1", now=NOW) is not None
    found = LiveMessages(transaction).of(SUBJECT)
    by_id = LiveMessages(transaction).get([first, 999])

    assert [message.message_id for message in found] == [first, elsewhere]
    assert by_id == {first: found[0]}
    assert (found[0].wanted, found[0].shown, found[0].message_ts) == (1, 0, None)
    assert (found[0].due_at, found[0].created_at) == (NOW, NOW)


def test_the_open_subjects_of_a_kind_are_found_once(transaction: Transaction) -> None:
    kind = LiveKind.CONFIRMATION
    live = LiveMessages(transaction)
    open_one, closed_one = (LiveSubject(kind, SITE, key) for key in ("act 1", "act 2"))
    add(transaction)
    live.add(open_one, "C1", now=NOW)
    live.add(open_one, "C2", now=NOW)
    live.add(closed_one, "C1", now=NOW)
    live.mark(closed_one, due_at=after(5), closed=True)
    assert live.open_of(kind) == [open_one]


def test_all_of_a_kind_that_are_still_edited_show_what_changed_besides(
    transaction: Transaction,
) -> None:
    live = LiveMessages(transaction)
    first, second, over = (LiveSubject(LiveKind.ENTRY, SITE, key) for key in ("1-1", "2-2", "3-3"))
    elsewhere = LiveSubject(LiveKind.ENTRY, SHOP, "1-1")
    ids = {name: add(transaction, name) for name in (first, second, over, elsewhere, SUBJECT)}
    for message_id in ids.values():
        post(transaction, message_id)
    live.mark(over, due_at=NOW, closed=True)
    live.showed(ids[over], 2)
    live.mark(second, due_at=after(1))
    live.mark_open(LiveKind.ENTRY, SITE, due_at=after(5))
    assert due(transaction, 1) == [ids[second]]
    assert due(transaction, 5) == [ids[second], ids[first]]


def test_a_reposted_message_is_edited_once_it_has_an_id(transaction: Transaction) -> None:
    card = add(transaction)
    post(transaction, card)
    touch(transaction)
    LiveMessages(transaction).forget_message(card)
    found = LiveMessages(transaction).get([card])[card]
    assert (found.is_second, found.message_ts, found.shown) == (True, None, 0)
    assert due(transaction, 100) == []

    post(transaction, card)
    assert due(transaction, 100) == [card]


def test_the_shown_text_is_known_until_another_edit_may_have_changed_it(
    transaction: Transaction,
) -> None:
    card = add(transaction)
    live_messages = LiveMessages(transaction)
    live_messages.posted(card, "1.1", 1, "first")
    live_messages.mark(SUBJECT, due_at=NOW)
    assert live_messages.get([card])[card].content_hash == "first"
    assert live_messages.get([card])[card].edited_by is None
    live_messages.showed(card, 2, "second", "host:1")
    live_messages.showed(card, 1, "first")
    assert live_messages.get([card])[card].content_hash == "second"
    assert live_messages.get([card])[card].edited_by == "host:1"
    live_messages.mark(SUBJECT, due_at=NOW, force=True)
    assert live_messages.get([card])[card].content_hash is None


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
    LiveMessages(transaction).showed(card, 3)
    assert due(transaction, 100) == []


def test_one_card_changes_without_the_other(transaction: Transaction) -> None:
    cards = [add(transaction, channel_id=f"C{number}") for number in range(4)]
    for card in cards:
        post(transaction, card)
    touch(transaction)
    edited, put_off, lost, left = cards
    LiveMessages(transaction).showed(edited, 2)
    LiveMessages(transaction).postpone(put_off, after(9))
    LiveMessages(transaction).lose(lost)
    found = LiveMessages(transaction).get(cards)

    assert due(transaction) == [left]
    assert (found[left].shown, found[left].failures, found[left].due_at) == (1, 0, NOW)


def test_a_change_during_an_edit_leads_to_another_edit(transaction: Transaction) -> None:
    card = add(transaction)
    post(transaction, card)
    touch(transaction)
    touch(transaction)
    LiveMessages(transaction).showed(card, 2)
    assert due(transaction) == [card]

    LiveMessages(transaction).showed(card, 3)
    LiveMessages(transaction).showed(card, 2)
    assert due(transaction) == []

    # A later change does not postpone a waiting edit.
    touch(transaction, 60)
    assert due(transaction, 59) == []
    touch(transaction, 5)
    touch(transaction, 90)
    assert due(transaction, 5) == [card]
    LiveMessages(transaction).showed(card, 6)
    touch(transaction, 90)
    assert due(transaction, 60) == []


def test_pauses_come_first_then_failures_then_boards(transaction: Transaction) -> None:
    kinds = (LiveKind.ENTRY, LiveKind.BOARD, LiveKind.GROUP, LiveKind.BISECTION, LiveKind.PAUSE)
    cards: dict[LiveKind, int] = {}
    failed = LiveSubject(LiveKind.ENTRY, SITE, "failed")
    live_messages = LiveMessages(transaction)
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
    LiveMessages(transaction).postpone(card, after(9), 2)
    failed = LiveMessages(transaction).get([card])[card]
    LiveMessages(transaction).postpone(card, after(10))
    answered = LiveMessages(transaction).get([card])[card]
    LiveMessages(transaction).postpone(card, after(9), 2)
    LiveMessages(transaction).showed(card, 2)
    shown = LiveMessages(transaction).get([card])[card]

    assert (failed.failures, failed.due_at) == (2, after(9))
    assert (answered.failures, answered.due_at) == (0, after(10))
    assert (shown.failures, shown.shown) == (0, 2)


def test_only_final_cards_are_deleted(transaction: Transaction) -> None:
    card = add(transaction)
    assert Upkeep(transaction).prune(after(100))["live_messages"] == 0
    touch(transaction, 10, closed=True)
    touch(transaction, 20)
    assert LiveMessages(transaction).get([card])[card].closed
    assert Upkeep(transaction).prune(after(20))["live_messages"] == 0
    assert Upkeep(transaction).prune(after(21))["live_messages"] == 1
    assert LiveMessages(transaction).of(SUBJECT) == []


def test_a_moved_message_shows_the_new_subject_and_is_open_again(transaction: Transaction) -> None:
    card = add(transaction)
    post(transaction, card)
    touch(transaction, closed=True)
    to = LiveSubject(SUBJECT.kind, SITE, "2")
    other = add(transaction, OTHER)

    LiveMessages(transaction).move([card], to)
    assert LiveMessages(transaction).of(SUBJECT) == []
    (moved,) = LiveMessages(transaction).of(to)
    assert [message.message_id for message in LiveMessages(transaction).of(OTHER)] == [other]

    assert (moved.message_id, moved.message_ts, moved.closed) == (card, "1.1", False)
