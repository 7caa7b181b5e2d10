"""Actions on a queue, on fakes: pausing, resuming, and their records."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.acts.check_permission import CheckPermission
from bot.acts.record import AuditRecord
from bot.acts.recording import RecordActs
from bot.acts.rows import Audit
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Subscription
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.configured import Policy
from bot.merge_queue.queue import Pause
from bot.pauses.outcomes import PauseOutcome, ResumeOutcome
from bot.pauses.pause import DrawnLine
from bot.pauses.pausing import PauseQueue
from bot.pauses.resuming import ResumeQueue
from bot.pauses.rows import is_paused
from bot.posts.delivery import Delivery
from tests.support.clock import FakeClock
from tests.support.directories import FakeChannels, FakePeople
from tests.support.make import ALICE, CHANNEL, SITE, make_configured
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryStore
from tests.support.transactions import begin


@dataclass
class Acting:
    """The use cases and the world around them."""

    clock: FakeClock = field(default_factory=FakeClock)
    store: InMemoryStore = field(default_factory=InMemoryStore)
    channels: FakeChannels = field(default_factory=FakeChannels)
    people: FakePeople = field(default_factory=FakePeople)
    policy: Policy = field(default_factory=Policy)
    wakes: int = 0

    def __post_init__(self) -> None:
        self.merge_queue = FakeMergeQueue(clock=self.clock)
        check = CheckPermission(self.people, make_configured(policy=self.policy))
        self.acts = RecordActs(self.store, self.clock, self.channels, check, self.wake, is_paused)
        self.wire()

    def wire(self) -> None:
        """Give the use cases the merge queue there is now."""
        self.pausing = PauseQueue(self.merge_queue, self.acts)
        self.resuming = ResumeQueue(self.merge_queue, self.acts)

    def wake(self, after: float = 0) -> None:
        del after
        self.wakes += 1

    async def pause(
        self,
        reason: str = "CI runners are down",
        actor: Actor = ALICE,
        *,
        replacing: DrawnLine | None = None,
        channel_id: str | None = CHANNEL,
    ) -> PauseOutcome:
        """A second after what was before."""
        self.clock.advance(1)
        caller = Caller(actor, Origin.COMMAND, channel_id)
        return await self.pausing.run(caller, SITE, reason, replacing=replacing)

    async def resume(self, actor: Actor = ALICE) -> ResumeOutcome:
        """A second after what was before."""
        self.clock.advance(1)
        return await self.resuming.run(Caller(actor, Origin.BUTTON, CHANNEL), SITE)

    async def subscribe(self, subscription: Subscription) -> None:
        with begin(self.store) as transaction:
            Subscriptions(transaction).save(subscription)

    async def audit(self) -> list[AuditRecord]:
        long_ago = self.clock.now() - timedelta(days=1)
        with begin(self.store) as transaction:
            return list(Audit(transaction).since(SITE, long_ago))

    async def results(self) -> list[str]:
        return [record.result.value for record in await self.audit()]

    def deliveries(self) -> list[Delivery]:
        return list(self.store.database.contents.deliveries.values())

    def paused_elsewhere(self, reason: str, *, at: datetime) -> None:
        """Somebody pauses without this bot."""
        self.merge_queue.pauses[SITE] = Pause(reason=reason, paused_at=at)
