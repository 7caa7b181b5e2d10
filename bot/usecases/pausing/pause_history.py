"""The one record of each pause, with its live messages and posts, from whichever source."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.domain.audit import Actor, AuditRecord
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.group_acts import GroupOutcome
from bot.domain.live_messages import LiveKind, LiveMessage, LiveSubject
from bot.domain.notices import Notice
from bot.domain.pause_records import (
    PauseEnding,
    PauseRecord,
    better_known,
    observed,
    over,
    same_pause,
    seen_again,
)
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Topic, subscribed_channels
from bot.store.transactions import Store, Transaction
from bot.usecases.live_messages import enqueue_urgent, open_live_messages
from bot.usecases.pausing.group_pauses import (
    group_act_of,
    group_cards,
    notified_together,
    shown_reminder,
    still_paused,
    touch_group,
)
from bot.usecases.people import who_wants

PAUSE_LOOKBACK = timedelta(days=1)
"""How long after its end a pause is still found by its time."""


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
    """Have all live messages of the pause edited, once it is over for the last time."""
    transaction.live_messages.mark(shown_pause(record), due_at=now, closed=not record.is_open)
    if not record.is_open:
        transaction.live_messages.mark(shown_reminder(record), due_at=now, closed=True)


def touch(transaction: Transaction, record: PauseRecord, now: datetime) -> None:
    touch_pause(transaction, record, now)
    touch_group(transaction, record, now)


def cards_of(transaction: Transaction, record: PauseRecord) -> Sequence[LiveMessage]:
    """One message in each channel that shows the pause, or else its group."""
    shown = [*group_cards(transaction, record), *transaction.live_messages.of(shown_pause(record))]
    return list({one.channel_id: one for one in shown if not one.is_lost}.values())


def pause_in_force(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> PauseRecord | None:
    """The record of the pause in force, as far as the bot knows.

    Until the transaction ends nobody else changes a pause of the repository.
    """
    known = transaction.pauses.of(repository, now)
    return next((one for one in known if one.is_open), None)


async def know_pause(store: Store, repository: RepositoryName, pause: Pause) -> PauseRecord:
    """The record of the pause in force, because the service doesn't know its author."""
    since = pause.paused_at - PAUSE_LOOKBACK
    known = await store.run(lambda transaction: transaction.pauses.recent(repository, since))
    seen = observed(repository, pause)
    same = same_pause(known, seen)
    if same is None:
        return seen
    # Its end may have been posted.
    return replace(seen_again(same, seen), ended_at=None, ended_by=None, ending=None)


STALE = timedelta(seconds=30)
"""How old an answer may be that shows a pause which somebody is known to have ended."""


def end_pause(
    transaction: Transaction,
    record: PauseRecord,
    ended_at: datetime,
    by: Actor | None,
    now: datetime,
    *,
    ending: PauseEnding = PauseEnding.RESUMED,
) -> PauseRecord:
    """Record the end of a pause once and close its live messages; later only who ended it.

    The caller has read `record` in this transaction and holds the repository's pauses.
    """
    if record.is_open:
        ended = over(record, ended_at, by, ending)
    else:
        by = better_known(record.ended_by, by)
        ended = over(record, record.ended_at or ended_at, by, record.ending or ending)
    if ended == record:
        return record
    transaction.pauses.save(ended)
    touch(transaction, ended, now)
    _notify_watchers(transaction, ended, now)
    return ended


def reopen_pause(
    transaction: Transaction, ended: PauseRecord, channels: Iterable[str], now: datetime
) -> None:
    """Reopen a pause whose end was posted: give it a new record, live messages and a post.

    The caller holds the repository's pauses.
    """
    is_stale = ended.ended_by is not None and now - (ended.ended_at or now) < STALE
    if ended.ending is PauseEnding.REPLACED or is_stale:
        return
    # There is one record per time, so the record that ended lies just before the new one.
    before = ended.paused_at - timedelta(microseconds=1)
    closed = replace(ended, paused_at=before, is_exact=False, end_notified=True, timer=None)
    transaction.pauses.save(closed)
    timer = ended.timer
    again = replace(
        ended,
        pause_id=0,
        ended_at=None,
        ended_by=None,
        ending=None,
        end_notified=False,
        timer=replace(timer, due_at=timer.due_at or timer.resumes_at) if timer else None,
    )
    again = replace(again, pause_id=transaction.pauses.save(again))
    shown = {*channels, *shown_in(transaction, ended)}
    touch_group(transaction, again, now)
    if ended.end_notified:
        _add(transaction, SubjectKind.STILL_PAUSED, again, again.pause_id, shown, now)
    open_pause_cards(transaction, again, shown, now)


