"""Acts on groups of repositories, and the pauses that are held for a group."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import RowMapping, String, cast, delete, exists, insert, select, update

from bot.domain.audit import Action, Actor
from bot.domain.cards import CardKind
from bot.domain.deliveries import SubjectKind
from bot.domain.group_acts import GroupAct, GroupOutcome, HeldPause, RepositoryResult
from bot.domain.repository import RepositoryName
from bot.storage.statements import PRUNE_SLICE, Statements, slices
from bot.storage.tables import cards, deliveries, group_acts, group_pauses, pauses

_KEY = ("group", "repository")


class SqlGroupActs:
    """Rows; `results` and `repositories` are JSON, since nobody asks for a part of them."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def add(self, act: GroupAct) -> int:
        values = asdict(act)
        actor = values.pop("actor")
        del values["group_act_id"]
        added = self._statements.run(
            insert(group_acts)
            .values(
                **values
                | {
                    "user_id": actor["user_id"],
                    "user_name": actor["name"],
                    "team_id": actor["team_id"],
                    "repositories": list(act.repositories),
                    "results": _written(act.results),
                }
            )
            .returning(group_acts.c.group_act_id)
        )
        group_act_id: int = added.scalar_one()
        return group_act_id

    def progress(self, group_act_id: int, results: Sequence[RepositoryResult]) -> None:
        self._statements.run(
            update(group_acts)
            .where(group_acts.c.group_act_id == group_act_id)
            .values(results=_written(results))
        )

    def end(self, group_act_id: int, results: Sequence[RepositoryResult], at: datetime) -> None:
        self._statements.run(
            update(group_acts)
            .where(group_acts.c.group_act_id == group_act_id)
            .values(results=_written(results), ended_at=at)
        )

    def get(self, group_act_ids: Collection[int]) -> Mapping[int, GroupAct]:
        found: dict[int, GroupAct] = {}
        for some in slices(sorted(set(group_act_ids))):
            rows = self._statements.run(
                select(group_acts).where(group_acts.c.group_act_id.in_(some))
            )
            found |= {row["group_act_id"]: _act(row) for row in rows.mappings()}
        return found

    def locked(self, group_act_id: int) -> GroupAct | None:
        rows = self._statements.run(
            select(group_acts).where(group_acts.c.group_act_id == group_act_id).with_for_update()
        )
        row = rows.mappings().one_or_none()
        return None if row is None else _act(row)

    def latest(self, group: str, actions: Collection[Action]) -> GroupAct | None:
        rows = self._statements.run(
            select(group_acts)
            .where(group_acts.c.group == group, group_acts.c.action.in_(actions))
            .order_by(group_acts.c.group_act_id.desc())
            .limit(1)
        )
        row = rows.mappings().one_or_none()
        return None if row is None else _act(row)

    def unended(self, begun_before: datetime) -> Sequence[GroupAct]:
        rows = self._statements.run(
            select(group_acts)
            .where(group_acts.c.ended_at.is_(None), group_acts.c.at < begun_before)
            .order_by(group_acts.c.group_act_id)
        )
        return [_act(row) for row in rows.mappings()]

    def hold(self, held: HeldPause) -> None:
        self._statements.put(group_pauses, _KEY, [asdict(held)])

    def let_go(
        self, group: str, repository: RepositoryName, group_act_id: int | None = None
    ) -> None:
        held = delete(group_pauses).where(
            group_pauses.c.group == group, group_pauses.c.repository == repository
        )
        if group_act_id is not None:
            held = held.where(group_pauses.c.group_act_id == group_act_id)
        self._statements.run(held)

    def held(self, group: str) -> Sequence[HeldPause]:
        rows = self._statements.run(
            select(group_pauses)
            .where(group_pauses.c.group == group)
            .order_by(group_pauses.c.repository)
        )
        return [HeldPause(**row) for row in rows.mappings()]

    def holding(self, repositories: Collection[RepositoryName]) -> Sequence[HeldPause]:
        found: list[HeldPause] = []
        for some in slices(sorted(set(repositories))):
            rows = self._statements.run(
                select(group_pauses)
                .where(group_pauses.c.repository.in_(some))
                .order_by(group_pauses.c.repository, group_pauses.c.group)
            )
            found += [HeldPause(**row) for row in rows.mappings()]
        return found

    def delete_before(self, begun_before: datetime) -> int:
        """At most PRUNE_SLICE a call, the oldest first."""
        act_id = group_acts.c.group_act_id
        referred_to = (
            exists().where(pauses.c.group_act_id == act_id),
            exists().where(group_pauses.c.group_act_id == act_id),
            exists().where(
                cards.c.kind == CardKind.GROUP,
                cards.c.key == cast(act_id, String),
            ),
            exists().where(
                deliveries.c.subject_kind == SubjectKind.GROUP,
                deliveries.c.subject_id == act_id,
                deliveries.c.settled_at.is_(None),
            ),
        )
        oldest = (
            select(act_id)
            .where(group_acts.c.at < begun_before, *(~one for one in referred_to))
            .order_by(act_id)
            .limit(PRUNE_SLICE)
        )
        deleted = self._statements.run(delete(group_acts).where(act_id.in_(oldest)))
        return deleted.rowcount


def _written(results: Sequence[RepositoryResult]) -> list[list[str | None]]:
    return [[str(one.repository), one.outcome.value, one.who, one.detail] for one in results]


def _act(row: RowMapping) -> GroupAct:
    values = dict(row)
    actor = Actor(values.pop("user_id"), values.pop("user_name"), values.pop("team_id"))
    results = tuple(
        RepositoryResult(RepositoryName(name), GroupOutcome(outcome), who, detail)
        for name, outcome, who, detail in values.pop("results")
    )
    repositories = tuple(RepositoryName(name) for name in values.pop("repositories"))
    return GroupAct(actor=actor, results=results, repositories=repositories, **values)
