"""Pausing and unpausing: the reason the service is given, and how an attempt can end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from string import whitespace

from bot.domain.audit import Action, Actor, ActResult, AuditRecord
from bot.domain.durations import Lasting
from bot.domain.errors import InvalidReason, ReasonProblem
from bot.domain.event_records import EventRecord
from bot.domain.event_types import PAUSE_DELETE
from bot.domain.pause_records import PauseRecord

REASON_LIMIT = 255
"""API document, Limits: a pause reason has at most 255 characters."""

SAME_ACT = timedelta(minutes=10)
"""How far the event of a pause may lie from the act that made it, which its words tell as well."""

SAME_UNPAUSE = timedelta(minutes=1)
"""The same for an unpause, of which the time is all that tells."""

_UNSEEN = "\u034f\u115f\u1160\u2800\u3164\uffa0\u200c\u200d" + whitespace
"""Fillers, joiners and the empty Braille cell: letters to Unicode, nothing to the eye."""


@dataclass(frozen=True, slots=True)
class Told:
    """An act that changed the queue, and the pause as it is since.

    `posted_here`: the actor's channel is told by a post.
    """

    act: AuditRecord
    pause: PauseRecord
    posted_here: bool


@dataclass(frozen=True, slots=True)
class Paused:
    """The queue is now paused; `previous` is the pause that was replaced, if any."""

    told: Told
    previous: PauseRecord | None = None


@dataclass(frozen=True, slots=True)
class AlreadyPaused:
    """Nothing was changed: a pause is in force. `reason` and `lasting` are what was asked for.

    `is_same`: the pause in force is that of the same person, with that reason and that end.
    """

    known: PauseRecord
    reason: str
    lasting: Lasting | None
    is_same: bool = False


@dataclass(frozen=True, slots=True)
class Unpaused:
    """The queue goes on; `previous` is the pause that was lifted."""

    told: Told
    previous: PauseRecord


@dataclass(frozen=True, slots=True)
class NotPaused:
    """Nothing to resume. `ended` is the pause that ended last, when it is known."""

    ended: PauseRecord | None = None


@dataclass(frozen=True, slots=True)
class OtherPause:
    """Nothing was changed: the pause in force is not the one the button was drawn for.

    `record_id` is what the audit keeps of it, 0 where nothing was put on record.
    """

    known: PauseRecord
    record_id: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Extended:
    """The pause lifts itself at the time that the act tells."""

    told: Told


@dataclass(frozen=True, slots=True)
class OtherEnd:
    """Nothing was changed: the pause had an end, or none, other than when the menu was drawn."""

    known: PauseRecord


@dataclass(frozen=True, slots=True)
class LiftsLater:
    """Nothing was changed: the pause has another end by now than the timer that asks."""


PauseOutcome = Paused | AlreadyPaused
UnpauseOutcome = Unpaused | NotPaused | OtherPause
ExtendOutcome = Extended | NotPaused | OtherPause | OtherEnd


def check_reason(reason: str) -> str:
    """The reason without outer spaces; raises InvalidReason when blank or over 255 characters."""
    stripped = reason.strip()
    if not stripped.strip(_UNSEEN):
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


def act_told_by(
    record: EventRecord, acts: Sequence[AuditRecord], clock_ahead: timedelta = timedelta()
) -> AuditRecord | None:
    """The act among `acts` that this pause event is the service's record of, if one is.

    A pause is recognised by its signed reason. An unpause carries none: the nearest in time
    counts. `clock_ahead`: how far the service's clock, which the event has its time of, is ahead
    of ours. An act whose end we know is given by its end, one that a crash or a lost answer cut
    short by its beginning.
    """
    at = record.received_at - clock_ahead
    within = SAME_UNPAUSE if record.type == PAUSE_DELETE else SAME_ACT
    near = [
        act for act in carried_out(acts) if abs(act.at - at) <= within and _could_be(act, record)
    ]
    return min(near, key=lambda act: abs(act.at - at), default=None)


def carried_out(acts: Sequence[AuditRecord]) -> list[AuditRecord]:
    """The acts that changed the queue or may have; one that failed may have, its answer lost."""
    known_ends = {ActResult.DONE, ActResult.UNCHANGED, ActResult.REFUSED}
    ended = {act.act_id for act in acts if act.result in known_ends}
    return [
        act
        for act in acts
        if act.result is ActResult.DONE
        or (act.result is ActResult.STARTED and act.record_id not in ended)
    ]


def _could_be(act: AuditRecord, record: EventRecord) -> bool:
    if record.type == PAUSE_DELETE:
        return act.action is Action.UNPAUSE
    return act.action is Action.PAUSE and act.stored_reason == record.details.reason
