"""Freezes as their events tell of them: stored, shown on cards, and posted about."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.acts.record import Action, ActResult, AuditRecord
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic, subscribed_channels
from bot.freezes.causes import act_of_freeze_event, finished_by_log, under_name
from bot.freezes.freeze import Freeze, Stage, advanced
from bot.freezes.matching import KnownBeside, observe_freezes, place_freeze_event
from bot.freezes.requests import touch_freeze_requests
from bot.freezes.rows import Freezes
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.log.types import FREEZE_CREATE, FREEZE_DELETE
from bot.merge_queue.event_records import EventRecord
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent, open_live_messages, reply
from bot.posts.live_message import LiveKind, LiveSubject
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
    """Give each of the channels the freeze's live message, unless it has one."""
    open_live_messages(
        transaction,
        shown_freeze(freeze),
        channels,
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
    act = finished_by_log(transaction, act_of_freeze_event(transaction, record))
    record = under_name(record, act)
    channels = {*channels, *_shown_to(act)}
    evidence = KnownBeside(act.freezes if act is not None else None, listed)

    changed = [
        replace(placed, freeze=save(transaction, _in_shown_stage(placed.freeze, service_now), now))
        for placed in place_freeze_event(known, record, evidence)
    ]
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
        notify(transaction, freeze, subject, channels, now)


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
        cards = LiveMessages(transaction).of(shown_freeze(freeze))
        channels |= {card.channel_id for card in cards if not card.is_lost}
    return channel_id in channels


def save(transaction: Transaction, freeze: Freeze, now: datetime) -> Freeze:
    """Store the freeze, and have its live messages edited, and requests to end it if it is over.

    Return it as it is stored.
    """
    stored = Freezes(transaction).save(freeze)
    is_over = stored.stage is Stage.OVER
    if is_over:
        touch_freeze_requests(transaction, stored.repository, now)
    LiveMessages(transaction).mark(shown_freeze(stored), due_at=now, closed=is_over)
    return stored


def notify(
    transaction: Transaction,
    freeze: Freeze | None,
    subject: Subject,
    channels: Collection[str],
    now: datetime,
) -> None:
    """Post to the threads of the freeze's live messages, and to the channels that have none."""
    shown = LiveMessages(transaction).of(shown_freeze(freeze)) if freeze is not None else ()
    cards = [card for card in shown if not card.is_lost]
    identity = str(subject.subject_id)
    kind = EventKind.FREEZE
    reply(transaction, subject, cards, now, identity=identity, kind=kind)
    others = {*channels}.difference(card.channel_id for card in cards)
    enqueue_urgent(transaction, subject, others, now, identity=identity, kind=kind)
