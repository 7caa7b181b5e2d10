"""Scheduled freezes: read from the event log, shown on cards, and notified of as they go on."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.audit import Action, ActResult, AuditRecord
from bot.domain.classification import EventKind
from bot.domain.configured import Configured
from bot.domain.deliveries import Subject, SubjectKind
from bot.domain.errors import MergeQueueError
from bot.domain.event_log import LONGEST_LOOKBACK, window_back
from bot.domain.event_records import EventRecord
from bot.domain.freezes import (
    FREEZE_DELETE,
    FREEZE_TYPES,
    Freeze,
    Stage,
    advanced,
    changed_by,
    freezes_after,
    held_by,
)
from bot.domain.live_messages import LiveKind, LiveSubject
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Topic, subscribed_channels
from bot.ports import Clock, MergeQueue, Wake
from bot.store.transactions import Store, Transaction
from bot.usecases.freeze_acts import act_of_freeze_event, under_name
from bot.usecases.live_messages import enqueue_urgent, open_live_messages, reply
from bot.usecases.tasks import side_by_side

logger = logging.getLogger(__name__)

CONCURRENT = 2
"""Requests for due freezes; polls and people have the others."""

PAGES = 3
"""Of a hundred events each; a repository has few freezes."""


@dataclass(frozen=True, slots=True)
class FreezeLog:
    """What the event log tells of freezes since a time.

    `served_at`: the service's own time.
    """

    since: datetime
    events: Sequence[EventRecord]
    served_at: datetime | None = None

    def freezes(self, stored: Sequence[Freeze]) -> list[Freeze]:
        """The known freezes; of the `stored` ones, those that are too old for this log count."""
        return freezes_after([one for one in stored if one.set_at < self.since], self.events)


async def read_freezes(
    merge_queue: MergeQueue, repository: RepositoryName, now: datetime
) -> FreezeLog:
    """Read as far back as the service allows; raises MergeQueueError."""
    window = window_back(now, now, LONGEST_LOOKBACK)
    events: list[EventRecord] = []
    cursor: str | None = None
    for _ in range(PAGES):
        page = await merge_queue.event_page(repository, window, types=FREEZE_TYPES, cursor=cursor)
        events += page.events
        cursor = page.next_cursor
        if cursor is None:
            return FreezeLog(window.received_from, events, page.served_at)
    since = min((event.received_at for event in events), default=window.received_from)
    return FreezeLog(since, events)


def shown_freeze(freeze: Freeze) -> LiveSubject:
    return LiveSubject(LiveKind.FREEZE, freeze.repository, str(freeze.event_id))


def freeze_subscribers(transaction: Transaction, repository: RepositoryName) -> set[str]:
    subscriptions = transaction.subscriptions.of_repository(repository)
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
        identity=str(freeze.event_id),
        closed=freeze.stage is Stage.OVER,
        kind=EventKind.FREEZE,
    )


def see_freeze_event(
    transaction: Transaction,
    record: EventRecord,
    channels: Collection[str],
    now: datetime,
    service_now: datetime,
) -> None:
    """Change the stored freezes as the event says, once, and notify the subscribed `channels`.

    The channels with the freeze's live message are notified too.
    """
    known = {one.event_id: one for one in transaction.freezes.locked(record.repository)}
    act = act_of_freeze_event(transaction, record)
    record, channels = under_name(record, act), {*channels, *_shown_to(act)}
    changed = []
    for one in changed_by(record, list(known.values())):
        # With the stage that its message shows; counting whom it keeps waiting comes later.
        after = advanced(one, service_now)
        changed.append(one if after.stage is Stage.ANNOUNCED else after)
    for one in changed:
        _save(transaction, one, now)
    this = next((one for one in changed if one.set_id == record.event_id), None)
    before = known.get(this.event_id) if this is not None else None
    if this is not None and before is not None and before.stage is this.stage is Stage.OVER:
        # Its removal was reported after its end was posted.
        return
    if this is not None and record.type != FREEZE_DELETE:
        show_freeze(transaction, this, channels, now)
    if this is None and changed:
        return
    if before is not None or this is None or record.type == FREEZE_DELETE:
        subject = Subject(SubjectKind.EVENT, record.repository, record.event_id)
        _notify(transaction, this, subject, channels, now)


def _shown_to(act: AuditRecord | None) -> Collection[str]:
    """The channel in which somebody made the freeze; acts on groups have a post of their own."""
    if act is None or act.channel_id is None or act.group is not None:
        return ()
    is_made = act.action is Action.FREEZE and act.result is ActResult.DONE
    return (act.channel_id,) if is_made else ()


def show_made(transaction: Transaction, act: AuditRecord, now: datetime) -> None:
    """Show the freeze that the act made in the act's channel, if its event was read before."""
    for one in transaction.freezes.locked(act.repository):
        if one.terms.reason == act.stored_reason and one.stage is not Stage.OVER:
            show_freeze(transaction, one, _shown_to(act), now)


def shows_freezes(
    transaction: Transaction, repository: RepositoryName, channel_id: str | None
) -> bool:
    """Whether the channel follows freezes, or has the card of one that isn't over."""
    lasting = [one for one in transaction.freezes.of([repository]) if one.stage is not Stage.OVER]
    cards = [card for one in lasting for card in transaction.live_messages.of(shown_freeze(one))]
    shown = {one.channel_id for one in cards if not one.is_lost}
    return channel_id in shown | freeze_subscribers(transaction, repository)


