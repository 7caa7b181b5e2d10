"""What is stored of one repository's pauses and acts, as what the bot knows of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.acts.causes import act_of_event
from bot.acts.reason import signed_by
from bot.acts.record import SOMEBODY, Action, ActResult, AuditRecord, AuditSelection
from bot.acts.rows import Audit, Revisions
from bot.kernel.actor import Actor
from bot.kernel.repository import RepositoryName
from bot.log.classification import PAUSE_TYPES
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import PAUSE_CREATE, PAUSE_DELETE, PAUSE_UPDATE
from bot.pauses.known import (
    ActCertainty,
    ActKind,
    Known,
    KnownEnd,
    KnownPause,
    Line,
    LineTimer,
    PauseAct,
    PauseEvent,
    PauseEventKind,
    Shown,
    end_between,
)
from bot.pauses.pause import PAUSE_LOOKBACK, EarlierLine, PauseLine, PauseRecord, line_of
from bot.pauses.place import named_by_us
from bot.pauses.rows import Pauses
from bot.store.transaction import Transaction

ACTS_READ = 30
"""How many records of pauses are read, and how many of resumes, the newest: an act has two.

The log tells of an act within minutes, so an earlier one has its line or its end by then.
"""

STARTS = frozenset({PAUSE_CREATE, PAUSE_UPDATE})

_KINDS = {
    PAUSE_CREATE: PauseEventKind.CREATED,
    PAUSE_UPDATE: PauseEventKind.UPDATED,
    PAUSE_DELETE: PauseEventKind.REMOVED,
}


@dataclass(frozen=True, slots=True)
class StoredPause:
    """What is known, and the rows behind it."""

    known: Known
    pauses: Mapping[int, PauseRecord]  #: by their ids
    lines: Mapping[int, Sequence[EarlierLine]]  #: what each said before, oldest first, by its id
    acts: Mapping[int, AuditRecord]  #: how each began, by its id
    ends: Mapping[int, AuditRecord]  #: how each ended, as far as known, by its id
    records: Sequence[AuditRecord]  #: all of the acts

    @property
    def last(self) -> PauseRecord | None:
        pause = self.known.last
        return self.pauses[pause.pause_id] if pause is not None else None

    def lines_of(self, pause_id: int) -> Sequence[EarlierLine]:
        """All that it has said, the line that counts now included, which is the last."""
        return [*self.lines[pause_id], line_of(self.pauses[pause_id])]


def load_stored(transaction: Transaction, repository: RepositoryName, now: datetime) -> StoredPause:
    """Read what is known; until the transaction ends nobody else changes a pause of it."""
    since = now - PAUSE_LOOKBACK
    found = Pauses(transaction).of(repository, since)
    in_order = sorted(found, key=lambda pause: (pause.is_open, pause.since))
    pauses = {pause.pause_id: pause for pause in in_order}
    lines: dict[int, list[EarlierLine]] = {pause_id: [] for pause_id in pauses}
    for line in Pauses(transaction).earlier_lines(lines):
        lines[line.pause_id].append(line)
    records = [
        *_newest_acts(transaction, repository, since, Action.PAUSE),
        *_newest_acts(transaction, repository, since, Action.RESUME),
    ]
    acts = _begun(records)
    ends = _ends(records)
    known_pauses = tuple(_known_pause(pause, lines[pause.pause_id]) for pause in in_order)
    last = in_order[-1] if in_order else None
    known = Known(
        pauses=known_pauses,
        acts=tuple(
            as_act(act, ends.get(act_id), known_pauses) for act_id, act in sorted(acts.items())
        ),
        revision=Revisions(transaction).of(repository),
        missing_since=last.missing_since if last is not None else None,
    )
    events = Events(transaction).routed(repository, STARTS, since)
    for event in events:
        known = _waits(known, event, records)
    return StoredPause(known, pauses, lines, acts, ends, records)


def _newest_acts(
    transaction: Transaction, repository: RepositoryName, since: datetime, action: Action
) -> Sequence[AuditRecord]:
    selection = AuditSelection(repository, since, actions=(action,))
    return Audit(transaction).newest(selection, ACTS_READ)[::-1]


def _waits(known: Known, record: EventRecord, acts: Sequence[AuditRecord]) -> Known:
    """What is known with the event among those that wait, unless it has a line."""
    for pause in known.pauses:
        if any(line.event_id == record.event_id for line in pause.lines):
            return known
    known, event = named_by_us(known, as_pause_event(record, acts))
    return replace(known, waiting=(*known.waiting, event))


def as_pause_event(
    record: EventRecord, acts: Sequence[AuditRecord], clock_ahead: timedelta = timedelta()
) -> PauseEvent:
    """What the event tells. `acts`: those that may have caused it.

    `clock_ahead`: how far the service's clock is ahead of the bot's.
    """
    if record.type not in PAUSE_TYPES:
        raise TypeError(record)
    reason = record.details.reason or ""
    is_ours = record.details.is_ours
    if is_ours is None:
        # The log doesn't say whose credential it was.
        is_ours = act_of_event(record, acts, clock_ahead) is not None
    by = Actor("", record.details.actor) if record.details.actor else None
    name = signed_by(reason)
    if by is None and name is not None:
        by = Actor("", name)
    elif by is None and record.details.is_ours:
        by = SOMEBODY
    return PauseEvent(_KINDS[record.type], record.received_at, by, is_ours, reason, record.event_id)


def _known_pause(record: PauseRecord, earlier: Sequence[EarlierLine]) -> KnownPause:
    lines = [*(_known_line(before.line) for before in earlier), _known_line(record.line)]
    seen_at = record.seen_at or record.line.paused_at
    timer = None
    if record.timer is not None and record.timer.set_by == record.line.by:
        # An end that somebody else has set belongs to no particular line.
        timer = LineTimer(record.timer.set_by, lines[-1].shown)
    end = record.end
    if end is None:
        return KnownPause(
            tuple(lines), seen_at, told_end=record.told_end, timer=timer, pause_id=record.pause_id
        )
    end_seen_at = end.seen_at or end.at
    ended_at = end_between(end_seen_at, end.told_at or end_seen_at)
    known_end = KnownEnd(
        # The `Date` of an answer is rounded down.
        at=max(ended_at, record.line.paused_at),
        by=end.by,
        seen_at=end_seen_at,
        is_named=end.told_at is not None,
    )
    return KnownPause(tuple(lines), seen_at, known_end, timer=timer, pause_id=record.pause_id)


def _known_line(line: PauseLine) -> Line:
    return Line(line.stored_reason, line.paused_at, line.by, line.event_id)


def _begun(records: Sequence[AuditRecord]) -> Mapping[int, AuditRecord]:
    """How acts began, by their ids: the record before the request.

    A timer that fails before it sends one has only the record of that.
    """
    begun = {}
    for record in records:
        is_timers = record.result is ActResult.FAILED and record.action is Action.RESUME
        if record.result is ActResult.STARTED or (is_timers and not record.act_id):
            begun[record.record_id] = record
    return begun


def _ends(records: Sequence[AuditRecord]) -> Mapping[int, AuditRecord]:
    """The records of the acts' ends, by their ids; that it was done, if there are several."""
    ends = {record.act_id: record for record in records if record.act_id}
    done = (record for record in records if record.result is ActResult.DONE and record.act_id)
    return ends | {record.act_id: record for record in done}


