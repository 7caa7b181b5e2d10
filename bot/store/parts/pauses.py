"""Pauses with their ends and reminders, and the people who wait for their end."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, literal, or_, select, update

from bot.domain.pause_records import PauseRecord, ReminderPlan, Timer, Who
from bot.domain.repository import RepositoryName
from bot.store.statements import PRUNE_SLICE, Part, ResultRow, as_row, from_row
from bot.store.tables import group_acts, pauses, resume_watchers

_PAUSE = select(pauses)
_RECENT = _PAUSE.where(
    pauses.c.repository == bindparam("name"),
    or_(pauses.c.ended_at.is_(None), pauses.c.ended_at >= bindparam("since")),
).order_by(pauses.c.paused_at.desc())
_LASTING = _PAUSE.where(pauses.c.ended_at.is_(None)).order_by(
    pauses.c.repository, pauses.c.paused_at.desc()
)
_DUE = (
    _PAUSE.where(pauses.c.due_at <= bindparam("now"))
    .order_by(pauses.c.due_at, pauses.c.repository)
    .limit(bindparam("at_most"))
)
_OF_GROUP = (
    _PAUSE.join(group_acts, group_acts.c.group_act_id == pauses.c.group_act_id)
    .where(pauses.c.ended_at.is_(None), group_acts.c.group == bindparam("group"))
    .order_by(pauses.c.repository)
)
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
        row = _row(record)
        if not record.pause_id:
            return self._statements.add_numbered(pauses, row)
        self._statements.run(update(pauses).where(pauses.c.pause_id == record.pause_id).values(row))
        return record.pause_id

    def locked(self, record: PauseRecord) -> PauseRecord | None:
        """As it is now; until the transaction ends nobody else changes it."""
        self._statements.hold(record.repository)
        return self.get([record.pause_id]).get(record.pause_id)

    def due(self, now: datetime, limit: int) -> Sequence[PauseRecord]:
        """Those that are to end by themselves by now, the longest due first."""
        rows = self._statements.run(_DUE, {"now": now, "at_most": limit})
        return [_pause(row) for row in rows]

    def unended(self) -> Sequence[PauseRecord]:
        """Those in force, and those over that may yet be found in force, by repository."""
        unended = or_(pauses.c.ended_at.is_(None), pauses.c.due_at.is_not(None))
        rows = self._statements.run(_PAUSE.where(unended).order_by(pauses.c.repository))
        return [_pause(row) for row in rows]

    def of_group(self, group: str) -> Sequence[PauseRecord]:
        """Those in force that acts on a group made, by repository."""
        return [_pause(row) for row in self._statements.run(_OF_GROUP, {"group": group})]

    def untold_ends(self, ended_before: datetime) -> Sequence[PauseRecord]:
        """Pauses that ended before then and whose end no channel was told of."""
        rows = self._statements.run(
            select(pauses)
            .where(~pauses.c.end_told, pauses.c.ended_at < ended_before)
            .order_by(pauses.c.ended_at)
            .limit(PRUNE_SLICE)
        )
        return [_pause(row) for row in rows]


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


def _row(record: PauseRecord) -> dict[str, object]:
    by, ended_by, timer, plan = record.by, record.ended_by, record.timer, record.reminders
    return as_row(
        pauses,
        record,
        by_id=by.user_id if by else None,
        by_name=by.name if by else None,
        ended_by_id=ended_by.user_id if ended_by else None,
        ended_by_name=ended_by.name if ended_by else None,
        lifts_at=timer.lifts_at if timer else None,
        due_at=timer.due_at if timer else None,
        end_set_by_id=timer.set_by.user_id if timer else None,
        end_set_by_name=timer.set_by.name if timer else None,
        channel_id=timer.channel_id if timer else None,
        end_set_for=timer.stored_reason if timer else None,
        failures=timer.failures if timer else 0,
        reminder_at=plan.next_at if plan else None,
        reminders_sent=plan.sent if plan else 0,
    )


def _pause(row: ResultRow) -> PauseRecord:
    timer, plan = None, None
    if row.lifts_at is not None:
        set_by = Who(row.end_set_by_name, row.end_set_by_id)
        timer = Timer(
            row.lifts_at, row.due_at, set_by, row.end_set_for, row.channel_id, row.failures
        )
    if row.reminder_at is not None:
        plan = ReminderPlan(row.reminder_at, row.reminders_sent)
    return from_row(
        PauseRecord,
        row,
        by=_who(row.by_name, row.by_id),
        ended_by=_who(row.ended_by_name, row.ended_by_id),
        timer=timer,
        reminders=plan,
    )


def _who(name: str | None, user_id: str | None) -> Who | None:
    return Who(name, user_id) if name is not None else None
