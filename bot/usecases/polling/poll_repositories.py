"""The one loop over repositories: polls each when due, if this process holds its lease."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zlib import crc32

from bot.domain.clock_jumps import ClockSteps
from bot.domain.errors import BotError, LeaseLost, MergeQueueError, MergeQueueUnavailable
from bot.domain.leases import Lease
from bot.domain.outages import PollObservation
from bot.domain.polling import (
    Freshness,
    PollingInterval,
    QueueInterest,
    RequestBudget,
    is_running,
    stale_after,
)
from bot.domain.repository import RepositoryName
from bot.ports import UNMEASURED, Clock, Measures, PollOutcome
from bot.store.transactions import Store
from bot.usecases.polling.observe_queue import ObserveQueue
from bot.usecases.polling.pause_by_rule import PauseByRule
from bot.usecases.polling.poll_event_log import PollEventLog
from bot.usecases.polling.poll_preparation import Prepared, Tick, lease_name, prepare
from bot.usecases.polling.poll_state import (
    LEASE_FLOOR,
    PersonalTopics,
    Poll,
    PollSchedule,
    PollState,
)
from bot.usecases.polling.queue_reading import QueueReading
from bot.usecases.tasks import LimitClosed, Tasks

logger = logging.getLogger(__name__)

LEASE_INTERVALS = 3
HELD_ELSEWHERE = timedelta(seconds=1)
"""How soon a lease is asked for again that is another process's still."""

NEW_PAUSE_READ_AFTER = timedelta(seconds=1)
"""When to read a newly paused queue: by then its card is posted and the log is complete."""

PAUSES_READ_EVERY = timedelta(seconds=1)
"""How soon a pause made in another process is known."""

POLL_TICK_SECONDS = 0.25
"""How often to check which repositories are due."""

MOST_A_TICK = 2000
"""The most repositories in one tick, because its transaction blocks others; the rest come next."""

MANY = 200
"""More new repositories than this get their next polls spread out, or all stay due together."""


