"""Boards: one per channel and repository, and their state."""

from dataclasses import replace

from bot.boards.board import Board, BoardState, seen
from bot.boards.keeping import add_board, end_board
from bot.boards.rows import Boards
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.make import make_batch, make_known_pause, make_queued, make_snapshot, make_status
from tests.support.stored import NOW, SHOP, SITE, after

HERE = "C0MERGEQ"
THERE = "C0RELEASE"
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
    boards = Boards(transaction)
    first = boards.add(BOARD)
    assert first is not None
    assert boards.add(replace(BOARD, made_by="bob")) is None
    other = boards.add(replace(BOARD, repository=SHOP))
    there = boards.add(replace(BOARD, channel_id=THERE))
    assert len({first, other, there, None}) == 4
    boards = Boards(transaction)
    kept = replace(BOARD, board_id=first)
    assert boards.open_in(HERE, SITE) == kept
    assert boards.open_in("C0GENERAL", SITE) is None
    assert boards.one(first) == kept
    assert [board.board_id for board in boards.open_of([SITE])] == [first, there]
    assert [board.board_id for board in boards.open_of([SHOP, SITE])] == [first, other, there]
    assert boards.open_of([]) == []
    assert boards.count_open() == 3
    assert [board.board_id for board in boards.unmanaged([SITE])] == [other]
    assert boards.unmanaged([SITE, SHOP]) == []


def test_an_ended_board_makes_room_for_another(transaction: Transaction) -> None:
    first = Boards(transaction).add(BOARD)
    assert first is not None
    assert Boards(transaction).end(first, after(60), "bob")
    assert not Boards(transaction).end(first, after(61))
    assert Boards(transaction).open_in(HERE, SITE) is None
    second = Boards(transaction).add(replace(BOARD, made_at=after(60)))
    assert second is not None
    assert second != first
    boards = Boards(transaction)
    assert boards.one(first) == replace(BOARD, board_id=first, ended_at=after(60), ended_by="bob")
    assert boards.count_open() == 1


def test_an_ended_board_is_deleted_after_its_message(transaction: Transaction) -> None:
    assert add_board(transaction, BOARD)
    (board,) = Boards(transaction).open_of([SITE])
    end_board(transaction, board, after(60), "bob")
    kept = Upkeep(transaction).prune(after(60))
    assert (kept["live_messages"], kept["boards"]) == (0, 0)
    pruned = Upkeep(transaction).prune(after(61))
    assert (pruned["live_messages"], pruned["boards"]) == (1, 1)
    assert Boards(transaction).one(board.board_id) is None


def test_the_state_on_boards_is_stored_once_per_repository(transaction: Transaction) -> None:
    known = state()
    later = replace(known, read_at=after(60))
    assert Boards(transaction).state(SITE) is None
    Boards(transaction).save_state(state("\x00\ud800 title"))
    Boards(transaction).save_state(replace(known, repository=SHOP))
    assert Boards(transaction).state(SITE) == known
    Boards(transaction).save_state(later)
    assert Boards(transaction).state(SITE) == later
    assert Boards(transaction).state(SHOP) == replace(known, repository=SHOP)
