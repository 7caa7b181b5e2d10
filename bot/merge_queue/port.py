"""Interfaces of the use cases: time, the service, and Slack."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol

from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventPage
from bot.merge_queue.freezes import FreezeChange, FreezeList, FreezeTerms, ListedFreeze
from bot.merge_queue.queue import (
    Application,
    Pause,
    Queue,
    QueuedDetails,
    QueueRule,
    QueueStatus,
    Removal,
    RemovalImpact,
)
from bot.merge_queue.window import LARGEST_PAGE, Window

OnAnswer = Callable[[str], object]
"""Receives the service's answers to a change, in order, for the record: "200".

Answers that raise an error are left out: `bot.kernel.errors` words them.
"""


def ignore(_answer: str) -> None:
    """Nobody puts it on record."""


@dataclass(frozen=True, slots=True)
class UnclearChange:
    """A change of the pause whose answer was lost: it may have been carried out, or still be."""

    lost: MergeQueueError  #: why there is no answer
    pause: Pause | None  #: the one in force just after; None if the service shows none


class FreezeSupport(Enum):
    """Whether the service offers freezes."""

    UNKNOWN = "no answer about freezes yet"
    OFFERED = "offered"
    NOT_OFFERED = "not offered"


class MergeQueue(Protocol):
    """The merge queue service.

    Every method raises only MergeQueueError, with its repository, except for `may_send`.
    """

    @property
    def freeze_support(self) -> FreezeSupport:
        """Whether the service has freezes, once it was asked for some."""

    @property
    def service_time(self) -> datetime:
        """The service's time now, as far as its answers tell."""
        ...

    async def status(
        self, repository: RepositoryName, branch: str | None = None
    ) -> QueueStatus: ...

    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        """The pause in force, or None when the queue is not paused."""
        ...

    async def pause(
        self, repository: RepositoryName, reason: str, *, on_answer: OnAnswer = ignore
    ) -> Pause | UnclearChange:
        """The pause now in force; `on_answer` receives the service's answer.

        If that is lost, and the pause can't be read afterwards either, it raises why.
        """
        ...

    async def resume(
        self,
        repository: RepositoryName,
        *,
        on_answer: OnAnswer = ignore,
        may_send: Callable[[], bool] | None = None,
    ) -> bool | UnclearChange:
        """Whether a pause was in force and the queue is now resumed; a lost answer as above.

        `may_send` is called just before each request. If it returns False, nothing is sent and
        StaleReading is raised.
        """
        ...

    async def freezes(self, repository: RepositoryName) -> FreezeList:
        """The freezes in force or to come. Raises FreezesNotOffered, as the next three do."""
        ...

    async def create_freeze(
        self,
        repository: RepositoryName,
        wanted: FreezeTerms,
        *,
        on_answer: OnAnswer = ignore,
    ) -> ListedFreeze: ...

    async def change_freeze(
        self,
        repository: RepositoryName,
        freeze_id: str,
        change: FreezeChange,
        *,
        on_answer: OnAnswer = ignore,
    ) -> ListedFreeze:
        """The freeze as changed; raises ResourceNotFound if it has ended."""
        ...

    async def delete_freeze(
        self,
        repository: RepositoryName,
        freeze_id: str,
        reason: str,
        *,
        on_answer: OnAnswer = ignore,
    ) -> bool:
        """Whether it was still there; `reason` says why it ends."""
        ...

    async def rules(self, repository: RepositoryName) -> Sequence[QueueRule]:
        """The queue rules in processing order."""
        ...

    async def event_page(  # noqa: PLR0913 - the filters of endpoint 6, each by its name
        self,
        repository: RepositoryName,
        window: Window,
        *,
        types: Collection[str] = (),
        cursor: str | None = None,
        pull_request: int | None = None,
        base_ref: str | None = None,
        per_page: int = LARGEST_PAGE,
    ) -> EventPage:
        """One page in the service's own order; empty `types` selects all event types.

        `pull_request` and `base_ref` leave out all other events. Raises InvalidRequest for values
        beyond the API document's limits (Limits, Event log query parameters).
        """
        ...

    async def branches(self, repository: RepositoryName, window: Window) -> Sequence[str]: ...

    async def queues(self, repository: RepositoryName) -> Sequence[Queue]:
        """The deprecated listing, the only one that names checks; it may be gone."""
        ...

    async def application(self, credential_of: RepositoryName | None = None) -> Application:
        """Whose key a repository's credential is; without one, the key of MQBOT_API_TOKEN."""
        ...

    async def clock_ahead(self) -> timedelta | None:
        """How far our clock is ahead of the service's; None if it doesn't send its time."""
        ...

    async def queued_branches(self, repository: RepositoryName) -> Sequence[str]:
        """The base branches with a queue now; raises NotOffered where there is no such endpoint.

        So do the following, about one pull request.
        """
        ...

    async def queued_details(self, repository: RepositoryName, number: int) -> QueuedDetails:
        """Raises ResourceNotFound if it isn't queued."""
        ...

    async def removal_impact(self, repository: RepositoryName, number: int) -> RemovalImpact | None:
        """What its removal would do; None if it isn't queued."""
        ...

    async def remove(
        self, repository: RepositoryName, number: int, *, on_answer: OnAnswer
    ) -> Removal: ...
