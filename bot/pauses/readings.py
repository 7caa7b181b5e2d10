"""Readings of the service: `observe` decides what each changes, and that is stored and told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.acts.locks import is_acted_upon
from bot.acts.record import Action, ActResult, AuditRecord
from bot.acts.rows import Audit, Revisions
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import Pause
from bot.pauses.history import (
    PAUSE_LOOKBACK,
    end_pause,
    pause_subscribers,
    reopen_pause,
    touch_pause,
)
from bot.pauses.known import (
    ActKind,
    ActState,
    Known,
    KnownPause,
    Line,
    PauseAct,
    Reading,
    Shown,
    StatusSays,
    same_reason,
)
from bot.pauses.observe import STALE_ANSWER, act_that_made, observe
from bot.pauses.pause import NEAR, EarlierLine, PauseRecord, observed, same_moment
from bot.pauses.reports import set_as_before, set_by_act, set_elsewhere
from bot.pauses.rows import Pauses
from bot.store.transaction import Transaction

ANOTHER_PROCESS = -1
"""Stands for the act under way, whose id nobody needs."""

LOG_DELAY = timedelta(seconds=1)
"""How much earlier than the service's own time of a pause its event may be stamped."""


@dataclass(frozen=True, slots=True)
class PauseReading:
    """What the service answered about the pause in force."""

    pause: Pause | None
    at: datetime  #: by the service's clock
    status: StatusSays = StatusSays.NOTHING


@dataclass(frozen=True, slots=True)
class _Stored:
    """The rows behind what is known."""

    pauses: Sequence[PauseRecord]  #: in the order of `Known.pauses`
    lines: Mapping[int, Sequence[EarlierLine]]  #: what each said before, by its id
    acts: Mapping[int, AuditRecord]  #: by their ids

    @property
    def last(self) -> PauseRecord | None:
        return self.pauses[-1] if self.pauses else None

    @property
    def in_force(self) -> PauseRecord | None:
        last = self.last
        return last if last is not None and last.is_open else None

    def lines_of_last(self) -> Sequence[EarlierLine]:
        return self.lines.get(self.last.pause_id, ()) if self.last is not None else ()


def observe_reading(
    transaction: Transaction,
    repository: RepositoryName,
    reading: PauseReading,
    now: datetime,
    *,
    revision: int | None = None,
) -> bool:
    """Store and tell what a reading changes; False if it proves nothing, so read again.

    `revision`: the repository's, from before the request; None for the reading of an act that has
    the repository's lock.
    """
    stored = _stored(transaction, repository, min(now, reading.at) - PAUSE_LOOKBACK)
    if reading.pause is not None:
        stored = _with_exact_time(transaction, stored, reading.pause, now)
    is_own = revision is None
    known = _known(transaction, repository, stored)
    if not is_own and is_acted_upon(transaction, repository, now):
        known = replace(known, acting=ANOTHER_PROCESS)
    shown = _shown(stored, reading.pause, reading.at) if reading.pause is not None else None
    found = observe(
        known,
        Reading(shown, reading.at, reading.status),
        known.revision if revision is None else revision,
        is_own=is_own,
    )
    _Storing(transaction, repository, stored, reading, now).run(known, found.known)
    return not found.reads_again


def _stored(transaction: Transaction, repository: RepositoryName, since: datetime) -> _Stored:
    found = Pauses(transaction).of(repository, since)
    pauses = sorted(found, key=lambda pause: (pause.is_open, pause.since))
    lines: dict[int, list[EarlierLine]] = {pause.pause_id: [] for pause in pauses}
    for line in Pauses(transaction).earlier_lines(lines):
        lines[line.pause_id].append(line)
    acts = {act.record_id: act for act in Audit(transaction).since(repository, since, Action.PAUSE)}
    return _Stored(pauses, lines, acts)


def _known(transaction: Transaction, repository: RepositoryName, stored: _Stored) -> Known:
    last = stored.last
    return Known(
        pauses=tuple(_pause(pause, stored.lines[pause.pause_id]) for pause in stored.pauses),
        acts=tuple(_acts(list(stored.acts.values()))),
        revision=Revisions(transaction).of(repository),
        missing_since=last.missing_since if last is not None else None,
    )


def _pause(record: PauseRecord, earlier: Sequence[EarlierLine]) -> KnownPause:
    lines = [*(_line(line) for line in earlier), _line(record)]
    ended_at = record.end_seen_at or record.ended_at
    if ended_at is not None:
        # The `Date` of an answer is rounded down.
        ended_at = max(ended_at, record.paused_at)
    return KnownPause(
        tuple(lines),
        seen_at=record.seen_at or record.paused_at,
        ended_at=ended_at,
        ended_by=record.ended_by,
    )


def _line(line: EarlierLine | PauseRecord) -> Line:
    return Line(line.stored_reason, line.paused_at, line.by, is_named=line.event_id is not None)


