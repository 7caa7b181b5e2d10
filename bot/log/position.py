"""How far the event log has been read."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from bot.kernel.repository import RepositoryName
from bot.merge_queue.window import Window


@dataclass(frozen=True, slots=True)
class Walk:
    """One reading of a window."""

    window: Window
    cursor: str | None = None  #: the page to read next, None for the first
    newest: datetime | None = None  #: the newest `received_at` on the pages read so far


@dataclass(frozen=True, slots=True)
class Position:
    """The stored position in one repository's event log."""

    repository: RepositoryName
    origin: datetime  #: events received before it are history and not posted
    #: the newest event of all finished walks, in the service's clock, or `origin`
    watermark: datetime
    #: the interrupted walk, if any. Nothing here relies on the order of the log.
    walk: Walk | None = None


@dataclass(frozen=True, slots=True)
class LastPoll:
    """When an event log was last read to its end, by our clock, and which types were requested.

    Empty `polled_types`: all of them, or unknown.
    """

    polled_at: datetime
    polled_types: Collection[str] = ()


def first_position(repository: RepositoryName, at: datetime) -> Position:
    """The position of a first run, which starts `at` and skips history."""
    return Position(repository=repository, origin=at, watermark=at)
