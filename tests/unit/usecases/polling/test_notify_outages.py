"""An outage is announced once for all processes, and so is its end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.channels.rows import Subscriptions
from bot.channels.subscription import Subscription
from bot.health.notifying_outages import NotifyOutages
from bot.health.outage import PollObservation, SlackOutage
from bot.health.outage_rows import SlackOutages
from bot.kernel.repository import RepositoryName
from bot.log.position import LastPoll
from bot.log.rows import Positions
from bot.posts.delivery import NewDelivery, SubjectKind
from bot.posts.outbox import Outbox
from bot.slack.observation import SlackObservation
from tests.support.clock import FakeClock
from tests.support.make import API, SITE, make_subject, make_subscription
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.transactions import begin

LIMIT = timedelta(seconds=50)
POSTED_AFTER = 61
OUTAGE = SubjectKind.OUTAGE
OVER = SubjectKind.OUTAGE_OVER


@dataclass
class Process:
    """A process that polls some of the repositories."""

    clock: FakeClock
    database: InMemoryDatabase
    unread_since: dict[RepositoryName, datetime]
    read: dict[RepositoryName, datetime] = field(default_factory=dict)
    repositories: Sequence[RepositoryName] = (SITE, API)

    @classmethod
    def beside(cls, other: "Process", *polled: RepositoryName) -> "Process":
        return cls(other.clock, other.database, dict.fromkeys(polled, other.clock.now()))

    @property
    def store(self) -> InMemoryStore:
        return InMemoryStore(self.database)

    def reads(self, *names: RepositoryName) -> None:
        self.read = dict.fromkeys(names, self.clock.now())
        self.unread_since |= self.read

    def fails(self) -> None:
        self.read = {}

    async def check(self, slack: SlackObservation | None = None) -> None:
        observation = PollObservation(
            self.clock.now(), self.unread_since, self.read, self.repositories
        )
        notify = NotifyOutages(self.store, _unconfirmed, LIMIT, lambda: observation, lambda: slack)
        await notify.run()

    def outage_of_slack(self) -> SlackOutage | None:
        with begin(self.store) as transaction:
            return SlackOutages(transaction).active()

    def reported(self, channel: str = "C1") -> list[SubjectKind]:
        return [
            delivery.subject.kind
            for delivery in self.database.contents.deliveries.values()
            if delivery.channel_id == channel
        ]


def _unconfirmed(after: float = 0.0) -> None:
    """What is to be posted is looked at in the outbox."""


async def one_that_polls(*names: RepositoryName) -> Process:
    clock = FakeClock()
    process = Process(clock, InMemoryDatabase(), dict.fromkeys(names, clock.now()))
    await subscribe(process, SITE, "C1")
    await subscribe(process, API, "C1")
    return process


async def subscribe(process: Process, repository: RepositoryName, channel_id: str) -> Subscription:
    subscription = make_subscription("enter", repository=repository, channel_id=channel_id)
    with begin(process.store) as transaction:
        Subscriptions(transaction).save(subscription)
    return subscription


async def in_an_outage(*stale: RepositoryName) -> Process:
    process = await one_that_polls(*stale)
    process.clock.advance(POSTED_AFTER)
    await process.check()
    assert process.reported() == [OUTAGE]
    return process


async def test_logs_polled_by_another_process_join_a_reported_outage() -> None:
    first = await one_that_polls(SITE)
    first.clock.advance(20)
    second = Process.beside(first, API)
    await subscribe(first, API, "C3")
    first.clock.advance(POSTED_AFTER - 20)
    await first.check()
    await second.check()
    assert [first.reported(each) for each in ("C1", "C3")] == [[OUTAGE], []]
    first.clock.advance(20)
    await second.check()
    await first.check()
    assert [first.reported(each) for each in ("C1", "C3")] == [[OUTAGE], [OUTAGE]]


async def test_events_read_again_before_their_post_are_posted_once() -> None:
    process = await one_that_polls(SITE)
    process.clock.advance(51)
    await process.check()
    process.clock.advance(1)
    process.reads(SITE)
    await process.check()
    process.clock.advance(10)
    await process.check()
    assert process.reported() == []
    assert process.database.contents.outages[1].ended_at is not None


async def test_a_process_that_hung_while_others_polled_announces_nothing() -> None:
    hung = await one_that_polls(SITE)
    hung.clock.advance(600)
    with begin(hung.store) as transaction:
        Positions(transaction).save_polls({SITE: LastPoll(hung.clock.now())})
    await hung.check()
    assert hung.reported() == []
    assert hung.database.contents.outages == {}


async def test_repositories_that_are_not_polled_any_more_do_not_prolong_an_outage() -> None:
    first = await in_an_outage(SITE, API)
    first.clock.advance(1)
    left = Process.beside(first, SITE)
    left.repositories = [SITE]
    left.reads(SITE)
    await left.check()
    assert left.reported() == [OUTAGE, OVER]


async def test_an_outage_of_slack_is_explained_after_it_where_messages_are_late() -> None:
    process = await one_that_polls(SITE)
    process.reads(SITE, API)
    began_at = process.clock.now()
    seen = SlackObservation(began_at, began_at)
    with begin(process.store) as transaction:
        Outbox(transaction).add(
            [
                NewDelivery(f"{address} {number}", address, make_subject(number), began_at)
                for address, number in (("C1", 1), ("C1", 2), ("U0ALICE", 1))
            ]
        )
    # A single call without an answer is no outage, however long ago it was.
    process.clock.advance(POSTED_AFTER)
    process.reads(SITE, API)
    await process.check(seen)
    assert process.outage_of_slack() is None
    seen = SlackObservation(began_at, process.clock.now())
    await process.check(seen)
    # Another process posts now.
    await process.check(None)
    await process.check(seen)
    outage = process.outage_of_slack()
    assert outage is not None
    assert outage.began_at == began_at

    process.clock.advance(1)
    for _ in range(2):
        await process.check(SlackObservation(None, seen.failed_at))
    assert process.outage_of_slack() is None
    over = SubjectKind.SLACK_OUTAGE_OVER
    assert [process.reported(each).count(over) for each in ("C1", "C2", "U0ALICE")] == [1, 0, 0]
    with begin(process.store) as transaction:
        assert [one.late for one in SlackOutages(transaction).get([1]).values()] == [2]
