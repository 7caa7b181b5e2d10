"""What holds queues: pauses and whom to notify when they end, acts on groups, and freezes."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, func, or_, select

from bot.domain.audit import Action
from bot.domain.freezes import Freeze
from bot.domain.group_acts import GroupAct
from bot.domain.pause_records import PauseRecord
from bot.domain.repository import RepositoryName
from bot.store.statements import PRUNE_SLICE, Numbered, Part, Rows, as_row, from_row
from bot.store.tables import IN_FORCE, TIMED, freezes, group_acts, pauses, resume_watchers

_BY_REPOSITORY = select(pauses).order_by(pauses.c.repository, pauses.c.paused_at.desc())
# Built once, because building a statement takes several times as long as running it.
_OPEN = _BY_REPOSITORY.where(IN_FORCE)
_RECENT = _BY_REPOSITORY.where(
    pauses.c.repository == bindparam("repository"),
    or_(IN_FORCE, pauses.c.ended_at >= bindparam("since")),
)
_UNTOLD = (
    select(pauses)
    .where(~pauses.c.end_notified, pauses.c.ended_at < bindparam("before"))
    .order_by(pauses.c.ended_at)
    .limit(PRUNE_SLICE)
)


class Pauses(Numbered[PauseRecord]):
    """Pauses, in force or over."""

    kind, rows, number = PauseRecord, select(pauses), pauses.c.pause_id

    def of(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        """The pauses in force or ended since `since`, latest first.

        Locks the repository's pauses until the transaction ends.
        """
        # Several processes may find a new pause together.
        self.hold(repository)
        return self.recent(repository, since)

    def recent(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        return self._records(PauseRecord, _RECENT, repository=repository, since=since)

    def open(self, repositories: Collection[RepositoryName]) -> Sequence[PauseRecord]:
        rows = self._by_keys(_OPEN, pauses.c.repository, repositories)
        return [from_row(PauseRecord, row) for row in rows]

    def save(self, record: PauseRecord) -> int:
        """Insert one with the `pause_id` 0, else replace it; return its id.

        Call `of` before, in the same transaction.
        """
        due_at = record.timer.due_at if record.timer is not None else None
        row = as_row(pauses, record, timer_due_at=due_at)
        if not record.pause_id:
            return self._add(pauses, row)
        self._change(pauses, pauses.c.pause_id == record.pause_id, **row)
        return record.pause_id

    def locked(self, record: PauseRecord) -> PauseRecord | None:
        """Read a pause and lock it until the transaction ends."""
        self.hold(record.repository)
        return self.one(record.pause_id)

    def due(self, now: datetime, limit: int) -> Sequence[PauseRecord]:
        due = select(pauses).where(pauses.c.timer_due_at <= now)
        in_order = due.order_by(pauses.c.timer_due_at, pauses.c.repository)
        return self._records(PauseRecord, in_order.limit(limit))

    def unended(self) -> Sequence[PauseRecord]:
        """The pauses in force, and ended ones that may turn out to be, by repository."""
        return self._records(PauseRecord, _BY_REPOSITORY.where(or_(IN_FORCE, TIMED)))

    def of_group(self, group: str) -> Sequence[PauseRecord]:
        """The pauses in force made by acts on a group, by repository."""
        acts = select(group_acts.c.group_act_id).where(group_acts.c.group == group)
        is_of_group = pauses.c.group_act_id.in_(acts)
        return self._records(PauseRecord, _BY_REPOSITORY.where(IN_FORCE, is_of_group))

    def untold_ends(self, ended_before: datetime) -> Sequence[PauseRecord]:
        """Pauses that ended before then without a notification."""
        return self._records(PauseRecord, _UNTOLD, before=ended_before)


class ResumeWatchers(Part):
    """People to notify when a pause ends; each is notified once."""

    def add(self, pause_id: int, user_id: str) -> bool:
        """Add a person; False if they had asked already."""
        return bool(self._add_new(resume_watchers, {"pause_id": pause_id, "user_id": user_id}))

    def take(self, pause_id: int) -> Sequence[str]:
        """Remove and return all people who wait for a pause, in order."""
        taken = delete(resume_watchers).where(resume_watchers.c.pause_id == pause_id)
        return sorted(self._run(taken.returning(resume_watchers.c.user_id)).scalars())

    def waiting(self, pause_ids: Collection[int]) -> Collection[str]:
        rows = self._by_keys(select(resume_watchers), resume_watchers.c.pause_id, pause_ids)
        return {row.user_id for row in rows}

    def awaited(self, user_ids: Collection[str]) -> Mapping[str, Sequence[RepositoryName]]:
        """The repositories that people wait for, by user id."""
        waiting = select(resume_watchers.c.user_id, pauses.c.repository).join(pauses)
        found: dict[str, set[RepositoryName]] = defaultdict(set)
        for row in self._by_keys(waiting, resume_watchers.c.user_id, user_ids):
            found[row.user_id].add(row.repository)
        return {user_id: sorted(names) for user_id, names in found.items()}

    def forget(self, user_id: str) -> bool:
        """Cancel all requests of a person; False if there were none."""
        return self._remove(resume_watchers, resume_watchers.c.user_id == user_id) > 0

    def move(self, pause_id: int, to: int) -> None:
        for user_id in self.take(pause_id):
            self.add(to, user_id)


_ACTS = select(group_acts).order_by(group_acts.c.group_act_id)
_ID = group_acts.c.group_act_id


class GroupActs(Numbered[GroupAct]):
    """Acts on groups, with the result for each repository."""

    kind, rows, number = GroupAct, _ACTS, _ID

    def save(self, act: GroupAct) -> int:
        """Insert one with the `group_act_id` 0, else replace it; return its id.

        Call `locked` before replacing it, in the same transaction.
        """
        row = as_row(group_acts, act)
        if not act.group_act_id:
            return self._add(group_acts, row)
        self._change(group_acts, group_acts.c.group_act_id == act.group_act_id, **row)
        return act.group_act_id

    def with_pauses_ending_after(self, at: datetime) -> Sequence[GroupAct]:
        return self._records(GroupAct, _ACTS.where(group_acts.c.resumes_at > at))

    def locked(self, group_act_id: int) -> GroupAct | None:
        """Like `one`, but locked until the transaction ends."""
        this = _ACTS.where(group_acts.c.group_act_id == group_act_id)
        return self._first(GroupAct, this.with_for_update())

    def latest(self, group: str, actions: Collection[Action]) -> GroupAct | None:
        these = group_acts.c.group == group, group_acts.c.action.in_(actions)
        latest = select(group_acts).where(*these).order_by(_ID.desc()).limit(1)
        return self._first(GroupAct, latest)

    def unended(self, begun_before: datetime) -> Sequence[GroupAct]:
        """Unfinished acts that began before then, oldest first."""
        unended = group_acts.c.ended_at.is_(None), group_acts.c.at < begun_before
        return self._records(GroupAct, _ACTS.where(*unended))

    def pausing(self, group: str, before: int) -> Sequence[GroupAct]:
        """The group's pauses since it was last resumed as a whole, before that act."""
        earlier = group_acts.c.group == group, before > _ID
        resumed = select(func.max(_ID)).where(*earlier, group_acts.c.action == Action.RESUME)
        since = func.coalesce(resumed.scalar_subquery(), 0)
        pausing = group_acts.c.action == Action.PAUSE
        return self._records(GroupAct, _ACTS.where(*earlier, pausing, since < _ID))


