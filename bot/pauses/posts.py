"""How posts and cards about pauses are rendered when they are sent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.acts.group_act import GroupAct
from bot.acts.group_acts import GroupActs
from bot.blocks.blocks import without_controls
from bot.blocks.message import Message
from bot.log.rows import PullRequests
from bot.pauses.group_pauses import group_act_of, paused_again, still_paused
from bot.pauses.merges import merged_since
from bot.pauses.pause import PauseRecord
from bot.pauses.reasons import evidence_of, reason_of_end
from bot.pauses.rows import Pauses
from bot.pauses.texts import (
    card as pause_card,
    ends as pause_ends,
    group_acts,
    reminders,
    replies as pause_replies,
)
from bot.pauses.timeline import changes_of_entry
from bot.posts.claim import Claim
from bot.posts.delivery import Delivery, SubjectKind
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.rendering import RenderLiveMessage, RenderPost
from bot.store.transaction import Transaction


def _group_reply(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    act = GroupActs(transaction).one(delivery.subject.subject_id)
    if act is None:
        return None
    return replace(group_acts.answer_to_actor(act, posted_here=False), happened_at=act.at)


def _of_pause(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    """A post about an end: one that was false is shown as it was then."""
    record = Pauses(transaction).with_end(delivery.subject.subject_id)
    if record is None:
        return None
    match delivery.subject.kind:
        case SubjectKind.STILL_PAUSED:
            message = pause_card.still_paused(record)
        case SubjectKind.RESUMED:
            again = Pauses(transaction).open([record.repository])
            is_theirs = _is_theirs(delivery, record)
            say = pause_card.resumed_for_you if is_theirs else pause_card.resumed
            message = say(record, is_paused_again=bool(again))
            if not is_theirs and _knows_of_failure(delivery, record):
                message = pause_ends.worked(record)
        case SubjectKind.GROUP_RESUMED if act := group_act_of(transaction, record):
            message = group_acts.group_resumed(act, record, is_yours=_is_theirs(delivery, record))
        case SubjectKind.GROUP_RESUMED:
            message = pause_card.resumed(record)
        case _:
            message = pause_card.ended(record, reason_of_end(transaction, record))
    return replace(message, happened_at=record.ended_at or record.line.paused_at)


def _changed(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    """What a pause says now, instead of one of its earlier lines."""
    earlier = Pauses(transaction).line(delivery.subject.subject_id)
    record = Pauses(transaction).one(earlier.pause_id) if earlier is not None else None
    if earlier is None or record is None:
        return None
    record = replace(record, previous_reason=earlier.line.reason)
    responsible = earlier.responsible
    is_theirs = responsible is not None and responsible.user_id == delivery.channel_id
    if delivery.subject.kind is SubjectKind.PAUSE_CHANGED:
        message = pause_card.changed(record)
    elif is_theirs:
        message = pause_card.replaced_elsewhere(record)
    else:
        message = pause_card.end_void(record)
    return replace(message, happened_at=record.line.paused_at)


def _end_void(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    """None if the pause is over."""
    record = Pauses(transaction).one(delivery.subject.subject_id)
    if record is None or not record.is_open:
        return None
    return replace(pause_card.end_void(record), happened_at=record.line.paused_at)


def _adopted(transaction: Transaction, delivery: Delivery, _: Claim) -> Message | None:
    """None if it is over, somebody has set an end, or the log has named another author."""
    record = Pauses(transaction).one(delivery.subject.subject_id)
    if record is None or not record.has_unknown_end:
        return None
    return replace(pause_card.adopted(record), happened_at=record.line.paused_at)


def _is_theirs(delivery: Delivery, record: PauseRecord) -> bool:
    """Whether it goes to the person responsible, and somebody else resumed the queue."""
    person = delivery.channel_id
    has_resumed = record.ended_by is not None and record.ended_by.user_id == person
    return record.person_responsible == person and not has_resumed and not record.is_ended_by_timer


def _knows_of_failure(delivery: Delivery, record: PauseRecord) -> bool:
    """Whether it goes to the person whose timer failed."""
    timer = record.timer
    return timer is not None and timer.is_told and timer.set_by.user_id == delivery.channel_id


def _direct_reminder(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    """To the person who paused; None if the pause is over."""
    record = Pauses(transaction).one(delivery.subject.subject_id)
    if record is None or not record.is_open:
        return None
    act = group_act_of(transaction, record)
    left = still_paused(transaction, act) if act is not None else []
    if act is not None and len(left) > 1:
        return reminders.group_reminder(act, left, claim.at, is_direct=True)
    return reminders.reminder(record, claim.at, is_direct=True)


def _escalation(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    """That nobody answers the reminders; None if the pause is over."""
    record = Pauses(transaction).one(delivery.subject.subject_id)
    if record is None or not record.is_open or record.reminders is None:
        return None
    mention = record.reminders.escalated_to
    if mention is None:
        return None
    act = group_act_of(transaction, record)
    left = still_paused(transaction, act) if act is not None else []
    group = act.group if act is not None and len(left) > 1 else None
    return reminders.escalation(record, mention, group, claim.at)


def _pause_card_now(transaction: Transaction, subject: LiveSubject) -> Message | None:
    pause = Pauses(transaction).one(int(subject.key))
    if pause is None:
        return None
    message = pause_card.card(pause, _around(transaction, pause))
    return replace(message, happened_at=pause.since)


def _around(transaction: Transaction, pause: PauseRecord) -> pause_card.Around:
    lines = Pauses(transaction).earlier_lines([pause.pause_id])
    evidence = evidence_of(transaction, pause)
    numbers = evidence.pull_requests if evidence is not None else ()
    seen = PullRequests(transaction).linked(pause.repository, numbers) if numbers else {}
    merged = merged_since(transaction, [pause])
    return pause_card.Around(lines[0] if lines else None, evidence, seen, merged)


def paused_group_now(transaction: Transaction, act: GroupAct) -> Message:
    """The card of a group that was paused, once the act has ended."""
    left = still_paused(transaction, act)
    made = Pauses(transaction).of_act(act.group_act_id)
    now = group_acts.GroupNow(
        left=tuple(pause.repository for pause in left),
        ends=group_acts.ends_of(left),
        over=tuple(pause for pause in made if not pause.is_open),
        again=tuple(paused_again(transaction, act)),
        merged=merged_since(transaction, made),
        taken_over=_taken_over_together(left or made),
    )
    return group_acts.group_card(act, now)


def _taken_over_together(left: Sequence[PauseRecord]) -> PauseRecord | None:
    """The first of these pauses, if one person took all of them over."""
    persons = {pause.taken_over.by if pause.taken_over is not None else None for pause in left}
    return left[0] if len(persons) == 1 and None not in persons else None


def _changes_entry(transaction: Transaction, subject: LiveSubject) -> Message | None:
    """An entry of a card's thread, without the buttons, which the card has."""
    acts = changes_of_entry(transaction, int(subject.key))
    if not acts:
        return None
    return replace(without_controls(pause_replies.changes_post(acts)), happened_at=acts[0].at)


