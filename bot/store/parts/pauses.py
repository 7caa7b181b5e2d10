"""Pauses, their timers and reminders, and the people who wait for their end."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, delete, literal, or_, select, update

from bot.domain.pause_records import SAME_PAUSE, PauseRecord, Timer, TimerState, Who
from bot.domain.reminders import ReminderPlan
from bot.domain.repository import RepositoryName
from bot.store.statements import PRUNE_SLICE, Part, ResultRow, as_row, from_row
from bot.store.tables import pause_reminders, pause_timers, pauses, resume_watchers

_PAUSE = select(pauses)
_RECENT = _PAUSE.where(
    pauses.c.repository == bindparam("name"),
    or_(pauses.c.ended_at.is_(None), pauses.c.ended_at >= bindparam("since")),
).order_by(pauses.c.paused_at.desc())
_LASTING = _PAUSE.where(pauses.c.ended_at.is_(None)).order_by(
    pauses.c.repository, pauses.c.paused_at.desc()
)
_RUNNING = select(pause_timers).where(pause_timers.c.state == TimerState.RUNNING)
_DUE = (
    _RUNNING.where(pause_timers.c.due_at <= bindparam("now"))
    .order_by(pause_timers.c.due_at, pause_timers.c.repository)
    .limit(bindparam("at_most"))
)
_PLANS = select(pause_reminders)
# In one order, so that two processes never wait for each other.
_LOCKED_PLANS = _PLANS.order_by(pause_reminders.c.pause_id).with_for_update()
_WATCHERS = select(resume_watchers)


class Pauses(Part):
    """One row per pause."""

    def of(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        """Those in force, and those that ended at `since` or later; the latest first.

        Until the transaction ends nobody else changes, or begins, a pause of the repository.
        """
        # Several processes may notice at once a pause that has no row yet.
        self._statements.hold(repository)
        return self.recent(repository, since)

    def recent(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        """As `of`; nothing is held for that."""
        rows = self._statements.run(_RECENT, {"name": repository, "since": since})
        return [_pause(row) for row in rows]

    def open(self, repositories: Collection[RepositoryName]) -> Sequence[PauseRecord]:
        """Those in force; nothing is held for that."""
        rows = self._statements.by_keys(_LASTING, pauses.c.repository, repositories)
        return [_pause(row) for row in rows]

    def get(self, pause_ids: Collection[int]) -> Mapping[int, PauseRecord]:
        rows = self._statements.by_keys(_PAUSE, pauses.c.pause_id, pause_ids)
        return {row.pause_id: _pause(row) for row in rows}

    def save(self, record: PauseRecord) -> int:
        """Insert one with the `pause_id` 0, else replace it; return its id.

        The caller has read the repository's with `of` before, in the same transaction.
        """
        row = as_row(
            pauses,
            record,
            by_id=record.by.user_id if record.by else None,
            by_name=record.by.name if record.by else None,
            ended_by_id=record.ended_by.user_id if record.ended_by else None,
            ended_by_name=record.ended_by.name if record.ended_by else None,
        )
        if not record.pause_id:
            return self._statements.add_numbered(pauses, row)
        self._statements.run(update(pauses).where(pauses.c.pause_id == record.pause_id).values(row))
        return record.pause_id

    def untold_ends(self, ended_before: datetime) -> Sequence[PauseRecord]:
        """Pauses that ended before then and whose end no channel was told of."""
        rows = self._statements.run(
            select(pauses)
            .where(~pauses.c.end_told, pauses.c.ended_at < ended_before)
            .order_by(pauses.c.ended_at)
            .limit(PRUNE_SLICE)
        )
        return [_pause(row) for row in rows]


class Timers(Part):
    """One row per pause with an end time; an index holds the timers that run."""

    def save(self, timer: Timer) -> None:
        """Insert, or replace the one of the same pause."""
        self._statements.put(pause_timers, as_row(pause_timers, timer))

    def of(self, repository: RepositoryName, paused_at: datetime) -> Timer | None:
        """The one of the pause that the service says began then, within a second."""
        return self._first(_timer_of(repository, paused_at))

    def locked(self, repository: RepositoryName, paused_at: datetime) -> Timer | None:
        """As `of`; until the transaction ends nobody else changes it."""
        return self._first(_timer_of(repository, paused_at).with_for_update())

    def _first(self, wanted: Select[*tuple[Any, ...]]) -> Timer | None:
        row = self._statements.run(wanted).first()
        return None if row is None else from_row(Timer, row)

    def due(self, now: datetime, limit: int) -> Sequence[Timer]:
        """Running ones whose time has come, the longest due first."""
        rows = self._statements.run(_DUE, {"now": now, "at_most": limit})
        return [from_row(Timer, row) for row in rows]

    def running(self, repositories: Collection[RepositoryName]) -> Sequence[Timer]:
        """Those that will lift a pause, the next first."""
        rows = self._statements.by_keys(_RUNNING, pause_timers.c.repository, repositories)
        found = [from_row(Timer, row) for row in rows]
        return sorted(found, key=lambda one: (one.lifts_at, one.repository))


class Reminders(Part):
    """One row per pause that somebody was reminded of."""

    def get(self, pause_ids: Collection[int]) -> Mapping[int, ReminderPlan]:
        """By the pause's id."""
        return self._get(_PLANS, pause_ids)

    def locked(self, pause_ids: Collection[int]) -> Mapping[int, ReminderPlan]:
        """As `get`; until the transaction ends nobody else changes them."""
        return self._get(_LOCKED_PLANS, pause_ids)

    def _get(
        self, plans: Select[*tuple[Any, ...]], pause_ids: Collection[int]
    ) -> Mapping[int, ReminderPlan]:
        rows = self._statements.by_keys(plans, pause_reminders.c.pause_id, pause_ids)
        return {row.pause_id: from_row(ReminderPlan, row) for row in rows}

    def save(self, plan: ReminderPlan) -> None:
        """Insert, or replace the pause's."""
        self._statements.put(pause_reminders, as_row(pause_reminders, plan))


