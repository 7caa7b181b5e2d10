"""What an act on a queue leaves in the pause's record, on its cards, and as posts."""

from collections.abc import Collection
from datetime import datetime

from bot.domain.audit import Action, Actor, AuditRecord, Origin
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.pause_records import PauseEnding, PauseRecord, Sighting, Who, lifted_by_act
from bot.store.transactions import Transaction
from bot.usecases.pausing.group_pauses import group_act_of
from bot.usecases.pausing.pause_cards import LOOKED_BACK, touch_pause
from bot.usecases.pausing.pause_history import (
    end_pause,
    hearing_pauses,
    see_pause,
    tell_end,
    tell_replaced,
)
from bot.usecases.tell_urgently import tell_urgently


def announce(
    transaction: Transaction,
    act: AuditRecord,
    channels: Collection[str],
    now: datetime,
    *,
    paused_at: datetime | None = None,
    event_id: int | None = None,
) -> None:
    """Tell `channels` and every channel subscribed to pauses of an act that changed a queue.

    Channels that hear of the act's whole group in one post get only that.

    The same act may be told of by the service's answer and by the event log, in any order:
    `paused_at` is the service's own answer, `event_id` the event.
    """
    together = told_together(transaction, act)
    hearing = {*channels, *hearing_pauses(transaction, act.repository)}.difference(together)
    if act.action is Action.PAUSE:
        _paused(transaction, act, hearing, now, paused_at, event_id)
    else:
        _unpaused(transaction, act, hearing, together, now)


def told_together(transaction: Transaction, act: AuditRecord) -> Collection[str]:
    """The channels that hear of the act's whole group in one post, once the group's act ends."""
    group_act = group_act_of(transaction, act)
    return group_act.told_together if group_act is not None else frozenset()


def _paused(
    transaction: Transaction,
    act: AuditRecord,
    hearing: Collection[str],
    now: datetime,
    paused_at: datetime | None,
    event_id: int | None,
) -> None:
    known_at = paused_at or act.paused_at or act.at
    sighting = Sighting(
        paused_at=known_at,
        stored_reason=act.stored_reason or "",
        # What only the event log tells of has the time of the event.
        is_exact=paused_at is not None,
        reason=act.reason,
        by=_who(act.actor),
        event_id=event_id,
        group_act_id=act.group_act_id,
    )
    seen = see_pause(transaction, act.repository, sighting, hearing, now)
    tell_replaced(transaction, seen, act.record_id, now)
    if act.previous_paused_at is not None:
        # The card of a pause whose time the service keeps shows another end.
        touch_pause(transaction, seen.record, now)
    if seen.has_new_reason:
        # An edit of a card notifies nobody.
        subject = Subject(SubjectKind.ACT, act.repository, act.record_id)
        tell_urgently(transaction, subject, hearing, now, identity=act.identity)


def _unpaused(
    transaction: Transaction,
    act: AuditRecord,
    hearing: Collection[str],
    together: Collection[str],
    now: datetime,
) -> None:
    record = _lifted(transaction, act, now)
    ending = PauseEnding.TIMER if act.origin is Origin.TIMER else PauseEnding.LIFTED
    ended = end_pause(
        transaction,
        record,
        act.at,
        _who(act.actor),
        now,
        ending=ending,
        lifts_at=act.lifts_at,
    )
    tell_end(
        transaction,
        ended,
        hearing,
        now,
        told_otherwise=together,
        part_of_group=bool(act.group_act_id),
    )


def _lifted(transaction: Transaction, act: AuditRecord, now: datetime) -> PauseRecord:
    known = transaction.pauses.of(act.repository, act.at - LOOKED_BACK)
    record = lifted_by_act(known, act.previous_paused_at, act.at)
    if record is not None:
        return record
    sighting = Sighting(
        paused_at=act.previous_paused_at or act.at, stored_reason=act.previous_reason or ""
    )
    return see_pause(transaction, act.repository, sighting, (), now).record


def _who(actor: Actor) -> Who:
    return Who(actor.name, actor.user_id)
