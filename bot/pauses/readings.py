"""What the service says, answers and logs about a pause: each changes what is known of it."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.acts.ends import end_act, end_of
from bot.acts.locks import is_acted_upon
from bot.acts.record import Action, ActResult, AuditRecord
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.queue import Pause
from bot.pauses.act_steps import answered, unanswered
from bot.pauses.changing import SEEN_IN_FORCE, Change
from bot.pauses.history import touch_pause
from bot.pauses.known import (
    ActCertainty,
    Known,
    KnownPause,
    PauseEvent,
    PauseEventKind,
    Reading,
    Shown,
    StatusSays,
    is_person,
    lines_behind,
    same_reason,
)
from bot.pauses.observe import STALE_ANSWER, observe
from bot.pauses.outcomes import pause_of, timer_of
from bot.pauses.pause import PAUSE_LOOKBACK, PauseEnd, PauseRecord, over_pause, same_moment
from bot.pauses.place import place
from bot.pauses.rows import Pauses
from bot.pauses.stored import StoredPause, as_act, as_pause_event, load_stored
from bot.store.transaction import Transaction

ANOTHER_PROCESS = -1
"""Stands for the act under way, whose id nobody needs."""


@dataclass(frozen=True, slots=True)
class PauseReading:
    """What the service answered about the pause in force."""

    pause: Pause | None
    at: datetime  #: by the service's clock
    status: StatusSays = StatusSays.NOTHING


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
    stored = load_stored(transaction, repository, min(now, reading.at))
    is_own = revision is None
    if not is_own and is_acted_upon(transaction, repository, now):
        stored = replace(stored, known=replace(stored.known, acting=ANOTHER_PROCESS))
    found = observe(
        stored.known,
        _reading(stored.known, reading),
        stored.known.revision if revision is None else revision,
        is_own=is_own,
    )
    Change(transaction, repository, stored, found.known, now).store()
    return not found.reads_again


@dataclass(frozen=True, slots=True)
class AnsweredAct:
    """An act that the service carried out, and the pause that it made or ended."""

    record: AuditRecord
    pause: PauseRecord


def observe_answer(
    transaction: Transaction,
    done: AuditRecord,
    here: Collection[str],
    reading: PauseReading,
    revision: int,
    now: datetime,
) -> AnsweredAct:
    """Store and tell the end of an act, and what the service's answer says of the pause.

    `revision`: the repository's, from when the request left. `here`: the channel of the person.
    """
    repository = done.repository
    stored = load_stored(transaction, repository, min(now, reading.at))
    known = _with_begun(stored, replace(done, record_id=done.act_id))
    answer = _reading(known, reading, is_answer=True)
    if answer.shown is not None:
        done = replace(done, paused_at=answer.shown.paused_at)
    after = answered(known, done.act_id, answer, revision)
    record = end_act(transaction, done).record
    Change(transaction, repository, stored, after, now, answered=record, channels=here).store()
    return AnsweredAct(record, _pause_of_act(transaction, record, now))


def observe_unanswered(
    transaction: Transaction,
    started: AuditRecord,
    here: Collection[str],
    reading: PauseReading,
    revision: int,
    now: datetime,
) -> AnsweredAct | None:
    """Store and tell what was read after an act's answer was lost, and its end if that proves it.

    `revision`: the repository's, from when the request left. `here`: the channel of the person.
    """
    repository = started.repository
    stored = load_stored(transaction, repository, min(now, reading.at))
    known = _with_begun(stored, started)
    after = unanswered(known, started.record_id, _reading(known, reading), revision)
    is_proved = after.act(started.record_id).state is ActCertainty.DONE
    if not is_proved or reading.pause is None:
        Change(transaction, repository, stored, after, now).store()
        return None
    done = replace(
        end_of(started, ActResult.DONE, SEEN_IN_FORCE),
        stored_reason=reading.pause.reason,
        paused_at=reading.pause.paused_at,
    )
    record = end_act(transaction, done).record
    Change(transaction, repository, stored, after, now, answered=record, channels=here).store()
    return AnsweredAct(record, _pause_of_act(transaction, record, now))


def _with_begun(stored: StoredPause, begun: AuditRecord) -> Known:
    """What is known, with an act under way that may have begun longer ago than acts are read."""
    known = stored.known
    if begun.record_id in stored.acts:
        return known
    act = as_act(replace(begun, act_id=0, service_at=None), None, known.pauses)
    return replace(known, acts=(*known.acts, act))


def _pause_of_act(transaction: Transaction, act: AuditRecord, now: datetime) -> PauseRecord:
    """The pause that it made, with the end that it set, or that it ended.

    Another one may have taken its place meanwhile.
    """
    since = min(now, act.service_at or now) - PAUSE_LOOKBACK
    known = Pauses(transaction).of(act.repository, since)
    if act.action is Action.PAUSE:
        for pause in known:
            if pause.is_open and pause.is_of(act.paused_at):
                return _with_end(transaction, pause, act, now)
        return pause_of(act)
    ended = [pause for pause in known if not pause.is_open]
    if ended:
        return max(ended, key=lambda pause: pause.since)
    return over_pause(pause_of(act), PauseEnd(act.at, act.actor))


def _with_end(
    transaction: Transaction, pause: PauseRecord, act: AuditRecord, now: datetime
) -> PauseRecord:
    """The pause with the end that the act sets, also where its line is unchanged."""
    timer = timer_of(act)
    if pause.timer == timer:
        return pause
    timed = replace(pause, timer=timer)
    Pauses(transaction).save(timed)
    touch_pause(transaction, timed, now)
    return timed


@dataclass(frozen=True, slots=True)
class EventContext:
    """What is known beside an event of the log about a pause."""

    now: datetime
    reading: PauseReading | None  #: what was read after the event; None if that doesn't count
    #: the service doesn't say whether a queue is paused, so each event is the reading
    is_reading: bool = False
    clock_ahead: timedelta = timedelta()  #: how far the service's clock is ahead of the bot's


@dataclass(frozen=True, slots=True)
class ToldByEvent:
    """What an event of the log told."""

    is_by_act: bool  #: an act of this bot caused it
    is_unknown: bool  #: it ended a pause of which nothing is known


def place_event(
    transaction: Transaction,
    record: EventRecord,
    context: EventContext,
    channels: Collection[str],
) -> ToldByEvent:
    """Give an event of the log its place, and store and tell what it adds.

    The caller waits while somebody acts on the pause. `channels`: those that get such events.
    """
    repository = record.repository
    now = context.now
    stored = load_stored(transaction, repository, min(now, record.received_at))
    event = as_pause_event(record, stored.records, context.clock_ahead)
    reading = _event_reading(stored.known, event, context)
    after = _placed(stored.known, event, reading, now)
    Change(transaction, repository, stored, after, now, channels=channels, is_logged=True).store()
    is_by_act = event.is_ours and (
        after.acts != stored.known.acts or _is_of_person(stored.known, after, event)
    )
    return ToldByEvent(is_by_act, _is_unknown_end(stored.known, after, event))


def believe_log(transaction: Transaction, repository: RepositoryName, now: datetime) -> None:
    """Let what the log told count where the service doesn't say whether a queue is paused.

    For events whose own reading failed, before it was known that there are none.
    """
    stored = load_stored(transaction, repository, now)
    known = stored.known
    last = known.last
    if last is not None and last.is_open and last.told_end is not None:
        known = _observed(known, Reading(None, last.told_end.at))
    for event in sorted(known.waiting, key=lambda event: event.at):
        if _is_news(known.last, event):
            reading = Reading(Shown(event.reason, event.at), event.at)
            known = _placed(known.without([event]), event, reading, now)
    Change(transaction, repository, stored, known, now, is_logged=True).store()


def _is_news(last: KnownPause | None, event: PauseEvent) -> bool:
    """Whether the event is later than all that is known of the last pause."""
    if last is None:
        return True
    return event.at > (last.end.at if last.end is not None else last.last_line.paused_at)


def _event_reading(known: Known, event: PauseEvent, context: EventContext) -> Reading | None:
    if context.is_reading:
        shown = Shown(event.reason, event.at) if event.kind is not PauseEventKind.REMOVED else None
        return Reading(shown, event.at)
    return _reading(known, context.reading) if context.reading is not None else None


def _placed(known: Known, event: PauseEvent, reading: Reading | None, now: datetime) -> Known:
    """What is known with the event and the reading that it asked for."""
    last = known.last
    at = reading.at if reading is not None else max(now, event.at)
    is_end = event.kind is PauseEventKind.REMOVED
    if is_end and last is not None and last.is_open and last.last_line.paused_at < event.at:
        return _observed(place(known, event, at), reading)
    return place(_observed(known, reading), event, at)


def _observed(known: Known, reading: Reading | None) -> Known:
    return known if reading is None else observe(known, reading, known.revision).known


def _is_of_person(before: Known, after: Known, event: PauseEvent) -> bool:
    """Whether it told of what a person is known to have done, though its act wasn't found."""
    changed = [pause for pause in after.pauses if pause not in before.pauses]
    people = [
        line.by for pause in changed for line in pause.lines if line.event_id == event.event_id
    ]
    if event.kind is PauseEventKind.REMOVED:
        people += [pause.end.by for pause in changed if pause.end is not None]
    return any(is_person(by) for by in people) or _says_the_same(after, event)


