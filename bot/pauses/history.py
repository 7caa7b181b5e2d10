"""The one record of each pause, with its live messages and posts, from whichever source."""

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.acts.group_act import GroupOutcome
from bot.acts.permission import is_machine
from bot.acts.record import AuditRecord
from bot.acts.rows import Audit
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic, subscribed_channels
from bot.kernel.actor import Actor
from bot.kernel.repository import RepositoryName
from bot.log.rows import Events
from bot.merge_queue.event_types import ENTER
from bot.merge_queue.queue import Pause
from bot.pauses.group_pauses import (
    group_act_of,
    group_cards,
    notified_together,
    shown_reminder,
    still_paused,
    touch_group,
)
from bot.pauses.known import same_reason
from bot.pauses.pause import (
    PAUSE_LOOKBACK,
    EarlierLine,
    PauseEnd,
    PauseRecord,
    Timer,
    observed,
    over_pause,
)
from bot.pauses.requests import touch_pause_requests
from bot.pauses.rows import Pauses, ResumeWatchers
from bot.people.linking import who_wants
from bot.people.notices import Notice
from bot.people.rows import People
from bot.posts.delivery import END_POST, Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent, open_live_messages, reply
from bot.posts.live_message import LiveKind, LiveMessage, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

ARRIVALS_COUNTED = 1000
"""The most pull requests that are counted as added during one pause."""


def shown_pause(record: PauseRecord) -> LiveSubject:
    return LiveSubject(LiveKind.PAUSE, record.repository, str(record.pause_id))


def open_pause_cards(
    transaction: Transaction, record: PauseRecord, channels: Iterable[str], now: datetime
) -> None:
    open_live_messages(
        transaction,
        shown_pause(record),
        channels,
        now,
        identity=record.identity,
        closed=not record.is_open,
    )


def touch_pause(transaction: Transaction, record: PauseRecord, now: datetime) -> None:
    """Have all live messages of the pause edited; if it is over, that is their last edit."""
    LiveMessages(transaction).mark(shown_pause(record), due_at=now, closed=not record.is_open)
    if not record.is_open:
        LiveMessages(transaction).mark(shown_reminder(record), due_at=now, closed=True)
        touch_pause_requests(transaction, record.repository, now)


def touch(transaction: Transaction, record: PauseRecord, now: datetime) -> None:
    touch_pause(transaction, record, now)
    touch_group(transaction, record, now)


def cards_of(transaction: Transaction, record: PauseRecord) -> Sequence[LiveMessage]:
    """One message in each channel that shows the pause, or else its group."""
    shown = [*group_cards(transaction, record), *LiveMessages(transaction).of(shown_pause(record))]
    return list({message.channel_id: message for message in shown if not message.is_lost}.values())


