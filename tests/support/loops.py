"""The loop over repositories, composed as bot.runtime.jobs composes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from bot.doctor.examining import ExamineQueue
from bot.feed.observe_pause import ObservePause
from bot.feed.observe_queue import ObserveQueue
from bot.feed.poll_event_log import PollEventLog
from bot.feed.poll_repositories import PollRepositories
from bot.feed.polling import PollingInterval, stale_after
from bot.feed.store_events import StoreEvents
from bot.health.alert import AlertKind, AlertRules
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured, Policy
from bot.kernel.cron import next_digest
from bot.kernel.metrics import UNSCRAPED, Metrics
from bot.kernel.repository import RepositoryName
from bot.kernel.tasks import CONCURRENT_STORES, POLL_REQUESTS, ConcurrencyLimit
from bot.log.sources import Sources
from bot.merge_queue.port import MergeQueue
from bot.posts.wake import Wake
from bot.queues.outlook import ForeseeQueue
from bot.store.transactions import Store
from tests.support.make import make_configured

OVERLAP = timedelta(seconds=120)
TEN_SECONDS = timedelta(seconds=10)


def fixed(interval: timedelta) -> PollingInterval:
    """The same interval for every repository at any time."""
    return PollingInterval(interval, interval, interval, interval)


def unsubscribed(after: float = 0.0) -> None:
    """Nothing posts here."""
    del after


@dataclass
class Loop:
    """What a loop is made of; `interval` is the same at any time unless one is given."""

    store: Store
    merge_queue: MergeQueue
    clock: Clock
    repositories: Sequence[RepositoryName]
    holder: str = "one"
    wake: Wake = unsubscribed
    interval: PollingInterval = field(default_factory=lambda: fixed(TEN_SECONDS))
    metrics: Metrics = UNSCRAPED
    requests: int = POLL_REQUESTS

    def only_logs(self) -> PollRepositories:
        return self._loop(None, make_configured(*self.repositories))

    def with_queues(self, thresholds: Mapping[AlertKind, int] | None = None) -> PollRepositories:
        """Which reads queues, too, for whoever needs them."""
        parts = (self.store, self.clock, self.wake)
        usual = self.interval.usual
        storing = ConcurrencyLimit(CONCURRENT_STORES)
        policy = Policy([AlertRules(thresholds=thresholds or {})])
        configured = make_configured(*self.repositories, policy=policy)
        sources = Sources(self.merge_queue, self.store, self.clock)
        observe = ObserveQueue(
            sources,
            self.wake,
            usual,
            stale_after(usual),
            ObservePause(*parts, usual, storing),
            ExamineQueue(sources, ForeseeQueue(sources)),
            configured,
            storing,
        )
        return self._loop(observe, configured)

    def log(self) -> PollEventLog:
        parts = (self.store, self.clock, self.wake)
        return PollEventLog(StoreEvents(*parts, next_digest, OVERLAP, self.metrics))

    def _loop(self, observe: ObserveQueue | None, configured: Configured) -> PollRepositories:
        return PollRepositories(
            self.log(),
            self.store,
            self.merge_queue,
            self.clock,
            configured,
            self.interval,
            self.holder,
            observe,
            concurrency=ConcurrencyLimit(self.requests),
            metrics=self.metrics,
        )
