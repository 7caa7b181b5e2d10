"""What an act that is part of an act on a group leaves behind besides its own record."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from bot.domain.audit import Action, ActResult, AuditRecord
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.group_acts import (
    GroupAct,
    GroupOutcome,
    HeldPause,
    RepositoryResult,
    in_order,
)
from bot.ports import Transaction
from bot.usecases.pausing.group_cards import open_group_cards
from bot.usecases.tell_urgently import tell_urgently


async def mark_begun(transaction: Transaction, started: AuditRecord) -> None:
    """From now on the repository counts as held: the service may pause it before we hear so."""
    if started.group is not None and started.action is Action.PAUSE:
        await transaction.group_acts.hold(_held(started))


async def mark_done(transaction: Transaction, done: AuditRecord) -> None:
    """What was paused is held by its time, what was unpaused is held no longer."""
    if done.group is None:
        return
    if done.action is Action.PAUSE:
        await transaction.group_acts.hold(_held(done))
    elif done.action is Action.UNPAUSE:
        await transaction.group_acts.let_go(done.group, done.repository)


async def mark_refused(transaction: Transaction, ended: AuditRecord) -> None:
    """A pause that the service certainly did not make is not held."""
    if ended.group is not None and ended.action is Action.PAUSE:
        await transaction.group_acts.let_go(ended.group, ended.repository)


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


async def tell_together(transaction: Transaction, act: GroupAct) -> None:
    """Add the one post about an act on a group to every channel that hears of it so."""
    if act.action is Action.PAUSE:
        await open_group_cards(transaction, act)
        return
    await tell_urgently(transaction, subject_of(act), act.told_together, act.at)


async def load_group_acts(
    transaction: Transaction, wanted: Collection[int]
) -> Mapping[int, GroupAct]:
    """Acts on groups by their ids; one that was cut short with what is known of it."""
    if not wanted:
        return {}
    found = await transaction.group_acts.get(wanted)
    return {
        group_act_id: await as_known(transaction, act) if act.is_told_by_records else act
        for group_act_id, act in found.items()
    }


async def as_known(transaction: Transaction, act: GroupAct) -> GroupAct:
    """Its results from the audit: what is not on record as done may have been done or not."""
    records = await transaction.audit.of_group_act(act.group_act_id, act.at)
    done = [
        RepositoryResult(one.repository, GroupOutcome.CHANGED)
        for one in records
        if one.result is ActResult.DONE
    ]
    return replace(act, results=in_order(act.repositories, done))