class ResumeWatchers(Part):
    """One row per pause and person, deleted when the person is notified."""

    def add(self, pause_id: int, user_id: str) -> bool:
        """Whether they had not asked yet."""
        added = self._statements.run(
            self._statements.insert(resume_watchers)
            .values(pause_id=pause_id, user_id=user_id)
            .on_conflict_do_nothing(index_elements=["pause_id", "user_id"])
            .returning(resume_watchers.c.user_id)
        )
        return added.first() is not None

    def take(self, pause_id: int) -> Sequence[str]:
        """All of a pause, in order, who are forgotten with that."""
        taken = self._statements.run(
            delete(resume_watchers)
            .where(resume_watchers.c.pause_id == pause_id)
            .returning(resume_watchers.c.user_id)
        )
        return sorted(row.user_id for row in taken)

    def waiting(self, pause_ids: Collection[int]) -> Collection[str]:
        """Those who asked for any of these."""
        rows = self._statements.by_keys(_WATCHERS, resume_watchers.c.pause_id, pause_ids)
        return {row.user_id for row in rows}

    def awaited(self, user_ids: Collection[str]) -> Mapping[str, Sequence[RepositoryName]]:
        """By user id, the repositories they asked for, in order; who asked for none is left out."""
        waiting = select(resume_watchers.c.user_id, pauses.c.repository).join(
            pauses, pauses.c.pause_id == resume_watchers.c.pause_id
        )
        found: dict[str, set[RepositoryName]] = defaultdict(set)
        for row in self._statements.by_keys(waiting, resume_watchers.c.user_id, user_ids):
            found[row.user_id].add(row.repository)
        return {user_id: sorted(names) for user_id, names in found.items()}

    def forget(self, user_id: str) -> bool:
        """Whether the person had asked for anything, which they are not told now."""
        deleted = self._statements.run(
            delete(resume_watchers).where(resume_watchers.c.user_id == user_id)
        )
        return deleted.rowcount > 0

    def move(self, pause_id: int, to: int) -> None:
        """They wait for the end of another pause: that one was replaced by it."""
        theirs = resume_watchers.c.pause_id == pause_id
        self._statements.run(
            self._statements.insert(resume_watchers)
            .from_select(
                ["pause_id", "user_id"],
                # Without a WHERE, SQLite takes ON for that of a join.
                select(literal(to), resume_watchers.c.user_id).where(theirs),
            )
            .on_conflict_do_nothing(index_elements=["pause_id", "user_id"])
        )
        self._statements.run(delete(resume_watchers).where(theirs))


def _pause(row: ResultRow) -> PauseRecord:
    return from_row(
        PauseRecord,
        row,
        by=_who(row.by_name, row.by_id),
        ended_by=_who(row.ended_by_name, row.ended_by_id),
    )


def _who(name: str | None, user_id: str | None) -> Who | None:
    return Who(name, user_id) if name is not None else None


def _timer_of(repository: RepositoryName, paused_at: datetime) -> Select[*tuple[Any, ...]]:
    """A timer that runs comes before one that is over, such as one whose time moved slightly."""
    return (
        select(pause_timers)
        .where(
            pause_timers.c.repository == repository,
            pause_timers.c.paused_at > paused_at - SAME_PAUSE,
            pause_timers.c.paused_at < paused_at + SAME_PAUSE,
        )
        .order_by(pause_timers.c.state != TimerState.RUNNING)
    )
