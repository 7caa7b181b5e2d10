"""Pauses with their ends and reminders, and the people who wait for their end."""

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
    *required(Boolean, "end_told"),
    *required(BigInteger, "group_act_id"),
    *optional(UtcTime, "timer_lifts_at", "timer_due_at", "reminders_next_at"),
    *optional(Text, "timer_set_by_user_id", "timer_channel_id"),
    *optional(OutsideText, "timer_set_by_name", "timer_stored_reason"),
    *optional(BigInteger, "timer_failures", "reminders_sent"),
    UniqueConstraint("repository", "paused_at", name="uq_pauses_paused_at"),
    CheckConstraint("(ended_at IS NULL) = (ending IS NULL)", name="ended_somehow"),
    sqlite_autoincrement=True,
    comment="One pause of one repository's queue, in force or over, with its timer.",
)
"""Who changes a pause holds its repository, and the repositories of several in their order.

`timer_lifts_at` is when it ends by itself, `timer_due_at` when that is tried next;
`timer_channel_id` is where that was asked for, `timer_stored_reason` the reason that the service
held then.
"""
_IN_FORCE = pauses.c.ended_at.is_(None)
_TIMED = pauses.c.timer_due_at.is_not(None)
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
        """Those in force, and those that ended at `since` or later; the latest first.

        Until the transaction ends nobody else changes, or begins, a pause of the repository.
        """
        # Several processes may notice at once a pause that has no row yet.
        self._hold(repository)
        return self.recent(repository, since)

    def recent(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        """As `of`; nothing is held for that."""
        recent = select(pauses).where(
            pauses.c.repository == repository, or_(_IN_FORCE, pauses.c.ended_at >= since)
        )
        return self._records(PauseRecord, recent.order_by(pauses.c.paused_at.desc()))

    def open(self, repositories: Collection[RepositoryName]) -> Sequence[PauseRecord]:
        """Those in force; nothing is held for that."""
        in_order = pauses.c.repository, pauses.c.paused_at.desc()
        open_ones = select(pauses).where(_IN_FORCE).order_by(*in_order)
        rows = self._by_keys(open_ones, pauses.c.repository, repositories)
        return [from_row(PauseRecord, row) for row in rows]

    def get(self, pause_ids: Collection[int]) -> Mapping[int, PauseRecord]:
        return self._get(PauseRecord, select(pauses), pauses.c.pause_id, pause_ids)

    def save(self, record: PauseRecord) -> int:
        """Insert one with the `pause_id` 0, else replace it; return its id.

        The caller has read the repository's with `of` before, in the same transaction.
        """
        row = as_row(pauses, record)
        if not record.pause_id:
            return self._add(pauses, row)
        self._change(pauses, pauses.c.pause_id == record.pause_id, **row)
        return record.pause_id

    def locked(self, record: PauseRecord) -> PauseRecord | None:
        """As it is now; until the transaction ends nobody else changes it."""
        self._hold(record.repository)
        return self.get([record.pause_id]).get(record.pause_id)

    def due(self, now: datetime, limit: int) -> Sequence[PauseRecord]:
        """Those that are to end by themselves by now, the longest due first."""
        due = select(pauses).where(pauses.c.timer_due_at <= now)
        in_order = due.order_by(pauses.c.timer_due_at, pauses.c.repository)
        return self._records(PauseRecord, in_order.limit(limit))

    def unended(self) -> Sequence[PauseRecord]:
        """Those in force, and those over that may yet be found in force, by repository."""
        unended = select(pauses).where(or_(_IN_FORCE, _TIMED))
        return self._records(PauseRecord, unended.order_by(pauses.c.repository))

    def of_group(self, group: str) -> Sequence[PauseRecord]:
        """Those in force that acts on a group made, by repository."""
        of_group = (
            select(pauses)
            .join(group_acts, group_acts.c.group_act_id == pauses.c.group_act_id)
            .where(_IN_FORCE, group_acts.c.group == group)
        )
        return self._records(PauseRecord, of_group.order_by(pauses.c.repository))

    def untold_ends(self, ended_before: datetime) -> Sequence[PauseRecord]:
        """Pauses that ended before then and whose end no channel was told of."""
        untold = select(pauses).where(~pauses.c.end_told, pauses.c.ended_at < ended_before)
        return self._records(PauseRecord, untold.order_by(pauses.c.ended_at).limit(PRUNE_SLICE))


class ResumeWatchers(Part):
    """People who wait for a pause to end; who was notified waits no more."""

    def add(self, pause_id: int, user_id: str) -> bool:
        """Whether they had not asked yet."""
        row = {"pause_id": pause_id, "user_id": user_id}
        return self._add_new(resume_watchers, row) is not None

    def take(self, pause_id: int) -> Sequence[str]:
        """All of a pause, in order, who are forgotten with that."""
        taken = delete(resume_watchers).where(resume_watchers.c.pause_id == pause_id)
        return sorted(self._run(taken.returning(resume_watchers.c.user_id)).scalars())

    def waiting(self, pause_ids: Collection[int]) -> Collection[str]:
        """Those who asked for any of these."""
        rows = self._by_keys(select(resume_watchers), resume_watchers.c.pause_id, pause_ids)
        return {row.user_id for row in rows}

    def awaited(self, user_ids: Collection[str]) -> Mapping[str, Sequence[RepositoryName]]:
        """By user id, the repositories they asked for, in order; who asked for none is left out."""
        waiting = select(resume_watchers.c.user_id, pauses.c.repository).join(pauses)
        found: dict[str, set[RepositoryName]] = defaultdict(set)
        for row in self._by_keys(waiting, resume_watchers.c.user_id, user_ids):
            found[row.user_id].add(row.repository)
        return {user_id: sorted(names) for user_id, names in found.items()}

    def forget(self, user_id: str) -> bool:
        """Whether the person had asked for anything, which they are not told now."""
        return self._remove(resume_watchers, resume_watchers.c.user_id == user_id) > 0

    def move(self, pause_id: int, to: int) -> None:
        """They wait for the end of another pause: that one was replaced by it."""
        for user_id in self.take(pause_id):
            self.add(to, user_id)
