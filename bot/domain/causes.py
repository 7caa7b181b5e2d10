"""Which act through this bot caused what the service reports, because that names only the bot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.audit import Action, ActResult, AuditRecord
from bot.domain.event_records import EventRecord
from bot.domain.event_types import LEAVE, PAUSE_CREATE, PAUSE_DELETE, PAUSE_UPDATE
from bot.domain.freezes import FREEZE_CREATE, FREEZE_DELETE, FREEZE_UPDATE
from bot.domain.preceding_events import is_uninformative

LONGEST_APART = timedelta(hours=1)
"""How far back from an event its act is to be found at most."""


@dataclass(frozen=True, slots=True)
class _Cause:
    """The acts that may cause events of one type, and how far apart the two may be.

    `is_signed`: the event carries the act's signed reason, which identifies the act as well.
    """

    actions: frozenset[Action]
    within: timedelta = timedelta(minutes=1)
    is_signed: bool = False


_PAUSED = _Cause(frozenset({Action.PAUSE}), timedelta(minutes=10), is_signed=True)
_CAUSES: Mapping[str, _Cause] = {
    PAUSE_CREATE: _PAUSED,
    PAUSE_UPDATE: _PAUSED,
    PAUSE_DELETE: _Cause(frozenset({Action.RESUME})),
    FREEZE_CREATE: _Cause(frozenset({Action.FREEZE}), LONGEST_APART, is_signed=True),
    FREEZE_UPDATE: _Cause(frozenset({Action.CHANGE_FREEZE, Action.ALLOW})),
    FREEZE_DELETE: _Cause(frozenset({Action.UNFREEZE}), LONGEST_APART, is_signed=True),
    LEAVE: _Cause(frozenset({Action.REMOVE})),
}


def act_of_event(
    record: EventRecord, acts: Sequence[AuditRecord], clock_ahead: timedelta = timedelta()
) -> AuditRecord | None:
    """The act among `acts` that caused this event, if any: the nearest in time that may have.

    `clock_ahead`: how far the service's clock, which stamps events, is ahead of the bot's.
    Acts with a known end count by that time, acts cut short by a crash or a lost answer by their
    beginning. A leave that says who caused it needs no act.
    """
    cause, at = _CAUSES.get(record.type), record.received_at - clock_ahead
    if cause is None or (record.type == LEAVE and not is_uninformative(record)):
        return None
    near = [
        act
        for act in carried_out(acts)
        if act.action in cause.actions
        and abs(act.at - at) <= cause.within
        and act.pull_request in {None, record.pull_request}
        and (not cause.is_signed or act.stored_reason == _reason(record))
    ]
    return min(near, key=lambda act: abs(act.at - at), default=None)


def _reason(record: EventRecord) -> str | None:
    if record.type in {FREEZE_CREATE, FREEZE_UPDATE}:
        return record.details.freeze.reason if record.details.freeze is not None else None
    return record.details.reason


def act_with_reason(
    acts: Sequence[AuditRecord], action: Action, stored_reason: str | None
) -> AuditRecord | None:
    """The last act whose signed reason the service stores, even if its answer was lost."""
    for act in reversed(carried_out(acts)):
        if act.action is action and act.stored_reason == stored_reason:
            return act
    return None


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
