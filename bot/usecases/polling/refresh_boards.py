"""Read the queues that boards show, so that the boards stay true."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.boards import Outage, unseen
from bot.domain.errors import (
    MergeQueueError,
    MergeQueueRefused,
    MergeQueueUnavailable,
    StoreError,
)
from bot.domain.pacing import Failures
from bot.domain.repository import RepositoryName
from bot.domain.rhythm import Ticks
from bot.domain.snapshots import Snapshot
from bot.ports import Clock, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.asking.show_status import ShowStatus
from bot.usecases.posting.board_cards import tell_boards, touch_boards
from bot.usecases.tasks import STORED_AT_ONCE, Gate, GateClosed, Tasks

logger = logging.getLogger(__name__)

LOOKS_AT_ONCE = 2
"""A look takes two requests: at most half of those that may be in flight."""

EDIT_SPACING = timedelta(seconds=3)
"""All boards together are edited at most so often, which is under half of what all cards may."""


@dataclass(slots=True)
class _Schedule:
    """When a queue is read next, and what is remembered between its looks.

    `failing_since` is the first look of those that failed, `edit_at` the next time at which its
    boards may be edited.
    """

    due_at: datetime
    edit_at: datetime
    running: bool = False
    failures: Failures = field(default_factory=Failures)
    failing_since: datetime | None = None
    read_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RefreshBoards:
    """Of the repositories that this process polls, those that have boards, once an interval.

    However many boards show a repository, it is read once; where none does, not at all. `limit`
    is how long looks fail before boards say so, `polled` what this process polls.
    """

    store: Store
    show_status: ShowStatus
    clock: Clock
    nudge: Nudge
    interval: timedelta
    limit: timedelta
    polled: Callable[[], Mapping[RepositoryName, object]]
    schedules: dict[RepositoryName, _Schedule] = field(default_factory=dict)
    tasks: Tasks = field(
        default_factory=lambda: Tasks("a look at a board's queue has a defect", "board_defect")
    )
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(LOOKS_AT_ONCE))
    storing: Gate = field(default_factory=lambda: Gate(STORED_AT_ONCE))
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    ticks: Ticks = field(default_factory=Ticks)

    async def run(self) -> None:
        """Start the looks that are due; they end on their own. Raises StoreError."""
        now = self.clock.now()
        back = self.ticks.set_back(now)
        if back:
            for schedule in self.schedules.values():
                schedule.due_at -= back
                schedule.edit_at -= back
        due = self._due(now)
        if not due:
            return
        shown, count = await self.store.run(_shown, due)
        spacing = count * EDIT_SPACING
        for name in due:
            schedule = self.schedules[name]
            if name in shown:
                # Even a defect must not have the service asked at every tick.
                schedule.due_at = now + self.interval
                self._start(name, schedule, spacing)
            else:
                self.schedules[name] = _Schedule(now + self.interval, now)

    def begin_no_more(self) -> None:
        """The process is about to end: looks that wait for their turn are left to others."""
        self.ending.set()

    async def drain(self) -> None:
        """Wait for the looks under way."""
        await self.tasks.drain()

    def _due(self, now: datetime) -> list[RepositoryName]:
        polled = self.polled()
        for name in [one for one in self.schedules if one not in polled]:
            if not self.schedules[name].running:
                del self.schedules[name]
        schedules = self.schedules
        for name in polled:
            if name not in schedules:
                schedules[name] = _Schedule(now, now)
        return [
            name for name in polled if schedules[name].due_at <= now and not schedules[name].running
        ]

    def _start(self, name: RepositoryName, schedule: _Schedule, spacing: timedelta) -> None:
        schedule.running = True
        self.tasks.start(self._look(name, schedule, spacing), f"board {name}")

    async def _look(self, name: RepositoryName, schedule: _Schedule, spacing: timedelta) -> None:
        try:
            async with self.gate:
                if self.ending.is_set():
                    return
                started_at = self.clock.now()
                schedule.due_at = started_at + self.interval
                try:
                    snapshot = await self.show_status.run(name)
                except MergeQueueError as error:
                    await self._failed(name, schedule, started_at, error)
                    return
            await self._read(schedule, snapshot, spacing)
        except GateClosed:
            return
        except StoreError as error:
            logger.warning("board not kept", extra=_fields("board_not_kept", name, error))
        finally:
            schedule.running = False

    async def _read(self, schedule: _Schedule, snapshot: Snapshot, spacing: timedelta) -> None:
        schedule.failures.end()
        schedule.failing_since = None
        schedule.read_at = snapshot.read_at
        now = self.clock.now()
        later = max(now, schedule.edit_at)
        async with self.storing.entered():
            changed = await self.store.run(tell_boards, snapshot, now, later)
        if changed:
            schedule.edit_at = later + spacing
            self.nudge()

    async def _failed(
        self,
        name: RepositoryName,
        schedule: _Schedule,
        started_at: datetime,
        error: MergeQueueError,
    ) -> None:
        since = schedule.failing_since or started_at
        schedule.failing_since = since
        hint = error.retry_after if isinstance(error, MergeQueueUnavailable) else None
        wait = schedule.failures.add(hint=hint)
        now = self.clock.now()
        schedule.due_at = now + max(self.interval, wait)
        if schedule.failures.count == 1:
            logger.warning("board not read", extra=_fields("board_not_read", name, error))
        if now - since > self.limit:
            await self._say_so(name, schedule, _outage_of(error), since)

    async def _say_so(
        self, name: RepositoryName, schedule: _Schedule, outage: Outage, since: datetime
    ) -> None:
        now = self.clock.now()
        async with self.storing.entered():
            changed = await self.store.run(_tell_outage, name, outage, since, schedule.read_at, now)
        if changed:
            self.nudge()


def _shown(
    transaction: Transaction, due: Sequence[RepositoryName]
) -> tuple[Collection[RepositoryName], int]:
    """Which of them boards show, and how many boards there are, counted where some do."""
    shown = {board.repository for board in transaction.boards.kept(due)}
    return shown, transaction.boards.count_kept() if shown else 0


def _tell_outage(
    transaction: Transaction,
    name: RepositoryName,
    outage: Outage,
    since: datetime,
    read_at: datetime | None,
    now: datetime,
) -> bool:
    """Whether that is new to the boards."""
    before = transaction.boards.sights([name]).get(name)
    if before is None:
        return False
    after = unseen(before, outage, since, read_at)
    if before.says_the_same(after):
        return False
    transaction.boards.save_sight(after)
    touch_boards(transaction, after, now, now)
    return True


def _outage_of(error: MergeQueueError) -> Outage:
    if isinstance(error, MergeQueueUnavailable):
        return Outage.SILENT
    return Outage.REFUSED if isinstance(error, MergeQueueRefused) else Outage.UNREADABLE


def _fields(action: str, name: RepositoryName, error: Exception) -> dict[str, object]:
    return {
        "action": action,
        "repository": name,
        "error": type(error).__name__,
        "detail": str(error),
    }