def pause_in_force(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> PauseRecord | None:
    """The record of the pause in force, as far as the bot knows.

    Until the transaction ends nobody else changes a pause of the repository.
    """
    known = Pauses(transaction).of(repository, now)
    return next((pause for pause in known if pause.is_open), None)


async def know_pause(store: Store, repository: RepositoryName, pause: Pause) -> PauseRecord:
    """The record of the pause in force, because the service doesn't know its author.

    Without a record it is what the service says.
    """
    since = pause.paused_at - PAUSE_LOOKBACK
    known = await store.read(lambda transaction: Pauses(transaction).recent(repository, since))
    for record in sorted(known, key=lambda one: (one.is_open, one.since), reverse=True):
        is_its_time = record.is_of(pause.paused_at) or (record.is_open and not pause.is_dated)
        if is_its_time and same_reason(record.line.stored_reason, pause.reason):
            # Its end may have been false.
            return replace(record, end=None)
    return observed(repository, pause)


def end_pause(
    transaction: Transaction, record: PauseRecord, end: PauseEnd, now: datetime
) -> PauseRecord:
    """Record the end of a pause, or what is known of it by now, and close its live messages.

    The caller has read `record` in this transaction and holds the repository's pauses.
    """
    record = _with_arrivals(transaction, record, end)
    ended = Pauses(transaction).save_ended(over_pause(record, end))
    touch(transaction, ended, now)
    # Those of queue entries say whether the queue is paused.
    LiveMessages(transaction).mark_open(LiveKind.ENTRY, record.repository, due_at=now)
    _notify_watchers(transaction, ended, now)
    return ended


def _with_arrivals(transaction: Transaction, record: PauseRecord, end: PauseEnd) -> PauseRecord:
    """The pause with all that the log saw entering: no reading saw those who came after the last.

    Channels with a card get no other post about them.
    """
    log = Events(transaction)
    entered = log.between(record.repository, ENTER, record.since, end.at, ARRIVALS_COUNTED)
    numbers = {event.pull_request for event in entered if event.pull_request is not None}
    queue = replace(record.queue, waited=record.queue.waited | numbers)
    return replace(record, queue=queue)


def notify_still_paused(
    transaction: Transaction,
    ended: PauseRecord,
    again: PauseRecord,
    channels: Iterable[str],
    now: datetime,
) -> None:
    """Show a pause again whose end was wrong, and correct what was posted about that."""
    shown = {*channels, *shown_in(transaction, again)}
    LiveMessages(transaction).open_again(shown_pause(again))
    touch(transaction, again, now)
    LiveMessages(transaction).mark_open(LiveKind.ENTRY, again.repository, due_at=now)
    people = _notified_of_end(transaction, ended)
    for person in people:
        if person != ended.person_responsible:
            ResumeWatchers(transaction).add(again.pause_id, person)
    corrected = {*people, *shown} if ended.is_end_notified else people
    _add_notice(transaction, SubjectKind.STILL_PAUSED, ended, ended.end_number, corrected, now)
    open_pause_cards(transaction, again, shown, now)


def _notified_of_end(transaction: Transaction, ended: PauseRecord) -> set[str]:
    """The people who got a message of their own about the end."""
    kinds = (SubjectKind.RESUMED, SubjectKind.GROUP_RESUMED)
    subjects = [Subject(kind, ended.repository, ended.end_number) for kind in kinds]
    return {person for subject in subjects for person in Outbox(transaction).addressees(subject)}


def notify_end(
    transaction: Transaction,
    record: PauseRecord,
    channels: Collection[str],
    now: datetime,
    act: AuditRecord | None = None,
) -> None:
    """Post the end once to each of the channels and wherever a live message shows the pause.

    Where one does, the post is the last entry of its thread. The person responsible is notified
    too when somebody else resumed the queue. `act` ended it.
    """
    notified = {*channels, *shown_in(transaction, record, with_group=True)}
    if act is not None:
        notified -= notified_together(transaction, act)
    cards = [card for card in cards_of(transaction, record) if card.channel_id in notified]
    subject = Subject(SubjectKind.PAUSE_END, record.repository, record.end_number)
    reply(transaction, subject, cards, now, identity=record.identity, kind=END_POST)
    # Where it is a reply already, this adds nothing.
    _add_notice(transaction, SubjectKind.PAUSE_END, record, record.end_number, notified, now)
    if record.end is not None and not record.end.is_notified:
        is_part = act is not None and bool(act.group.act_id)
        _notify_responsible_of_end(transaction, record, now, part_of_group=is_part)
        _notify_timer_setter(transaction, record, now)
        end = replace(record.end, is_notified=True)
        Pauses(transaction).save(replace(record, end=end))


def _notify_responsible_of_end(
    transaction: Transaction, record: PauseRecord, now: datetime, *, part_of_group: bool
) -> None:
    """A group that is resumed as a whole gives one message, with the last of its pauses."""
    person = record.person_responsible
    if record.is_ended_by_timer or person is None or _are_one(transaction, person, record.ended_by):
        return
    kind = SubjectKind.RESUMED
    act = None
    if part_of_group:
        act = group_act_of(transaction, record)
    if act is not None:
        if still_paused(transaction, act):
            return
        if len(act.of(GroupOutcome.CHANGED)) > 1:
            kind = SubjectKind.GROUP_RESUMED
    people = who_wants(transaction, Notice.REPLACED, [person])
    _add_notice(transaction, kind, record, record.end_number, people, now)


def _notify_timer_setter(transaction: Transaction, record: PauseRecord, now: datetime) -> None:
    """Somebody who knows that their timer failed waits for what became of it."""
    timer = record.timer
    ended_by = record.ended_by
    if timer is None or not timer.is_told or is_machine(timer.set_by.user_id):
        return
    is_theirs = ended_by is not None and ended_by.user_id == timer.set_by.user_id
    if record.is_ended_by_timer or not is_theirs:
        people = [timer.set_by.user_id]
        _add_notice(transaction, SubjectKind.RESUMED, record, record.end_number, people, now)


NAMED_WITHIN = timedelta(seconds=30)
"""How long after a pause began its event may come that says who made it."""


def notify_adopted(
    transaction: Transaction,
    record: PauseRecord,
    channels: Iterable[str],
    now: datetime,
    *,
    is_logged: bool,
) -> None:
    """Say once that nobody ends this pause, to the channels and to the person who paused.

    `is_logged`: its event was read, which names the author whatever the reason says.
    The person is notified only if the audit knows one of that name: a reason is outside text.
    """
    if not is_logged and now - record.line.paused_at < NAMED_WITHIN:
        return
    named = Audit(transaction).people_named(record.by_name or "")
    people = who_wants(transaction, Notice.REMINDER, named) if len(named) == 1 else frozenset()
    notified = {*channels, *shown_in(transaction, record, with_group=True), *people}
    if not _add_notice(transaction, SubjectKind.ADOPTED, record, record.pause_id, notified, now):
        return
    logger.warning(
        "a pause made through the bot isn't in this database, so its end is unknown",
        extra={
            "action": "pause_adopted",
            "repository": record.repository,
            "person": record.by_name,
            "reason": record.line.reason,
        },
    )


def notify_replaced(
    transaction: Transaction,
    lost: EarlierLine,
    record: PauseRecord,
    act_id: int | None,
    now: datetime,
) -> None:
    """Notify the person whose pause somebody else replaced or changed, if they want that.

    `act_id`: the act that did it, None if it was done outside the bot.
    """
    person = lost.responsible.user_id if lost.responsible is not None else ""
    if not person or _are_one(transaction, person, record.line.by):
        return
    people = who_wants(transaction, Notice.REPLACED, [person])
    subject = Subject(SubjectKind.REPLACED_ELSEWHERE, record.repository, lost.line_id)
    if act_id is not None:
        subject = Subject(SubjectKind.REPLACED, record.repository, act_id)
    enqueue_urgent(transaction, subject, people, now, identity=record.line_identity)


def notify_responsible(transaction: Transaction, pause: PauseRecord, act: AuditRecord) -> None:
    """Notify the person responsible of what somebody else did to the pause, if they want that.

    `pause`: as it was before the act.
    """
    person = pause.person_responsible
    if person is None or is_machine(person) or person == act.actor.user_id:
        return
    people = who_wants(transaction, Notice.REPLACED, [person])
    subject = Subject(SubjectKind.REPLACED, act.repository, act.record_id)
    enqueue_urgent(transaction, subject, people, act.at, identity=act.identity)


def notify_void_end(
    transaction: Transaction, timer: Timer, lost: EarlierLine, record: PauseRecord, now: datetime
) -> None:
    """Notify the person whose end is void, unless they know: it was their pause, or their change.

    Their pause was replaced, of which `notify_replaced` tells.
    """
    person = timer.set_by.user_id
    is_theirs = lost.responsible is not None and lost.responsible.user_id == person
    if is_theirs or is_machine(person) or _are_one(transaction, person, record.line.by):
        return
    people = who_wants(transaction, Notice.REPLACED, [person])
    subject = Subject(SubjectKind.REPLACED_ELSEWHERE, record.repository, lost.line_id)
    enqueue_urgent(transaction, subject, people, now, identity=record.line_identity)


def notify_end_not_theirs(
    transaction: Transaction, timer: Timer, record: PauseRecord, now: datetime
) -> None:
    """Notify the person whose end is void, as the log names somebody else for that pause."""
    person = timer.set_by.user_id
    if is_machine(person) or _are_one(transaction, person, record.line.by):
        return
    people = who_wants(transaction, Notice.REPLACED, [person])
    _add_notice(transaction, SubjectKind.END_VOID, record, record.pause_id, people, now)


def _are_one(transaction: Transaction, user_id: str, by: Actor | None) -> bool:
    """Whether both are the same person; outside the bot, people are known by login."""
    if by is None or by.user_id:
        return by is not None and by.user_id == user_id
    logins = People(transaction).logins([user_id])
    return logins.get(user_id, "").casefold() == by.name.casefold()


def _notify_watchers(transaction: Transaction, record: PauseRecord, now: datetime) -> None:
    """Notify the people who wait, for several pauses of one group only when the last ends."""
    people = set(ResumeWatchers(transaction).take(record.pause_id))
    if not people:
        return
    act = group_act_of(transaction, record)
    left = still_paused(transaction, act) if act is not None else []
    people -= set(ResumeWatchers(transaction).waiting([pause.pause_id for pause in left]))
    is_whole_group = act is not None and len(act.of(GroupOutcome.CHANGED)) > 1 and not left
    kind = SubjectKind.GROUP_RESUMED if is_whole_group else SubjectKind.RESUMED
    _add_notice(transaction, kind, record, record.end_number, people, now)


def shown_in(
    transaction: Transaction, record: PauseRecord, *, with_group: bool = False
) -> list[str]:
    cards = [*LiveMessages(transaction).of(shown_pause(record))]
    if with_group:
        cards += group_cards(transaction, record)
    return [card.channel_id for card in cards]


def _add_notice(
    transaction: Transaction,
    kind: SubjectKind,
    record: PauseRecord,
    subject_id: int,
    addresses: Iterable[str],
    now: datetime,
) -> int:
    """Return how many deliveries were new."""
    subject = Subject(kind, record.repository, subject_id)
    return enqueue_urgent(transaction, subject, addresses, now, identity=record.identity)


def pause_subscribers(transaction: Transaction, repository: RepositoryName) -> set[str]:
    subscriptions = Subscriptions(transaction).of_repository(repository)
    return subscribed_channels(subscriptions, Topic.PAUSE)
