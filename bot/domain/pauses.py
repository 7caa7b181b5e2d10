"""Pausing and unpausing: the reason the service is given, and how an attempt can end."""

from dataclasses import dataclass
from datetime import timedelta

from bot.domain.audit import Action, Actor, AuditRecord
from bot.domain.errors import InvalidReason, ReasonProblem
from bot.domain.event_records import EventRecord
from bot.domain.snapshots import KnownPause

REASON_LIMIT = 255
"""API document, Limits: a pause reason has at most 255 characters."""

SAME_ACT = timedelta(minutes=10)
SAME_UNPAUSE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Paused:
    """The queue is now paused; `previous` is the pause that was replaced, if any."""

    act: AuditRecord
    previous: KnownPause | None = None


@dataclass(frozen=True, slots=True)
class AlreadyPaused:
    """Nothing was changed: a pause is in force. `reason` is what the person asked for."""

    known: KnownPause
    reason: str


@dataclass(frozen=True, slots=True)
class Unpaused:
    """The queue goes on; `previous` is the pause that was lifted, when it could be read."""

    act: AuditRecord
    previous: KnownPause | None = None


@dataclass(frozen=True, slots=True)
class NotPaused:
    """Nothing to lift."""


@dataclass(frozen=True, slots=True)
class OtherPause:
    """Nothing was changed: the pause in force is not the one the button was drawn for."""

    known: KnownPause


PauseOutcome = Paused | AlreadyPaused
UnpauseOutcome = Unpaused | NotPaused | OtherPause


def check_reason(reason: str) -> str:
    """The reason without outer spaces; raises InvalidReason when blank or over 255 characters."""
    stripped = reason.strip()
    if not stripped:
        raise InvalidReason(ReasonProblem.BLANK, length=0, limit=REASON_LIMIT)
    if len(stripped) > REASON_LIMIT:
        raise InvalidReason(ReasonProblem.TOO_LONG, length=len(stripped), limit=REASON_LIMIT)
    return stripped


def signed_reason(reason: str, actor: Actor) -> str:
    """The reason the service stores: it knows no author, so the person's name goes into it.

    Within 255 characters; the reason is shortened for that, never the name.
    """
    signature = f" (by {actor.name[:80]} via Slack)"
    room = REASON_LIMIT - len(signature)
    shortened = reason if len(reason) <= room else reason[: room - 1].rstrip() + "…"
    return shortened + signature


def act_told_by(record: EventRecord, acts: list[AuditRecord]) -> AuditRecord | None:
    """The act among `acts` that this pause event is the service's record of, if one is.

    A pause is recognised by its signed reason. An unpause carries none: the nearest in time
    counts.
    """
    if record.type == "queue.pause.delete":
        near = [
            act
            for act in acts
            if act.action is Action.UNPAUSE and abs(act.at - record.received_at) <= SAME_UNPAUSE
        ]
    else:
        near = [
            act
            for act in acts
            if act.action is Action.PAUSE
            and act.stored_reason == record.details.get("reason")
            and abs(act.at - record.received_at) <= SAME_ACT
        ]
    return min(near, key=lambda act: abs(act.at - record.received_at), default=None)
