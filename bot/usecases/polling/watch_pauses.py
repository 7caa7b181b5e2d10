"""Ask the service whether queues are paused, so that what is known of pauses stays true."""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.audit import Action, ActResult, AuditRecord
from bot.domain.errors import BotError, MergeQueueUnavailable, about
from bot.domain.pacing import Failures
from bot.domain.pause_records import NEAR, PauseRecord, Who, observed
from bot.domain.queue import Pause, QueueStatus
from bot.domain.repository import RepositoryName
from bot.domain.rhythm import Ticks
from bot.ports import Clock, MergeQueue, Nudge
from bot.store.transactions import Store, Transaction
from bot.usecases.leases import is_under_way
from bot.usecases.pausing.acts import made_by, settle_pause, told_together
from bot.usecases.pausing.pause_history import (
    end_pause,
    hearing_pauses,
    reopen_pause,
    see_pause,
    tell_end,
    tell_replaced,
)
from bot.usecases.pausing.recorded_pauses import LOOKED_BACK, pause_in_force, touch_pause
from bot.usecases.tasks import STORED_AT_ONCE, Gate, GateClosed, Tasks

logger = logging.getLogger(__name__)

SELDOM = 6
"""Of so many intervals one look, where no pause is known: the event log tells of new ones. The
depth of a paused queue is read as seldom."""

LOOKS_AT_ONCE = 1
"""Of each kind of look; polls are six. Those where no pause is known are a sixth of the polls, and
never keep those waiting that matter more."""

GONE = timedelta(seconds=30)
"""How far apart two looks must be that find no pause, where the status does not tell."""

UNTOLD = timedelta(seconds=30)
"""How long the end of a pause waits to be told by the event that names who lifted it."""


@dataclass(slots=True)
class _Schedule:
    """When a repository is looked at next, and when the depth of its queue is read next.

    `gone_since`: the monotonic time at which the pause on record was first not found.
    """

    due_at: datetime
    depth_at: datetime
    gone_since: float | None = None
    failures: Failures = field(default_factory=Failures)
    running: bool = False


@dataclass(frozen=True, slots=True)
class WatchPauses:
    """Each process watches its share. An answer that tells nothing new costs one request alone.

    Two may look at one repository while it changes hands: what they tell is made one by holding
    its pauses.
    """

    store: Store
    merge_queue: MergeQueue
    clock: Clock
    nudge: Nudge
    repositories: Sequence[RepositoryName]
    followed: Callable[[], Collection[RepositoryName]]
    interval: timedelta
    schedules: dict[RepositoryName, _Schedule] = field(default_factory=dict)
    gate: Gate = field(default_factory=lambda: Gate(LOOKS_AT_ONCE))
    gate_of_paused: Gate = field(default_factory=lambda: Gate(LOOKS_AT_ONCE))
    storing: Gate = field(default_factory=lambda: Gate(STORED_AT_ONCE))
    tasks: Tasks = field(
        default_factory=lambda: Tasks("a look at a pause has a defect", "watch_defect")
    )
    ticks: Ticks = field(default_factory=Ticks)

    async def run(self) -> None:
        """Start the looks that are due; they end on their own. Raises StoreError."""
        now = self.clock.now()
        back = self.ticks.set_back(now)
        if back:
            for schedule in self.schedules.values():
                schedule.due_at -= back
                schedule.depth_at -= back
        followed = self.followed()
        found, untold = await self.store.run(_open_and_untold, followed, now)
        known = {one.repository: one for one in found}
        others = set(self.repositories).difference(followed) if untold else set()
        for one in untold:
            if one.repository not in others and await self.store.run(_tell_untold, one, now):
                self.nudge()
        for name in followed:
            if self._is_due(name, known.get(name), now):
                self._start(name, known.get(name))

    def begin_no_more(self) -> None:
        """The process is about to end: looks that wait for their turn are left to others."""
        self.gate.close()
        self.gate_of_paused.close()

    async def drain(self) -> None:
        """Wait for the looks under way."""
        await self.tasks.drain()

    def _is_due(self, name: RepositoryName, known: PauseRecord | None, now: datetime) -> bool:
        schedule = self.schedules.get(name)
        if schedule is None:
            schedule = self.schedules[name] = _Schedule(now, now)
        if schedule.running:
            return False
        is_new = known is not None and known.queued_at_start is None and not schedule.failures.count
        if known is not None and schedule.due_at > now + self.interval:
            schedule.due_at = now + self.interval
        return schedule.due_at <= now or is_new

    def _start(self, name: RepositoryName, known: PauseRecord | None) -> None:
        schedule = self.schedules[name]
        schedule.running = True
        # Even a defect must not have the service asked at every tick.
        schedule.due_at = self.clock.now() + self.interval
        self.tasks.start(self._look(name, known, schedule), f"watch {name}")

    async def _look(
        self, name: RepositoryName, known: PauseRecord | None, schedule: _Schedule
    ) -> None:
        gate = self.gate if known is None else self.gate_of_paused
        try:
            async with gate.entered():
                started_at = self.clock.now()
                with about(name):
                    await self._compare(name, known, schedule)
        except GateClosed:
            return
        except BotError as error:
            self._failed(name, schedule, error)
            return
        finally:
            schedule.running = False
        schedule.failures.end()
        wait = self.interval if known is not None else SELDOM * self.interval
        now = self.clock.now()
        schedule.due_at = min(max(started_at + wait, now), now + wait)

    async def _compare(
        self, name: RepositoryName, known: PauseRecord | None, schedule: _Schedule
    ) -> None:
        pause = await self.merge_queue.current_pause(name)
        if pause is None:
            # The service says "not paused" of a repository that is not there, too.
            if known is not None and await self._is_gone(name, schedule):
                await self._store(lambda transaction, now: _over(transaction, known, now))
            return
        schedule.gone_since = None
        if known is None or not _is_it(known, pause):
            await self._store(lambda transaction, now: _see(transaction, name, known, pause, now))
        elif known.queued_at_start is None or schedule.depth_at <= self.clock.now():
            schedule.depth_at = self.clock.now() + SELDOM * self.interval
            measured = _measured(known, await self.merge_queue.status(name))
            if measured != known:
                await self._store(lambda transaction, now: _keep(transaction, known, measured, now))

    async def _is_gone(self, name: RepositoryName, schedule: _Schedule) -> bool:
        """Whether the status says so too, or, where it does not tell, an earlier look did."""
        status, ticks = await self.merge_queue.status(name), self.clock.monotonic()
        if status.paused is not None:
            schedule.gone_since = None
            return not status.paused
        if schedule.gone_since is None:
            schedule.gone_since = ticks
        return ticks - schedule.gone_since >= GONE.total_seconds()

    async def _store(self, tell: Callable[[Transaction, datetime], bool]) -> None:
        """Tell of what was seen, when its turn has come; `tell` says whether that is news."""
        async with self.storing.entered():
            is_news = await self.store.run(tell, self.clock.now())
        if is_news:
            self.nudge()

    def _failed(self, name: RepositoryName, schedule: _Schedule, error: BotError) -> None:
        hint = error.retry_after if isinstance(error, MergeQueueUnavailable) else None
        wait = schedule.failures.add(hint=hint)
        schedule.due_at = self.clock.now() + max(self.interval, wait)
        if schedule.failures.count == 1:
            logger.warning(
                "pause not read",
                extra={
                    "action": "pause_not_read",
                    "repository": name,
                    "error": type(error).__name__,
                    "detail": str(error),
                },
            )


