"""Freezes as their events tell of them: stored, shown on cards, and posted about."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.acts.record import Action, ActResult, AuditRecord
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic, subscribed_channels
from bot.freezes.causes import act_of_freeze_event, finished_by_log, under_name
from bot.freezes.freeze import Freeze, Stage, advanced, stage_together
from bot.freezes.group_freezes import cards_of_group, shown_together, touch_group_of
from bot.freezes.matching import KnownBeside, Placed, observe_freezes, place_freeze_event
from bot.freezes.requests import touch_freeze_requests
from bot.freezes.rows import Freezes
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.log.types import FREEZE_CREATE, FREEZE_DELETE
from bot.merge_queue.event_records import EventRecord
from bot.pauses.group_pauses import group_act_of, notified_together, notify_together
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent, open_live_messages, reply
from bot.posts.live_message import LiveKind, LiveMessage, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction

SURELY_BEGUN = timedelta(seconds=5)
"""A freeze that begins within this has begun once somebody reads its card.

The service's time is known to a second or two only: one that is to begin now would seem planned.
"""


def shown_freeze(freeze: Freeze) -> LiveSubject:
    return LiveSubject(LiveKind.FREEZE, freeze.repository, str(freeze.row_id))


def freeze_subscribers(transaction: Transaction, repository: RepositoryName) -> set[str]:
    subscriptions = Subscriptions(transaction).of_repository(repository)
    return subscribed_channels(subscriptions, Topic.FREEZE)


def show_freeze(
    transaction: Transaction, freeze: Freeze, channels: Iterable[str], now: datetime
) -> None:
    """Give each of the channels the freeze's live message, unless it or its group's is there."""
    open_live_messages(
        transaction,
        shown_freeze(freeze),
        {*channels}.difference(shown_together(transaction, freeze)),
        now,
        identity=str(freeze.told.first_id),
        closed=freeze.stage is Stage.OVER,
        kind=EventKind.FREEZE,
    )


def see_freeze_event(
    transaction: Transaction,
    record: EventRecord,
    channels: Collection[str],
    now: datetime,
    service_now: datetime,
    listed: Sequence[Freeze] | None = None,
) -> None:
    """Change the stored freezes as the event says, once, and notify the subscribed `channels`.

    The channels with the freeze's live message are notified too. `listed`: the service's freezes
    when read after the event; None if they weren't read.
    """
    known = Freezes(transaction).locked(record.repository)
    begun = act_of_freeze_event(transaction, record)
    act = finished_by_log(transaction, begun)
    record = under_name(record, act)
    channels = {*channels, *_shown_to(act)}
    evidence = KnownBeside(act.freezes if act is not None else None, listed)

    changed: list[Placed] = []
    for placed in place_freeze_event(known, record, evidence):
        after = _of_group(_in_shown_stage(placed.freeze, service_now), record, act)
        changed.append(replace(placed, freeze=save(transaction, after, now)))
    if act is not begun:
        _notify_group_of_act(transaction, act, now)
    meant = [placed for placed in changed if placed.freeze.told.set_id == record.event_id]
    if changed and not meant:
        # Later events are known already: this one only completes what they told.
        return
    freeze = meant[0].freeze if meant else None
    before = meant[0].before if meant else None

    was_over = before is not None and before.stage is Stage.OVER
    if freeze is not None and was_over and freeze.stage is Stage.OVER:
        # Its removal was reported after its end was posted.
        return
    is_removal = record.type == FREEZE_DELETE
    if freeze is not None and not is_removal:
        show_freeze(transaction, freeze, channels, now)
    is_new = freeze is not None and (before is None or record.type == FREEZE_CREATE)
    if is_removal or not is_new:
        # Of a new one, the card says everything.
        subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
        told = notified_together(transaction, act) if act is not None else ()
        notify(transaction, freeze, subject, channels, now, told=told)
    _notify_if_awaited(transaction, before, service_now, now)


def _of_group(freeze: Freeze, record: EventRecord, act: AuditRecord | None) -> Freeze:
    """With the act on a group of which the event's `act` was a part, if that made the freeze."""
    if act is None or record.type != FREEZE_CREATE:
        return freeze
    return replace(freeze, group_act_id=act.group.act_id)


def _notify_group_of_act(transaction: Transaction, act: AuditRecord | None, now: datetime) -> None:
    """The message about the act's group, which may have ended before this was known to be done."""
    group_act = group_act_of(transaction, act) if act is not None else None
    if group_act is not None and group_act.ended_at is not None:
        notify_together(transaction, group_act, now)


def _in_shown_stage(freeze: Freeze, service_now: datetime) -> Freeze:
    """In the stage that its message shows; counting whom it keeps waiting comes later."""
    shown_at = service_now
    begins_at = freeze.begins_at
    if begins_at is not None and service_now < begins_at <= service_now + SURELY_BEGUN:
        shown_at = begins_at
    after = advanced(freeze, shown_at)
    return freeze if after.stage is Stage.ANNOUNCED else after


def identify_freezes(
    transaction: Transaction,
    repository: RepositoryName,
    listed: Sequence[Freeze],
    now: datetime,
) -> None:
    """Give known freezes their ids, by the service's list, once all events before it are seen."""
    known = Freezes(transaction).locked(repository)
    for before, freeze in zip(known, observe_freezes(known, listed), strict=True):
        if freeze != before:
            save(transaction, freeze, now)


