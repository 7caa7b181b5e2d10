"""The one loop over repositories: polls each when due, in one process at a time."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zlib import crc32

from bot.acts.rows import Revisions
from bot.boards.rows import Boards
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Subscription, Topic, subscribed_channels
from bot.feed import polling
from bot.feed.log_reading import LogReading
from bot.feed.observe_queue import ObserveQueue
from bot.feed.pause_by_rule import PauseByRule
from bot.feed.poll import Poll, PollRequests
from bot.feed.poll_event_log import PollEventLog
from bot.feed.poll_state import PollSchedule, PollState, asked_to_wait, failure, log_level_of
from bot.feed.requested_types import RequestedTypes
from bot.health.alert import AlertRules
from bot.health.outage import poll_problem
from bot.health.rows import Alerts
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.errors import BotError, MergeQueueError
from bot.kernel.metrics import UNSCRAPED, Metrics, PollOutcome
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import POLL_REQUESTS, ConcurrencyLimit, LimitClosed, Tasks
from bot.log.position import LastPoll
from bot.log.rows import Events, Positions
from bot.merge_queue.port import MergeQueue
from bot.pauses.pause import MERGES_COUNTED_FOR
from bot.pauses.rows import Pauses
from bot.people.notices import Notice
from bot.people.rows import People
from bot.store.coordination import Leases
from bot.store.errors import LeaseLost
from bot.store.job_lease import JobLease
from bot.store.lease_values import POLL_LEASE, Lease
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

POLLING_LEASE = timedelta(seconds=14)
"""Longer than PostgreSQL leaves the transaction of a frozen process open (`IDLE_SECONDS`)."""

RENEWED_BEFORE = timedelta(seconds=10)
"""The lease is renewed when less time is left, so that it outlives some failed or late ticks."""

ASKED_EVERY = timedelta(seconds=1)
"""How often a process on standby asks for the lease; with `POLLING_LEASE` it takes over in 15 s."""

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

TOPIC_OF_NOTICE = {Notice.FAILURE: Topic.FAILURE, Notice.MERGE: Topic.MERGE}


@dataclass(frozen=True, slots=True)
class Prepared:
    """The data for one tick, from one transaction."""

    states: Mapping[RepositoryName, PollState]
    subscriptions: Mapping[RepositoryName, Sequence[Subscription]]
    stored: Mapping[RepositoryName, LastPoll]  #: the last polls whose times were stored
    personal: frozenset[str]  #: topics of which some people want direct messages
    revisions: Mapping[RepositoryName, int]  #: how often each one was changed, if it was
    #: the number of all boards, by each repository that one of them shows
    boards: Mapping[RepositoryName, int]


@dataclass(slots=True)
class PollRepositories:
    """The one loop over repositories, in the process that has the lease; the others stand by.

    One transaction loads the positions and subscriptions of all that are due. Polls run
    concurrently, one at a time per repository. A poll reads the event log and, if something needs
    it, the queue. Events and what follows from them are stored under the lease's token.
    """

    log: PollEventLog
    store: Store
    merge_queue: MergeQueue
    clock: Clock
    configured: Configured
    interval: polling.PollingInterval
    holder: str
    observe: ObserveQueue | None = None  #: None if only logs are read
    rule: PauseByRule | None = None  #: None if nothing is paused by rule
    concurrency: ConcurrencyLimit = field(default_factory=lambda: ConcurrencyLimit(POLL_REQUESTS))
    #: empty on standby, except for polls that began before
    schedules: dict[RepositoryName, PollSchedule] = field(default_factory=dict)
    tasks: Tasks = field(default_factory=lambda: Tasks("a poll has a defect", "poll_defect"))
    metrics: Metrics = UNSCRAPED
    clock_steps: polling.ClockSteps = field(default_factory=polling.ClockSteps)
    #: None to read the pauses on record at the next tick
    pauses_known_until: datetime | None = None
    #: the event types that the service doesn't know, for all repositories
    refused_types: dict[str, datetime] = field(default_factory=dict)
    new_pause_read_after: timedelta = NEW_PAUSE_READ_AFTER
    pauses_read_every: timedelta = PAUSES_READ_EVERY
    most_a_tick: int = MOST_A_TICK
    lease: JobLease = field(init=False)
    #: when to ask for the lease that another process has; None to ask at the next tick
    asks_at: datetime | None = None
    budget: polling.RequestBudget = field(init=False)

    def __post_init__(self) -> None:
        self.lease = JobLease(POLL_LEASE, self.holder, POLLING_LEASE)
        self.budget = polling.RequestBudget(self.interval.usual)

    @property
    def repositories(self) -> Sequence[RepositoryName]:
        return self.configured.repositories.names

    async def run(self) -> None:
        """Start the polls that are due, without waiting for them. Raises StoreError."""
        now = self.clock.now()
        if back := self.clock_steps.set_back(now):
            self.pauses_known_until = None
            self.asks_at = None
            # Its end is a time of the old clock.
            self.lease.current = None
            for schedule in self.schedules.values():
                schedule.set_back(back)
        lease = await self._own_lease(now)
        if lease is None:
            self._stand_by()
            return
        try:
            await self._tick(lease, now)
        except LeaseLost:
            # This process was suspended; the next tick asks whether another one polls now.
            self.lease.current = None

    async def _own_lease(self, now: datetime) -> Lease | None:
        """Ours, renewed in time; None while another process polls. Raises StoreError."""
        lease = self.lease.current
        if lease is not None and lease.expires_at - now >= RENEWED_BEFORE:
            return lease
        if lease is None and self.asks_at is not None and now < self.asks_at:
            return None
        taken = await self.store.run(self.lease.take, now)
        self.lease.current = taken
        if taken is None:
            self.asks_at = now + ASKED_EVERY
            return None
        self.asks_at = None
        if lease is None or lease.token != taken.token:
            extra = {"action": "polling_begun", "repositories": len(self.repositories)}
            logger.info("this process polls now", extra=extra)
        return taken

    def _stand_by(self) -> None:
        """Forget what another process reads now; polls under way end by themselves."""
        self.schedules = {
            name: schedule for name, schedule in self.schedules.items() if schedule.running
        }
        for schedule in self.schedules.values():
            schedule.token = None

    async def _tick(self, lease: Lease, now: datetime) -> None:
        self._follow(now)
        if self.observe is not None:
            await self._read_pauses(self.observe, now)
        due = self._due(now)
        if not due:
            return
        prepared = await self.store.run(self._prepare, lease, due, now)
        for name, last in prepared.stored.items():
            self.schedules[name].stored_at = last.polled_at
        for name in due:
            self._take_on(name, lease, prepared, now, is_one_of_many=len(due) > MANY)

    def _follow(self, now: datetime) -> None:
        """Begin with the repositories that are new in the settings, and forget those that left."""
        names = self.repositories
        for name in names:
            if name not in self.schedules:
                self.schedules[name] = PollSchedule(due_at=now)
        for name in set(self.schedules).difference(names):
            if not self.schedules[name].running:
                del self.schedules[name]

    async def _read_pauses(self, observe: ObserveQueue, now: datetime) -> None:
        """Read the pauses on record once a second; queues with a new pause are read soon."""
        if self.pauses_known_until is not None and now < self.pauses_known_until:
            return
        names = list(self.schedules)
        since = now - MERGES_COUNTED_FOR
        found, ended = await self.store.read(
            lambda transaction: (
                Pauses(transaction).open(names),
                Pauses(transaction).ended_since(since),
            )
        )
        self.pauses_known_until = now + self.pauses_read_every
        known = {pause.repository: pause for pause in found}
        for name in names:
            schedule = self.schedules[name]
            schedule.pause = known.get(name)
            schedule.counts_merges = schedule.pause is not None or name in ended
            if schedule.pause is None:
                continue
            schedule.due_at = min(schedule.due_at, now + self.interval.usual)
            queue = schedule.queue
            is_new = schedule.pause.queue.queued_at_start is None and not queue.failures.count
            if is_new and queue.read_at is not None:
                schedule.due_at = min(schedule.due_at, now + self.new_pause_read_after)
                queue.read_at = None
        await observe.pause.notify_ends(names)

    def _due(self, now: datetime) -> Sequence[RepositoryName]:
        """The repositories due, longest overdue first, at most as many as one transaction takes."""
        due = [
            name
            for name, schedule in self.schedules.items()
            if schedule.due_at <= now and not schedule.running
        ]
        due.sort(key=lambda name: self.schedules[name].due_at)
        return due[: self.most_a_tick]

    def _prepare(
        self,
        transaction: Transaction,
        lease: Lease,
        due: Sequence[RepositoryName],
        now: datetime,
    ) -> Prepared:
        """Read the data for polls; with boards if queues are read too. Raises LeaseLost."""
        Leases(transaction).require(lease, now)
        stored: dict[RepositoryName, LastPoll] = {}
        for name in due:
            last = self.schedules[name].to_store(lease)
            if last is not None:
                stored[name] = last
        Positions(transaction).save_polls(stored)
        subscriptions = Subscriptions(transaction).of_repositories(due)
        boards: Mapping[RepositoryName, int] = {}
        if self.observe is not None:
            self._end_alerts(transaction, due, subscriptions, now)
            boards = _boards(transaction, due)
        wanted = People(transaction).switched_on_by_anybody(list(TOPIC_OF_NOTICE))
        personal = frozenset(TOPIC_OF_NOTICE[notice].value for notice in wanted)
        states = self._states(transaction, lease, due)
        revisions = Revisions(transaction).of_all(due)
        return Prepared(states, subscriptions, stored, personal, revisions, boards)

    def _end_alerts(
        self,
        transaction: Transaction,
        due: Sequence[RepositoryName],
        subscriptions: Mapping[RepositoryName, Sequence[Subscription]],
        now: datetime,
    ) -> None:
        """End the alerts of repositories without subscribers, to start over with the next one."""
        ended: list[RepositoryName] = []
        for name in due:
            if _health(subscriptions.get(name, ())):
                continue
            state = self.schedules[name].state
            if state is None or _health(state.types.subscriptions):
                ended.append(name)
        if ended:
            Alerts(transaction).forget(ended, now)

    def _states(
        self, transaction: Transaction, lease: Lease, due: Sequence[RepositoryName]
    ) -> Mapping[RepositoryName, PollState]:
        """The states of these repositories, new where another process may have polled since."""
        states: dict[RepositoryName, PollState] = {}
        new: list[RepositoryName] = []
        for name in due:
            schedule = self.schedules[name]
            if schedule.state is not None and schedule.is_under(lease):
                states[name] = schedule.state
            else:
                new.append(name)
        if not new:
            return states
        last = Positions(transaction).polls(new)
        positions = Positions(transaction).load(new)
        unrouted = Events(transaction).with_unrouted(new)
        for name in new:
            types = RequestedTypes(last=last.get(name), refused_at=self.refused_types)
            state = PollState(types, LogReading(positions.get(name)))
            if name not in unrouted:
                # It needs no transaction of its own.
                state.events.unrouted = ()
            states[name] = state
        return states

    def _take_on(
        self,
        name: RepositoryName,
        lease: Lease,
        prepared: Prepared,
        now: datetime,
        *,
        is_one_of_many: bool,
    ) -> None:
        schedule = self.schedules[name]
        state = prepared.states[name]
        if state is not schedule.state:
            schedule.state = state
            schedule.taken_on_at = now
            # An event may have told of a pause that could not be read, or stored, since.
            schedule.queue.read_at = None
            # From 0 to 1, evenly distributed among names and always the same for one.
            schedule.share = crc32(name.encode()) / 2**32 if is_one_of_many else 1.0
        state.types.subscriptions = prepared.subscriptions.get(name, ())
        state.types.personal = prepared.personal
        state.types.counts_merges = schedule.counts_merges
        state.types.has_rule = self.rule is not None and self.rule.is_wanted(name)
        schedule.token = lease.token
        if self.observe is not None:
            rules = self.observe.configured.policies.of(name).rules(AlertRules)
            has_thresholds = bool(rules.thresholds)
            schedule.queue.interest = polling.QueueInterest(
                pause=schedule.pause is not None,
                boards=prepared.boards.get(name, 0),
                health=has_thresholds and _health(state.types.subscriptions),
            )
        schedule.running = True
        requests = PollRequests(
            self.merge_queue, self.clock, self.concurrency, schedule.due_at, self.metrics
        )
        poll = Poll(lease, state, name, requests, prepared.revisions.get(name, 0))
        # Even after a defect, do not poll the repository at every tick.
        schedule.due_at = now + self.interval.usual
        self.tasks.start(self._poll(poll, schedule), f"poll {name}")

    async def _poll(self, poll: Poll, schedule: PollSchedule) -> None:
        started_at = self.clock.now()
        try:
            await self._read_log_and_queue(poll, schedule)
        except LeaseLost:
            logger.warning(
                "lease lost", extra={"action": "lease_lost", "repository": poll.repository}
            )
            schedule.state = None
            # Perhaps it has only expired: the next tick asks.
            self.lease.current = None
            self.metrics.polls.labels(PollOutcome.LEASE_LOST).inc()
        except LimitClosed:
            return
        except BotError as error:
            self._failed(poll.repository, schedule, started_at, error)
            return
        except Exception:
            # The log was not read; if that lasts, channels are notified.
            schedule.failures.add(started_at)
            raise
        finally:
            schedule.running = False
            self.budget.spend(poll.requests.count, len(self.schedules), self.clock.now())
        if schedule.state is not None:
            self._succeeded(poll, schedule, started_at)
        self._plan_next(poll, schedule, started_at)

    def _succeeded(self, poll: Poll, schedule: PollSchedule, started_at: datetime) -> None:
        if schedule.is_failure_logged:
            logger.info(
                "poll recovered", extra={"action": "poll_recovered", "repository": poll.repository}
            )
            schedule.is_failure_logged = False
        schedule.failures.end()
        schedule.problem = None
        schedule.polled_at = started_at
        self.metrics.polls.labels(PollOutcome.READ).inc()

    async def _read_log_and_queue(self, poll: Poll, schedule: PollSchedule) -> None:
        """Read the queue even if the log fails, unless the service asked to wait.

        Raises BotError or LimitClosed.
        """
        failed: MergeQueueError | None = None
        try:
            await self.log.run(poll)
        except MergeQueueError as error:
            if asked_to_wait(error) is not None:
                raise
            failed = error
        if failed is None and self.rule is not None:
            await self.rule.run(poll)
        if self.observe is not None and self.observe.is_due(schedule):
            await self.observe.run(poll, schedule)
        if poll.last_status is not None:
            schedule.queue.is_running = polling.is_running(poll.last_status.status)
        if failed is not None:
            raise failed

    def _plan_next(self, poll: Poll, schedule: PollSchedule, started_at: datetime) -> None:
        """Schedule the next poll, counted from the request, not from the wait before it.

        Repositories that were due together are spread over the interval.
        """
        asked_at = max(started_at, poll.requests.began_at or started_at)
        active_at = poll.state.active_at or started_at
        wait = self.interval.wait(
            started_at - active_at,
            is_running=schedule.queue.is_running,
            may_hurry=self.budget.has_some(len(self.schedules)),
        )
        reads_again = self.observe is not None and schedule.queue.read_at is None
        if schedule.pause is not None or reads_again:
            wait = min(wait, self.interval.usual)
        now = self.clock.now()
        due_at = max(asked_at + schedule.share * wait, now)
        schedule.due_at = min(due_at, now + wait)
        schedule.share = 1.0

    def _failed(
        self, name: RepositoryName, schedule: PollSchedule, started_at: datetime, error: BotError
    ) -> None:
        self.metrics.polls.labels(PollOutcome.FAILED).inc()
        schedule.problem = poll_problem(error) or schedule.problem
        wait = schedule.failures.add(started_at, hint=asked_to_wait(error))
        schedule.due_at = self.clock.now() + max(self.interval.usual, wait)
        fields = failure("poll_failed", name, error)
        level = log_level_of(error)
        schedule.is_failure_logged |= level > logging.DEBUG
        extra = {**fields, "failures": schedule.failures.count}
        logger.log(level, "poll failed", extra=extra)

    def read_until(self, name: RepositoryName) -> datetime | None:
        """Until when the log was read here, in the service's time; None if it wasn't."""
        schedule = self.schedules.get(name)
        if schedule is None or schedule.token is None or schedule.polled_at is None:
            return None
        return schedule.polled_at + (self.log.service_clock.ahead or timedelta())

    def freshness(self) -> polling.Freshness:
        """How fresh the repositories are that this process polls; none on standby."""
        now = self.clock.now()
        limit = polling.stale_after(self.interval.usual)
        read_at = [schedule.read_at for schedule in self.schedules.values()]
        ages = [now - at for at in read_at if at is not None]
        stale = 0
        for schedule in self.schedules.values():
            # Polls have failed, or the next is overdue, for longer than the limit.
            late_since = min(schedule.failures.since or now, schedule.due_at)
            if schedule.read_at is not None and now - late_since > limit:
                stale += 1
        return polling.Freshness(
            polled=len(ages), stale=stale, oldest=max(ages, default=timedelta())
        )

    def begin_no_more(self) -> None:
        """Leave waiting polls to other processes, because this one is about to end."""
        self.concurrency.close()

    async def drain(self) -> None:
        """Wait for the running polls."""
        await self.tasks.drain()

    async def release(self) -> None:
        """Release the lease, so that the next process continues immediately. Raises StoreError."""
        await self.lease.release(self.store, self.clock.now())


def _boards(
    transaction: Transaction, due: Sequence[RepositoryName]
) -> Mapping[RepositoryName, int]:
    """The number of all boards, by each of these repositories that one of them shows."""
    shown = Boards(transaction).open_of(due)
    if not shown:
        return {}
    count = Boards(transaction).count_open()
    return {board.repository: count for board in shown}


def _health(subscriptions: Sequence[Subscription]) -> bool:
    """Whether a channel follows the health of the queue."""
    return bool(subscribed_channels(subscriptions, Topic.HEALTH))
