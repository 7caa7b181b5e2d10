"""What an act that is part of an act on a group leaves behind besides its own record."""

from dataclasses import replace
from datetime import datetime

from bot.domain.audit import Action, ActResult, AuditRecord
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.group_acts import (
    GroupAct,
    GroupOutcome,
    HeldPause,
    RepositoryResult,
)
from bot.store.transactions import Transaction
from bot.usecases.pausing.group_cards import group_card_of, open_group_cards


def mark_begun(transaction: Transaction, started: AuditRecord) -> None:
    """From now on the repository counts as held: the service may pause it before we hear so."""
    if started.group is not None and started.action is Action.PAUSE:
        transaction.group_acts.hold(_held(started))


def mark_done(transaction: Transaction, done: AuditRecord) -> None:
    """What was paused is held by its time, what was unpaused is held no longer."""
    if done.group is None:
        return
    if done.action is Action.PAUSE:
        transaction.group_acts.hold(_held(done))
    elif done.action is Action.UNPAUSE:
        transaction.group_acts.let_go(done.group, done.repository)


def mark_refused(transaction: Transaction, ended: AuditRecord) -> None:
    """A pause that the service certainly did not make is not held."""
    if ended.group is not None and ended.action is Action.PAUSE:
        transaction.group_acts.let_go(ended.group, ended.repository)


def _held(act: AuditRecord) -> HeldPause:
    return HeldPause(
        act.group or "",
        act.repository,
        act.group_act_id,
        act.stored_reason or "",
        act.at,
        act.paused_at,
    )


def subject_of(group_act: GroupAct) -> Subject:
    """The one post about an act on a group, under the name of its first repository."""
    return Subject(SubjectKind.GROUP, group_act.repositories[0], group_act.group_act_id)


def tell_together(transaction: Transaction, act: GroupAct, now: datetime) -> None:
    """Give every channel that hears of an act on a group its one message, which is edited since."""
    open_group_cards(transaction, act)
    is_over = act.ended_at is not None and act.action is not Action.PAUSE
    transaction.cards.touch(group_card_of(act), due_at=now, closed=is_over)


def as_known(transaction: Transaction, act: GroupAct) -> GroupAct:
    """Its results so far, with all that is on record as done, also where the answer was lost."""
    records = transaction.audit.of_group_act(act.group_act_id, act.at)
    done = {one.repository for one in records if one.result is ActResult.DONE}
    if act.action is Action.UNPAUSE:
        # It was asked for, and the queue runs.
        ended = {one.act_id for one in records}
        begun = {
            one.repository
            for one in records
            if one.result is ActResult.STARTED and one.record_id not in ended
        }
        done |= begun & {one.repository for one in act.of(GroupOutcome.NOT_PAUSED)}
    changed = [RepositoryResult(name, GroupOutcome.CHANGED) for name in done]
    others = [one for one in act.results if one.repository not in done]
    known = {one.repository: one for one in (*changed, *others)}
    in_order = tuple(known[name] for name in act.repositories if name in known)
    return replace(act, results=in_order)
