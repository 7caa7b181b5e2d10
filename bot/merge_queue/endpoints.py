"""The endpoints of the merge queue service as methods."""

from collections.abc import Callable, Collection
from datetime import timedelta
from functools import partial
from typing import TypeVar

from typing_extensions import override

from bot.domain.errors import (
    MergeQueueError,
    NotOffered,
    ResourceNotFound,
    StateConflict,
)
from bot.domain.event_log import LARGEST_PAGE, Window
from bot.domain.events import EventPage
from bot.domain.queue import Application, Pause, Queue, QueuePause, QueueRule, QueueStatus
from bot.domain.repository import RepositoryName
from bot.domain.service_answers import answer_of
from bot.merge_queue import protocol, requests
from bot.merge_queue.answer import Answer
from bot.merge_queue.caller import Caller
from bot.merge_queue.pauses import Pauses
from bot.merge_queue.requests import EventFilter, Request
from bot.merge_queue.unreadable import UnreadableEvents
from bot.ports import Hear
from bot.ports.inspection import InspectedMergeQueue

T = TypeVar("T")


class Endpoints(InspectedMergeQueue):
    """All 13 endpoints of the API document; every method raises only MergeQueueError.

    Pauses go over endpoints 2 to 4, or over 9 to 12 where a service lacks these: it is asked which
    it has when it first answers 404. With `deprecated_pause` it is not asked.
    """

    def __init__(
        self, caller: Caller, unreadable: UnreadableEvents, *, deprecated_pause: bool
    ) -> None:
        self._caller = caller
        self._pauses = Pauses(caller, deprecated=deprecated_pause)
        self._unreadable = unreadable

    @override
    async def status(self, repository: RepositoryName, branch: str | None = None) -> QueueStatus:
        """Endpoint 1."""
        request = requests.status_request(repository, branch)
        return await self._caller.call(request, protocol.read_status)

    @override
    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        """Endpoint 4, or 11. None also for a repository that does not exist: both are 404."""
        return await self._pauses.current(repository)

    @override
    async def pause(
        self, repository: RepositoryName, reason: str, *, hear: Hear | None = None
    ) -> Pause:
        """Endpoint 2, or 9. A queue that is paused already gets this reason."""
        try:
            return await self._pauses.set(repository, reason, hear or _unheard)
        except StateConflict as error:
            await self._note_state(repository, error)
            raise

    @override
    async def unpause(
        self,
        repository: RepositoryName,
        *,
        hear: Hear | None = None,
        may_send: Callable[[], bool] | None = None,
    ) -> bool:
        """Endpoint 3, 10 or 12. On 404 the pause and the status tell its meanings apart.

        Raises ResourceNotFound when the repository does not exist, and StateConflict when there is
        a pause nevertheless; False when it is not paused.
        """
        hear = hear or _unheard
        try:
            await self._pauses.lift(repository, hear, may_send)
        except ResourceNotFound as error:
            hear(answer_of(error))
            pause = await self._pauses.current(repository)
            if pause is not None:
                conflict = StateConflict(error.status, error.detail)
                conflict.pause, conflict.is_state_known = pause, True
                raise conflict from None
            await self.status(repository)
            return False
        except StateConflict as error:
            await self._note_state(repository, error)
            raise
        return True

    async def _note_state(self, repository: RepositoryName, error: StateConflict) -> None:
        try:
            error.pause = await self._pauses.current(repository)
        except MergeQueueError:
            return
        error.is_state_known = True

    async def _of_repository(
        self, repository: RepositoryName, request: Request, read: Callable[[Answer], T]
    ) -> T:
        """Tell a repository that isn't there from an endpoint that isn't: both are a 404."""
        try:
            return await self._caller.call(request, read)
        except ResourceNotFound as error:
            await self.status(repository)
            raise NotOffered(error.status, error.detail) from None

    @override
    async def rules(self, repository: RepositoryName) -> tuple[QueueRule, ...]:
        """Endpoint 5. InvalidRequest (422): the repository's configuration file is invalid."""
        request = requests.rules_request(repository)
        return await self._of_repository(repository, request, protocol.read_rules)

    @override
    async def event_page(
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
        """Endpoint 6. Raises MergeQueueProtocolError when the next cursor is this one again."""
        wanted = EventFilter(types, pull_request, base_ref)
        request = requests.event_page_request(
            repository, window, wanted, cursor=cursor, per_page=per_page
        )
        read = partial(protocol.read_event_page, asked_cursor=cursor)
        page = await self._caller.call(request, read)
        self._unreadable.note(repository, page)
        return page

    @override
    async def branches(self, repository: RepositoryName, window: Window) -> tuple[str, ...]:
        """Endpoint 7: base branches with queue activity in the window."""
        request = requests.branches_request(repository, window)
        return await self._of_repository(repository, request, protocol.read_branches)

    @override
    async def application(self) -> Application:
        """Endpoint 8."""
        return await self._caller.call(requests.application_request(), protocol.read_application)

    @override
    async def clock_ahead(self) -> timedelta | None:
        """From the `Date` of an answer to endpoint 8, whatever its status is."""
        return await self._caller.call(requests.application_request(), protocol.read_clock_ahead)

    async def set_queue_pause(
        self, repository: RepositoryName, reason: str
    ) -> tuple[QueuePause, ...]:
        """Endpoint 9, deprecated. A lost answer is not looked up: `pause` does that."""
        request = requests.set_queue_pause_request(repository, reason)
        return await self._caller.call(request, protocol.read_queue_pauses)

    async def delete_queue_pause(self, repository: RepositoryName) -> None:
        """Endpoint 10, deprecated. ResourceNotFound: not paused, or no such repository."""
        request = requests.delete_queue_pause_request(repository)
        await self._caller.call(request, protocol.read_removal)

    async def queue_pauses(self, repository: RepositoryName) -> tuple[QueuePause, ...]:
        """Endpoint 11, deprecated. ResourceNotFound: not paused, or no such repository."""
        request = requests.get_queue_pause_request(repository)
        return await self._caller.call(request, protocol.read_queue_pauses)

    async def post_queue_pause_delete(self, repository: RepositoryName) -> None:
        """Endpoint 12, deprecated: what endpoint 10 does, with POST."""
        request = requests.post_queue_pause_delete_request(repository)
        await self._caller.call(request, protocol.read_removal)

    async def queues(self, repository: RepositoryName) -> tuple[Queue, ...]:
        """Endpoint 13, deprecated: the queues by base branch."""
        request = requests.queues_request(repository)
        return await self._caller.call(request, protocol.read_queues)


def _unheard(_answer: str) -> None:
    """Nobody puts it on record."""