def _open_and_untold(
    transaction: Transaction, followed: Collection[RepositoryName], now: datetime
) -> tuple[Sequence[PauseRecord], Sequence[PauseRecord]]:
    return transaction.pauses.open(followed), transaction.pauses.untold_ends(now - UNTOLD)


def _tell_untold(transaction: Transaction, untold: PauseRecord, now: datetime) -> bool:
    """No event came that says who: people are told all the same, unless they have been."""
    if untold not in transaction.pauses.of(untold.repository, now - LOOKED_BACK):
        return False
    channels = hearing_pauses(transaction, untold.repository)
    tell_end(transaction, untold, channels, now)
    return True


def _see(
    transaction: Transaction,
    name: RepositoryName,
    known: PauseRecord | None,
    pause: Pause,
    now: datetime,
) -> bool:
    """There is a pause, or a reason, that nobody has told of yet."""
    in_force = pause_in_force(transaction, name, now)
    if (in_force is not None or known is not None) and in_force != known:
        return False  # Somebody told of it while the service was asked: look again.
    acts = transaction.audit.since(name, min(now, pause.paused_at) - NEAR)
    act = made_by(pause, acts)
    if act is None or act.result is not ActResult.STARTED:
        _put_on_record(transaction, name, pause, act, now)
    elif is_under_way(transaction, act, acts, now):
        return False
    else:
        settle_pause(transaction, act, pause, now)
    return True


def _put_on_record(
    transaction: Transaction,
    name: RepositoryName,
    pause: Pause,
    act: AuditRecord | None,
    now: datetime,
) -> None:
    told = observed(name, pause)
    channels = hearing_pauses(transaction, name)
    if act is not None:
        by = Who(act.actor.name, act.actor.user_id)
        told = replace(told, by=by, reason=act.reason or pause.reason)
        channels.difference_update(told_together(transaction, act))
    seen = see_pause(transaction, told, channels, now)
    if pause.is_dated and not seen.record.is_open:
        reopen_pause(transaction, seen.record, channels, now)
    tell_replaced(transaction, seen, act.record_id if act is not None else None, now)


def _over(transaction: Transaction, known: PauseRecord, now: datetime) -> bool:
    """It is over; who lifted it is told by the event log, if anybody is."""
    in_force = pause_in_force(transaction, known.repository, now)
    acts = transaction.audit.since(known.repository, now - NEAR)
    if in_force != known:
        return False
    for act in acts:
        if act.action is Action.UNPAUSE and is_under_way(transaction, act, acts, now):
            return False
    end_pause(transaction, known, now, None, now)
    return True


def _measured(known: PauseRecord, status: QueueStatus) -> PauseRecord:
    """How many wait now, how many did at the start, and who came meanwhile."""
    queued = status.queued
    joined = frozenset(one.number for one in queued if one.queued_at > known.paused_at)
    return replace(
        known,
        queued_now=len(queued),
        queued_at_start=len(queued) - len(joined)
        if known.queued_at_start is None
        else known.queued_at_start,
        joined=known.joined | joined,
    )


def _keep(
    transaction: Transaction, known: PauseRecord, measured: PauseRecord, now: datetime
) -> bool:
    if pause_in_force(transaction, known.repository, now) != known:
        return False
    transaction.pauses.save(measured)
    touch_pause(transaction, measured, now)
    return True


def _is_it(known: PauseRecord, pause: Pause) -> bool:
    is_its_time = known.is_exact and known.is_of(pause.paused_at)
    return known.stored_reason == pause.reason and (is_its_time or not pause.is_dated)