_OPEN_ENDS = frozenset({ActResult.FAILED, ActResult.STARTED})
"""Ends that leave open whether the service carried it out."""


def as_act(begun: AuditRecord, end: AuditRecord | None, pauses: Sequence[KnownPause]) -> PauseAct:
    """What is known of an act, by the records of its beginning and of its end."""
    kind = ActKind.PAUSE if begun.action is Action.PAUSE else ActKind.RESUME
    read = None
    if begun.previous.paused_at is not None:
        read = Shown(begun.previous.reason or "", begun.previous.paused_at)
        for pause in pauses:
            for line in pause.lines:
                if line.paused_at == begun.previous.paused_at:
                    read = line.shown
    act = PauseAct(
        act_id=begun.record_id,
        kind=kind,
        actor=begun.actor,
        began_at=begun.service_at or begun.at,
        reason=begun.stored_reason if kind is ActKind.PAUSE else None,
        sets_end=kind is ActKind.PAUSE and begun.resumes_at is not None,
        read=read,
    )
    if end is None or (end.result in _OPEN_ENDS and not end.is_undone):
        return act
    if end.result is not ActResult.DONE:
        return replace(act, state=ActCertainty.NOT_DONE)
    if kind is ActKind.PAUSE and end.paused_at is not None:
        act = replace(act, answered=Shown(end.stored_reason or "", end.paused_at))
    lines = [line for pause in pauses for line in pause.lines]
    is_named = any(
        line.is_named and act.answered is not None and line.shows(act.answered) for line in lines
    )
    return replace(act, state=ActCertainty.DONE, answered_at=end.service_at, is_named=is_named)
