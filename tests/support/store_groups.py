"""The acts on groups of InMemoryStore, and the pauses held for a group."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from typing_extensions import override

from bot.domain.audit import Action
from bot.domain.group_acts import GroupAct, HeldPause, RepositoryResult
from bot.domain.repository import RepositoryName
from bot.ports.groups import GroupActs
from tests.support.as_stored import as_stored

PRUNE_SLICE = 1000


class InMemoryGroupActs(GroupActs):
    """`referred_to` gives the acts that pauses, cards and unsettled deliveries refer to."""

    def __init__(
        self,
        acts: dict[int, GroupAct],
        held: dict[tuple[str, str], HeldPause],
        referred_to: Callable[[], set[int]],
    ) -> None:
        self._acts = acts
        self._held = held
        self._referred_to = referred_to

    @override
    async def add(self, act: GroupAct) -> int:
        group_act_id = max(self._acts, default=0) + 1
        self._acts[group_act_id] = replace(as_stored(act), group_act_id=group_act_id)
        return group_act_id

    @override
    async def progress(self, group_act_id: int, results: Sequence[RepositoryResult]) -> None:
        act = self._acts[group_act_id]
        self._acts[group_act_id] = replace(act, results=tuple(results))

    @override
    async def end(
        self, group_act_id: int, results: Sequence[RepositoryResult], at: datetime
    ) -> None:
        act = self._acts[group_act_id]
        self._acts[group_act_id] = replace(act, results=tuple(results), ended_at=as_stored(at))

    @override
    async def get(self, group_act_ids: Collection[int]) -> Mapping[int, GroupAct]:
        return {each: self._acts[each] for each in group_act_ids if each in self._acts}

    @override
    async def locked(self, group_act_id: int) -> GroupAct | None:
        return self._acts.get(group_act_id)

    @override
    async def latest(self, group: str, actions: Collection[Action]) -> GroupAct | None:
        ids = [
            each for each, act in self._acts.items() if act.group == group and act.action in actions
        ]
        return self._acts[max(ids)] if ids else None

    @override
    async def unended(self, begun_before: datetime) -> Sequence[GroupAct]:
        acts = [act for _, act in sorted(self._acts.items())]
        return [act for act in acts if act.ended_at is None and act.at < begun_before]

    @override
    async def hold(self, held: HeldPause) -> None:
        self._held[held.group, held.repository] = as_stored(held)

    @override
    async def let_go(
        self, group: str, repository: RepositoryName, group_act_id: int | None = None
    ) -> None:
        held = self._held.get((group, repository))
        if held is not None and group_act_id in {None, held.group_act_id}:
            del self._held[group, repository]

    @override
    async def held(self, group: str) -> Sequence[HeldPause]:
        return [self._held[key] for key in sorted(self._held) if key[0] == group]

    @override
    async def holding(self, repositories: Collection[RepositoryName]) -> Sequence[HeldPause]:
        found = [held for held in self._held.values() if held.repository in repositories]
        return sorted(found, key=lambda held: (held.repository, held.group))

    @override
    async def delete_before(self, begun_before: datetime) -> int:
        kept = self._referred_to() | {held.group_act_id for held in self._held.values()}
        old = [each for each, act in sorted(self._acts.items()) if act.at < begun_before]
        gone = [each for each in old if each not in kept][:PRUNE_SLICE]
        for each in gone:
            del self._acts[each]
        return len(gone)
