"""What people asked to see of a repository: its base branches, a page of its log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Self

from pydantic import PlainSerializer

from bot.kernel.groups import Repositories
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.merge_queue.window import Window

EVENTS_PER_PAGE = 10


LARGEST_SHOWN = 25
"""Events that one Slack message has room for."""


TYPES_LIMIT = 10
"""So many event types fit into a button beside a branch and a cursor."""


@dataclass(frozen=True, slots=True)
class BranchActivity:
    """A base branch with recent queue activity."""

    name: str
    #: its pull requests in batches and waiting; None if its queue can't be read
    queued: int | None = None
    merge: EventRecord | None = None  #: its last merge, None if none is known
    merged: PullRequestRecord | None = None  #: the pull request that merged, if it is known


@dataclass(frozen=True, slots=True)
class BranchNames:
    """The base branches of a repository with queue activity."""

    names: Sequence[str]
    #: they are those with a queue now, because the service doesn't list earlier activity
    is_now: bool = False


@dataclass(frozen=True, slots=True)
class BranchPage:
    """Some of the active base branches, from index `first` of `total`."""

    branches: tuple[BranchActivity, ...]
    first: int
    total: int
    #: those with a queue now, as the service doesn't list earlier ones any more
    is_now: bool = False


@dataclass(frozen=True, slots=True)
class LogSelection:
    """The filters of one request; empty `types` selects all event types."""

    repository: RepositoryName
    window: Window
    pull_request: int | None = None
    branch: str | None = None
    types: Annotated[frozenset[str], PlainSerializer(sorted)] = frozenset()
    per_page: int = EVENTS_PER_PAGE

    def known_in(self, repositories: Repositories) -> Self:
        return replace(self, repository=repositories.allowed(self.repository))


@dataclass(frozen=True, slots=True)
class LogPlace:
    """A page; `cursor` is the service's own, None for the newest page."""

    selection: LogSelection
    cursor: str | None = None

    def known_in(self, repositories: Repositories) -> Self:
        return replace(self, selection=self.selection.known_in(repositories))

    def ending_at(self, until: datetime) -> "LogPlace":
        """The page that ends at `until`, instead of a cursor that can't be kept.

        Events of that very moment appear again: better twice than not at all.
        """
        window = self.selection.window
        until = max(until, window.received_from + timedelta(microseconds=1))
        ended = replace(self.selection, window=replace(window, received_to=until))
        return LogPlace(ended)


@dataclass(frozen=True, slots=True)
class LogPage:
    """Events newest first, with their kinds and the known titles."""

    place: LogPlace
    records: Sequence[EventRecord]
    kinds: Mapping[int, EventKind] = field(default_factory=dict)
    seen: Mapping[int, PullRequestRecord] = field(default_factory=dict)
    #: `older` and `newer`: None if there is no such page; `newer` has no cursor when the service
    #: offers no way back except to the newest page
    older: LogPlace | None = None
    newer: LogPlace | None = None
    unreadable: int = 0  #: how many entries were left out
    restarted: bool = False  #: the requested page no longer exists, so this is the newest
