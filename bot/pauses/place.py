"""Where an event of the log belongs: it adds names and times, and opens or ends nothing."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.kernel.actor import Actor
from bot.pauses.known import (
    DATE_PRECISION,
    LOG_EARLY,
    ActCertainty,
    ActKind,
    Known,
    KnownEnd,
    KnownPause,
    PauseAct,
    PauseEvent,
    PauseEventKind,
    TimerState,
    ToldEnd,
    end_between,
    is_person,
    lines_behind,
    tells_of,
    waiting_beginning,
)


@dataclass(frozen=True, slots=True)
class _Spot:
    """A line, by its position in a pause, and that pause's."""

    pause: int
    line: int


def place(known: Known, event: PauseEvent, now: datetime) -> Known:
    """Give an event its place; without one it waits for a line.

    `now`: the service's time, for a pause that no reading saw and that is over.
    """
    known, event = named_by_us(known, event)
    if event.kind is PauseEventKind.REMOVED:
        return _place_end(known, event, now)
    spot = _line_of(known, event)
    if spot is not None:
        return _with_name(known, spot, event)
    spot = _between_lines(known, event)
    if spot is not None:
        return _inserted(known, spot, event)
    return replace(known, waiting=(*known.waiting, event))


def named_by_us(known: Known, event: PauseEvent) -> tuple[Known, PauseEvent]:
    """What is known once our own event proves its act, and the event by that act's person."""
    if not event.is_ours:
        return known, event
    find = cause if event.kind is PauseEventKind.REMOVED else _act_of_line
    act = find(known, event)
    if act is None:
        return known, event
    done = replace(act, state=ActCertainty.DONE, is_named=True)
    return known.with_act(done), replace(event, by=act.actor)


def _act_of_line(known: Known, event: PauseEvent) -> PauseAct | None:
    """The act that caused our own event, first one that is known to be done."""
    acts = [
        act
        for act in known.acts
        if not act.is_named
        and act.began_at <= event.at + LOG_EARLY
        and act.has_reason(event.reason)
    ]
    for state in (ActCertainty.DONE, ActCertainty.OPEN):
        for act in acts:
            if act.state is state:
                return act
    return None


def _line_of(known: Known, event: PauseEvent) -> _Spot | None:
    """The unnamed line with its reason that is nearest in time.

    One that begins a pause for a create, and a later one for an update, if there is such a line.
    """

    def order(spot: _Spot) -> tuple[bool, timedelta]:
        is_first = spot.line == 0
        is_create = event.kind is PauseEventKind.CREATED
        apart = abs(event.at - known.pauses[spot.pause].lines[spot.line].paused_at)
        return is_first is not is_create, apart

    return min(_unnamed_lines(known, event), key=order, default=None)


def _unnamed_lines(known: Known, event: PauseEvent) -> Iterator[_Spot]:
    for number, pause in enumerate(known.pauses):
        for index, line in enumerate(pause.lines):
            if not line.is_named and tells_of(event, line):
                yield _Spot(number, index)


def _with_name(known: Known, spot: _Spot, event: PauseEvent) -> Known:
    pause = known.pauses[spot.pause]
    line = pause.lines[spot.line]
    shown = line
    named = replace(line, by=_author(event, line.by), event_id=event.event_id)
    pause = pause.with_line(spot.line, named)
    earlier: list[PauseEvent] = []
    if event.kind is PauseEventKind.UPDATED and spot.line == 0:
        # So the queue was paused before: what waits since the end before is its beginning.
        earlier = waiting_beginning(known, spot.pause, event)
        pause = replace(pause, lines=(*(other.line for other in earlier), *pause.lines))
    timer = pause.timer
    if timer is not None and shown.shows(timer.line) and timer.set_by != named.by:
        pause = replace(pause, timer=replace(timer, state=TimerState.VOID))
    return known.with_pause(spot.pause, pause).without(earlier)