def _reminder(transaction: Transaction, subject: LiveSubject) -> Message | None:
    kind, _, key = subject.key.partition(" ")
    if kind == "group":
        act = GroupActs(transaction).one(int(key))
        left = still_paused(transaction, act) if act is not None else []
        if act is None or not left:
            return reminders.group_over(act) if act is not None else None
        if len(left) > 1:
            return reminders.group_reminder(act, left, _reminded_at(left[0]))
        return reminders.reminder(left[0], _reminded_at(left[0]))
    pause = Pauses(transaction).one(int(key))
    if pause is None or not pause.is_open:
        return reminders.reminder_over(pause) if pause is not None else None
    return reminders.reminder(pause, _reminded_at(pause))


def _reminded_at(pause: PauseRecord) -> datetime:
    """The time of its last reminder: edits for other reasons say no other length."""
    plan = pause.reminders
    return plan.last_at if plan is not None and plan.last_at is not None else pause.since


PAUSE_POSTS: Mapping[SubjectKind, RenderPost] = {
    SubjectKind.GROUP: _group_reply,
    SubjectKind.PAUSE_END: _of_pause,
    SubjectKind.STILL_PAUSED: _of_pause,
    SubjectKind.ADOPTED: _adopted,
    SubjectKind.RESUMED: _of_pause,
    SubjectKind.GROUP_RESUMED: _of_pause,
    SubjectKind.PAUSE_CHANGED: _changed,
    SubjectKind.REPLACED_ELSEWHERE: _changed,
    SubjectKind.END_VOID: _end_void,
    SubjectKind.REMINDER: _direct_reminder,
    SubjectKind.ESCALATION: _escalation,
}

PAUSE_LIVE_MESSAGES: Mapping[LiveKind, RenderLiveMessage] = {
    LiveKind.PAUSE: _pause_card_now,
    LiveKind.REMINDER: _reminder,
    LiveKind.CHANGES: _changes_entry,
}
