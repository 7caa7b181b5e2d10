"""Boards, and what they say of each repository."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from pydantic import TypeAdapter
from sqlalchemy import RowMapping, delete, func, select, update

from bot.domain.boards import Board, Picture, Sight
from bot.domain.repository import RepositoryName
from bot.storage.statements import Statements, slices
from bot.storage.tables import KEPT, board_sights, boards

_PICTURES = TypeAdapter(Picture)


class SqlBoards:
    """A row a board, and one for what all boards of a repository say."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def add(self, board: Board) -> int | None:
        added = self._statements.run(
            self._statements.insert(boards)
            .values(
                channel_id=board.channel_id,
                repository=board.repository,
                made_by=board.made_by,
                made_at=board.made_at,
                ended_at=board.ended_at,
                ended_by=board.ended_by,
            )
            .on_conflict_do_nothing(index_elements=["repository", "channel_id"], index_where=KEPT)
            .returning(boards.c.board_id)
        )
        board_id: int | None = added.scalar_one_or_none()
        return board_id

    def get(self, board_ids: Collection[int]) -> Mapping[int, Board]:
        found: dict[int, Board] = {}
        for some in slices(sorted(set(board_ids))):
            rows = self._statements.run(select(boards).where(boards.c.board_id.in_(some)))
            found |= {row["board_id"]: _board(row) for row in rows.mappings()}
        return found

    def kept_in(self, channel_id: str, repository: RepositoryName) -> Board | None:
        rows = self._statements.run(
            select(boards).where(
                KEPT, boards.c.repository == repository, boards.c.channel_id == channel_id
            )
        )
        row = rows.mappings().one_or_none()
        return _board(row) if row is not None else None

    def kept(self, repositories: Collection[RepositoryName]) -> Sequence[Board]:
        found: list[Board] = []
        for some in slices(sorted(set(repositories))):
            rows = self._statements.run(select(boards).where(KEPT, boards.c.repository.in_(some)))
            found += [_board(row) for row in rows.mappings()]
        return sorted(found, key=lambda one: one.board_id)

    def strays(self, repositories: Collection[RepositoryName]) -> Sequence[Board]:
        rows = self._statements.run(select(boards).where(KEPT).order_by(boards.c.board_id))
        kept = [_board(row) for row in rows.mappings()]
        return [one for one in kept if one.repository not in repositories]

    def count_kept(self) -> int:
        counted = self._statements.run(select(func.count()).select_from(boards).where(KEPT))
        count: int = counted.scalar_one()
        return count

    def end(self, board_id: int, at: datetime, by: str | None = None) -> bool:
        ended = self._statements.run(
            update(boards)
            .where(KEPT, boards.c.board_id == board_id)
            .values(ended_at=at, ended_by=by)
        )
        return ended.rowcount > 0

    def delete_before(self, ended_before: datetime) -> int:
        deleted = self._statements.run(delete(boards).where(boards.c.ended_at < ended_before))
        return deleted.rowcount

    def save_sight(self, sight: Sight) -> None:
        row = {
            "repository": sight.repository,
            "picture": _PICTURES.dump_python(sight.picture, mode="json"),
            "read_at": sight.read_at,
            "outage": sight.outage,
            "out_since": sight.out_since,
        }
        self._statements.put(board_sights, ("repository",), [row])

    def sights(self, repositories: Collection[RepositoryName]) -> Mapping[RepositoryName, Sight]:
        found: dict[RepositoryName, Sight] = {}
        for some in slices(sorted(set(repositories))):
            rows = self._statements.run(
                select(board_sights).where(board_sights.c.repository.in_(some))
            )
            found |= {row["repository"]: _sight(row) for row in rows.mappings()}
        return found


def _board(row: RowMapping) -> Board:
    return Board(**row)


def _sight(row: RowMapping) -> Sight:
    values = dict(row)
    return Sight(picture=_PICTURES.validate_python(values.pop("picture")), **values)
