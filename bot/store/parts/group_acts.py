"""Acts on groups of repositories."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select, update

from bot.domain.audit import Action, Actor
from bot.domain.group_acts import GroupAct, GroupOutcome, RepositoryResult
from bot.domain.repository import RepositoryName
from bot.store.statements import Part, ResultRow, as_row, from_row
from bot.store.tables import group_acts

_ACTS = select(group_acts)


class GroupActs(Part):
    """One row per act, with `repositories` and `results` as JSON."""

    def add(self, act: GroupAct) -> int:
        """Store the beginning and return its id."""
        row = as_row(
            group_acts,
            act,
            user_id=act.actor.user_id,
            user_name=act.actor.name,
            team_id=act.actor.team_id,
            repositories=list(act.repositories),
            results=_as_json(act.results),
        )
        return self._statements.add_numbered(group_acts, row)

    def progress(self, group_act_id: int, results: Sequence[RepositoryResult]) -> None:
        """Store the results there are so far."""
        self._statements.run(
            update(group_acts)
            .where(group_acts.c.group_act_id == group_act_id)
            .values(results=_as_json(results))
        )

    def end(self, group_act_id: int, results: Sequence[RepositoryResult], at: datetime) -> None:
        self._statements.run(
            update(group_acts)
            .where(group_acts.c.group_act_id == group_act_id)
            .values(results=_as_json(results), ended_at=at)
        )

    def set_end_of_pauses(self, group_act_id: int, lifts_at: datetime) -> None:
        """Store another time at which the act's pauses end."""
        self._statements.run(
            update(group_acts)
            .where(group_acts.c.group_act_id == group_act_id)
            .values(lifts_at=lifts_at)
        )

    def with_pauses_ending_after(self, at: datetime) -> Sequence[GroupAct]:
        rows = self._statements.run(
            select(group_acts).where(group_acts.c.lifts_at > at).order_by(group_acts.c.group_act_id)
        )
        return [_act(row) for row in rows]

    def get(self, group_act_ids: Collection[int]) -> Mapping[int, GroupAct]:
        rows = self._statements.by_keys(_ACTS, group_acts.c.group_act_id, group_act_ids)
        return {row.group_act_id: _act(row) for row in rows}

    def locked(self, group_act_id: int) -> GroupAct | None:
        """As `get`; until the transaction ends nobody else gets it so."""
        return self._one(
            select(group_acts).where(group_acts.c.group_act_id == group_act_id).with_for_update()
        )

    def latest(self, group: str, actions: Collection[Action]) -> GroupAct | None:
        """The last of these that was begun."""
        return self._one(
            select(group_acts)
            .where(group_acts.c.group == group, group_acts.c.action.in_(actions))
            .order_by(group_acts.c.group_act_id.desc())
            .limit(1)
        )

    def _one(self, wanted: Select[*tuple[Any, ...]]) -> GroupAct | None:
        row = self._statements.run(wanted).one_or_none()
        return None if row is None else _act(row)

    def unended(self, begun_before: datetime) -> Sequence[GroupAct]:
        """Those that have no end and were begun before, the oldest first."""
        rows = self._statements.run(
            select(group_acts)
            .where(group_acts.c.ended_at.is_(None), group_acts.c.at < begun_before)
            .order_by(group_acts.c.group_act_id)
        )
        return [_act(row) for row in rows]

    def pausing(self, group: str, before: int) -> Sequence[GroupAct]:
        """The pauses of the group since it was last resumed as a whole before that act."""
        resumed = select(func.max(group_acts.c.group_act_id)).where(
            group_acts.c.group == group,
            group_acts.c.action == Action.UNPAUSE,
            group_acts.c.group_act_id < before,
        )
        rows = self._statements.run(
            select(group_acts).where(
                group_acts.c.group == group,
                group_acts.c.action == Action.PAUSE,
                group_acts.c.group_act_id < before,
                group_acts.c.group_act_id > func.coalesce(resumed.scalar_subquery(), 0),
            )
        )
        return [_act(row) for row in rows]


def _as_json(results: Sequence[RepositoryResult]) -> list[list[str | None]]:
    return [[str(one.repository), one.outcome.value, one.who, one.detail] for one in results]


def _act(row: ResultRow) -> GroupAct:
    return from_row(
        GroupAct,
        row,
        actor=Actor(row.user_id, row.user_name, row.team_id),
        repositories=tuple(RepositoryName(name) for name in row.repositories),
        results=tuple(
            RepositoryResult(RepositoryName(name), GroupOutcome(outcome), who, detail)
            for name, outcome, who, detail in row.results
        ),
    )