def _author(event: PauseEvent, known: Actor | None) -> Actor | None:
    """Who did it, by the event, or who is known to have done it.

    An own event whose act isn't found names somebody, or a signature: less than is known.
    """
    if event.by is None or (event.is_ours and known is not None and not is_person(event.by)):
        return known
    return event.by


def _between_lines(known: Known, event: PauseEvent) -> _Spot | None:
    """Where a line that no reading saw belongs: among the lines of a pause, or before its end."""
    for number, pause in enumerate(known.pauses):
        if event.at <= pause.first_line.paused_at:
            continue
        if pause.end is None:
            is_within = event.at < pause.last_line.paused_at
        else:
            is_within = event.kind is PauseEventKind.UPDATED and event.at <= pause.end.at
        if is_within:
            index = sum(line.paused_at <= event.at for line in pause.lines)
            return _Spot(number, index)
    return None


def _inserted(known: Known, spot: _Spot, event: PauseEvent) -> Known:
    pause = known.pauses[spot.pause]
    new = lines_behind(pause.lines[spot.line - 1], [event])
    lines = (*pause.lines[: spot.line], *new, *pause.lines[spot.line :])
    return known.with_pause(spot.pause, replace(pause, lines=lines))


def _place_end(known: Known, event: PauseEvent, now: datetime) -> Known:
    unseen = _unseen(known, event)
    if unseen:
        return _with_unseen_pause(known, unseen, event, now)
    begun = [
        number for number, pause in enumerate(known.pauses) if pause.first_line.paused_at < event.at
    ]
    if not begun:
        return known
    number = begun[-1]
    pause = known.pauses[number]
    if pause.end is not None:
        has_later_line = any(line.paused_at > event.at for line in pause.lines)
        if pause.end.is_named or has_later_line:
            return known
        ended_at = end_between(pause.end.at, event.at)
        by = _author(event, pause.end.by)
        end = replace(pause.end, at=ended_at, by=by, is_named=True)
        return known.with_pause(number, replace(pause, end=end))
    if event.at <= pause.last_line.paused_at:
        return known
    earlier = [other for other in known.waiting if other.at <= event.at]
    pause = replace(
        pause,
        lines=(*pause.lines, *lines_behind(pause.last_line, earlier)),
        told_end=ToldEnd(event.at, event.by),
    )
    return known.with_pause(number, pause).without(earlier)


def _unseen(known: Known, end: PauseEvent) -> list[PauseEvent]:
    """The events of a pause that no reading saw, from its create to this end."""
    waiting = [event for event in known.waiting if event.at <= end.at]
    creates = [event for event in waiting if event.kind is PauseEventKind.CREATED]
    if not creates:
        return []
    events = waiting[waiting.index(creates[0]) :]
    for pause in known.pauses:
        if events[0].at <= pause.first_line.paused_at < end.at:
            return []
    return events


def _with_unseen_pause(
    known: Known, events: list[PauseEvent], end: PauseEvent, now: datetime
) -> Known:
    lines = tuple(event.line for event in events)
    over = KnownPause(lines, now, KnownEnd(end.at, end.by, now, is_named=True))
    pauses = sorted(
        (*known.pauses, over), key=lambda pause: (pause.is_open, pause.first_line.paused_at)
    )
    return replace(known, pauses=tuple(pauses)).without(events).revised


def cause(known: Known, end: PauseEvent) -> PauseAct | None:
    """The act that removed a pause: the answered one whose request the event lies in.

    Else one without an answer that began before.
    """
    acts = [
        act
        for act in known.acts
        if act.kind is ActKind.RESUME and not act.is_named and act.began_at <= end.at + LOG_EARLY
    ]
    acts = [act for act in acts if act.began_at <= end.at] or acts
    for act in reversed(acts):
        until = act.answered_at if act.state is ActCertainty.DONE else None
        if until is not None and end.at <= until + DATE_PRECISION:
            return act
    for act in acts:
        if act.state is ActCertainty.OPEN and act.read is not None:
            return act
    return None
