"""The pauses made by acts on groups: which are in force, and their live messages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.acts.ends import with_unknown_end
from bot.acts.group_act import (
    ENDING_ACTIONS,
    INTERRUPTED,
    LASTING_ACTIONS,
    GroupAct,
    GroupOutcome,
    RepositoryResult,
)
from bot.acts.group_acts import GroupActs
from bot.acts.permission import is_machine
from bot.acts.record import Action, ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.people.linking import who_wants
from bot.people.notices import Notice
from bot.posts.delivery import END_POST, Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent, open_live_messages, reply
from bot.posts.live_message import LiveKind, LiveMessage, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction


def group_act_of(transaction: Transaction, part: PauseRecord | AuditRecord) -> GroupAct | None:
    """The act on a group that made the pause, or that the act belongs to."""
    group_act_id = part.group.act_id if isinstance(part, AuditRecord) else part.line.group_act_id
    if not group_act_id:
        return None
    return GroupActs(transaction).one(group_act_id)


def notified_together(transaction: Transaction, part: PauseRecord | AuditRecord) -> frozenset[str]:
    """The channels that get one post about the act's whole group, once that ends."""
    act = group_act_of(transaction, part)
    return act.notified_together if act is not None else frozenset()


def still_paused(transaction: Transaction, act: GroupAct) -> Sequence[PauseRecord]:
    """The act's pauses that are still in force, in the group's order."""
    in_force = Pauses(transaction).open(act.repositories)
    ours = {
        pause.repository: pause for pause in in_force if pause.line.group_act_id == act.group_act_id
    }
    return [ours[name] for name in act.repositories if name in ours]


def paused_again(transaction: Transaction, act: GroupAct) -> Sequence[PauseRecord]:
    """The pauses in force that replaced those of the act."""
    made = {result.repository for result in act.of(GroupOutcome.CHANGED)}
    in_force = Pauses(transaction).open(made)
    return [pause for pause in in_force if pause.line.group_act_id != act.group_act_id]


def shown_group(act: GroupAct) -> LiveSubject:
    return LiveSubject(LiveKind.GROUP, act.repositories[0], str(act.group_act_id))


def shown_reminder(about: PauseRecord | GroupAct) -> LiveSubject:
    """The subject of the reminders of a pause alone, or of all that an act on a group paused."""
    if isinstance(about, GroupAct):
        return LiveSubject(LiveKind.REMINDER, about.repositories[0], f"group {about.group_act_id}")
    return LiveSubject(LiveKind.REMINDER, about.repository, f"pause {about.pause_id}")


def touch_group(transaction: Transaction, record: PauseRecord, now: datetime) -> None:
    """Have the live messages of the pause's group edited, if it has one."""
    # Two concurrent ends would each consider the other's pause still in force.
    made_by = record.line.group_act_id
    act = GroupActs(transaction).locked(made_by) if made_by else None
    if act is not None:
        left = still_paused(transaction, act)
        for subject in (shown_group(act), shown_reminder(act)):
            LiveMessages(transaction).mark(subject, due_at=now, closed=not left)


def group_cards(transaction: Transaction, record: PauseRecord) -> Sequence[LiveMessage]:
    act = group_act_of(transaction, record)
    return LiveMessages(transaction).of(shown_group(act)) if act is not None else ()


def channels_of_frozen(transaction: Transaction, group: str) -> set[str]:
    """The channels with a card of a freeze of the group that isn't over."""
    return {
        card.channel_id
        for act in GroupActs(transaction).freezing(group)
        for card in LiveMessages(transaction).of(shown_group(act))
        if not card.closed
    }


def group_act_subject(group_act: GroupAct) -> Subject:
    """The subject of the post about an act on a group, under the name of its first repository."""
    return Subject(SubjectKind.GROUP, group_act.repositories[0], group_act.group_act_id)


