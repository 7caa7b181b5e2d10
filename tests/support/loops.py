"""The loop over repositories, composed as bot.runtime.jobs composes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from bot.domain.configured import Policy
from bot.domain.polling import PollingInterval, stale_after
from bot.domain.queue_health import AlertKind
from bot.domain.repository import RepositoryName
from bot.metrics import UNSCRAPED, Metrics
from bot.ports import Clock, MergeQueue, Wake
from bot.scheduler import next_digest
from bot.store.transactions import Store
from bot.usecases.asking import Sources
from bot.usecases.polling.observe_pause import ObservePause
from bot.usecases.polling.observe_queue import ObserveQueue
from bot.usecases.polling.poll_event_log import PollEventLog
from bot.usecases.polling.poll_repositories import PollRepositories
from bot.usecases.polling.store_events import StoreEvents
from bot.usecases.tasks import CONCURRENT_STORES, POLL_REQUESTS, ConcurrencyLimit
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
        return self._loop(None)

    def with_queues(self, thresholds: Mapping[AlertKind, int] | None = None) -> PollRepositories:
        """Which reads queues, too, for whoever needs them."""
        parts, usual = (self.store, self.clock, self.wake), self.interval.usual
        storing = ConcurrencyLimit(CONCURRENT_STORES)
        configured = make_configured(policy=Policy(thresholds=thresholds or {}))
        observe = ObserveQueue(
            Sources(self.merge_queue, self.store, self.clock),
            self.wake,
            usual,
            stale_after(usual),
            ObservePause(*parts, usual, storing),
            configured,
            storing,
        )
        return self._loop(observe)

    def log(self) -> PollEventLog:
        parts = (self.store, self.clock, self.wake)
        return PollEventLog(StoreEvents(*parts, next_digest, OVERLAP, self.metrics))

    def _loop(self, observe: ObserveQueue | None) -> PollRepositories:
        return PollRepositories(
            self.log(),
            self.store,
            self.merge_queue,
            self.clock,
            self.repositories,
            self.interval,
            self.holder,
            observe,
            concurrency=ConcurrencyLimit(self.requests),
            metrics=self.metrics,
        )
