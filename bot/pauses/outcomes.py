"""Pausing and resuming: the possible outcomes, and the pause that an act made or ended."""

from dataclasses import dataclass, field
from enum import Enum

from bot.acts.errors import QueueBusy
from bot.acts.record import Action, AuditRecord
from bot.acts.unanswered import Unanswered
from bot.kernel.actor import Actor
from bot.kernel.errors import MergeQueueError
from bot.pauses.pause import PauseLine, PauseRecord, Timer


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

    def is_as_asked(self, actor: Actor, reason: str) -> bool:
        """Whether the actor made it for this reason; its end may have changed since."""
        is_own = self.known.pauser == actor.user_id
        return is_own and self.known.line.reason == reason.strip()


@dataclass(frozen=True, slots=True)
class NotPaused:
    """The queue runs, and the act is not known to be why. `ended` is the last pause, if known."""

    ended: PauseRecord | None = None
    is_answer_lost: bool = False  #: the service was asked to resume, and perhaps did


@dataclass(frozen=True, slots=True)
class OtherPause:
    """Nothing changed: the button belongs to another pause than the one in force."""

    known: PauseRecord
    record_id: int = field(default=0, compare=False)  #: its audit record, 0 if nothing was recorded


@dataclass(frozen=True, slots=True)
class OtherEnd:
    """Nothing changed: the end of the pause has changed since the menu was drawn."""

    known: PauseRecord


@dataclass(frozen=True, slots=True)
class Overtaken:
    """A timer did nothing: somebody resumed the queue, or changed its end, meanwhile."""


@dataclass(frozen=True, slots=True)
class NotYetResumed:
    """A timer couldn't resume the queue, and will try again."""

    error: MergeQueueError | QueueBusy


class WatchOutcome(Enum):
    """What became of a request to be notified when a queue or a group resumes."""

    NEW = "the person will be notified"
    KNOWN = "they had asked already"
    NOT_PAUSED = "nothing is paused"


PauseOutcome = PauseChange | AlreadyPaused


ReasonOutcome = PauseOutcome | NotPaused


ResumeOutcome = PauseChange | NotPaused | OtherPause


TimedOutcome = ResumeOutcome | Overtaken | NotYetResumed


ExtendOutcome = PauseChange | NotPaused | OtherPause | OtherEnd


def pause_of(act: AuditRecord) -> PauseRecord:
    """The pause that the act made, or ended, as far as the act's own record tells."""
    if act.action is not Action.PAUSE:
        reason = act.previous.reason or ""
        return PauseRecord(
            act.repository, PauseLine(act.previous.paused_at or act.at, reason, reason)
        )
    stored_reason = act.stored_reason or ""
    return PauseRecord(
        repository=act.repository,
        line=PauseLine(
            paused_at=act.paused_at or act.at,
            stored_reason=stored_reason,
            reason=act.reason or stored_reason,
            by=act.actor,
            group_act_id=act.group.act_id,
        ),
        timer=timer_of(act),
    )


def timer_of(act: AuditRecord) -> Timer | None:
    """The planned end that an act sets."""
    if act.resumes_at is None:
        return None
    reason = act.stored_reason or ""
    return Timer(act.resumes_at, act.resumes_at, act.actor, reason, act.where.channel_id)


@dataclass(frozen=True, slots=True)
class ActOutcome:
    """What became of a request whose answer is owed."""

    request: Unanswered
    act: AuditRecord | None  #: the end of the act that it asked for; None if it began none
    #: the pause of its queue that is in force, if the bot knows of one
    in_force: PauseRecord | None = None
