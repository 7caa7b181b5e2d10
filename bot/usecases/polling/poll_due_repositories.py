"""Poll every repository whose time has come, as far as this process holds their leases."""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zlib import crc32

from bot.domain.errors import BotError, LeaseLost, MergeQueueUnavailable
from bot.domain.event_log import LastPoll, Position
from bot.domain.freshness import Freshness, freshness
from bot.domain.leases import POLL_LEASES, Lease
from bot.domain.repository import RepositoryName
from bot.domain.rhythm import Rhythm, Ticks
from bot.domain.subscriptions import Subscription
from bot.ports import UNMEASURED, Clock, Measures, PollOutcome
from bot.store.transactions import Store, Transaction
from bot.usecases.polling.log_reader import LogReader
from bot.usecases.polling.look_at_condition import LookAtCondition
from bot.usecases.polling.personal_topics import PersonalTopics
from bot.usecases.polling.poll_event_log import PollEventLog
from bot.usecases.polling.poll_schedule import LEASE_FLOOR, PollSchedule
from bot.usecases.tasks import GateClosed, Tasks

logger = logging.getLogger(__name__)

LEASE_INTERVALS = 3
TOLD_EVERY = timedelta(seconds=15)
"""How often the times of the last polls are stored, for those who ask how fresh we are."""

HELD_ELSEWHERE = timedelta(seconds=1)
"""How soon a lease is asked for again that is another process's still."""

POLL_TICK_SECONDS = 0.25
"""How often it is looked at which repositories are due."""

MOST_A_TICK = 2000
"""A tick's transaction keeps everybody else waiting: of more than so many the rest is left to the
next tick."""

