"""Boards: one per channel and repository, and their state."""

from dataclasses import replace

from bot.domain.boards import Board, BoardState, seen
from bot.store.transactions import Transaction
from tests.support.make import make_batch, make_known_pause, make_queued, make_snapshot, make_status
from tests.support.stored import NOW, SHOP, SITE, after

HERE, THERE = "C0MERGEQ", "C0RELEASE"
BOARD = Board(HERE, SITE, "alice", NOW)


def state(title: str = "\ufffd\ufffd title") -> BoardState:
    """A state with every field set, and with text that databases can't store."""
    waiting = [make_queued(number, title=title) for number in range(20)]
    batch = make_batch(estimated_merge_at=NOW)
    snapshot = make_snapshot(
        make_status(batch, waiting=waiting), repository=SITE, pause=make_known_pause("CI is down")
    )
    return seen(None, snapshot)


def test_a_channel_has_one_board_of_a_repository(transaction: Transaction) -> None:
    boards = transaction.boards
    first = boards.put_up(BOARD)
    assert first is not None
    assert boards.put_up(replace(BOARD, made_by="bob")) is None
    other = boards.put_up(replace(BOARD, repository=SHOP))
    there = boards.put_up(replace(BOARD, channel_id=THERE))
    assert len({first, other, there, None}) == 4
    boards = transaction.boards
    kept = replace(BOARD, board_id=first)
    assert boards.kept_in(HERE, SITE) == kept
    assert boards.kept_in("C0GENERAL", SITE) is None
    assert boards.shown_by(BOARD.subject) == kept
    assert [one.board_id for one in boards.kept([SITE])] == [first, there]
    assert [one.board_id for one in boards.kept([SHOP, SITE])] == [first, other, there]
    assert boards.kept([]) == []
    assert boards.count_open() == 3
    assert [one.board_id for one in boards.unmanaged([SITE])] == [other]
    assert boards.unmanaged([SITE, SHOP]) == []


def test_an_ended_board_makes_room_for_another(transaction: Transaction) -> None:
    first = transaction.boards.put_up(BOARD)
    assert first is not None
    assert transaction.boards.end(first, after(60), "bob")
    assert not transaction.boards.end(first, after(61))
    assert transaction.boards.kept_in(HERE, SITE) is None
    second = transaction.boards.put_up(replace(BOARD, made_at=after(60)))
    transaction.live_messages.mark(BOARD.subject, due_at=after(60), closed=True)
    assert second is not None
    assert second != first
    boards = transaction.boards
    found = boards.shown_by(BOARD.subject)
    assert found is not None
    assert (found.ended_at, found.ended_by) == (after(60), "bob")
    assert boards.count_open() == 1
    assert transaction.upkeep.prune(after(60))["live_messages"] == 0
    assert transaction.upkeep.prune(after(61))["live_messages"] == 1
    assert boards.shown_by(BOARD.subject) is None
    assert [one.board_id for one in boards.kept([SITE])] == [second]


def test_the_state_on_boards_is_stored_once_per_repository(transaction: Transaction) -> None:
    known = state()
    later = replace(known, read_at=after(60))
    assert transaction.boards.state(SITE) is None
    transaction.boards.save_state(state("\x00\ud800 title"))
    transaction.boards.save_state(replace(known, repository=SHOP))
    assert transaction.boards.state(SITE) == known
    transaction.boards.save_state(later)
    assert transaction.boards.state(SITE) == later
    assert transaction.boards.state(SHOP) == replace(known, repository=SHOP)
