"""The port of boards, in dictionaries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from typing_extensions import override

from bot.domain.boards import Board, Sight
from bot.domain.repository import RepositoryName
from bot.ports.boards import Boards
from tests.support.as_stored import as_stored


class InMemoryBoards(Boards):
    def __init__(self, boards: dict[int, Board], sights: dict[RepositoryName, Sight]) -> None:
        self._boards = boards
        self._sights = sights

    @override
    async def add(self, board: Board) -> int | None:
        if await self.kept_in(board.channel_id, board.repository) is not None:
            return None
        number = max(self._boards, default=0) + 1
        self._boards[number] = replace(as_stored(board), board_id=number)
        return number

    @override
    async def get(self, board_ids: Collection[int]) -> Mapping[int, Board]:
        return {each: self._boards[each] for each in board_ids if each in self._boards}

    @override
    async def kept_in(self, channel_id: str, repository: RepositoryName) -> Board | None:
        found = await self.kept([repository])
        return next((one for one in found if one.channel_id == channel_id), None)

    @override
    async def kept(self, repositories: Collection[RepositoryName]) -> Sequence[Board]:
        return [
            one
            for one in self._boards.values()
            if one.ended_at is None and one.repository in repositories
        ]

    @override
    async def strays(self, repositories: Collection[RepositoryName]) -> Sequence[Board]:
        return [
            one
            for one in self._boards.values()
            if one.ended_at is None and one.repository not in repositories
        ]

    @override
    async def count_kept(self) -> int:
        return sum(one.ended_at is None for one in self._boards.values())

    @override
    async def end(self, board_id: int, at: datetime, by: str | None = None) -> bool:
        known = self._boards.get(board_id)
        if known is None or known.ended_at is not None:
            return False
        self._boards[board_id] = as_stored(replace(known, ended_at=at, ended_by=by))
        return True

    @override
    async def delete_before(self, ended_before: datetime) -> int:
        old = [
            each
            for each, one in self._boards.items()
            if one.ended_at is not None and one.ended_at < ended_before
        ]
        for each in old:
            del self._boards[each]
        return len(old)

    @override
    async def save_sight(self, sight: Sight) -> None:
        self._sights[sight.repository] = replace(sight, read_at=as_stored(sight.read_at))

    @override
    async def sights(
        self, repositories: Collection[RepositoryName]
    ) -> Mapping[RepositoryName, Sight]:
        return {each: self._sights[each] for each in repositories if each in self._sights}
