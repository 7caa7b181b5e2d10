"""What the Home tab shows: every queue, the person's own items, and the bot's health."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.domain.deliveries import OutboxSummary
from bot.domain.notices import AboutPerson
from bot.domain.outages import Outage
from bot.domain.pause_records import PauseRecord
from bot.domain.queue import QueuedPullRequest
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import ReadQueue, Snapshot
from bot.domain.subscriptions import Subscription

_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class HomeState:
    """The part of a page that is the same for every viewer.

    `first`: the index of the first of `queues` among all `total`.
    `others`: queues that were read but don't fit on this page.
    `subscriptions`: the first of `subscriptions_in_all`.
    `outages`: of event logs, and of Slack, which may take a Home tab but no posts.
    """

    queues: Sequence[ReadQueue]
    first: int
    total: int
    polled: Mapping[RepositoryName, datetime]
    subscriptions: Sequence[Subscription]
    outbox: OutboxSummary
    outages: Sequence[Outage]
    read_at: datetime
    timed: Sequence[PauseRecord] = ()
    others: Sequence[ReadQueue] = ()
    subscriptions_in_all: int = 0

    @property
    def read(self) -> Sequence[ReadQueue]:
        """All queues that were read, shown or not."""
        return [*self.queues, *self.others]

    def timeless(self) -> "HomeState":
        """The state without times that change although nothing happened."""
        return replace(
            self,
            queues=[_timeless(one) for one in self.queues],
            others=[_timeless(one) for one in self.others],
            polled={},
            read_at=_NO_TIME,
        )

    def pull_requests_of(self, login: str) -> list[tuple[RepositoryName, QueuedPullRequest]]:
        """The pull requests of one author, in the order of the queues."""
        found = []
        for one in self.read:
            if isinstance(one, Snapshot):
                queued = one.status.queued
                mine = {
                    each.number: each
                    for each in queued
                    if each.author.login.casefold() == login.casefold()
                }
                found += [(one.repository, each) for each in mine.values()]
        return found


@dataclass(frozen=True, slots=True)
class Viewer:
    """The viewer: whether they may pause, and their choices."""

    may_pause: bool
    person: AboutPerson


def _timeless(one: ReadQueue) -> ReadQueue:
    return replace(one, read_at=_NO_TIME) if isinstance(one, Snapshot) else one


def by_need(queues: Sequence[ReadQueue]) -> list[ReadQueue]:
    """Sort queues: unreadable, paused, frozen, busy, idle."""
    return sorted(queues, key=_need)


def _need(one: ReadQueue) -> int:
    if not isinstance(one, Snapshot):
        return 0
    if one.pause is not None or one.freezes:
        return 1 if one.pause is not None else 2
    return 3 if one.status.batches or one.status.waiting_pull_requests else 4
