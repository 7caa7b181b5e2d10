"""What is known of pauses, in seconds from noon."""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.kernel.actor import Actor
from bot.pauses.known import (
    ActCertainty,
    ActKind,
    Known,
    KnownEnd,
    KnownPause,
    Line,
    PauseAct,
    PauseEvent,
    PauseEventKind,
    Shown,
)
from tests.support.clock import NOON
from tests.support.make import CAROL


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def line(reason: str, seconds: float, by: Actor | None = None, event_id: int | None = None) -> Line:
    return Line(reason, at(seconds), by, event_id)


def pause(*lines: Line, end: float | None = None) -> KnownPause:
    over = KnownEnd(at(end), None, at(end)) if end is not None else None
    return KnownPause(lines, lines[-1].paused_at, over)


def end_of(known: KnownPause) -> KnownEnd:
    assert known.end is not None
    return known.end


def event(
    kind: PauseEventKind,
    seconds: float,
    reason: str = "",
    by: Actor | None = CAROL,
    *,
    is_ours: bool = False,
) -> PauseEvent:
    return PauseEvent(kind, at(seconds), by, is_ours, reason, event_id=1000 + int(seconds))


def created(seconds: float, reason: str, by: Actor = CAROL) -> PauseEvent:
    return event(PauseEventKind.CREATED, seconds, reason, by)


def updated(seconds: float, reason: str, by: Actor = CAROL) -> PauseEvent:
    return event(PauseEventKind.UPDATED, seconds, reason, by)


def removed(seconds: float, by: Actor = CAROL) -> PauseEvent:
    return event(PauseEventKind.REMOVED, seconds, "", by)


def pausing(act_id: int, actor: Actor, seconds: float = 0, reason: str = "CI") -> PauseAct:
    return PauseAct(act_id, ActKind.PAUSE, actor, at(seconds), reason)


def resuming(act_id: int, actor: Actor, seconds: float = 0) -> PauseAct:
    return PauseAct(act_id, ActKind.RESUME, actor, at(seconds), read=Shown("CI", NOON))


def done(act: PauseAct, seconds: float = 0) -> PauseAct:
    return replace(act, state=ActCertainty.DONE, answered_at=at(seconds))


def authors(known: Known) -> list[list[Actor | None]]:
    return [[shown.by for shown in found.lines] for found in known.pauses]


def reasons(known: Known) -> list[list[str]]:
    return [[shown.reason for shown in found.lines] for found in known.pauses]
