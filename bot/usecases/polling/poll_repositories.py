"""The one loop over repositories: polls each when due, if this process holds its lease."""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zlib import crc32

from bot.domain import polling
from bot.domain.errors import BotError, LeaseLost, MergeQueueError
from bot.domain.event_log import LastPoll
from bot.domain.leases import POLL_LEASES, Lease
from bot.domain.notices import Notice
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Subscription, Topic, subscribed_channels
from bot.metrics import UNSCRAPED, Metrics, PollOutcome
from bot.ports import Clock, MergeQueue
from bot.store.transactions import Store, Transaction
from bot.usecases.polling.observe_queue import ObserveQueue
from bot.usecases.polling.pause_by_rule import PauseByRule
from bot.usecases.polling.poll import Poll
from bot.usecases.polling.poll_event_log import PollEventLog
from bot.usecases.polling.poll_state import PollSchedule, PollState, asked_to_wait, failure
from bot.usecases.tasks import POLL_REQUESTS, ConcurrencyLimit, LimitClosed, Tasks

logger = logging.getLogger(__name__)

LEASE_FLOOR = timedelta(seconds=15)
"""A lease outlives a few missed ticks, and a poll that takes its time."""

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

TOPIC_OF_NOTICE = {Notice.FAILURE: Topic.FAILURE, Notice.MERGE: Topic.MERGE}


@dataclass(frozen=True, slots=True)
class Prepared:
    """The data for one tick, from one transaction.

    `states`: of the repositories whose leases are ours.
    `stored`: the last polls whose times were stored.
    `personal`: topics of which some people want direct messages.
    `boards`: the number of all boards, by each repository that one of them shows.
    """

    leases: Mapping[str, Lease]
    states: Mapping[RepositoryName, PollState]
    subscriptions: Mapping[RepositoryName, Sequence[Subscription]]
    stored: Mapping[RepositoryName, LastPoll]
    personal: frozenset[str]
    boards: Mapping[RepositoryName, int]


