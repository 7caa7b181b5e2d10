"""What somebody wants to read of an event log, and the page of it they get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.classification import EventKind
from bot.domain.event_log import Window
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.repository import RepositoryName

PAGE = 10
LARGEST_SHOWN = 25
"""Events that one Slack message has room for."""

TYPES_LIMIT = 10
"""So many event types fit into a button beside a branch and a cursor."""


@dataclass(frozen=True, slots=True)
class LogSelection:
    """The filters of one reading; all event types when `types` is empty."""

    repository: RepositoryName
    window: Window
    pull_request: int | None = None
    branch: str | None = None
    types: frozenset[str] = frozenset()
    per_page: int = PAGE


@dataclass(frozen=True, slots=True)
class LogPlace:
    """A page of a reading; `cursor` is the service's own, None for the newest page."""

    selection: LogSelection
    cursor: str | None = None

    def asked_anew(self, until: datetime) -> "LogPlace":
        """The page that ends at `until` in place of a cursor that cannot be kept.

        Events of that very moment are read again: better twice than left out.
        """
        window = self.selection.window
        until = max(until, window.received_from + timedelta(microseconds=1))
        ended = replace(self.selection, window=replace(window, received_to=until))
        return LogPlace(ended)


@dataclass(frozen=True, slots=True)
class LogPage:
    """Events newest first, what each is judged to be, and the titles that are known.

    `older` and `newer` are None where there is no such page; `newer` has no cursor when the
    service tells no way back but to the newest page. `unreadable` entries are left out.
    `restarted`: the place asked for is no longer there, so this is the newest page.
    """

    place: LogPlace
    records: Sequence[EventRecord]
    kinds: Mapping[int, EventKind] = field(default_factory=dict)
    seen: Mapping[int, PullRequestRecord] = field(default_factory=dict)
    older: LogPlace | None = None
    newer: LogPlace | None = None
    unreadable: int = 0
    restarted: bool = False
