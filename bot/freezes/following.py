"""Scheduled freezes: read from the event log, shown on cards, and notified of as they go on."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.acts.locks import is_under_way
from bot.acts.record import Action, ActResult, AuditRecord
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Topic, subscribed_channels
from bot.freezes.causes import act_of_freeze_event, finished_by_log, under_name
from bot.freezes.freeze import (
    Evidence,
    Freeze,
    Stage,
    advanced,
    changed_by,
    freezes_after,
    identified,
    waiting_for,
)
from bot.freezes.requests import touch_freeze_requests
from bot.freezes.rows import Freezes
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import side_by_side
from bot.log.classification import EventKind
from bot.log.known_types import page_of_known
from bot.log.rows import Events
from bot.log.types import FREEZE_DELETE, FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.freezes import ScheduledFreeze
from bot.merge_queue.port import MergeQueue
from bot.merge_queue.window import LONGEST_LOOKBACK, window_back
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import enqueue_urgent, open_live_messages, reply
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.wake import Wake
from bot.store.job_lease import JobLease
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

CONCURRENT = 2
"""Requests for due freezes; polls and people have the others."""

LONGEST_FREEZE_WAIT = 30.0
"""Seconds between two readings for a freeze that waits for a poll, or for the service's time."""

FREEZE_LOG_PAGES = 3
"""Of a hundred events each; a repository has few freezes."""


@dataclass(frozen=True, slots=True)
class FreezeLog:
    """What the event log tells of freezes since a time."""

    since: datetime
    events: Sequence[EventRecord]
    served_at: datetime | None = None  #: the service's own time

    def freezes(self, stored: Sequence[Freeze]) -> list[Freeze]:
        """The known freezes; of the `stored` ones, those that are too old for this log count."""
        return freezes_after(
            [freeze for freeze in stored if freeze.set_at < self.since], self.events
        )


async def read_freezes(
    merge_queue: MergeQueue, repository: RepositoryName, now: datetime
) -> FreezeLog:
    """Read as far back as the service allows; raises MergeQueueError."""
    window = window_back(now, now, LONGEST_LOOKBACK)
    events: list[EventRecord] = []
    cursor: str | None = None
    for _ in range(FREEZE_LOG_PAGES):
        page = await page_of_known(
            merge_queue, repository, window, types=FREEZE_TYPES, cursor=cursor
        )
        events += page.events
        cursor = page.next_cursor
        if cursor is None:
            return FreezeLog(window.received_from, events, page.served_at)
    since = min((event.received_at for event in events), default=window.received_from)
    return FreezeLog(since, events)


def shown_freeze(freeze: Freeze) -> LiveSubject:
    return LiveSubject(LiveKind.FREEZE, freeze.repository, str(freeze.event_id))


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
    listed: Sequence[ScheduledFreeze] | None = None,
) -> None:
    """Change the stored freezes as the event says, once, and notify the subscribed `channels`.

    The channels with the freeze's live message are notified too. `listed`: the service's freezes
    when read after the event; None if they weren't read.
    """
    known = {freeze.event_id: freeze for freeze in Freezes(transaction).locked(record.repository)}
    act = finished_by_log(transaction, act_of_freeze_event(transaction, record))
    record = under_name(record, act)
    channels = {*channels, *_shown_to(act)}
    evidence = Evidence(act.freezes if act is not None else None, listed)
    changed = []
    for freeze in changed_by(record, list(known.values()), evidence):
        # With the stage that its message shows; counting whom it keeps waiting comes later.
        after = advanced(freeze, service_now)
        changed.append(freeze if after.stage is Stage.ANNOUNCED else after)
    for freeze in changed:
        _save(transaction, freeze, now)
    this = next((freeze for freeze in changed if freeze.set_id == record.event_id), None)
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


def identify_freezes(
    transaction: Transaction,
    repository: RepositoryName,
    listed: Sequence[ScheduledFreeze],
    now: datetime,
) -> None:
    """Give known freezes their ids, by the service's list, once all events before it are seen."""
    known = Freezes(transaction).locked(repository)
    for freeze in identified(known, listed):
        _save(transaction, freeze, now)


def _shown_to(act: AuditRecord | None) -> Collection[str]:
    """The channel in which somebody made the freeze; acts on groups have a post of their own."""
    if act is None or act.channel_id is None or act.group is not None:
        return ()
    is_made = act.action is Action.FREEZE and act.result is ActResult.DONE
    return (act.channel_id,) if is_made else ()


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
    lasting = [
        freeze for freeze in Freezes(transaction).of([repository]) if freeze.stage is not Stage.OVER
    ]
    cards = [
        card for freeze in lasting for card in LiveMessages(transaction).of(shown_freeze(freeze))
    ]
    shown = {card.channel_id for card in cards if not card.is_lost}
    return channel_id in shown | freeze_subscribers(transaction, repository)


def _save(transaction: Transaction, freeze: Freeze, now: datetime) -> None:
    """Store the freeze, and have its live messages edited, and requests to end it if it is over."""
    Freezes(transaction).save(freeze)
    is_over = freeze.stage is Stage.OVER
    if is_over:
        touch_freeze_requests(transaction, freeze.repository, now)
    LiveMessages(transaction).mark(shown_freeze(freeze), due_at=now, closed=is_over)


