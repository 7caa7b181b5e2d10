"""What the use cases need of the store for groups of repositories."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.audit import Action
from bot.domain.group_acts import GroupAct, HeldPause, RepositoryResult
from bot.domain.repository import RepositoryName


class GroupActs(Protocol):
    """Acts on groups, and the pauses that are held for a group."""

    async def add(self, act: GroupAct) -> int:
        """Store the beginning and return its id."""
        ...

    async def progress(self, group_act_id: int, results: Sequence[RepositoryResult]) -> None:
        """Store the results there are so far."""
        ...

    async def end(
        self, group_act_id: int, results: Sequence[RepositoryResult], at: datetime
    ) -> None: ...

    async def get(self, group_act_ids: Collection[int]) -> Mapping[int, GroupAct]: ...

    async def locked(self, group_act_id: int) -> GroupAct | None:
        """As `get`; until the transaction ends nobody else gets it so."""
        ...

    async def latest(self, group: str, actions: Collection[Action]) -> GroupAct | None:
        """The last of these that was begun."""
        ...

    async def unended(self, begun_before: datetime) -> Sequence[GroupAct]:
        """Those that have no end and were begun before, the oldest first."""
        ...

    async def hold(self, held: HeldPause) -> None:
        """Insert, or replace the one of the same group and repository."""
        ...

    async def let_go(
        self, group: str, repository: RepositoryName, group_act_id: int | None = None
    ) -> None:
        """Forget that it is held, by that act if one is named; nothing happens when it is not."""
        ...

    async def held(self, group: str) -> Sequence[HeldPause]:
        """By repository."""
        ...

    async def holding(self, repositories: Collection[RepositoryName]) -> Sequence[HeldPause]:
        """Those of the repositories, for whatever groups; by repository and group."""
        ...