MANY = 200
"""When more than these are taken on together, their next looks are spread over the time until them.

Otherwise thousands would stay due at one instant for ever.
"""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What a tick read of those that are due, in one transaction.

    `told`: the times of last polls that it stored. `unheard`: those whose condition nobody hears
    of.
    """

    ours: Sequence[RepositoryName]
    leases: Mapping[str, Lease]
    positions: Mapping[RepositoryName, Position]
    subscriptions: Mapping[RepositoryName, Sequence[Subscription]]
    all_routed: Collection[RepositoryName]
    last: Mapping[RepositoryName, LastPoll]
    personal: PersonalTopics
    told: Mapping[RepositoryName, LastPoll]
    unheard: Collection[RepositoryName]


@dataclass(slots=True)
class PollDueRepositories:
    """The poll tick.

    Leases, positions and subscriptions of all that are due are taken in one transaction; polls
    run side by side, one at a time per repository. `longest`: how far apart two looks at a quiet
    repository may come to be; no further than the interval when it is None.
    """

    poll: PollEventLog
    store: Store
    clock: Clock
    repositories: Sequence[RepositoryName]
    interval: timedelta
    holder: str
    schedules: dict[RepositoryName, PollSchedule] = field(default_factory=dict)
    tasks: Tasks = field(default_factory=lambda: Tasks("a poll has a defect", "poll_defect"))
    left_to_others: set[RepositoryName] = field(default_factory=set)
    measures: Measures = UNMEASURED
    condition: LookAtCondition | None = None
    longest: timedelta | None = None
    personal: PersonalTopics = field(default_factory=PersonalTopics)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    ticks: Ticks = field(default_factory=Ticks)

    async def run(self) -> None:
        """Start the polls that are due; they end on their own."""
        # What is given up meanwhile must not be taken on again by this tick.
        async with self.turn:
            await self._tick()

    async def _tick(self) -> None:
        now = self.clock.now()
        back = self.ticks.set_back(now)
        if back:
            for schedule in self.schedules.values():
                schedule.set_back(back)
        due = self._due(now)
        renewed = [name for name, schedule in self.schedules.items() if schedule.wears_out(now)]
        if not due and not renewed:
            return
        prepared = await self._prepare(due, renewed, now)
        for name in renewed:
            self.schedules[name].leased_until = now + self._lifetime
        for name in due:
            schedule = self.schedules[name]
            lease = prepared.leases.get(_lease_name(name))
            if lease is None:
                self.schedules[name] = PollSchedule(due_at=now + min(self.interval, HELD_ELSEWHERE))
                continue
            if schedule.token != lease.token or schedule.reader is None:
                schedule.reader = LogReader(
                    prepared.positions.get(name), (), last=prepared.last.get(name)
                )
                schedule.reader.unrouted = [] if name in prepared.all_routed else None
                schedule.token = lease.token
                schedule.taken_on_at = now
                schedule.share = _share_of(name) if len(due) > MANY else 1.0
            schedule.reader.subscriptions = prepared.subscriptions.get(name, ())
            schedule.reader.personal = self.personal.topics
            schedule.lease, schedule.leased_until = lease, lease.expires_at
            self._start(name, lease, schedule, schedule.reader)

    @property
    def followed(self) -> Sequence[RepositoryName]:
        """Those that this process is to poll, as far as it gets their leases."""
        return [name for name in self.repositories if name not in self.left_to_others]

    def follow(self, names: Collection[RepositoryName]) -> None:
        """Poll these and leave the others to other processes; all are followed to begin with."""
        now = self.clock.now()
        for name in self.left_to_others & set(names):
            # What is still running here is due when it has ended.
            self.schedules.setdefault(name, PollSchedule(due_at=now))
        self.left_to_others.clear()
        self.left_to_others.update(set(self.repositories) - set(names))

    async def give_up(self) -> None:
        """Give back the leases of what others are to poll, once it is not being polled here.

        With nothing to give back no tick is waited for: whoever asks has to say in time that this
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
        return LEASE_INTERVALS * self._rhythm.longest + LEASE_FLOOR

    @property
    def _rhythm(self) -> Rhythm:
        return Rhythm(self.interval, max(self.interval, self.longest or self.interval))

    def freshness(self) -> Freshness:
        """Of the repositories whose leases this process has."""
        read_at = [at for one in self.schedules.values() if (at := one.read_at) is not None]
        return freshness(read_at, self.clock.now(), self._rhythm.longest)

    def unread_since(self) -> Mapping[RepositoryName, datetime]:
        """When each log was last read, or taken on, of those whose leases this process has.

        One whose last poll did not fail counts as read now: whatever delays this process itself
        says nothing about the service.
        """
        now = self.clock.now()
        return {
            name: at if one.failures.count else now
            for name, one in self.schedules.items()
            if (at := one.read_at) is not None
        }

    def read(self) -> Mapping[RepositoryName, datetime]:
        """When the last poll, here, read the log of those whose leases this process has."""
        return {
            name: one.polled_at
            for name, one in self.schedules.items()
            if one.lease is not None and one.polled_at is not None and not one.failures.count
        }

    def begin_no_more(self) -> None:
        """The process is about to end: polls that wait for their turn are left to others."""
        self.poll.gate.close()

    async def drain(self) -> None:
        """Wait for the polls under way."""
        await self.tasks.drain()

    async def release(self) -> None:
        """Give the leases back, so that the next process may go on at once."""
        held = [one.lease for one in self.schedules.values() if one.lease is not None]
        if held:
            await self.store.run(lambda transaction: transaction.leases.release(held))

    def _due(self, now: datetime) -> Sequence[RepositoryName]:
        """The longest due first, as many as one transaction takes."""
        followed, schedules = self.followed, self.schedules
        for name in followed:
            if name not in schedules:
                schedules[name] = PollSchedule(due_at=now)
        due = [
            name
            for name in followed
            if schedules[name].due_at <= now and not schedules[name].running
        ]
        return sorted(due, key=lambda name: schedules[name].due_at)[:MOST_A_TICK]

    async def _prepare(
        self, due: Sequence[RepositoryName], renewed: Sequence[RepositoryName], now: datetime
    ) -> _Prepared:
        prepared = await self.store.run(self._read, due, renewed, now)
        for name, one in prepared.told.items():
            self.schedules[name].told_at = one.at
        self.personal = prepared.personal
        if self.condition is not None:
            self.condition.remember(prepared.ours, prepared.unheard)
        return prepared

    def _read(
        self,
        transaction: Transaction,
        due: Sequence[RepositoryName],
        renewed: Sequence[RepositoryName],
        now: datetime,
    ) -> _Prepared:
        leases = transaction.leases.claim(
            [_lease_name(name) for name in (*due, *renewed)],
            holder=self.holder,
            now=now,
            lifetime=self._lifetime,
        )
        ours = [name for name in due if _lease_name(name) in leases]
        positions = transaction.positions.load(due)
        # What is taken on, and has nothing left to route, needs no transaction of its own.
        new = [name for name in due if self.schedules[name].reader is None]
        unrouted = transaction.events.with_unrouted(new)
        last = transaction.polls.latest(new) if new else {}
        told = self._to_tell(ours, leases)
        transaction.polls.save(told)
        subscriptions = transaction.subscriptions.of_repositories(due)
        unheard: Collection[RepositoryName] = ()
        if self.condition is not None:
            unheard = self.condition.forget_unheard(transaction, ours, subscriptions, now)
        return _Prepared(
            ours=ours,
            leases=leases,
            positions=positions,
            subscriptions=subscriptions,
            all_routed=set(new).difference(unrouted),
            last=last,
            personal=self.personal.read(transaction, now),
            told=told,
            unheard=unheard,
        )

    def _to_tell(
        self, ours: Sequence[RepositoryName], leases: Mapping[str, Lease]
    ) -> dict[RepositoryName, LastPoll]:
        """The times of the last polls that are worth storing: not one write a poll.

        Since ours another process may have polled, unless the lease is the same still.
        """
        schedules = {name: self.schedules[name] for name in ours}
        return {
            name: LastPoll(one.polled_at, one.types_read)
            for name, one in schedules.items()
            if one.polled_at is not None
            and one.token == leases[_lease_name(name)].token
            and (one.told_at is None or one.polled_at - one.told_at >= TOLD_EVERY)
        }

    def _start(
        self, name: RepositoryName, lease: Lease, schedule: PollSchedule, reader: LogReader
    ) -> None:
        schedule.running = True
        reader.due_at = schedule.due_at
        # Even a defect must not have the repository polled at every tick.
        schedule.due_at = self.clock.now() + self.interval
        self.tasks.start(self._poll(name, lease, schedule, reader), f"poll {name}")

    async def _poll(
        self, name: RepositoryName, lease: Lease, schedule: PollSchedule, reader: LogReader
    ) -> None:
        started_at = self.clock.now()
        try:
            await self.poll.run(name, lease, reader)
            if self.condition is not None:
                await self.condition.run(name, lease, reader.subscriptions)
        except LeaseLost:
            logger.warning("lease lost", extra={"action": "lease_lost", "repository": name})
            schedule.reader = None
            self.measures.poll_ended(PollOutcome.LEASE_LOST)
        except GateClosed:
            return
        except BotError as error:
            self._failed(name, schedule, error)
            return
        except Exception:
            # The log was not read, and channels are told so.
            schedule.failures.add(hint=None)
            raise
        finally:
            schedule.running = False
        if schedule.failures.count:
            logger.info("poll recovered", extra={"action": "poll_recovered", "repository": name})
        schedule.failures.end()
        if schedule.reader is not None:
            schedule.polled_at = started_at
            self.measures.poll_ended(PollOutcome.READ)
        # From when the log was asked, not from when the poll began to wait for its turn: those
        # that were due together are spread over the interval from then on.
        asked_at = max(started_at, reader.asked_at or started_at)
        wait = self._rhythm.wait(started_at - (reader.active_at or started_at))
        now = self.clock.now()
        schedule.due_at = min(max(asked_at + schedule.share * wait, now), now + wait)
        schedule.share = 1.0

    def _failed(self, name: RepositoryName, schedule: PollSchedule, error: BotError) -> None:
        self.measures.poll_ended(PollOutcome.FAILED)
        hint = error.retry_after if isinstance(error, MergeQueueUnavailable) else None
        wait = schedule.failures.add(hint=hint)
        schedule.due_at = self.clock.now() + max(self.interval, wait)
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
    """From 0 to 1, evenly among names, and the same each time."""
    return crc32(name.encode()) / 2**32


def _lease_name(name: RepositoryName) -> str:
    return f"{POLL_LEASES}{name}"