def notify_together(transaction: Transaction, act: GroupAct, now: datetime) -> None:
    """Post one message about a group's act to every channel that gets it, to be edited later.

    It stands in the thread of the group's card. A new end is a reply there, once all its pauses
    have that end; the post that the group has resumed, or is unfrozen, also shows in the channel.
    """
    cards = _cards_acted_upon(transaction, act)
    channels = act.notified_together
    if act.action is Action.EXTEND:
        if act.ended_at is not None:
            replies = [card for card in cards.values() if card.channel_id in channels]
            reply(transaction, group_act_subject(act), replies, now, identity=act.identity)
            _notify_responsible(transaction, act, now)
        channels = channels.difference(cards)
    open_live_messages(
        transaction,
        shown_group(act),
        channels,
        act.at,
        identity=act.identity,
        kind=END_POST if act.action in ENDING_ACTIONS else None,
        roots={channel_id: card.message_id for channel_id, card in cards.items()},
    )
    is_over = act.ended_at is not None and act.action not in LASTING_ACTIONS
    LiveMessages(transaction).mark(shown_group(act), due_at=now, closed=is_over)


def _cards_acted_upon(transaction: Transaction, act: GroupAct) -> Mapping[str, LiveMessage]:
    """The latest card in each channel of what the act extends or ends."""
    found: dict[str, LiveMessage] = {}
    for earlier in _acts_acted_upon(transaction, act):
        cards = LiveMessages(transaction).of(shown_group(earlier))
        found |= {card.channel_id: card for card in cards if not card.is_lost}
    return found


def _acts_acted_upon(transaction: Transaction, act: GroupAct) -> Sequence[GroupAct]:
    """The acts that paused or froze the group, oldest first: after an end, none is in force."""
    if act.action is Action.UNFREEZE:
        return GroupActs(transaction).freezing(act.group, act.group_act_id)
    if act.action is Action.RESUME:
        return GroupActs(transaction).pausing(act.group, act.group_act_id)
    if act.action is not Action.EXTEND:
        return ()
    paused = Pauses(transaction).open(act.repositories)
    act_ids = {pause.line.group_act_id for pause in paused if pause.line.group_act_id}
    made = GroupActs(transaction).get(act_ids)
    return [pausing for _, pausing in sorted(made.items()) if pausing.group == act.group]


def _notify_responsible(transaction: Transaction, act: GroupAct, now: datetime) -> None:
    """Notify the people whose pauses somebody else extended together, if they want that."""
    changed = {result.repository for result in act.of(GroupOutcome.CHANGED)}
    responsible = {pause.person_responsible for pause in Pauses(transaction).open(changed)}
    people = [
        person
        for person in responsible
        if person is not None and person != act.actor.user_id and not is_machine(person)
    ]
    wanted = who_wants(transaction, Notice.REPLACED, people)
    enqueue_urgent(transaction, group_act_subject(act), wanted, now, identity=act.identity)


def with_recorded(transaction: Transaction, act: GroupAct) -> GroupAct:
    """The act with the results that its parts have in the audit, beside those in `act`."""
    records = Audit(transaction).of_group_act(act.group_act_id, act.at)
    known = {result.repository: result for result in act.results}
    for record in records:
        name = record.repository
        if record.result is ActResult.DONE:
            known[name] = RepositoryResult(name, GroupOutcome.CHANGED)
        elif record.waits_for_second:
            known.setdefault(name, RepositoryResult(name, GroupOutcome.ASKED))
    return replace(act, results=_in_order(act, known))


def cut_off(transaction: Transaction, act: GroupAct) -> GroupAct:
    """An act whose process died: nobody can tell yet what became of parts without an end."""
    recorded = with_recorded(transaction, act)
    known = {result.repository: result for result in recorded.results}
    records = Audit(transaction).of_group_act(act.group_act_id, act.at)
    for record in records:
        if record.result is ActResult.REFUSED:
            why = record.outcome.answer or record.outcome.detail
            failed = RepositoryResult(record.repository, GroupOutcome.FAILED, detail=why)
            known.setdefault(record.repository, failed)
    for part in with_unknown_end(records):
        outcome = GroupOutcome.UNCERTAIN if act.request is not None else GroupOutcome.FAILED
        unknown = RepositoryResult(part.repository, outcome, detail=INTERRUPTED)
        known.setdefault(part.repository, unknown)
    return replace(act, results=_in_order(act, known))


def _in_order(
    act: GroupAct, known: Mapping[RepositoryName, RepositoryResult]
) -> tuple[RepositoryResult, ...]:
    return tuple(known[name] for name in act.repositories if name in known)
