"""Pausing and resuming: the reason for the service, and the possible outcomes."""

from dataclasses import dataclass, field
from datetime import datetime
from string import whitespace

from bot.domain.audit import Action, Actor, AuditRecord
from bot.domain.errors import InvalidReason
from bot.domain.pause_records import PauseRecord, Timer
from bot.domain.permissions import is_machine

REASON_LIMIT = 255
"""API document, Limits: a pause reason has at most 255 characters."""

_UNSEEN = "\u034f\u115f\u1160\u2800\u3164\uffa0\u200c\u200d" + whitespace
"""Fillers, joiners and the empty Braille cell: letters to Unicode, nothing to the eye."""


@dataclass(frozen=True, slots=True)
class PauseChange:
    """The act paused or resumed the queue, or changed the end of its pause.

    `pause`: the pause afterwards.
    `posted_here`: the actor's channel gets a post about it.
    """

    act: AuditRecord
    pause: PauseRecord
    posted_here: bool


@dataclass(frozen=True, slots=True)
class AlreadyPaused:
    """Nothing changed: a pause is in force.

    `is_same`: it has the same author, reason and end as the request.
    """

    known: PauseRecord
    is_same: bool = False


@dataclass(frozen=True, slots=True)
class NotPaused:
    """Nothing to resume. `ended` is the last pause, if known."""

    ended: PauseRecord | None = None


@dataclass(frozen=True, slots=True)
class OtherPause:
    """Nothing changed: the button belongs to another pause than the one in force.

    `record_id`: its audit record, 0 if nothing was recorded.
    """

    known: PauseRecord
    record_id: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class OtherEnd:
    """Nothing changed: the end of the pause has changed since the menu was drawn."""

    known: PauseRecord


PauseOutcome = PauseChange | AlreadyPaused
ResumeOutcome = PauseChange | NotPaused | OtherPause
ExtendOutcome = PauseChange | NotPaused | OtherPause | OtherEnd


def check_reason(reason: str) -> str:
    """The reason, stripped; raises InvalidReason when blank or over 255 characters."""
    stripped = reason.strip()
    if not stripped.strip(_UNSEEN):
        raise InvalidReason(0)
    if len(stripped) > REASON_LIMIT:
        raise InvalidReason(len(stripped))
    return stripped


def signed_reason(reason: str, actor: Actor) -> str:
    """The reason with the person's name, because the service stores no author.

    At most 255 characters; the reason is shortened for that, never the name.
    """
    signature = _signature(actor.name, "mqbot" if is_machine(actor.user_id) else "Slack")
    room = REASON_LIMIT - len(signature)
    shortened = reason if len(reason) <= room else reason[: room - 1].rstrip() + "…"
    return shortened + signature


def unsigned_reason(reason: str, name: str | None) -> str:
    """The reason without the signature of a person or machine of that name."""
    if name is None:
        return reason
    person, machine = (_signature(name, way) for way in ("Slack", "mqbot"))
    return reason.removesuffix(person).removesuffix(machine)


def _signature(name: str, way: str) -> str:
    return f" (by {name[:80]} via {way})"


def pause_of(
    act: AuditRecord, paused_at: datetime | None, event_id: int | None
) -> PauseRecord | None:
    """The pause that the act made, if it made one.

    Without `paused_at` it is known only from the event log, and has the event's time.
    """
    if act.action is not Action.PAUSE:
        return None
    stored_reason, timer = act.stored_reason or "", None
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
        group_act_id=act.group_act_id,
        timer=timer,
    )