def _notify(
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


POST_OF_STAGE = {
    Stage.ANNOUNCED: SubjectKind.FREEZE_ANNOUNCED,
    Stage.IN_FORCE: SubjectKind.FREEZE_BEGUN,
    Stage.OVER: SubjectKind.FREEZE_OVER,
}


@dataclass(frozen=True, slots=True)
class Wait:
    """A due freeze that could not go on."""

    tries: int
    until: float
    """By the monotonic clock."""


@dataclass(frozen=True, slots=True)
class NotifyFreezes:
    """Notifies channels before a freeze starts, when it starts and when it ends: each time once.

    The times are the service's, so a jump of our clock posts nothing. Stages missed in an outage
    are skipped: people read about the present one. Where nobody is notified, nothing is read.
    """

    store: Store
    clock: Clock
    wake: Wake
    merge_queue: MergeQueue
    configured: Configured
    #: how far the service's clock is ahead of ours, if known
    service_ahead: Callable[[], timedelta | None]
    lease: JobLease | None = None
    """That of polling, because only the process that polls knows the service's time. Without one
    every process does it."""

    waits: dict[int, Wait] = field(default_factory=dict)
    """The freezes that could not go on, by their event."""

    concurrency: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENT))

    async def run(self) -> None:
        """Notify of what is due; raises StoreError."""
        names = self.configured.repositories.names
        found = await self.store.read(_due, names, self._now())
        for event_id in set(self.waits) - {freeze.event_id for freeze, _ in found}:
            del self.waits[event_id]
        elapsed = self.clock.monotonic()
        due = [
            (freeze, followed)
            for freeze, followed in found
            if freeze.event_id not in self.waits or self.waits[freeze.event_id].until <= elapsed
        ]
        if not due or not await self._is_ours():
            return
        await side_by_side(self._advance(freeze, is_followed=followed) for freeze, followed in due)

    async def _is_ours(self) -> bool:
        """Whether no other process does it now."""
        lease = self.lease
        if lease is None:
            return True
        return await self.store.run(lease.take, self.clock.now()) is not None

    def _wait(self, freeze: Freeze) -> None:
        """Leave it for ever longer: it is read again each time."""
        known = self.waits.get(freeze.event_id)
        tries = known.tries + 1 if known is not None else 1
        gap = min(2.0**tries, LONGEST_FREEZE_WAIT)
        self.waits[freeze.event_id] = Wait(tries, self.clock.monotonic() + gap)

    def _now(self) -> datetime:
        return self.clock.now() + (self.service_ahead() or timedelta())

    async def _advance(self, freeze: Freeze, *, is_followed: bool) -> None:
        # Until it has gone on.
        self._wait(freeze)
        async with self.concurrency:
            log = await self._log(freeze) if is_followed else FreezeLog(freeze.set_at, [])
            at = min(self._now(), log.served_at or self._now())
            due = advanced(freeze, at)
            if is_followed and due.stage not in {freeze.stage, Stage.OVER}:
                due = replace(due, queued=await self._queued(due, at))
        this = (freeze.set_at, freeze.set_id)
        later = [event for event in log.events if (event.received_at, event.event_id) > this]
        missed = [
            event
            for event in later
            if any(changed.event_id == freeze.event_id for changed in changed_by(event, [freeze]))
        ]
        if await self.store.run(_advance, freeze, due, missed, self.clock.now(), at):
            del self.waits[freeze.event_id]
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
            return waiting_for(freeze, status, now)
        except MergeQueueError as error:
            _log_unread(freeze, error)
            return None


def _due(
    transaction: Transaction, names: Collection[RepositoryName], now: datetime
) -> list[tuple[Freeze, bool]]:
    """The freezes that are due, and whether there is somebody to notify of each."""
    found = []
    for freeze in Freezes(transaction).due(now):
        if freeze.repository in names:
            followers = freeze_subscribers(transaction, freeze.repository)
            cards = LiveMessages(transaction).of(shown_freeze(freeze))
            found.append((freeze, bool(followers or cards)))
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
    acts = [act_of_freeze_event(transaction, event) for event in missed]
    if any(act is not None and is_under_way(transaction, act, (), now) for act in acts):
        return False
    known = Freezes(transaction).locked(seen.repository)
    unrouted = Events(transaction).unrouted(seen.repository)
    if seen not in known or any(event.type in FREEZE_TYPES for event in unrouted):
        return False
    subscribers = freeze_subscribers(transaction, seen.repository)
    new = [event for event in missed if Events(transaction).add_new([event])]
    for record in new:
        see_freeze_event(transaction, record, subscribers, now, service_now)
        Events(transaction).mark_routed(record.repository, [record.event_id])
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
        subject = Subject(POST_OF_STAGE[due.stage], due.repository, due.set_id)
        _notify(transaction, due, subject, subscribers, now)
    return True


def _log_unread(freeze: Freeze, error: MergeQueueError) -> None:
    fields = {"repository": freeze.repository, "error": type(error).__name__}
    extra = {"action": "freeze_unread", **fields}
    logger.info("the queue of a due freeze could not be read", extra=extra)
