"""Boards, and what those of each repository show."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import func, select

from bot.boards.board import Board, BoardState
from bot.boards.tables import IS_OPEN_BOARD, board_states, boards
from bot.kernel.repository import RepositoryName
from bot.store.statements import Numbered, as_row, from_rows

# Built once, because building a statement takes several times as long as running it.
_OPEN = select(boards).where(IS_OPEN_BOARD).order_by(boards.c.board_id)


class Boards(Numbered[Board]):
    """Boards; a channel has one open board of a repository."""

    kind = Board
    rows = select(boards)
    number = boards.c.board_id

    def add(self, board: Board) -> int | None:
        """Store a board and return its id; None if the channel has one."""
        added = self._add_new(boards, as_row(boards, board))
        return added[0] if added else None

    def open_in(self, channel_id: str, repository: RepositoryName) -> Board | None:
        for board in self.open_of([repository]):
            if board.channel_id == channel_id:
                return board
        return None

    def open_of(self, names: Collection[RepositoryName]) -> Sequence[Board]:
        """The open boards of the repositories, oldest first."""
        rows = self._by_keys(_OPEN, boards.c.repository, names)
        found = from_rows(Board, rows)
        return sorted(found, key=lambda board: board.board_id)

    def unmanaged(self, names: Collection[RepositoryName]) -> Sequence[Board]:
        """The open boards of other repositories, oldest first."""
        found = self._records(Board, _OPEN)
        return [board for board in found if board.repository not in names]

    def count_open(self) -> int:
        counted = select(func.count(boards.c.board_id)).where(IS_OPEN_BOARD)
        return int(self._run(counted).scalar_one())

    def end(self, board_id: int, at: datetime, by: str | None = None) -> bool:
        """End a board; False if it had ended already."""
        this = boards.c.board_id == board_id
        return self._change(boards, this, IS_OPEN_BOARD, ended_at=at, ended_by=by) > 0

    def save_state(self, state: BoardState) -> None:
        self._put(board_states, as_row(board_states, state))

    def state(self, repository: RepositoryName) -> BoardState | None:
        """What the repository's boards show, if it has or had one."""
        this = board_states.c.repository == repository
        return self._first(BoardState, select(board_states).where(this))
