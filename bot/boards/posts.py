"""How boards are rendered when they are posted or edited."""

from collections.abc import Mapping

from bot.blocks.message import Message
from bot.boards import texts as board_texts
from bot.boards.board import BoardState
from bot.boards.rows import Boards
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.rendering import RenderLiveMessage
from bot.queues.estimate import NO_OUTLOOK, Outlook
from bot.queues.outlook import is_foreseeable, outlook, read_past
from bot.store.transaction import Transaction


def _board(transaction: Transaction, subject: LiveSubject) -> Message | None:
    board = Boards(transaction).one(int(subject.key))
    if board is None:
        return None
    if board.ended_at is not None:
        return board_texts.board_ended(board)
    state = Boards(transaction).state(board.repository)
    if state is None:
        return None
    return board_texts.board(board, state, _outlook(transaction, state))


def _outlook(transaction: Transaction, state: BoardState) -> Outlook:
    """By the log as it is stored now, for the queue as it was read last."""
    if state.unread is not None or not is_foreseeable(state.picture):
        return NO_OUTLOOK
    stored = read_past(transaction, state.repository, state.read_at)
    return outlook(stored.of_branch(None), state.picture, state.read_at)


BOARD_LIVE_MESSAGES: Mapping[LiveKind, RenderLiveMessage] = {LiveKind.BOARD: _board}
