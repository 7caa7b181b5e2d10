"""The outbox and Slack, with a clock that a test moves."""

from dataclasses import dataclass, field
from datetime import datetime

from bot.kernel.metrics import Metrics
from bot.log.classification import EventKind
from bot.log.rows import Events
from bot.posts.delivery import Delivery, NewDelivery
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.posts.posting import PostDeliveries
from bot.runtime.renderers import RENDERERS
from tests.support.clock import FakeClock
from tests.support.make import SITE, make_event_record, make_subject
from tests.support.poster import RecordingPoster
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.transactions import begin


@dataclass
class Posting:
    """A process that posts; another may have the same clock and database."""

    clock: FakeClock = field(default_factory=FakeClock)
    database: InMemoryDatabase = field(default_factory=InMemoryDatabase)
    poster: RecordingPoster = field(default_factory=RecordingPoster)
    holder: str = "one"
    wakes: list[float] = field(default_factory=list)
    metrics: Metrics = field(default_factory=Metrics)
    store: InMemoryStore = field(init=False)

    def __post_init__(self) -> None:
        self.use(InMemoryStore(self.database))

    def use(self, store: InMemoryStore) -> None:
        self.store = store
        self.use_case = PostDeliveries(
            store,
            self.poster,
            self.clock,
            self.wake,
            self.holder,
            lambda: 1.0,
            RENDERERS,
            metrics=self.metrics,
        )

    def wake(self, after: float = 0) -> None:
        self.wakes.append(after)

    def add(
        self,
        *event_ids: int,
        channel_id: str = "C1",
        urgent: bool = False,
        kind: EventKind | None = None,
        root_id: int | None = None,
        digest_at: datetime | None = None,
    ) -> None:
        """Deliveries of events about pull requests that are numbered like them."""
        now = self.clock.now()
        with begin(self.store) as transaction:
            Events(transaction).add_new(
                [
                    make_event_record(event_id=event_id, pull_request=event_id, received_at=now)
                    for event_id in event_ids
                ]
            )
            Outbox(transaction).add(
                [
                    NewDelivery(
                        f"{channel_id}-{event_id}",
                        channel_id,
                        make_subject(event_id),
                        now,
                        urgent=urgent,
                        kind=kind,
                        root_id=root_id,
                        digest_at=digest_at,
                    )
                    for event_id in event_ids
                ]
            )

    def add_to_many(self, channels: int) -> None:
        """A delivery to each."""
        for number in range(channels):
            self.add(number + 1, channel_id=f"C{number}")

    def add_root(self, ts: str) -> int:
        """A queue entry's message in the channel."""
        name = LiveSubject(LiveKind.ENTRY, SITE, "1-1")
        with begin(self.store) as transaction:
            root_id = LiveMessages(transaction).add(name, "C1", now=self.clock.now())
            assert root_id is not None
            LiveMessages(transaction).posted(root_id, ts, 1)
        return root_id

    async def run(self, seconds: float = 0, times: int = 1) -> None:
        for _ in range(times):
            self.clock.advance(seconds)
            await self.use_case.run()

    def delivery(self, event_id: int, channel_id: str = "C1") -> Delivery:
        return self.database.contents.deliveries[f"{channel_id}-{event_id}"]

    def shown(self, channel_id: str = "C1") -> list[int]:
        """The pull requests posted in the channel."""
        return [int(text.split("#")[1].split()[0]) for text in self.poster.shown(channel_id)]

    @property
    def methods(self) -> list[str]:
        """The calls of Slack."""
        return [call.method for call in self.poster.calls]