@dataclass(slots=True)
class PollRepositories:
    """The one loop over repositories.

    One transaction claims the leases and loads the positions and subscriptions of all that are due.
    Polls run concurrently, one at a time per repository. A poll reads the event log and, if
    something needs it, the queue.

    `observe`: None if only logs are read.
    `rule`: None if nothing is paused by rule.
    `followed`: those of the `repositories` that this process should poll, if it gets their leases.
    `pauses_known_until`: None to read the pauses on record at the next tick.
    """

    log: PollEventLog
    store: Store
    merge_queue: MergeQueue
    clock: Clock
    repositories: Sequence[RepositoryName]
    interval: polling.PollingInterval
    holder: str
    observe: ObserveQueue | None = None
    rule: PauseByRule | None = None
    concurrency: ConcurrencyLimit = field(default_factory=lambda: ConcurrencyLimit(POLL_REQUESTS))
    schedules: dict[RepositoryName, PollSchedule] = field(default_factory=dict)
    tasks: Tasks = field(default_factory=lambda: Tasks("a poll has a defect", "poll_defect"))
    metrics: Metrics = UNSCRAPED
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    clock_steps: polling.ClockSteps = field(default_factory=polling.ClockSteps)
    pauses_known_until: datetime | None = None
    followed: Sequence[RepositoryName] = field(init=False)
    budget: polling.RequestBudget = field(init=False)

    def __post_init__(self) -> None:
        self.followed = self.repositories
        self.budget = polling.RequestBudget(self.interval.usual)

    async def run(self) -> None:
        """Start the polls that are due, without waiting for them."""
        # This tick must not take back a repository given up meanwhile.
        async with self.turn:
            now = self.clock.now()
            if back := self.clock_steps.set_back(now):
                self.pauses_known_until = None
                for schedule in self.schedules.values():
                    schedule.set_back(back)
            await self._tick(now)

    async def _tick(self, now: datetime) -> None:
        for name in set(self.followed).difference(self.schedules):
            self.schedules[name] = PollSchedule(due_at=now)
        if self.observe is not None:
            await self._read_pauses(self.observe, now)
        due = self._due(now)
        # A poll may take so long that its lease needs renewal.
        running = [(name, one.lease) for name, one in self.schedules.items() if one.running]
        renewed = [
            name
            for name, lease in running
            if lease is not None and lease.expires_at - now < LEASE_FLOOR
        ]
        if not due and not renewed:
            return
        prepared = await self.store.run(self._prepare, due, renewed, now)
        for name, one in prepared.stored.items():
            self.schedules[name].stored_at = one.polled_at
        for name in renewed:
            schedule = self.schedules[name]
            schedule.lease = prepared.leases.get(lease_name(name), schedule.lease)
        for name in due:
            self._take_on(name, prepared, now, is_one_of_many=len(due) > MANY)

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
        # Those that this process follows since this tick began have no schedule yet.
        schedules = {name: self.schedules[name] for name in self.followed if name in self.schedules}
        due = [name for name, one in schedules.items() if one.due_at <= now and not one.running]
        return sorted(due, key=lambda name: schedules[name].due_at)[:MOST_A_TICK]

    def _prepare(
        self,
        transaction: Transaction,
        due: Sequence[RepositoryName],
        renewed: Sequence[RepositoryName],
        now: datetime,
    ) -> Prepared:
        """Claim the leases and read the data for polls; with boards if queues are read too."""
        lifetime = LEASE_INTERVALS * self.interval.longest + LEASE_FLOOR
        leases = transaction.leases.claim(
            [lease_name(name) for name in (*due, *renewed)],
            holder=self.holder,
            now=now,
            lifetime=lifetime,
        )
        ours = {name: leases[lease_name(name)] for name in due if lease_name(name) in leases}
        polls = {name: self.schedules[name].to_store(lease) for name, lease in ours.items()}
        stored = {name: last for name, last in polls.items() if last is not None}
        transaction.positions.save_polls(stored)
        subscriptions = transaction.subscriptions.of_repositories(due)
        boards: dict[RepositoryName, int] = {}
        if self.observe is not None:
            # End the alerts of repositories without subscribers, to start over with the next one.
            unwanted = [name for name in ours if not _health(subscriptions.get(name, ()))]
            before = {name: self.schedules[name].state for name in unwanted}
            ended = [name for name, one in before.items() if not one or _health(one.subscriptions)]
            if ended:
                transaction.alerts.forget(ended, now)
            if shown := transaction.boards.kept(due):
                count = transaction.boards.count_open()
                boards = {board.repository: count for board in shown}
        wanted = transaction.people.switched_on_by_anybody(list(TOPIC_OF_NOTICE))
        personal = frozenset(TOPIC_OF_NOTICE[one].value for one in wanted)
        states = self._take_over(transaction, ours)
        return Prepared(leases, states, subscriptions, stored, personal, boards)

    def _take_over(
        self, transaction: Transaction, ours: Mapping[RepositoryName, Lease]
    ) -> Mapping[RepositoryName, PollState]:
        """The states of these repositories, new where another process may have polled since."""
        schedules = {name: self.schedules[name] for name in ours}
        states = {
            name: one.state
            for name, one in schedules.items()
            if one.state is not None and one.has_token_of(ours[name])
        }
        if new := [name for name in ours if name not in states]:
            last, positions = transaction.positions.polls(new), transaction.positions.load(new)
            unrouted = transaction.events.with_unrouted(new)
            for name in new:
                states[name] = PollState(positions.get(name), last=last.get(name))
                if name not in unrouted:
                    # It needs no transaction of its own.
                    states[name].unrouted = ()
        return states

    def _take_on(
        self, name: RepositoryName, prepared: Prepared, now: datetime, *, is_one_of_many: bool
    ) -> None:
        schedule = self.schedules[name]
        lease = prepared.leases.get(lease_name(name))
        if lease is None:
            due_at = now + min(self.interval.usual, HELD_ELSEWHERE)
            self.schedules[name] = PollSchedule(due_at=due_at)
            return
        state = prepared.states[name]
        if state is not schedule.state:
            schedule.state, schedule.taken_on_at = state, now
            # From 0 to 1, evenly distributed among names and always the same for one.
            schedule.share = crc32(name.encode()) / 2**32 if is_one_of_many else 1.0
        state.subscriptions = prepared.subscriptions.get(name, ())
        state.personal = prepared.personal
        state.has_rule = self.rule is not None and self.rule.is_wanted(name)
        schedule.lease = lease
        if self.observe is not None:
            has_thresholds = bool(self.observe.configured.policies.of(name).thresholds)
            schedule.queue.interest = polling.QueueInterest(
                pause=schedule.pause is not None,
                boards=prepared.boards.get(name, 0),
                health=has_thresholds and _health(state.subscriptions),
            )
        schedule.running = True
        poll = Poll(
            lease,
            state,
            name,
            self.merge_queue,
            self.clock,
            self.concurrency,
            schedule.due_at,
            self.metrics,
        )
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
            self.budget.spend(poll.requests, len(self.schedules), self.clock.now())
        if schedule.failures.count:
            logger.info(
                "poll recovered", extra={"action": "poll_recovered", "repository": poll.repository}
            )
        schedule.failures.end()
        if schedule.state is not None:
            schedule.polled_at = started_at
            self.metrics.polls.labels(PollOutcome.READ).inc()
        self._plan_next(poll, schedule, started_at)

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
            schedule.queue.is_running = polling.is_running(poll.last_status)
        if failed is not None:
            raise failed

    def _plan_next(self, poll: Poll, schedule: PollSchedule, started_at: datetime) -> None:
        """Schedule the next poll, counted from the request, not from the wait before it.

        Repositories that were due together are spread over the interval.
        """
        asked_at = max(started_at, poll.asked_at or started_at)
        wait = self.interval.wait(
            started_at - (poll.state.active_at or started_at),
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
        self.metrics.polls.labels(PollOutcome.FAILED).inc()
        wait = schedule.failures.add(started_at, hint=asked_to_wait(error))
        schedule.due_at = self.clock.now() + max(self.interval.usual, wait)
        fields = failure("poll_failed", name, error)
        logger.warning("poll failed", extra={**fields, "failures": schedule.failures.count})

    def freshness(self) -> polling.Freshness:
        """How fresh the repositories are whose leases this process holds."""
        now, limit = self.clock.now(), polling.stale_after(self.interval.usual)
        held = [one for one in self.schedules.values() if one.read_at is not None]
        return polling.Freshness(
            polled=len(held),
            # Polls have failed, or the next is overdue, for longer than the limit.
            stale=sum(now - min(one.failures.since or now, one.due_at) > limit for one in held),
            oldest=max((now - one.read_at for one in held if one.read_at), default=timedelta()),
        )

    def begin_no_more(self) -> None:
        """Leave waiting polls to other processes, because this one is about to end."""
        self.concurrency.close()

    async def drain(self) -> None:
        """Wait for the running polls."""
        await self.tasks.drain()

    async def release(self, names: Collection[RepositoryName] | None = None) -> None:
        """Release the leases, of all by default, so that the next process continues immediately."""
        given_up = self.schedules if names is None else names
        held = [self.schedules[name].lease for name in given_up]
        leases = [lease for lease in held if lease is not None]
        if leases:
            await self.store.run(lambda transaction: transaction.leases.release(leases))


def lease_name(name: RepositoryName) -> str:
    return f"{POLL_LEASES}{name}"


def _health(subscriptions: Sequence[Subscription]) -> bool:
    """Whether a channel follows the health of the queue."""
    return bool(subscribed_channels(subscriptions, Topic.HEALTH))
