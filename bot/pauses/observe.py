"""What a reading of the service changes: it alone opens, changes and ends a pause."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.pauses.known import (
    LOG_EARLY,
    ActCertainty,
    Known,
    KnownEnd,
    KnownPause,
    Line,
    LineTimer,
    PauseAct,
    PauseEvent,
    PauseEventKind,
    Reading,
    Shown,
    StatusSays,
    TimerState,
    end_between,
    lines_behind,
    same_reason,
    tells_of,
    waiting_beginning,
)

STALE_ANSWER = timedelta(seconds=30)
"""How old an answer may be: for so long after a change, one that contradicts it proves nothing."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What is known after a reading."""

    known: Known
    reads_again: bool = False  #: the reading proved nothing


def observe(
    known: Known,
    reading: Reading,
    revision: int,
    *,
    answer_to: int | None = None,
    is_own: bool = False,
) -> Observed:
    """Compare a reading with what is known.

    `revision`: that of `known` when the request began. A reading counts only if nothing about its
    repository was stored since.
    `answer_to`: the id of the act that the service answered with it.
    `is_own`: the act under way has read it, before its request or after the answer was lost.
    """
    unchanged = Observed(known, reads_again=True)
    if revision != known.revision:
        return unchanged
    is_of_act = is_own or answer_to is not None
    if known.acting is not None and not is_of_act:
        return unchanged
    if reading.shown is None:
        return _not_paused(known, reading, answer_to)
    return _paused(known, reading, reading.shown, is_answer=answer_to is not None)


def _paused(known: Known, reading: Reading, shown: Shown, *, is_answer: bool) -> Observed:
    pause = known.last
    if pause is None or (pause.end is not None and shown.paused_at > pause.end.at):
        return Observed(_with_new_pause(known, reading, shown))
    if _is_stale(pause, reading, shown, is_answer=is_answer):
        return Observed(known, reads_again=True)
    if pause.end is not None:
        # The end was false.
        pause = replace(pause, end=None, told_end=None)
    elif pause.last_line.shows(shown):
        return Observed(replace(known, missing_since=None))
    return Observed(_with_line(known, pause, reading, shown))


def _is_stale(pause: KnownPause, reading: Reading, shown: Shown, *, is_answer: bool) -> bool:
    """Whether it may be an answer from before the last line, or from before the end."""
    is_older = shown.paused_at < pause.last_line.paused_at
    if is_older and reading.at - pause.seen_at < STALE_ANSWER:
        return True
    if pause.end is None or is_answer:
        return False
    return reading.at - pause.end.seen_at < STALE_ANSWER


def _not_paused(known: Known, reading: Reading, answer_to: int | None) -> Observed:
    pause = known.last
    if pause is None or not pause.is_open:
        return Observed(known)
    if answer_to is not None:
        actor = known.act(answer_to).actor
        return Observed(_ended(known, pause, KnownEnd(reading.at, actor, reading.at)))
    if pause.told_end is not None:
        at = end_between(reading.at, pause.told_end.at)
        end = KnownEnd(at, pause.told_end.by, reading.at, is_named=True)
        return Observed(_ended(known, pause, end))
    if reading.status is StatusSays.PAUSED:
        return Observed(replace(known, missing_since=None))
    is_missing_twice = (
        known.missing_since is not None and reading.at - known.missing_since >= STALE_ANSWER
    )
    is_agreed = reading.status is StatusSays.RUNNING or is_missing_twice
    if is_agreed and reading.at - pause.seen_at >= STALE_ANSWER:
        # The log adds by whom.
        return Observed(_ended(known, pause, KnownEnd(reading.at, None, reading.at)))
    missing_since = known.missing_since or reading.at
    return Observed(replace(known, missing_since=missing_since), reads_again=True)


def act_that_made(known: Known, shown: Shown) -> PauseAct | None:
    """The act that was answered with this pause, or an open one whose whole reason it has.

    A part of a reason proves nothing, because people copy. The log may have told of the act before
    any reading shows what it made.
    """
    for act in reversed(known.acts):
        if act.answered == shown:
            return act
        if not act.has_reason(shown.reason):
            continue
        if act.state is ActCertainty.OPEN or _is_told_only(known, act):
            return act
    return None


def _is_told_only(known: Known, act: PauseAct) -> bool:
    """Whether the event of an act waits for its line."""
    if act.answered is not None or act.state is not ActCertainty.DONE:
        return False
    return any(event.is_ours and act.has_reason(event.reason) for event in known.waiting)


