"""Rows of pauses, and of the people to notify when they end."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import bindparam, delete, or_, select
from typing_extensions import override

from bot.acts.tables import group_acts
from bot.kernel.repository import RepositoryName
from bot.pauses.known import ToldEnd
from bot.pauses.pause import EarlierLine, PausedQueue, PauseEnd, PauseLine, PauseRecord, Takeover
from bot.pauses.tables import (
    IN_FORCE,
    OF_AN_ACT,
    TIMED,
    pause_ends,
    pause_lines,
    pauses,
    resume_watchers,
)
from bot.store.statements import PRUNE_SLICE, Numbered, Part, ResultRow, as_row, from_row
from bot.store.transaction import Transaction

_BY_REPOSITORY = select(pauses).order_by(pauses.c.repository, pauses.c.paused_at.desc())


# Built once, because building a statement takes several times as long as running it.
_OPEN_PAUSE = _BY_REPOSITORY.where(IN_FORCE)


_RECENT = _BY_REPOSITORY.where(
    pauses.c.repository == bindparam("repository"),
    or_(IN_FORCE, pauses.c.ended_at >= bindparam("since")),
)


_UNNOTIFIED = (
    select(pauses)
    .where(~pauses.c.end_notified, pauses.c.ended_at < bindparam("before"))
    .order_by(pauses.c.ended_at)
    .limit(PRUNE_SLICE)
)


class Pauses(Numbered[PauseRecord]):
    """Pauses, in force or over."""

    kind = PauseRecord
    rows = select(pauses)
    number = pauses.c.pause_id

    @override
    def _read(self, row: ResultRow) -> PauseRecord:
        end: PauseEnd | None = None
        told_end: ToldEnd | None = None
        taken_over: Takeover | None = None
        if row.ended_at is not None:
            end = PauseEnd(
                row.ended_at,
                row.ended_by,
                row.ending,
                row.end_seen_at,
                row.told_end_at,
                row.end_notified,
                row.end_id or 0,
            )
        elif row.told_end_at is not None:
            told_end = ToldEnd(row.told_end_at, row.told_end_by)
        if row.taken_over_by is not None:
            taken_over = Takeover(row.taken_over_by, row.taken_over_at)
        return from_row(
            PauseRecord,
            row,
            line=_line_of_row(row),
            queue=PausedQueue(row.queued_at_start, row.queued_now, row.waited, row.stopped),
            end=end,
            told_end=told_end,
            taken_over=taken_over,
        )

    def of(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        """The pauses in force or ended since `since`, latest first.

        Locks the repository's pauses until the transaction ends.
        """
        # Several processes may find a new pause together.
        self.lock(repository)
        return self.recent(repository, since)

    def recent(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        return self._all(_RECENT, repository=repository, since=since)

    def open(self, repositories: Collection[RepositoryName]) -> Sequence[PauseRecord]:
        rows = self._by_keys(_OPEN_PAUSE, pauses.c.repository, repositories)
        return [self._read(row) for row in rows]

    def save(self, record: PauseRecord) -> int:
        """Insert one with the `pause_id` 0, else replace it; return its id.

        Call `of` before, in the same transaction.
        """
        row = _row_of_pause(record)
        if not record.pause_id:
            return self._add(pauses, row)
        self._change(pauses, pauses.c.pause_id == record.pause_id, **row)
        return record.pause_id

    def earlier_lines(self, pause_ids: Collection[int]) -> Sequence[EarlierLine]:
        """What the pauses said before, oldest first."""
        rows = self._by_keys(select(pause_lines), pause_lines.c.pause_id, pause_ids)
        lines = [_earlier_line(row) for row in rows]
        return sorted(lines, key=lambda earlier: (earlier.line.paused_at, earlier.line_id))

    def line(self, line_id: int) -> EarlierLine | None:
        this = select(pause_lines).where(pause_lines.c.line_id == line_id)
        row = self._run(this).one_or_none()
        return _earlier_line(row) if row is not None else None

    def save_line(self, earlier: EarlierLine) -> int:
        """Insert one with the `line_id` 0, else replace it; return its id.

        Call `of` before, in the same transaction.
        """
        row = as_row(pause_lines, earlier) | as_row(pause_lines, earlier.line)
        if not earlier.line_id:
            return self._add(pause_lines, row)
        self._change(pause_lines, pause_lines.c.line_id == earlier.line_id, **row)
        return earlier.line_id

    def save_ended(self, record: PauseRecord) -> PauseRecord:
        """Save a pause that is over, with its end; return it with the number of that."""
        end = record.end
        if end is None:
            raise TypeError(record)
        row = {
            "pause_id": record.pause_id,
            "ended_at": end.at,
            "ended_by": end.by,
            "ending": end.how,
        }
        if end.end_id:
            self._change(pause_ends, pause_ends.c.end_id == end.end_id, **row)
        else:
            end_id = self._add(pause_ends, row)
            record = replace(record, end=replace(end, end_id=end_id))
        self.save(record)
        return record

    def end_numbers(self, pause_ids: Collection[int]) -> Sequence[int]:
        """The numbers of these pauses' ends, true or false, oldest first."""
        rows = self._by_keys(select(pause_ends), pause_ends.c.pause_id, pause_ids)
        return sorted(row.end_id for row in rows)

    def with_end(self, end_id: int) -> PauseRecord | None:
        """A pause as it was over by that end, which may have been false."""
        this = select(pause_ends).where(pause_ends.c.end_id == end_id)
        row = self._run(this).one_or_none()
        if row is None:
            return None
        record = self.one(row.pause_id)
        if record is None or (record.end is not None and record.end.end_id == end_id):
            return record
        end = PauseEnd(row.ended_at, row.ended_by, row.ending, end_id=end_id)
        return replace(record, end=end)

    def locked(self, record: PauseRecord) -> PauseRecord | None:
        """Read a pause and lock it until the transaction ends."""
        self.lock(record.repository)
        return self.one(record.pause_id)

    def due(self, now: datetime, limit: int) -> Sequence[PauseRecord]:
        due = select(pauses).where(pauses.c.timer_due_at <= now)
        in_order = due.order_by(pauses.c.timer_due_at, pauses.c.repository)
        return self._all(in_order.limit(limit))

    def in_force_or_timed(self) -> Sequence[PauseRecord]:
        """The pauses in force, and ended ones that may turn out to be, by repository."""
        return self._all(_BY_REPOSITORY.where(or_(IN_FORCE, TIMED)))

    def open_elsewhere(self, names: Collection[RepositoryName]) -> Sequence[PauseRecord]:
        """The pauses in force of all other repositories, by repository."""
        in_force = self._all(_OPEN_PAUSE)
        return [pause for pause in in_force if pause.repository not in names]

    def of_group(self, group: str) -> Sequence[PauseRecord]:
        """The pauses in force made by acts on a group, by repository."""
        # Not IN: SQLite would read all acts that there ever were.
        act = select(group_acts.c.group_act_id).where(
            group_acts.c.group_act_id == pauses.c.group_act_id, group_acts.c.group == group
        )
        return self._all(_BY_REPOSITORY.where(IN_FORCE, act.exists()))

    def of_act(self, group_act_id: int) -> Sequence[PauseRecord]:
        """The pauses made by an act on a group, in force or over, by repository."""
        # SQLite uses the index only if its condition is one of the query's, too.
        is_of_act = pauses.c.group_act_id == group_act_id
        return self._all(_BY_REPOSITORY.where(OF_AN_ACT, is_of_act))

    def ended_since(self, since: datetime) -> Collection[RepositoryName]:
        """The repositories with a pause that ended since then."""
        ended = select(pauses.c.repository).where(pauses.c.ended_at >= since)
        # Not DISTINCT: SQLite would read all pauses in the order of their repositories.
        return {row.repository for row in self._run(ended)}

    def unnotified_ends(self, ended_before: datetime) -> Sequence[PauseRecord]:
        """Pauses that ended before then without a notification."""
        return self._all(_UNNOTIFIED, before=ended_before)


