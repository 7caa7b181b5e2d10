"""Pauses with their ends and reminders, and the people to notify when they end."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    delete,
    or_,
    select,
)

from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.repository import RepositoryName
from bot.store.column_types import AsText, OutsideText, Repository, SortedSet, UtcTime
from bot.store.group_acts import group_acts
from bot.store.schema import key, metadata, optional, partial_index, required, row_number
from bot.store.statements import PRUNE_SLICE, Part, as_row, from_row

pauses = Table(
    "pauses",
    metadata,
    row_number("pause_id"),
    *required(Repository, "repository"),
    *required(UtcTime, "paused_at"),
    *required(Boolean, "is_exact"),
    *required(OutsideText, "stored_reason", "reason"),
    *optional(OutsideText, "previous_reason"),
    *optional(Text, "by_user_id", "ended_by_user_id"),
    *optional(OutsideText, "by_name", "ended_by_name"),
    *optional(BigInteger, "event_id", "queued_at_start", "queued_now"),
    *required(SortedSet, "joined", "stopped"),
    *optional(UtcTime, "ended_at"),
    *optional(AsText(PauseEnding), "ending"),
    *required(Boolean, "end_notified"),
    *required(BigInteger, "group_act_id"),
    *optional(
        UtcTime, "timer_resumes_at", "timer_due_at", "reminders_next_at", "reminders_last_at"
    ),
    *optional(Text, "timer_set_by_user_id", "timer_channel_id"),
    *optional(OutsideText, "timer_set_by_name", "timer_stored_reason"),
    *optional(BigInteger, "timer_failures", "reminders_sent"),
    UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
    CheckConstraint("(ended_at IS NULL) = (ending IS NULL)", name="ended_somehow"),
    sqlite_autoincrement=True,
    comment="One pause of one repository's queue, in force or over, with its timer.",
)
"""To change a pause, lock its repository first; lock several repositories in their order.

`timer_resumes_at` is when it ends by itself, `timer_due_at` the next attempt,
`timer_channel_id` where the end was set, `timer_stored_reason` the service's reason then.
"""
_IN_FORCE = pauses.c.ended_at.is_(None)
_TIMED = pauses.c.timer_due_at.is_not(None)
_OPEN = select(pauses).where(_IN_FORCE).order_by(pauses.c.repository, pauses.c.paused_at.desc())
_RECENT = (
    select(pauses)
    .where(
        pauses.c.repository == bindparam("repository"),
        or_(_IN_FORCE, pauses.c.ended_at >= bindparam("since")),
    )
    .order_by(pauses.c.paused_at.desc())
)
partial_index(pauses.c.repository, where=_IN_FORCE)
partial_index(pauses.c.timer_due_at, where=_TIMED)
Index(None, pauses.c.ended_at)

resume_watchers = Table(
    "resume_watchers",
    metadata,
    Column("pause_id", BigInteger, ForeignKey("pauses.pause_id"), primary_key=True),
    *key(Text, "user_id"),
    comment="One person to notify, once, when one pause ends.",
)


class Pauses(Part):
    """Pauses, in force or over."""

    def of(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        """The pauses in force or ended since `since`, latest first.

        Locks the repository's pauses until the transaction ends.
        """
        # Several processes may find a new pause together.
        self._hold(repository)
        return self.recent(repository, since)

    def recent(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        """Like `of`, without a lock."""
        return self._records(PauseRecord, _RECENT, repository=repository, since=since)

    def open(self, repositories: Collection[RepositoryName]) -> Sequence[PauseRecord]:
        """The pauses in force, without a lock."""
        rows = self._by_keys(_OPEN, pauses.c.repository, repositories)
        return [from_row(PauseRecord, row) for row in rows]

    def get(self, pause_ids: Collection[int]) -> Mapping[int, PauseRecord]:
        return self._get(PauseRecord, select(pauses), pauses.c.pause_id, pause_ids)

    def save(self, record: PauseRecord) -> int:
        """Insert one with the `pause_id` 0, else replace it; return its id.

        Call `of` before, in the same transaction.
        """
        row = as_row(pauses, record)
        if not record.pause_id:
            return self._add(pauses, row)
        self._change(pauses, pauses.c.pause_id == record.pause_id, **row)
        return record.pause_id

    def locked(self, record: PauseRecord) -> PauseRecord | None:
        """Read a pause and lock it until the transaction ends."""
        self._hold(record.repository)
        return self.get([record.pause_id]).get(record.pause_id)

    def due(self, now: datetime, limit: int) -> Sequence[PauseRecord]:
        """The timed pauses that are due, by due time."""
        due = select(pauses).where(pauses.c.timer_due_at <= now)
        in_order = due.order_by(pauses.c.timer_due_at, pauses.c.repository)
        return self._records(PauseRecord, in_order.limit(limit))

    def unended(self) -> Sequence[PauseRecord]:
        """The pauses in force, and ended ones that may turn out to be, by repository."""
        unended = select(pauses).where(or_(_IN_FORCE, _TIMED))
        return self._records(PauseRecord, unended.order_by(pauses.c.repository))

    def of_group(self, group: str) -> Sequence[PauseRecord]:
        """The pauses in force made by acts on a group, by repository."""
        of_group = (
            select(pauses)
            .join(group_acts, group_acts.c.group_act_id == pauses.c.group_act_id)
            .where(_IN_FORCE, group_acts.c.group == group)
        )
        return self._records(PauseRecord, of_group.order_by(pauses.c.repository))

    def untold_ends(self, ended_before: datetime) -> Sequence[PauseRecord]:
        """Pauses that ended before then without a notification."""
        unnotified = select(pauses).where(~pauses.c.end_notified, pauses.c.ended_at < ended_before)
        return self._records(PauseRecord, unnotified.order_by(pauses.c.ended_at).limit(PRUNE_SLICE))


class ResumeWatchers(Part):
    """People to notify when a pause ends; each is notified once."""

    def add(self, pause_id: int, user_id: str) -> bool:
        """Add a person; False if they had asked already."""
        row = {"pause_id": pause_id, "user_id": user_id}
        return self._add_new(resume_watchers, row) is not None

    def take(self, pause_id: int) -> Sequence[str]:
        """Remove and return all people who wait for a pause, in order."""
        taken = delete(resume_watchers).where(resume_watchers.c.pause_id == pause_id)
        return sorted(self._run(taken.returning(resume_watchers.c.user_id)).scalars())

    def waiting(self, pause_ids: Collection[int]) -> Collection[str]:
        """The people who wait for any of these pauses."""
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
        """Move the people to the pause that replaced this one."""
        for user_id in self.take(pause_id):
            self.add(to, user_id)
