"""Pausing and resuming: the reason for the service, and the possible outcomes."""

from dataclasses import dataclass, field
from datetime import datetime

from bot.acts.record import Action, AuditRecord
from bot.acts.unanswered import Unanswered
from bot.pauses.pause import PauseRecord, Timer


@dataclass(frozen=True, slots=True)
class PauseChange:
    """The act paused or resumed the queue, or changed the end of its pause."""

    act: AuditRecord
    pause: PauseRecord  #: the pause afterwards
    posted_here: bool  #: the actor's channel gets a post about it


@dataclass(frozen=True, slots=True)
class AlreadyPaused:
    """Nothing changed: a pause is in force."""

    known: PauseRecord
    is_same: bool = False  #: it has the same author, reason and end as the request


@dataclass(frozen=True, slots=True)
class NotPaused:
    """Nothing to resume. `ended` is the last pause, if known."""

    ended: PauseRecord | None = None


@dataclass(frozen=True, slots=True)
class OtherPause:
    """Nothing changed: the button belongs to another pause than the one in force."""

    known: PauseRecord
    record_id: int = field(default=0, compare=False)  #: its audit record, 0 if nothing was recorded


@dataclass(frozen=True, slots=True)
class OtherEnd:
    """Nothing changed: the end of the pause has changed since the menu was drawn."""

    known: PauseRecord


PauseOutcome = PauseChange | AlreadyPaused


ResumeOutcome = PauseChange | NotPaused | OtherPause


ExtendOutcome = PauseChange | NotPaused | OtherPause | OtherEnd


def pause_of(
    act: AuditRecord, paused_at: datetime | None, event_id: int | None
) -> PauseRecord | None:
    """The pause that the act made, if it made one.

    Without `paused_at` it is known only from the event log, and has the event's time.
    """
    if act.action is not Action.PAUSE:
        return None
    stored_reason = act.stored_reason or ""
    timer = None
    if act.resumes_at is not None:
        timer = Timer(act.resumes_at, act.resumes_at, act.actor, stored_reason, act.channel_id)
    return PauseRecord(
        repository=act.repository,
        paused_at=paused_at or act.paused_at or act.at,
        stored_reason=stored_reason,
        reason=act.reason or stored_reason,
        by=act.actor,
        is_exact=paused_at is not None,
        event_id=event_id,
        group_act_id=act.group.act_id,
        timer=timer,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request whose answer is owed."""

    request: Unanswered
    act: AuditRecord | None  #: the end of the act that it asked for; None if it began none
    #: the pause of its queue that is in force, if the bot knows of one
    in_force: PauseRecord | None = None
