"""Acts on groups of repositories."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Table, Text, func, select

from bot.domain.audit import Action, Origin
from bot.domain.group_acts import GroupAct, RepositoryResult
from bot.domain.repository import RepositoryName
from bot.store.column_types import AsText, Json, OutsideText, SortedSet, UtcTime
from bot.store.schema import metadata, optional, required, row_number
from bot.store.statements import Part, Rows, as_row

group_acts = Table(
    "group_acts",
    metadata,
    row_number("group_act_id"),
    *required(Text, "group", "actor_user_id"),
    *required(AsText(Action), "action"),
    *required(AsText(Origin), "origin"),
    *required(UtcTime, "at"),
    *required(OutsideText, "actor_name", "asked"),
    *optional(Text, "actor_team_id", "channel_id"),
    *required(Json(tuple[RepositoryName, ...]), "repositories"),
    *required(SortedSet, "notified_together"),
    *required(Json(tuple[RepositoryResult, ...]), "results"),
    *optional(UtcTime, "ended_at", "resumes_at"),
    sqlite_autoincrement=True,
    comment="One pause or resume that a person asked for on a group of repositories.",
)

_ID = group_acts.c.group_act_id


class GroupActs(Part):
    """Acts on groups, with the result for each repository."""

    def add(self, act: GroupAct) -> int:
        """Store the beginning and return its id."""
        return self._add(group_acts, as_row(group_acts, act))

    def progress(self, group_act_id: int, results: Sequence[RepositoryResult]) -> None:
        """Store the results so far."""
        self._change(group_acts, group_acts.c.group_act_id == group_act_id, results=tuple(results))

    def end(self, group_act_id: int, results: Sequence[RepositoryResult], at: datetime) -> None:
        self._change(
            group_acts,
            group_acts.c.group_act_id == group_act_id,
            results=tuple(results),
            ended_at=at,
        )

    def set_end_of_pauses(self, group_act_id: int, resumes_at: datetime) -> None:
        """Store a new end of the act's pauses."""
        self._change(group_acts, group_acts.c.group_act_id == group_act_id, resumes_at=resumes_at)

    def with_pauses_ending_after(self, at: datetime) -> Sequence[GroupAct]:
        timed = select(group_acts).where(group_acts.c.resumes_at > at)
        return self._records(GroupAct, timed.order_by(_ID))

    def get(self, group_act_ids: Collection[int]) -> Mapping[int, GroupAct]:
        return self._get(GroupAct, select(group_acts), _ID, group_act_ids)

    def locked(self, group_act_id: int) -> GroupAct | None:
        """Like `get`, but locked until the transaction ends."""
        return self._first(
            select(group_acts).where(group_acts.c.group_act_id == group_act_id).with_for_update()
        )

    def latest(self, group: str, actions: Collection[Action]) -> GroupAct | None:
        """The one that began last."""
        acts = select(group_acts).where(
            group_acts.c.group == group, group_acts.c.action.in_(actions)
        )
        return self._first(acts.order_by(_ID.desc()).limit(1))

    def _first(self, rows: Rows) -> GroupAct | None:
        return next(iter(self._records(GroupAct, rows)), None)

    def unended(self, begun_before: datetime) -> Sequence[GroupAct]:
        """Unfinished acts that began before then, oldest first."""
        unended = group_acts.c.ended_at.is_(None), group_acts.c.at < begun_before
        return self._records(GroupAct, select(group_acts).where(*unended).order_by(_ID))

    def pausing(self, group: str, before: int) -> Sequence[GroupAct]:
        """The group's pauses since it was last resumed as a whole, before that act."""
        earlier = group_acts.c.group == group, before > _ID
        resumed = select(func.max(_ID)).where(*earlier, group_acts.c.action == Action.RESUME)
        since = func.coalesce(resumed.scalar_subquery(), 0)
        pausing = group_acts.c.action == Action.PAUSE
        return self._records(GroupAct, select(group_acts).where(*earlier, pausing, since < _ID))
