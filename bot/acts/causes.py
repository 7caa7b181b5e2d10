"""Which act through this bot caused what the service reports, because that names only the bot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.acts.reason import signed_by, unsigned_reason
from bot.acts.record import SOMEBODY, UNNAMED, Action, ActResult, AuditRecord, Where
from bot.kernel.actor import Actor, Origin
from bot.log.preceding import is_uninformative
from bot.log.types import FREEZE_CREATE, FREEZE_DELETE, FREEZE_UPDATE
from bot.merge_queue.event_records import EventDetails, EventRecord
from bot.merge_queue.event_types import LEAVE, PAUSE_CREATE, PAUSE_DELETE, PAUSE_UPDATE
from bot.merge_queue.queue import Application

LONGEST_APART = timedelta(hours=1)
"""How far back from an event its act is to be found at most."""


@dataclass(frozen=True, slots=True)
class _Cause:
    """The acts that may cause events of one type, and how far apart the two may be."""

    actions: frozenset[Action]
    within: timedelta = timedelta(minutes=1)
    #: the event carries the act's signed reason, which identifies the act as well
    is_signed: bool = False

    def may_be(self, act: AuditRecord, at: datetime, record: EventRecord) -> bool:
        """Whether the act may have caused the event; `at` is its time by the service's clock."""
        is_near = abs(at - record.received_at) <= self.within or _is_slow_leave(act, at, record)
        is_about_it = act.pull_request is None or act.pull_request == record.pull_request
        has_its_reason = not self.is_signed or act.stored_reason == _stored_reason(record)
        return act.action in self.actions and is_near and is_about_it and has_its_reason


def _is_slow_leave(act: AuditRecord, at: datetime, record: EventRecord) -> bool:
    """Whether a pull request leaves that was in the queue when the service took its removal.

    The service may take a while to carry that out; meanwhile it says `dequeue_requested`.
    """
    queued_at = record.details.queued_at
    if record.type != LEAVE or queued_at is None or act.result is not ActResult.DONE:
        return False
    return max(queued_at, record.received_at - LONGEST_APART) <= at <= record.received_at


_PAUSED = _Cause(frozenset({Action.PAUSE}), timedelta(minutes=10), is_signed=True)
_CAUSE_OF_TYPE: Mapping[str, _Cause] = {
    PAUSE_CREATE: _PAUSED,
    PAUSE_UPDATE: _PAUSED,
    PAUSE_DELETE: _Cause(frozenset({Action.RESUME})),
    FREEZE_CREATE: _Cause(frozenset({Action.FREEZE}), LONGEST_APART, is_signed=True),
    FREEZE_UPDATE: _Cause(frozenset({Action.CHANGE_FREEZE, Action.MOVE_FREEZE, Action.ALLOW})),
    FREEZE_DELETE: _Cause(frozenset({Action.UNFREEZE}), LONGEST_APART, is_signed=True),
    LEAVE: _Cause(frozenset({Action.REMOVE})),
}


def act_of_event(
    record: EventRecord, acts: Sequence[AuditRecord], clock_ahead: timedelta = timedelta()
) -> AuditRecord | None:
    """The act among `acts` that caused this event, if any: the nearest in time that may have.

    `clock_ahead`: how far the service's clock, which stamps events, is ahead of the bot's, for
    acts that don't say when they were by that clock. Acts with a known end count by that time, acts
    cut short by a crash or a lost answer by their beginning. A leave that says who caused it needs
    no act, and what another credential caused has none.
    """
    if record.details.is_ours is False:
        return None
    cause = _CAUSE_OF_TYPE.get(record.type)
    if cause is None or (record.type == LEAVE and not is_uninformative(record)):
        return None

    def at(act: AuditRecord) -> datetime:
        return act.service_at if act.service_at is not None else act.at + clock_ahead

    near = [act for act in possibly_done(acts) if cause.may_be(act, at(act), record)]
    return min(near, key=lambda act: abs(at(act) - record.received_at), default=None)


def with_owner(record: EventRecord, own: Application | None) -> EventRecord:
    """The event, marked if the bot's own credential caused it: the actor is then no person.

    `own`: whose key the credential is (endpoint 8); without an id it is a personal access token,
    of which only the signature tells. None if unknown. The document's id is a number, which can't
    be compared with the UUID of events; then the name has to be the same.
    """
    if own is None:
        return record
    details = record.details
    known: dict[str, object] = {}
    if _is_ours(details, own):
        known = {"is_ours": True, "actor": None}
    elif own.id and details.actor_type == "user":
        # A person. Another application may be ours under an earlier key.
        known = {"is_ours": False}
    return replace(record, details=details.model_copy(update=known))


def _is_ours(details: EventDetails, own: Application) -> bool:
    if not own.id:
        return details.actor_type == "user" and signed_by(details.reason or "") is not None
    if details.actor_type != "application":
        return False
    if own.id.isdecimal():
        return details.actor == own.name
    return details.actor_id == own.id


def _stored_reason(record: EventRecord) -> str | None:
    if record.type not in {FREEZE_CREATE, FREEZE_UPDATE}:
        return record.details.reason
    freeze = record.details.freeze
    return freeze.reason if freeze is not None else None


_SEEN: Mapping[str, Action] = {
    PAUSE_CREATE: Action.PAUSE,
    PAUSE_UPDATE: Action.PAUSE,
    PAUSE_DELETE: Action.RESUME,
    FREEZE_CREATE: Action.FREEZE,
    FREEZE_UPDATE: Action.CHANGE_FREEZE,
    FREEZE_DELETE: Action.UNFREEZE,
}


def seen_act(record: EventRecord) -> AuditRecord:
    """What somebody did to a queue whom no act of this bot names, for the audit."""
    reason = _stored_reason(record)
    if record.details.is_ours:
        name = signed_by(reason or "")
        unknown = SOMEBODY
    else:
        name = record.details.actor
        unknown = UNNAMED
    return AuditRecord(
        at=record.received_at,
        actor=unknown if name is None else Actor("", name),
        action=_SEEN[record.type],
        where=Where(Origin.LOG),
        repository=record.repository,
        result=ActResult.DONE,
        reason=reason if reason is None else unsigned_reason(reason, name),
        stored_reason=reason,
    )


def act_with_reason(
    acts: Sequence[AuditRecord], action: Action, stored_reason: str | None
) -> AuditRecord | None:
    """The last act whose signed reason the service stores, even if its answer was lost."""
    for act in reversed(possibly_done(acts)):
        if act.action is action and act.stored_reason == stored_reason:
            return act
    return None


def possibly_done(acts: Sequence[AuditRecord]) -> list[AuditRecord]:
    """Acts through the bot that changed the queue, or failed and may have: the answer was lost.

    Of those that are done the record of the end, of the others that of the beginning.
    """
    ended = {act.act_id for act in acts if act.result is ActResult.DONE or act.is_undone}
    found: list[AuditRecord] = []
    for act in acts:
        is_done = act.result is ActResult.DONE and act.where.origin is not Origin.LOG
        may_be_done = act.result is ActResult.STARTED and act.record_id not in ended
        if is_done or may_be_done:
            found.append(act)
    return found