class Freezes(Part):
    """The known freezes of each repository."""

    def of(self, names: Collection[RepositoryName]) -> Sequence[Freeze]:
        """Those that are planned or in force, in the order in which they begin."""
        ongoing = select(freezes).where(freezes.c.over_at.is_(None))
        rows = self._by_keys(ongoing, freezes.c.repository, names)
        found = [from_row(Freeze, row) for row in rows]
        return sorted(found, key=lambda one: (one.begins_at or one.set_at, one.event_id))

    def locked(self, repository: RepositoryName) -> Sequence[Freeze]:
        """All of the repository, oldest first; nobody else changes them in this transaction."""
        self.hold(f"freezes of {repository}")
        return self._records(Freeze, _freezes(repository).order_by(freezes.c.event_id))

    def recent(self, repository: RepositoryName, since: datetime) -> Sequence[Freeze]:
        """Those that are not over, or ended since then."""
        lasted = or_(freezes.c.over_at.is_(None), freezes.c.over_at >= since)
        return self._records(Freeze, _freezes(repository).where(lasted))

    def get(self, repository: RepositoryName, event_id: int) -> Freeze | None:
        return self._first(Freeze, _freezes(repository).where(freezes.c.event_id == event_id))

    def set_by(self, repository: RepositoryName, event_id: int) -> Freeze | None:
        """The freeze whose terms, or end, are from that event."""
        return self._first(Freeze, _freezes(repository).where(freezes.c.set_id == event_id))

    def due(self, now: datetime) -> Sequence[Freeze]:
        """Those whose next stage has begun, by its time."""
        due = select(freezes).where(freezes.c.due_at <= now)
        return self._records(Freeze, due.order_by(freezes.c.due_at))

    def save(self, freeze: Freeze) -> None:
        """Insert or replace it. Call `locked` before, in the same transaction."""
        self._put(freezes, as_row(freezes, freeze, due_at=freeze.due_at))


def _freezes(repository: RepositoryName) -> Rows:
    return select(freezes).where(freezes.c.repository == repository)