@dataclass(slots=True)
class PollRepositories:
    """The one loop over repositories.

    One transaction claims the leases and loads the positions and subscriptions of all that are due.
    Polls run concurrently, one at a time per repository. A poll reads the event log and, if
    something needs it, the queue.

    `observe`: None if only logs are read.
    `rule`: None if nothing is paused by rule.
    `pauses_known_until`: None to read the pauses on record at the next tick.
    """

    log: PollEventLog
    store: Store
    clock: Clock
    repositories: Sequence[RepositoryName]
    interval: PollingInterval
    holder: str
    observe: ObserveQueue | None = None
    rule: PauseByRule | None = None
    schedules: dict[RepositoryName, PollSchedule] = field(default_factory=dict)
    tasks: Tasks = field(default_factory=lambda: Tasks("a poll has a defect", "poll_defect"))
    left_to_others: set[RepositoryName] = field(default_factory=set)
    measures: Measures = UNMEASURED
    personal: PersonalTopics = field(default_factory=PersonalTopics)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    clock_steps: ClockSteps = field(default_factory=ClockSteps)
    pauses_known_until: datetime | None = None
    budget: RequestBudget = field(init=False)

    def __post_init__(self) -> None:
        self.budget = RequestBudget(self.interval.usual)

    async def run(self) -> None:
        """Start the polls that are due, without waiting for them."""
        # This tick must not take back a repository given up meanwhile.
        async with self.turn:
            await self._tick()

    async def _tick(self) -> None:
        now = self.clock.now()
        back = self.clock_steps.set_back(now)
        if back:
            self.pauses_known_until = None
            for schedule in self.schedules.values():
                schedule.set_back(back)
        for name in self.followed:
            self.schedules.setdefault(name, PollSchedule(due_at=now))
        if self.observe is not None:
            await self._read_pauses(self.observe, now)
        due = self._due(now)
        renewed = [name for name, schedule in self.schedules.items() if schedule.wears_out(now)]
        if not due and not renewed:
            return
        prepared = await self._prepare(due, renewed, now)
        for name in renewed:
            self.schedules[name].leased_until = now + self._lifetime
        for name in due:
            self._take_on(name, prepared, now, is_one_of_many=len(due) > MANY)

    def _take_on(
        self, name: RepositoryName, prepared: Prepared, now: datetime, *, is_one_of_many: bool
    ) -> None:
        schedule = self.schedules[name]
        lease = prepared.leases.get(lease_name(name))
        if lease is None:
            due_at = now + min(self.interval.usual, HELD_ELSEWHERE)
            self.schedules[name] = PollSchedule(due_at=due_at)
            return
        if schedule.token != lease.token or schedule.state is None:
            schedule.state = PollState(
                prepared.positions.get(name), (), last=prepared.last.get(name)
            )
            schedule.state.unrouted = frozenset() if name in prepared.all_routed else None
            schedule.token = lease.token
            schedule.taken_on_at = now
            schedule.share = _share_of(name) if is_one_of_many else 1.0
        schedule.state.subscriptions = prepared.subscriptions.get(name, ())
        schedule.state.personal = self.personal.topics
        schedule.state.has_rule = self.rule is not None and self.rule.is_wanted(name)
        schedule.lease, schedule.leased_until = lease, lease.expires_at
        if self.observe is not None:
            schedule.queue.interest = QueueInterest(
                pause=schedule.pause is not None,
                boards=prepared.boards if name in prepared.shown else 0,
                health=self.observe.health.is_wanted(name, schedule.state.subscriptions),
            )
        self._start(name, lease, schedule, schedule.state)

    @property
    def followed(self) -> Sequence[RepositoryName]:
        """The repositories that this process should poll, if it gets their leases."""
        return [name for name in self.repositories if name not in self.left_to_others]

    def follow(
        self, names: Collection[RepositoryName], repositories: Sequence[RepositoryName]
    ) -> None:
        """Poll only `names` of the `repositories`; initially a process follows all of them."""
        now = self.clock.now()
        for name in names:
            # A running poll stays; the repository is due once it has ended.
            self.schedules.setdefault(name, PollSchedule(due_at=now))
        self.repositories = repositories
        self.left_to_others.clear()
        self.left_to_others.update({*repositories, *self.schedules} - set(names))

    async def give_up(self) -> None:
        """Release the leases of repositories no longer followed, once idle here.

        Without any it returns immediately, because the caller has to report in time that this
        process is alive.
        """
        if self._idle():
            async with self.turn:
                await self._give_up()

    def _idle(self) -> Sequence[RepositoryName]:
        return [
            name
            for name in self.left_to_others
            if name in self.schedules and not self.schedules[name].running
        ]

    async def _give_up(self) -> None:
        idle = self._idle()
        held = [self.schedules[name].lease for name in idle]
        leases = [lease for lease in held if lease is not None]
        if leases:
            await self.store.run(lambda transaction: transaction.leases.release(leases))
        for name in idle:
            del self.schedules[name]

    @property
    def _lifetime(self) -> timedelta:
        return LEASE_INTERVALS * self.interval.longest + LEASE_FLOOR

    def freshness(self) -> Freshness:
        """How fresh the repositories are whose leases this process holds."""
        now, limit = self.clock.now(), stale_after(self.interval.usual)
        held = [one for one in self.schedules.values() if one.read_at is not None]
        return Freshness(
            polled=len(held),
            stale=sum(one.is_stale(now, limit) for one in held),
            oldest=max((now - one.read_at for one in held if one.read_at), default=timedelta()),
        )

    def observation(self) -> PollObservation:
        """The state of the logs whose leases this process holds.

        A log whose last poll succeeded counts as read now, because a delay of this process says
        nothing about the service. One that failed counts as read an interval before its first
        failure, however rarely it is polled.
        """
        now, usual = self.clock.now(), self.interval.usual
        held = {
            name: (one, at)
            for name, one in self.schedules.items()
            if (at := one.read_at) is not None
        }
        return PollObservation(
            at=now,
            unread_since={
                name: max(at, (one.failing_since or at) - usual) if one.failures.count else now
                for name, (one, at) in held.items()
            },
            read={
                name: one.polled_at
                for name, (one, _) in held.items()
                if one.polled_at is not None and not one.failures.count
            },
            polled=self.repositories,
        )

    def begin_no_more(self) -> None:
        """Leave waiting polls to other processes, because this one is about to end."""
        self.log.concurrency.close()

    async def drain(self) -> None:
        """Wait for the running polls."""
        await self.tasks.drain()

    async def release(self) -> None:
        """Release the leases, so that the next process can continue immediately."""
        held = [one.lease for one in self.schedules.values() if one.lease is not None]
        if held:
            await self.store.run(lambda transaction: transaction.leases.release(held))

    async def _read_pauses(self, observe: ObserveQueue, now: datetime) -> None:
        """Read the pauses on record once a second; queues with a new pause are read soon."""
        if self.pauses_known_until is not None and now < self.pauses_known_until:
            return
        followed = self.followed
        found = await self.store.read(lambda transaction: transaction.pauses.open(followed))
        self.pauses_known_until = now + PAUSES_READ_EVERY
        known = {one.repository: one for one in found}
        for name in followed:
            schedule = self.schedules[name]
            schedule.pause = known.get(name)
            if schedule.pause is None:
                continue
            schedule.due_at = min(schedule.due_at, now + self.interval.usual)
            is_new = schedule.pause.queued_at_start is None and not schedule.queue.failures.count
            if is_new and schedule.queue.read_at is not None:
                schedule.due_at = min(schedule.due_at, now + NEW_PAUSE_READ_AFTER)
                schedule.queue.read_at = None
        await observe.pause.notify_ends(followed)

    def _due(self, now: datetime) -> Sequence[RepositoryName]:
        """The repositories due, longest overdue first, at most as many as one transaction takes."""
        schedules = self.schedules
        due = [
            name
            for name in self.followed
            if schedules[name].due_at <= now and not schedules[name].running
        ]
        return sorted(due, key=lambda name: schedules[name].due_at)[:MOST_A_TICK]

    async def _prepare(
        self, due: Sequence[RepositoryName], renewed: Sequence[RepositoryName], now: datetime
    ) -> Prepared:
        health = self.observe.health if self.observe is not None else None
        tick = Tick(self.schedules, due, renewed, self.holder, self._lifetime, now)
        prepared = await self.store.run(prepare, tick, self.personal, health)
        for name, one in prepared.stored.items():
            self.schedules[name].stored_at = one.at
        self.personal = prepared.personal
        if health is not None:
            health.remember(prepared.ours, prepared.unsubscribed)
        return prepared

    def _start(
        self, name: RepositoryName, lease: Lease, schedule: PollSchedule, state: PollState
    ) -> None:
        schedule.running = True
        state.due_at = schedule.due_at
        # Even after a defect, do not poll the repository at every tick.
        schedule.due_at = self.clock.now() + self.interval.usual
        queue = QueueReading(name, self.log.merge_queue, self.clock, self.log.concurrency)
        self.tasks.start(self._poll(Poll(lease, state, queue), schedule), f"poll {name}")

    async def _poll(self, poll: Poll, schedule: PollSchedule) -> None:
        started_at = self.clock.now()
        try:
            await self._read_log_and_queue(poll, schedule)
        except LeaseLost:
            logger.warning(
                "lease lost", extra={"action": "lease_lost", "repository": poll.repository}
            )
            schedule.state = None
            self.measures.poll_ended(PollOutcome.LEASE_LOST)
        except LimitClosed:
            return
        except BotError as error:
            self._failed(poll.repository, schedule, started_at, error)
            return
        except Exception:
            # The log was not read; if that lasts, channels are notified.
            schedule.failures.add(hint=None)
            schedule.failing_since = schedule.failing_since or started_at
            raise
        finally:
            schedule.running = False
            self.budget.spend(poll.queue.requests, len(self.schedules), self.clock.now())
        if schedule.failures.count:
            logger.info(
                "poll recovered",
                extra={"action": "poll_recovered", "repository": poll.repository},
            )
        schedule.failures.end()
        schedule.failing_since = None
        if schedule.state is not None:
            schedule.polled_at = started_at
            self.measures.poll_ended(PollOutcome.READ)
        self._plan_next(poll.state, schedule, started_at)

    async def _read_log_and_queue(self, poll: Poll, schedule: PollSchedule) -> None:
        """Read the queue even if the log fails, unless the service asked to wait.

        Raises BotError or LimitClosed.
        """
        failed: MergeQueueError | None = None
        try:
            await self.log.run(poll)
        except MergeQueueError as error:
            if isinstance(error, MergeQueueUnavailable) and error.retry_after is not None:
                raise
            failed = error
        if failed is None and self.rule is not None:
            await self.rule.run(poll)
        if self.observe is not None and self.observe.is_due(schedule):
            await self.observe.run(poll, schedule)
        if poll.queue.last_status is not None:
            schedule.queue.is_running = is_running(poll.queue.last_status)
        if failed is not None:
            raise failed

    def _plan_next(self, state: PollState, schedule: PollSchedule, started_at: datetime) -> None:
        """Schedule the next poll, counted from the request, not from the wait before it.

        Repositories that were due together are spread over the interval.
        """
        asked_at = max(started_at, state.asked_at or started_at)
        wait = self.interval.wait(
            started_at - (state.active_at or started_at),
            is_running=schedule.queue.is_running,
            may_hurry=self.budget.has_some(len(self.schedules)),
        )
        reads_again = self.observe is not None and schedule.queue.read_at is None
        if schedule.pause is not None or reads_again:
            wait = min(wait, self.interval.usual)
        now = self.clock.now()
        schedule.due_at = min(max(asked_at + schedule.share * wait, now), now + wait)
        schedule.share = 1.0

    def _failed(
        self, name: RepositoryName, schedule: PollSchedule, started_at: datetime, error: BotError
    ) -> None:
        self.measures.poll_ended(PollOutcome.FAILED)
        hint = error.retry_after if isinstance(error, MergeQueueUnavailable) else None
        wait = schedule.failures.add(hint=hint)
        schedule.failing_since = schedule.failing_since or started_at
        schedule.due_at = self.clock.now() + max(self.interval.usual, wait)
        logger.warning(
            "poll failed",
            extra={
                "action": "poll_failed",
                "repository": name,
                "error": type(error).__name__,
                "detail": str(error),
                "failures": schedule.failures.count,
            },
        )


def _share_of(name: RepositoryName) -> float:
    """A number from 0 to 1, evenly distributed among names and always the same for one."""
    return crc32(name.encode()) / 2**32