def _acts(records: Sequence[AuditRecord]) -> Sequence[PauseAct]:
    """The pausing acts of this bot, by the record of their end, or of their beginning."""
    ends = {record.act_id: record for record in records if record.act_id}
    acts = []
    for record in records:
        end = ends.get(record.record_id)
        if record.result is not ActResult.STARTED:
            continue
        is_done = end is not None and end.result is ActResult.DONE
        is_open = end is None or end.result is ActResult.FAILED
        state = ActState.DONE if is_done else ActState.OPEN if is_open else ActState.NOT_DONE
        answered = None
        if end is not None and is_done and end.paused_at is not None:
            answered = Shown(end.stored_reason or "", end.paused_at)
        acts.append(
            PauseAct(
                act_id=record.record_id,
                kind=ActKind.PAUSE,
                actor=record.actor,
                began_at=record.at,
                reason=record.stored_reason,
                state=state,
                answered=answered,
            )
        )
    return acts


def _shown(stored: _Stored, pause: Pause, at: datetime) -> Shown:
    """The pause as a line that is known shows it, if it is that line, whatever its time."""
    last = stored.last
    if last is None:
        return Shown(pause.reason, pause.paused_at if pause.is_dated else at)
    if not pause.is_dated:
        ended_at = last.end_seen_at or last.ended_at
        is_recent = ended_at is None or at - ended_at < STALE_ANSWER
        if is_recent and same_reason(last.stored_reason, pause.reason):
            return Shown(pause.reason, last.paused_at)
        known_until = max(ended_at or last.paused_at, last.paused_at)
        return Shown(pause.reason, max(at, known_until + timedelta.resolution))
    said: list[EarlierLine | PauseRecord] = [last, *reversed(stored.lines_of_last())]
    for line in said:
        if _is_line(line, pause):
            return Shown(pause.reason, line.paused_at)
    return Shown(pause.reason, pause.paused_at)


def _is_line(line: EarlierLine | PauseRecord, pause: Pause) -> bool:
    """Whether the pause is the one that the line is about; an event is stamped a little later."""
    if not same_reason(line.stored_reason, pause.reason):
        return False
    if line.is_exact:
        return same_moment(line.paused_at, pause.paused_at)
    return -LOG_DELAY <= line.paused_at - pause.paused_at <= NEAR


def _with_exact_time(
    transaction: Transaction, stored: _Stored, pause: Pause, now: datetime
) -> _Stored:
    """The rows once the pause in force has the service's own time, which an event doesn't tell."""
    record = stored.in_force
    if record is None or record.is_exact or not pause.is_dated or not _is_line(record, pause):
        return stored
    exact = replace(record, paused_at=pause.paused_at, is_exact=True)
    Pauses(transaction).save(exact)
    touch_pause(transaction, exact, now)
    return replace(stored, pauses=(*stored.pauses[:-1], exact))


@dataclass(frozen=True, slots=True)
class _Storing:
    """Stores what a reading changed, and tells it."""

    transaction: Transaction
    repository: RepositoryName
    stored: _Stored
    reading: PauseReading
    now: datetime

    def run(self, before: Known, after: Known) -> None:
        was = before.last
        pause = after.last
        record = self.stored.last
        if pause is None or after == before:
            return
        if was is None or record is None or len(after.pauses) > len(before.pauses):
            self._set(None, before, pause)
        elif not pause.is_open:
            self._end(record, pause)
        else:
            self._go_on(record, before, after)

    def _end(self, record: PauseRecord, pause: KnownPause) -> None:
        if record.is_open and pause.ended_at is not None:
            over = replace(record, missing_since=None, end_seen_at=pause.ended_at)
            end_pause(self.transaction, over, self.now, None, self.now)

    def _go_on(self, record: PauseRecord, before: Known, after: Known) -> None:
        """The last pause is open, and perhaps its end was false, or it says something else."""
        if not record.is_open:
            channels = pause_subscribers(self.transaction, self.repository)
            record = reopen_pause(self.transaction, record, channels, self.now)
            record = replace(record, seen_at=self.reading.at)
            Pauses(self.transaction).save(record)
        if record.missing_since != after.missing_since:
            record = replace(record, missing_since=after.missing_since)
            Pauses(self.transaction).note_missing(record)
        pause = after.last
        was = before.last
        if pause is not None and was is not None and not was.last_line.shows(_shown_by(pause)):
            self._set(record, before, pause)

    def _set(self, in_force: PauseRecord | None, before: Known, after: KnownPause) -> None:
        """What the reading shows is in force now."""
        shown = _shown_by(after)
        act = act_that_made(before, shown)
        earlier = [line for line in self.stored.lines_of_last() if _line(line).shows(shown)]
        if in_force is not None and earlier:
            record = set_as_before(self.transaction, in_force, earlier[-1], self.now)
        elif act is not None:
            begun = self.stored.acts[act.act_id]
            record = set_by_act(self.transaction, in_force, begun, shown.paused_at, self.now)
        else:
            seen = observed(self.repository, self._as_pause(shown))
            record = set_elsewhere(self.transaction, in_force, seen, self.now)
        seen_at = self.reading.at
        Pauses(self.transaction).save(replace(record, seen_at=seen_at, missing_since=None))

    def _as_pause(self, shown: Shown) -> Pause:
        is_dated = self.reading.pause is None or self.reading.pause.is_dated
        return Pause(reason=shown.reason, paused_at=shown.paused_at, is_dated=is_dated)


def _shown_by(pause: KnownPause) -> Shown:
    return Shown(pause.last_line.reason, pause.last_line.paused_at)
