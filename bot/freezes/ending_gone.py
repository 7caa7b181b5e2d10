"""Ends freezes that the service has no more, though its log doesn't tell of their end."""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.freezes.following import freeze_subscribers, notify, save
from bot.freezes.freeze import Ending, Freeze, Stage
from bot.freezes.matching import is_change_of
from bot.freezes.reading import freeze_events, listed_freezes
from bot.freezes.rows import Freezes
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import side_by_side
from bot.log.rows import Events
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.port import MergeQueue
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.wake import Wake
from bot.store.job_lease import JobLease
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

CONCURRENT = 2
"""Requests for lists of freezes; polls and people have the others."""

GONE_AFTER = timedelta(minutes=1)
"""A list that lacks a freeze may be out of date, and the event of its end may be late."""


@dataclass(frozen=True, slots=True)
class EndGoneFreezes:
    """Compares the freezes in force or to come with the service's lists.

    One that two lists lack, a while apart, is over. Without a row that is, it costs one query.
    """

    store: Store
    clock: Clock
    wake: Wake
    merge_queue: MergeQueue
    configured: Configured
    lease: JobLease
    """That of polling: the process that reads the log knows what it tells."""

    missing: dict[int, datetime] = field(default_factory=dict)
    """Since when the lists lack a freeze, by its row."""

    concurrency: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENT))

    async def run(self) -> None:
        """Raises StoreError."""
        ongoing = await self.store.read(_ongoing, self.configured.repositories.names)
        known = {freeze.row_id for freezes in ongoing.values() for freeze in freezes}
        for row_id in self.missing.keys() - known:
            del self.missing[row_id]
        if not ongoing or await self.store.run(self.lease.take, self.clock.now()) is None:
            return
        await side_by_side(self._look(name, freezes) for name, freezes in ongoing.items())

    async def _look(self, repository: RepositoryName, known: Sequence[Freeze]) -> None:
        try:
            async with self.concurrency:
                reading = await listed_freezes(self.merge_queue, repository)
                now = reading.served_at or self.clock.now()
                gone = self._gone(known, reading.freezes, now)
                # What the log tells has a name, and a poll reads it.
                logged: Sequence[EventRecord] = ()
                if gone:
                    logged = await freeze_events(self.merge_queue, repository, now)
        except MergeQueueError as error:
            fields = {"repository": repository, "error": type(error).__name__}
            logger.info("freezes not compared", extra={"action": "freezes_not_compared", **fields})
            return
        unlogged = [
            freeze for freeze in gone if not any(is_change_of(event, freeze) for event in logged)
        ]
        for freeze in unlogged:
            if await self.store.run(_end_freeze, freeze, now, self.clock.now()):
                fields = {"repository": repository, "freeze": freeze.freeze_id or ""}
                logger.warning("a freeze is gone", extra={"action": "freeze_gone", **fields})
                self.wake()

    def _gone(
        self, known: Sequence[Freeze], listed: Sequence[Freeze], now: datetime
    ) -> list[Freeze]:
        """Those that the lists have lacked for long enough, before their time was up."""
        ids = {freeze.freeze_id for freeze in listed}
        found = []
        for freeze in known:
            is_past = freeze.ends_at is not None and freeze.ends_at <= now
            if freeze.freeze_id in ids or is_past:
                self.missing.pop(freeze.row_id, None)
            elif now - self.missing.setdefault(freeze.row_id, now) >= GONE_AFTER:
                found.append(freeze)
        return found


def _ongoing(
    transaction: Transaction, names: Collection[RepositoryName]
) -> Mapping[RepositoryName, Sequence[Freeze]]:
    """The freezes that aren't over and have an id, by repository."""
    found: dict[RepositoryName, list[Freeze]] = {}
    for freeze in Freezes(transaction).of(names):
        if freeze.freeze_id is not None:
            found.setdefault(freeze.repository, []).append(freeze)
    return found


def _end_freeze(transaction: Transaction, seen: Freeze, at: datetime, now: datetime) -> bool:
    """Store its end and the posts about it, unless it has changed since it was `seen`."""
    known = Freezes(transaction).locked(seen.repository)
    unrouted = Events(transaction).unrouted(seen.repository)
    if seen not in known or any(event.type in FREEZE_TYPES for event in unrouted):
        return False
    over = replace(seen, stage=Stage.OVER, ending=Ending(at))
    save(transaction, over, now)
    subject = Subject(SubjectKind.FREEZE_OVER, over.repository, over.told.set_id)
    notify(transaction, over, subject, freeze_subscribers(transaction, over.repository), now)
    return True
