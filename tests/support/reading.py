"""One repository's event log read on fakes, and the deliveries it causes."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.acts.record import AuditRecord
from bot.acts.rows import Audit, Revisions
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Subscription
from bot.feed.log_reading import LogReading
from bot.feed.poll import Poll, PollRequests
from bot.feed.poll_event_log import PollEventLog
from bot.feed.poll_state import PollState
from bot.feed.requested_types import RequestedTypes
from bot.feed.store_events import StoreEvents
from bot.kernel.cron import next_digest
from bot.kernel.tasks import POLL_REQUESTS, ConcurrencyLimit
from bot.log.position import Position
from bot.log.rows import Positions
from bot.merge_queue.event_records import EventRecord
from bot.pauses.pause import PauseRecord
from bot.store.coordination import Leases
from bot.store.lease_values import POLL_LEASE, Lease
from tests.support.clock import FakeClock
from tests.support.make import SITE, make_event, make_subscription
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InlineStore, InMemoryStore
from tests.support.transactions import begin

OVERLAP = timedelta(seconds=120)
HOLDER = "this process"
LEASE = timedelta(minutes=1)


@dataclass
class Reading:
    """`poll` polls it; `tell` writes into the service's log now."""

    clock: FakeClock = field(default_factory=FakeClock)
    store: InMemoryStore = field(default_factory=InMemoryStore)
    backfill: timedelta = timedelta()
    wakes: int = 0
    last_id: int = 0
    _lease: Lease | None = None

    def __post_init__(self) -> None:
        self.merge_queue = FakeMergeQueue(clock=self.clock)
        self.subscriptions: list[Subscription] = []
        self.state = PollState()
        events = StoreEvents(self.store, self.clock, self.wake, next_digest, OVERLAP)
        self.use_case = PollEventLog(events, self.backfill)
        self.concurrency = ConcurrencyLimit(POLL_REQUESTS)

    def wake(self, after: float = 0) -> None:
        del after
        self.wakes += 1

    async def subscribe(self, *topics: str, channel_id: str = "C1") -> None:
        one = make_subscription(*topics, channel_id=channel_id)
        await self.add(one)

    async def add(self, subscription: Subscription) -> None:
        self.subscriptions.append(subscription)
        await self.store.run(lambda transaction: Subscriptions(transaction).save(subscription))

    def tell(
        self,
        type_: str = "action.queue.enter",
        number: int | None = 41,
        *,
        seconds: float = 1,
        received_at: datetime | None = None,
        **metadata: object,
    ) -> EventRecord:
        """The service writes an event, `seconds` after what was before."""
        self.clock.advance(seconds)
        self.last_id += 1
        event = make_event(
            self.last_id,
            type_,
            received_at=received_at or self.clock.now(),
            pull_request=number,
            metadata=metadata or None,
        )
        self.merge_queue.log(SITE, event)
        return event

    async def lease(self) -> Lease:
        with begin(self.store) as transaction:
            lease = Leases(transaction).claim(
                POLL_LEASE, holder=HOLDER, now=self.clock.now(), lifetime=LEASE
            )
        assert lease is not None
        return lease

    async def _lease_for_half_its_time(self) -> Lease:
        if self._lease is None or self._lease.expires_at - self.clock.now() < LEASE / 2:
            self._lease = await self.lease()
        return self._lease

    async def poll(self, *, lease: Lease | None = None) -> None:
        """A second after what was before."""
        self.clock.advance(1)
        self.state.types.subscriptions = self.subscriptions
        await self.use_case.run(self.begun(lease or await self._lease_for_half_its_time()))

    def begun(self, lease: Lease) -> Poll:
        # As another process would: the store of the one that polls may be away.
        with begin(InlineStore(self.store.database)) as transaction:
            revision = Revisions(transaction).of(SITE)
        requests = PollRequests(self.merge_queue, self.clock, self.concurrency)
        return Poll(lease, self.state, SITE, requests, revision)

    async def start(self, *topics: str) -> "Reading":
        """A reading subscribed to `topics`, after the first poll, which posts nothing."""
        await self.subscribe(*topics)
        await self.poll()
        return self

    async def restart(self) -> None:
        """As after a crash: nothing is remembered but what is stored."""
        with begin(self.store) as transaction:
            positions = Positions(transaction).load([SITE])
        types = RequestedTypes(self.subscriptions, last=self.state.types.last)
        self.state = PollState(types, LogReading(positions.get(SITE)))

    async def record(self, *acts: AuditRecord) -> None:
        with begin(self.store) as transaction:
            for act in acts:
                Audit(transaction).add(act)

    def reported(self, channel_id: str = "C1") -> list[tuple[str, int]]:
        """The channel's deliveries in order: kind of subject and its id."""
        found = [
            delivery
            for delivery in self.store.database.contents.deliveries.values()
            if delivery.channel_id == channel_id
        ]
        found.sort(key=lambda delivery: (delivery.urgent, delivery.sequence))
        return [(one.subject.kind.value, one.subject.subject_id) for one in found]

    def pauses(self) -> list[PauseRecord]:
        return list(self.store.database.contents.pauses.values())

    def position(self) -> Position:
        return self.store.database.contents.positions[SITE]
