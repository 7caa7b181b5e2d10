"""End the boards of repositories that this bot is not configured for any more."""

from collections.abc import Collection
from datetime import datetime

from bot.domain.repository import RepositoryName
from bot.ports import Store
from bot.usecases.posting.board_cards import close_board


async def end_stray_boards(
    store: Store, now: datetime, repositories: Collection[RepositoryName]
) -> None:
    """Nobody reads their queues: they say so instead of what was true once. Raises StoreError."""
    async with store.begin() as transaction:
        for board in await transaction.boards.strays(repositories):
            await transaction.boards.end(board.board_id, now)
            await close_board(transaction, board, now)