def _with_new_pause(known: Known, reading: Reading, shown: Shown) -> Known:
    name = _name_of(known.waiting, shown)
    act = _proving_act(known, shown, name)
    earlier: Sequence[PauseEvent] = ()
    if name is not None and name.kind is PauseEventKind.UPDATED:
        # It began before: what waits since the last end is its beginning.
        earlier = waiting_beginning(known, len(known.pauses), name)
    lines = (*(event.line for event in earlier), _new_line(shown, act, name))
    pause = KnownPause(lines, reading.at, timer=_timer(act, shown))
    known = replace(_proved(known, act), pauses=(*known.pauses, pause))
    return known.without([name, *earlier]).revised


def _with_line(known: Known, pause: KnownPause, reading: Reading, shown: Shown) -> Known:
    """The last pause with the line that the service shows as its last."""
    told_end = pause.told_end
    if told_end is not None and told_end.at <= shown.paused_at:
        told_end = None
    told = pause.last_line if pause.is_told_only else None
    pause = replace(pause, seen_at=reading.at, told_end=told_end)
    if told is not None and _is_line_of(told, shown):
        # The time is the service's, now that a reading has one.
        index = len(pause.lines) - 1
        return _changed(known, pause.with_line(index, replace(told, paused_at=shown.paused_at)))
    for line in pause.lines:
        if line.shows(shown):
            others = (other for other in pause.lines if other is not line)
            return _changed(known, replace(pause, lines=(*others, line)))
    name = _name_of(known.waiting, shown)
    act = _proving_act(known, shown, name)
    until = shown.paused_at if name is None else max(name.at, shown.paused_at)
    earlier = [
        event
        for event in known.waiting
        if event is not name and pause.first_line.paused_at < event.at < until
    ]
    new = lines_behind(pause.last_line, earlier)
    lines = (*pause.lines, *new, _new_line(shown, act, name))
    timer = _timer(act, shown)
    if timer is None and pause.timer is not None and pause.timer.state is TimerState.SET:
        timer = replace(pause.timer, state=TimerState.VOID)
    pause = replace(pause, lines=lines, timer=timer or pause.timer)
    return _changed(_proved(known, act), pause).without([name, *earlier])


def _is_line_of(told: Line, shown: Shown) -> bool:
    """Whether a line that only the log has told of is the one that the service shows."""
    is_after = shown.paused_at <= told.paused_at + LOG_EARLY
    return is_after and same_reason(told.reason, shown.reason)


def _ended(known: Known, pause: KnownPause, end: KnownEnd) -> Known:
    updates = [
        event
        for event in known.waiting
        if event.kind is PauseEventKind.UPDATED and pause.first_line.paused_at < event.at <= end.at
    ]
    lines = (*pause.lines, *lines_behind(pause.last_line, updates))
    ended = replace(pause, lines=lines, end=end, told_end=None)
    return _changed(known, ended).without(updates)


def _changed(known: Known, pause: KnownPause) -> Known:
    pauses = (*known.pauses[:-1], pause)
    return replace(known, pauses=pauses, missing_since=None).revised


def _proved(known: Known, act: PauseAct | None) -> Known:
    """What is known once the service shows what the act made."""
    return known if act is None else known.with_act(replace(act, state=ActCertainty.DONE))


def _name_of(waiting: Sequence[PauseEvent], shown: Shown) -> PauseEvent | None:
    """The event that tells who set the line."""
    telling = (event for event in waiting if tells_of(event, shown))
    return next(telling, None)


def _proving_act(known: Known, shown: Shown, name: PauseEvent | None) -> PauseAct | None:
    """The act that made the line, unless the log names somebody else.

    An own event whose act isn't found names nobody else than the act that was answered with it.
    """
    act = act_that_made(known, shown)
    if act is None or name is None or name.by == act.actor:
        return act
    return act if name.is_ours and act.answered == shown else None


def _new_line(shown: Shown, act: PauseAct | None, name: PauseEvent | None) -> Line:
    by = act.actor if act is not None else None
    if name is None:
        return Line(shown.reason, shown.paused_at, by)
    return Line(shown.reason, shown.paused_at, by or name.by, name.event_id)


def _timer(act: PauseAct | None, shown: Shown) -> LineTimer | None:
    if act is None or not act.sets_end:
        return None
    return LineTimer(act.actor, shown)