def _shown_to(act: AuditRecord | None) -> Collection[str]:
    """The channel in which somebody made the freeze; acts on groups have a post of their own."""
    if act is None or act.where.channel_id is None or act.group.name is not None:
        return ()
    is_made = act.action is Action.FREEZE and act.result is ActResult.DONE
    return (act.where.channel_id,) if is_made else ()


def show_made(transaction: Transaction, act: AuditRecord, now: datetime) -> None:
    """Show the freeze that the act made in the act's channel, if its event was read before."""
    for freeze in Freezes(transaction).locked(act.repository):
        is_made = act.freezes is not None and freeze.freeze_id in act.freezes
        if is_made and freeze.stage is not Stage.OVER:
            show_freeze(transaction, freeze, _shown_to(act), now)


def shows_freezes(
    transaction: Transaction, repository: RepositoryName, channel_id: str | None
) -> bool:
    """Whether the channel follows freezes, or has the card of one that isn't over."""
    channels = freeze_subscribers(transaction, repository)
    for freeze in Freezes(transaction).of([repository]):
        if freeze.stage is Stage.OVER:
            continue
        channels |= {card.channel_id for card in cards_of_freeze(transaction, freeze)}
    return channel_id in channels


def cards_of_freeze(transaction: Transaction, freeze: Freeze) -> Sequence[LiveMessage]:
    """One message in each channel that shows the freeze, or else its group."""
    shown = [
        *cards_of_group(transaction, freeze),
        *LiveMessages(transaction).of(shown_freeze(freeze)),
    ]
    return list({message.channel_id: message for message in shown if not message.is_lost}.values())


def save(transaction: Transaction, freeze: Freeze, now: datetime) -> Freeze:
    """Store the freeze, and have its live messages edited, and requests to end it if it is over.

    Return it as it is stored.
    """
    stored = Freezes(transaction).save(freeze)
    is_over = stored.stage is Stage.OVER
    if is_over:
        touch_freeze_requests(transaction, stored.repository, now)
    LiveMessages(transaction).mark(shown_freeze(stored), due_at=now, closed=is_over)
    touch_group_of(transaction, stored, now)
    return stored


def notify(
    transaction: Transaction,
    freeze: Freeze | None,
    subject: Subject,
    channels: Collection[str],
    now: datetime,
    *,
    told: Collection[str] = (),
) -> None:
    """Post to the threads of the freeze's live messages, and to the channels that have none.

    `told`: the channels that get a post about its whole group instead.
    """
    shown = cards_of_freeze(transaction, freeze) if freeze is not None else ()
    cards = [card for card in shown if card.channel_id not in told]
    identity = str(subject.subject_id)
    kind = EventKind.FREEZE
    reply(transaction, subject, cards, now, identity=identity, kind=kind)
    others = {*channels}.difference(told, (card.channel_id for card in cards))
    enqueue_urgent(transaction, subject, others, now, identity=identity, kind=kind)


POST_OF_STAGE = {
    Stage.ANNOUNCED: SubjectKind.FREEZE_ANNOUNCED,
    Stage.IN_FORCE: SubjectKind.FREEZE_BEGUN,
    Stage.OVER: SubjectKind.FREEZE_OVER,
}


def notify_of_stage(transaction: Transaction, freeze: Freeze, now: datetime) -> None:
    """Post that the freeze begins soon, has begun or is over.

    Where a card shows its group, one post tells of all that come to that stage together.
    """
    group_cards = [card for card in cards_of_group(transaction, freeze) if not card.is_lost]
    if not _is_stage_said(freeze):
        subscribers = freeze_subscribers(transaction, freeze.repository)
        told = {card.channel_id for card in group_cards}
        subject = _stage_subject(freeze)
        notify(transaction, freeze, subject, subscribers, now, told=told)
    _notify_group_of_stage(transaction, freeze, group_cards, now)


def _notify_group_of_stage(
    transaction: Transaction, freeze: Freeze, group_cards: Sequence[LiveMessage], now: datetime
) -> None:
    """Reply once the last of the group's freezes with that time has come to the stage."""
    if not group_cards:
        return
    known = Freezes(transaction).of_act(freeze.group_act_id)
    together = stage_together(known, freeze)
    is_whole = all(other.stage is freeze.stage for other in together)
    if is_whole and not all(map(_is_stage_said, together)):
        subject = _stage_subject(together[0])
        identity = str(subject.subject_id)
        reply(transaction, subject, group_cards, now, identity=identity, kind=EventKind.FREEZE)


def _notify_if_awaited(
    transaction: Transaction, before: Freeze | None, service_now: datetime, now: datetime
) -> None:
    """The rest of its group may have waited for a freeze that was changed or ended instead."""
    if before is None:
        return
    due = advanced(before, service_now)
    if due.stage is not before.stage:
        cards = [card for card in cards_of_group(transaction, before) if not card.is_lost]
        _notify_group_of_stage(transaction, due, cards, now)


def _stage_subject(freeze: Freeze) -> Subject:
    return Subject(POST_OF_STAGE[freeze.stage], freeze.repository, freeze.told.set_id)


def _is_stage_said(freeze: Freeze) -> bool:
    """Whether the post about its creation or change said the same a short while ago."""
    if freeze.stage is Stage.OVER:
        return False
    is_begun = freeze.stage is Stage.IN_FORCE
    return freeze.began_when_set if is_begun else freeze.is_on_short_notice