def _save(transaction: Transaction, freeze: Freeze, now: datetime) -> None:
    """Store the freeze, and have all its live messages edited."""
    transaction.freezes.save(freeze)
    is_over = freeze.stage is Stage.OVER
    transaction.live_messages.mark(shown_freeze(freeze), due_at=now, closed=is_over)


def _notify(
    transaction: Transaction,
    freeze: Freeze | None,
    subject: Subject,
    channels: Collection[str],
    now: datetime,
) -> None:
    """Post to the threads of the freeze's live messages, and to the channels that have none."""
    shown = transaction.live_messages.of(shown_freeze(freeze)) if freeze is not None else ()
    cards = [one for one in shown if not one.is_lost]
    identity, kind = str(subject.subject_id), EventKind.FREEZE
    reply(transaction, subject, cards, now, identity=identity, kind=kind)
    others = {*channels}.difference(one.channel_id for one in cards)
    enqueue_urgent(transaction, subject, others, now, identity=identity, kind=kind)


POSTS = {
    Stage.ANNOUNCED: SubjectKind.FREEZE_ANNOUNCED,
    Stage.IN_FORCE: SubjectKind.FREEZE_BEGUN,
    Stage.OVER: SubjectKind.FREEZE_OVER,
}


@dataclass(frozen=True, slots=True)
class NotifyFreezes:
    """Notifies channels before a freeze starts, when it starts and when it ends: each time once.

    The times are the service's, so a jump of our clock posts nothing. Stages missed in an outage
    are skipped: people read about the present one. Where nobody is notified, nothing is read.
    `service_ahead`: how far the service's clock is ahead of ours, if known.
    """

    store: Store
    clock: Clock
    wake: Wake
    merge_queue: MergeQueue
    configured: Configured
    service_ahead: Callable[[], timedelta | None]
    concurrency: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENT))

    async def run(self) -> None:
        """Notify of what is due; raises StoreError."""
        names = self.configured.repositories.names
        due = await self.store.read(_due, names, self._now())
        await side_by_side(self._advance(one, is_followed=followed) for one, followed in due)

    def _now(self) -> datetime:
        return self.clock.now() + (self.service_ahead() or timedelta())

    async def _advance(self, freeze: Freeze, *, is_followed: bool) -> None:
        async with self.concurrency:
            log = await self._log(freeze) if is_followed else FreezeLog(freeze.set_at, [])
            at = min(self._now(), log.served_at or self._now())
            due = advanced(freeze, at)
            if is_followed and due.stage not in {freeze.stage, Stage.OVER}:
                due = replace(due, queued=await self._queued(due, at))
        this = (freeze.set_at, freeze.set_id)
        later = [one for one in log.events if (one.received_at, one.event_id) > this]
        missed = [
            event
            for event in later
            if any(one.event_id == freeze.event_id for one in changed_by(event, [freeze]))
        ]
        if await self.store.run(_advance, freeze, due, missed, self.clock.now(), at):
            self.wake()

    async def _log(self, freeze: Freeze) -> FreezeLog:
        """The log, which may tell of a change that no poll has read yet; empty if unreadable."""
        try:
            return await read_freezes(self.merge_queue, freeze.repository, self.clock.now())
        except MergeQueueError as error:
            _log_unread(freeze, error)
            return FreezeLog(freeze.set_at, [])

    async def _queued(self, freeze: Freeze, now: datetime) -> int | None:
        """How many pull requests it keeps waiting; None if the queue can't be read."""
        try:
            status = await self.merge_queue.status(freeze.repository, freeze.branch)
            return held_by(freeze, status, now)
        except MergeQueueError as error:
            _log_unread(freeze, error)
            return None


def _due(
    transaction: Transaction, names: Collection[RepositoryName], now: datetime
) -> list[tuple[Freeze, bool]]:
    """The freezes that are due, and whether there is somebody to notify of each."""
    found = []
    for one in transaction.freezes.due(now):
        if one.repository in names:
            followers = freeze_subscribers(transaction, one.repository)
            cards = transaction.live_messages.of(shown_freeze(one))
            found.append((one, bool(followers or cards)))
    return found


def _advance(
    transaction: Transaction,
    seen: Freeze,
    due: Freeze,
    missed: Sequence[EventRecord],
    now: datetime,
    service_now: datetime,
) -> bool:
    """Store the stage and its posts, unless the freeze has changed since it was `seen`."""
    known = transaction.freezes.locked(seen.repository)
    unrouted = transaction.events.unrouted(seen.repository)
    if seen not in known or any(one.type in FREEZE_TYPES for one in unrouted):
        return False
    subscribers = freeze_subscribers(transaction, seen.repository)
    new = [one for one in missed if transaction.events.add_new([one])]
    for record in new:
        see_freeze_event(transaction, record, subscribers, now, service_now)
        transaction.events.mark_routed(record.repository, [record.event_id])
    if new or due.stage is seen.stage:
        # After events that no poll has read yet, or never will, the stage is decided again.
        return bool(new)
    _save(transaction, due, now)
    if due.stage is not Stage.OVER:
        show_freeze(transaction, due, subscribers, now)
    is_begun = due.stage is Stage.IN_FORCE
    # The post about its creation or change may have said the same a short while ago.
    is_said = due.began_when_set if is_begun else due.is_on_short_notice
    if due.stage is Stage.OVER or not is_said:
        subject = Subject(POSTS[due.stage], due.repository, due.set_id)
        _notify(transaction, due, subject, subscribers, now)
    return True


def _log_unread(freeze: Freeze, error: MergeQueueError) -> None:
    fields = {"repository": freeze.repository, "error": type(error).__name__}
    extra = {"action": "freeze_unread", **fields}
    logger.info("the queue of a due freeze could not be read", extra=extra)
