"""What the Home tab shows: every queue, the person's own items, and the bot's health."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Generic, NamedTuple, Self, TypeVar

from bot.acts.confirmation import ConfirmationRequest
from bot.acts.permission import Right
from bot.channels.subscription import ListedSubscription
from bot.doctor.diagnosis import QueueVerdict
from bot.freezes.calendar import CalendarEntry
from bot.health.outage import Outage, SlackOutage
from bot.kernel.metrics import OutboxSummary
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import QueuedPullRequest
from bot.pauses.pause import PauseRecord
from bot.people.actions import MutablePullRequest
from bot.people.notices import AboutPerson
from bot.queues.estimate import Outlook
from bot.queues.snapshot import ReadQueue, Snapshot

_NO_READ_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class HomePage(StrEnum):
    """What the tab shows: all queues with everything else in short, or one list."""

    QUEUES = "queues"
    SUBSCRIPTIONS = "subscriptions"
    CALENDAR = "calendar"


class HomePlace(NamedTuple):
    """Where somebody looks at in the tab."""

    page: HomePage = HomePage.QUEUES
    first: int = 0  #: the index of the first thing shown


HOME_BEGIN = HomePlace()


class OwnPullRequest(NamedTuple):
    """A pull request of the viewer, and its queue."""

    repository: RepositoryName
    pull_request: QueuedPullRequest


@dataclass(frozen=True, slots=True)
class QueueHeadline:
    """What keeps a queue from merging, in the words of `why`."""

    verdict: QueueVerdict
    words: str  #: safe to show


Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class FirstEntries(Generic[Entry]):
    """The first entries of a list, of which the tab shows no more."""

    entries: Sequence[Entry] = ()
    in_all: int = 0

    @property
    def besides(self) -> int:
        """How many it doesn't show."""
        return max(self.in_all - len(self.entries), 0)


@dataclass(frozen=True, slots=True)
class BotHealth:
    """How well the bot posts and reads."""

    outbox: OutboxSummary
    outages: Sequence[Outage]  #: of event logs
    slack_outage: SlackOutage | None = None  #: of Slack, which may take a Home tab but no posts


@dataclass(frozen=True, slots=True)
class HomeState:
    """The part of a page that is the same for every viewer."""

    queues: Sequence[ReadQueue]
    first: int  #: the index of the first of `queues` among all `total`
    total: int
    polled: Mapping[RepositoryName, datetime]
    subscriptions: FirstEntries[ListedSubscription]
    health: BotHealth
    read_at: datetime
    timed: Sequence[PauseRecord] = ()
    others: Sequence[ReadQueue] = ()  #: queues that were read but don't fit on this page
    calendar: FirstEntries[CalendarEntry] = FirstEntries()
    offers_freezes: bool = False  #: whether the service can be asked to freeze queues
    #: of those of `queues` that something keeps from merging
    headlines: Mapping[RepositoryName, QueueHeadline] = field(default_factory=dict)
    #: what the past of each of `queues` says of it
    outlooks: Mapping[RepositoryName, Outlook] = field(default_factory=dict)

    @property
    def read(self) -> Sequence[ReadQueue]:
        """All queues that were read, shown or not."""
        return [*self.queues, *self.others]

    def timeless(self) -> Self:
        """The state without times that change although nothing happened."""
        return replace(
            self,
            queues=[_timeless(queue) for queue in self.queues],
            others=[_timeless(queue) for queue in self.others],
            polled={},
            outlooks={},
            headlines={
                name: replace(found, words=found.verdict) for name, found in self.headlines.items()
            },
            read_at=_NO_READ_TIME,
        )

    def pull_requests_of(self, login: str) -> list[OwnPullRequest]:
        """The pull requests of one author, in the order of the queues."""
        author = login.casefold()
        found: list[OwnPullRequest] = []
        for queue in self.read:
            if not isinstance(queue, Snapshot):
                continue
            own = [
                queued for queued in queue.status.queued if queued.author.login.casefold() == author
            ]
            found += [OwnPullRequest(queue.repository, queued) for queued in own]
        return found


@dataclass(frozen=True, slots=True)
class SubscriptionsState:
    """A page of the list of all subscriptions, the same for every viewer."""

    listed: Sequence[ListedSubscription]
    first: int
    total: int
    read_at: datetime

    def timeless(self) -> Self:
        return replace(self, read_at=_NO_READ_TIME)


@dataclass(frozen=True, slots=True)
class CalendarPage:
    """A page of the calendar, the same for every viewer."""

    entries: Sequence[CalendarEntry]
    first: int
    total: int
    read_at: datetime
    offers_freezes: bool = False

    def timeless(self) -> Self:
        return replace(self, read_at=_NO_READ_TIME)


@dataclass(frozen=True, slots=True)
class Viewer:
    """The viewer: what they may do, and their choices."""

    rights: frozenset[Right]
    person: AboutPerson
    muted: frozenset[MutablePullRequest] = frozenset()
    proposals: Sequence[
        ConfirmationRequest
    ] = ()  #: of machines, that wait for an answer they may give


def _timeless(queue: ReadQueue) -> ReadQueue:
    return replace(queue, read_at=_NO_READ_TIME) if isinstance(queue, Snapshot) else queue


def by_need(
    queues: Sequence[ReadQueue], kept_from_merging: Collection[RepositoryName] = ()
) -> list[ReadQueue]:
    """Sort queues: unreadable, paused, frozen, kept from merging by something else, busy, idle."""
    return sorted(queues, key=lambda queue: _need(queue, kept_from_merging))


def _need(queue: ReadQueue, kept_from_merging: Collection[RepositoryName]) -> int:
    if not isinstance(queue, Snapshot):
        return 0
    if queue.pause is not None or queue.is_frozen:
        return 1 if queue.pause is not None else 2
    if queue.repository in kept_from_merging:
        return 3
    return 4 if queue.status.batches or queue.status.waiting_pull_requests else 5