def _says_the_same(known: Known, event: PauseEvent) -> bool:
    """Whether it says again what the last pause says, as where a person only set another end."""
    pause = known.last
    if pause is None or pause.end is not None or event.kind is not PauseEventKind.UPDATED:
        return False
    return not lines_behind(pause.last_line, [event])


def _is_unknown_end(before: Known, after: Known, event: PauseEvent) -> bool:
    if event.kind is not PauseEventKind.REMOVED or before.pauses != after.pauses:
        return False
    begun = [pause for pause in before.pauses if pause.first_line.paused_at < event.at]
    if not begun:
        return True
    end = begun[-1].end
    return end is not None and end.is_named and event.at > end.at


def _reading(known: Known, reading: PauseReading, *, is_answer: bool = False) -> Reading:
    if reading.pause is None:
        return Reading(None, reading.at, reading.status)
    shown = _shown_line(known, reading.pause, reading.at, is_answer=is_answer)
    # The time of an answer is rounded down, and no reading comes before what it shows.
    return Reading(shown, max(reading.at, shown.paused_at), reading.status)


def _shown_line(known: Known, pause: Pause, at: datetime, *, is_answer: bool) -> Shown:
    """The pause as a line that is known shows it, if it is that line.

    A service may send a time with another precision than before, or none. Without a time a line is
    its reason alone.
    """
    last = known.last
    if last is None:
        return Shown(pause.reason, pause.paused_at if pause.is_dated else at)
    if pause.is_dated:
        if last.is_told_only and same_reason(last.last_line.reason, pause.reason):
            return Shown(pause.reason, pause.paused_at)
        for line in reversed(last.lines):
            is_its_time = same_moment(line.paused_at, pause.paused_at)
            if is_its_time and same_reason(line.reason, pause.reason):
                return Shown(pause.reason, line.paused_at)
        return Shown(pause.reason, pause.paused_at)
    line = last.last_line
    known_until = max(last.end.seen_at, line.paused_at) if last.end is not None else line.paused_at
    is_stale = last.end is not None and at - last.end.seen_at < STALE_ANSWER and not is_answer
    if (last.is_open or is_stale) and same_reason(line.reason, pause.reason):
        return Shown(pause.reason, line.paused_at)
    return Shown(pause.reason, max(at, known_until + timedelta.resolution))
