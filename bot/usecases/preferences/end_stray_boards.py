"""End the boards of repositories that this bot is not configured for any more."""

from collections.abc import Collection
from datetime import datetime

from bot.domain.repository import RepositoryName
from bot.store.transactions import Transaction
from bot.usecases.posting.board_cards import close_board


def end_stray_boards(
    transaction: Transaction, now: datetime, repositories: Collection[RepositoryName]
) -> None:
    """Nobody reads their queues: they say so instead of what was true once."""
    for board in transaction.boards.strays(repositories):
        transaction.boards.end(board.board_id, now)
        close_board(transaction, board, now)
