"""Pausing and resuming: the reason for the service, and the possible outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from string import whitespace

from bot.domain.audit import Action, Actor, ActResult, AuditRecord
from bot.domain.errors import InvalidReason
from bot.domain.event_records import EventRecord
from bot.domain.event_types import PAUSE_DELETE
from bot.domain.pause_records import PauseRecord, Timer, Who
from bot.domain.permissions import is_machine
from bot.domain.queue import Pause

REASON_LIMIT = 255
"""API document, Limits: a pause reason has at most 255 characters."""

SAME_ACT = timedelta(minutes=10)
"""How far a pause's event may be from its act; the reason identifies the act as well."""

SAME_RESUME = timedelta(minutes=1)
"""The same where only the time identifies the act: when a queue resumes, and for removals."""

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


def act_of_event(
    record: EventRecord, acts: Sequence[AuditRecord], clock_ahead: timedelta = timedelta()
) -> AuditRecord | None:
    """The act among `acts` that caused this pause event, if any.

    The signed reason identifies a pause. The end of a pause has none, so the act nearest in time
    counts. `clock_ahead`: how far the service's clock, used for the event's time, is ahead of ours.
    Acts with a known end count by that time, acts cut short by a crash or a lost answer by their
    beginning.
    """
    at, is_end = record.received_at - clock_ahead, record.type == PAUSE_DELETE
    within, action = (SAME_RESUME, Action.RESUME) if is_end else (SAME_ACT, Action.PAUSE)
    near = [
        act
        for act in carried_out(acts)
        if act.action is action
        and abs(act.at - at) <= within
        and (is_end or act.stored_reason == record.details.reason)
    ]
    return min(near, key=lambda act: abs(act.at - at), default=None)


def carried_out(acts: Sequence[AuditRecord]) -> list[AuditRecord]:
    """Acts that changed the queue, or failed and may have, because the answer was lost."""
    known_ends = {ActResult.DONE, ActResult.UNCHANGED, ActResult.REFUSED}
    ended = {act.act_id for act in acts if act.result in known_ends}
    return [
        act
        for act in acts
        if act.result is ActResult.DONE
        or (act.result is ActResult.STARTED and act.record_id not in ended)
    ]


def made_by(pause: Pause, acts: Sequence[AuditRecord]) -> AuditRecord | None:
    """The act whose signed reason the service stores, even if its answer was lost."""
    for act in reversed(carried_out(acts)):
        if act.action is Action.PAUSE and act.stored_reason == pause.reason:
            return act
    return None


def pause_of(
    act: AuditRecord, paused_at: datetime | None, event_id: int | None
) -> PauseRecord | None:
    """The pause that the act made, if it made one.

    Without `paused_at` it is known only from the event log, and has the event's time.
    """
    if act.action is not Action.PAUSE:
        return None
    by, stored_reason = Who(act.actor.name, act.actor.user_id), act.stored_reason or ""
    timer = None
    if act.resumes_at is not None:
        timer = Timer(act.resumes_at, act.resumes_at, by, stored_reason, act.channel_id)
    return PauseRecord(
        repository=act.repository,
        paused_at=paused_at or act.paused_at or act.at,
        stored_reason=stored_reason,
        reason=act.reason or stored_reason,
        by=by,
        is_exact=paused_at is not None,
        event_id=event_id,
        group_act_id=act.group_act_id,
        timer=timer,
    )