def _line_of_row(row: ResultRow) -> PauseLine:
    return PauseLine(
        row.paused_at, row.stored_reason, row.reason, row.by, row.event_id, row.group_act_id
    )


def _earlier_line(row: ResultRow) -> EarlierLine:
    return EarlierLine(row.pause_id, _line_of_row(row), row.taken_over_by, row.line_id)


_EMPTY = {
    **dict.fromkeys(("timer_due_at", "taken_over_by", "taken_over_at", "told_end_at")),
    **dict.fromkeys(("told_end_by", "ended_at", "ended_by", "ending", "end_id", "end_seen_at")),
    "end_notified": False,
}
"""The columns of a pause in force that nobody has taken over."""


def _row_of_pause(record: PauseRecord) -> dict[str, object]:
    row = {**_EMPTY, **as_row(pauses, record)}
    row |= as_row(pauses, record.line) | as_row(pauses, record.queue)
    if record.timer is not None:
        row |= {"timer_due_at": record.timer.due_at}
    if record.taken_over is not None:
        row |= {"taken_over_by": record.taken_over.by, "taken_over_at": record.taken_over.at}
    if record.told_end is not None:
        row |= {"told_end_at": record.told_end.at, "told_end_by": record.told_end.by}
    if record.end is not None:
        row |= {
            "ended_at": record.end.at,
            "ended_by": record.end.by,
            "ending": record.end.how,
            "end_id": record.end.end_id or None,
            "end_seen_at": record.end.seen_at,
            "end_notified": record.end.is_notified,
            "told_end_at": record.end.told_at,
        }
    return row


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


def is_paused(transaction: Transaction, repository: RepositoryName) -> bool:
    """Whether a pause is in force, as far as the bot knows."""
    return bool(Pauses(transaction).open([repository]))
