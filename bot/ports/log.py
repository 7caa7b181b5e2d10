"""What is kept of event logs: how far they are read, and what they tell."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.bisections import Bisection
from bot.domain.deliveries import Subject
from bot.domain.event_log import LastPoll, Position
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.repository import RepositoryName
from bot.domain.staleness import Staleness
from bot.domain.stays import Stay


class Positions(Protocol):
    """The bookmark of each repository's event log."""

    async def load(
        self, repositories: Sequence[RepositoryName]
    ) -> Mapping[RepositoryName, Position]: ...

    async def save(self, position: Position) -> None: ...


class Polls(Protocol):
    """When each repository's event log was last read to its end, and for what."""

    async def save(self, polled: Mapping[RepositoryName, LastPoll]) -> None: ...

    async def latest(
        self, repositories: Sequence[RepositoryName]
    ) -> Mapping[RepositoryName, LastPoll]:
        """Those that were never read are left out."""
        ...


class Stalenesses(Protocol):
    """Event logs that became stale together, by an id of the store's."""

    async def hold(self) -> None:
        """Nobody else adds or changes any until this transaction ends."""
        ...

    async def add(self, begun: Staleness) -> int:
        """Store it and return its id."""
        ...

    async def save(self, changed: Staleness) -> bool:
        """Replace one that lasts; whether it still did."""
        ...

    async def active(self) -> Sequence[Staleness]:
        """Those that last, the oldest first."""
        ...

    async def last_end(self) -> datetime | None:
        """When the latest of those ended that have."""
        ...

    async def get(self, staleness_ids: Collection[int]) -> Mapping[int, Staleness]: ...


class Events(Protocol):
    """Events as kept, unique by (repository, event id)."""

    async def add_new(self, records: Sequence[EventRecord]) -> int:
        """Store those not stored yet, unrouted; return how many were new."""
        ...

    async def unrouted(
        self, repository: RepositoryName, limit: int | None = None
    ) -> Sequence[EventRecord]:
        """Oldest first, by (received_at, event id); at most `limit`."""
        ...

    async def with_unrouted(
        self, repositories: Collection[RepositoryName]
    ) -> Collection[RepositoryName]:
        """Those of them that have unrouted events."""
        ...

    async def mark_routed(self, repository: RepositoryName, event_ids: Sequence[int]) -> None: ...

    async def get(self, subjects: Sequence[Subject]) -> Mapping[Subject, EventRecord]: ...

    async def of_pull_requests(
        self,
        repository: RepositoryName,
        numbers: Collection[int],
        *,
        since: datetime,
        limit: int = 1000,
    ) -> Sequence[EventRecord]:
        """The newest `limit` events of these pull requests from `since` on, oldest first."""
        ...


class Stays(Protocol):
    """Stays of pull requests in the queue, unique by (repository, key)."""

    async def save(self, changed: Sequence[Stay]) -> None:
        """Insert, or replace those with the same key."""
        ...

    async def of(
        self, repository: RepositoryName, numbers: Collection[int], since: datetime
    ) -> Sequence[Stay]:
        """Those of the pull requests that something happened in since."""
        ...

    async def lasting(self, repository: RepositoryName, since: datetime) -> Sequence[Stay]:
        """Those without an end that something happened in since."""
        ...

    async def get(
        self, repository: RepositoryName, keys: Collection[str]
    ) -> Mapping[str, Stay]: ...


class Bisections(Protocol):
    """Bisections of batches, unique by (repository, key)."""

    async def save(self, changed: Sequence[Bisection]) -> None:
        """Insert, or replace those with the same key."""
        ...

    async def since(self, repository: RepositoryName, since: datetime) -> Sequence[Bisection]:
        """Those of the repository whose last event is not older."""
        ...

    async def get(
        self, repository: RepositoryName, keys: Collection[str]
    ) -> Mapping[str, Bisection]: ...


class PullRequests(Protocol):
    """Titles, addresses and authors of pull requests seen in a queue."""

    async def save(self, records: Sequence[PullRequestRecord]) -> None:
        """Insert, or bring up to date."""
        ...

    async def get(
        self, repository: RepositoryName, numbers: Collection[int]
    ) -> Mapping[int, PullRequestRecord]: ...

    async def repositories_of(
        self, authors: Collection[str], seen_since: datetime
    ) -> Sequence[RepositoryName]:
        """Where a pull request of one of the authors was in a queue since; the latest first."""
        ...

    async def last_seen(self, repository: RepositoryName) -> PullRequestRecord | None:
        """The one of the repository that was seen last; of any other where it has none."""
        ...
