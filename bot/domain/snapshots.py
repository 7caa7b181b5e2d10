"""What people asked to see of a repository: its queue, its base branches, a page of its log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import PlainSerializer

from bot.domain.classification import EventKind
from bot.domain.event_log import Window
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.freezes import Freeze
from bot.domain.pause_records import PauseRecord
from bot.domain.queue import QueueStatus
from bot.domain.repository import RepositoryName

PAGE = 10
LARGEST_SHOWN = 25
"""Events that one Slack message has room for."""

TYPES_LIMIT = 10
"""So many event types fit into a button beside a branch and a cursor."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The live queue, read at `read_at`, limited to a base branch when `branch` is given.

    `is_pause_known`: False if the service can't say whether the queue is paused and no event
    reported a pause; the queue may still be paused.
    `freezes`: those in force.
    """

    repository: RepositoryName
    status: QueueStatus
    pause: PauseRecord | None
    read_at: datetime
    branch: str | None = None
    is_pause_known: bool = True
    freezes: tuple[Freeze, ...] = ()


ReadQueue = Snapshot | RepositoryName
"""A queue as it is now, or the bare name of a repository whose queue could not be read."""


@dataclass(frozen=True, slots=True)
class BranchActivity:
    """A base branch with recent queue activity.

    `queued`: its pull requests in batches and waiting; None if its queue can't be read.
    `merge`: its last merge, None if none is known.
    `merged`: the pull request that merged, if it is known.
    """

    name: str
    queued: int | None = None
    merge: EventRecord | None = None
    merged: PullRequestRecord | None = None


@dataclass(frozen=True, slots=True)
class BranchPage:
    """Some of the active base branches, from index `first` of `total`.

    `is_now`: those with a queue now, as the service doesn't list earlier ones any more.
    """

    branches: tuple[BranchActivity, ...]
    first: int
    total: int
    is_now: bool = False


@dataclass(frozen=True, slots=True)
class LogSelection:
    """The filters of one request; empty `types` selects all event types."""

    repository: RepositoryName
    window: Window
    pull_request: int | None = None
    branch: str | None = None
    types: Annotated[frozenset[str], PlainSerializer(sorted)] = frozenset()
    per_page: int = PAGE


@dataclass(frozen=True, slots=True)
class LogPlace:
    """A page; `cursor` is the service's own, None for the newest page."""

    selection: LogSelection
    cursor: str | None = None

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
    """Events newest first, with their kinds and the known titles.

    `older`, `newer`: None if there is no such page; `newer` has no cursor when the service offers
    no way back except to the newest page.
    `unreadable`: how many entries were left out.
    `restarted`: the requested page no longer exists, so this is the newest.
    """

    place: LogPlace
    records: Sequence[EventRecord]
    kinds: Mapping[int, EventKind] = field(default_factory=dict)
    seen: Mapping[int, PullRequestRecord] = field(default_factory=dict)
    older: LogPlace | None = None
    newer: LogPlace | None = None
    unreadable: int = 0
    restarted: bool = False