def notify_end(
    transaction: Transaction,
    record: PauseRecord,
    channels: Collection[str],
    now: datetime,
    act: AuditRecord | None = None,
) -> None:
    """Post the end once to each of the channels and wherever a live message shows the pause.

    The person who paused is notified too when somebody else resumed the queue. `act` ended it.
    """
    notified = {*channels, *shown_in(transaction, record, with_group=True)}
    if act is not None:
        notified -= notified_together(transaction, act)
    _add(transaction, SubjectKind.PAUSE_END, record, record.pause_id, notified, now)
    if not record.end_notified:
        is_part = act is not None and bool(act.group_act_id)
        _notify_pauser(transaction, record, now, part_of_group=is_part)
        transaction.pauses.save(replace(record, end_notified=True))


def _notify_pauser(
    transaction: Transaction, record: PauseRecord, now: datetime, *, part_of_group: bool
) -> None:
    """A group that is resumed as a whole gives one message, with the last of its pauses."""
    pauser, is_timer = record.pauser, record.ending is PauseEnding.TIMER
    if is_timer or pauser is None or _are_one(transaction, pauser, record.ended_by):
        return
    kind, act = SubjectKind.RESUMED, None
    if part_of_group:
        act = group_act_of(transaction, record)
    if act is not None:
        if still_paused(transaction, act):
            return
        if len(act.of(GroupOutcome.CHANGED)) > 1:
            kind = SubjectKind.GROUP_RESUMED
    people = who_wants(transaction, Notice.REPLACED, [pauser])
    _add(transaction, kind, record, record.pause_id, people, now)


def notify_replaced(
    transaction: Transaction,
    lost: PauseRecord,
    record: PauseRecord,
    act_id: int | None,
    now: datetime,
) -> None:
    """Notify the person whose pause somebody else replaced or changed, if they want that.

    `act_id`: the act that did it, None if it was done outside the bot.
    """
    pauser = lost.pauser
    if pauser is None or _are_one(transaction, pauser, record.by):
        return
    people = who_wants(transaction, Notice.REPLACED, [pauser])
    kind, subject_id = SubjectKind.REPLACED, act_id
    if subject_id is None:
        kind, subject_id = SubjectKind.REPLACED_ELSEWHERE, record.pause_id
    _add(transaction, kind, record, subject_id, people, now)


def _are_one(transaction: Transaction, user_id: str, by: Actor | None) -> bool:
    """Whether both are the same person; outside the bot, people are known by login."""
    if by is None or by.user_id:
        return by is not None and by.user_id == user_id
    logins = transaction.people.logins([user_id])
    return logins.get(user_id, "").casefold() == by.name.casefold()


def _notify_watchers(transaction: Transaction, record: PauseRecord, now: datetime) -> None:
    """Notify the people who wait, for several pauses of one group only when the last ends."""
    people = set(transaction.resume_watchers.take(record.pause_id))
    if not people:
        return
    act = group_act_of(transaction, record)
    left = still_paused(transaction, act) if act is not None else []
    people -= set(transaction.resume_watchers.waiting([one.pause_id for one in left]))
    is_whole_group = act is not None and len(act.of(GroupOutcome.CHANGED)) > 1 and not left
    kind = SubjectKind.GROUP_RESUMED if is_whole_group else SubjectKind.RESUMED
    _add(transaction, kind, record, record.pause_id, people, now)


def shown_in(
    transaction: Transaction, record: PauseRecord, *, with_group: bool = False
) -> list[str]:
    cards = [*transaction.live_messages.of(shown_pause(record))]
    if with_group:
        cards += group_cards(transaction, record)
    return [card.channel_id for card in cards]


def _add(
    transaction: Transaction,
    kind: SubjectKind,
    record: PauseRecord,
    subject_id: int,
    addresses: Iterable[str],
    now: datetime,
) -> None:
    subject = Subject(kind, record.repository, subject_id)
    enqueue_urgent(transaction, subject, addresses, now, identity=record.identity)


def pause_subscribers(transaction: Transaction, repository: RepositoryName) -> set[str]:
    subscriptions = transaction.subscriptions.of_repository(repository)
    return subscribed_channels(subscriptions, Topic.PAUSE)
