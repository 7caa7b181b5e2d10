"""The merge queue service over HTTP: the 13 endpoints of the API document."""

from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import cached_property, partial
from typing import TypeVar

import httpx
from typing_extensions import override

from bot.domain.errors import (
    MergeQueueError,
    NotOffered,
    ResourceNotFound,
    StateConflict,
    answer_of,
)
from bot.domain.event_log import LARGEST_PAGE, Window
from bot.domain.events import EventPage
from bot.domain.queue import Application, Pause, Queue, QueueRule, QueueStatus
from bot.domain.repository import RepositoryName
from bot.merge_queue import models
from bot.merge_queue.http import Http
from bot.merge_queue.models import Call, EventQuery, StatusQuery, checked, timestamp
from bot.merge_queue.pauses import Pauses
from bot.ports import Hear, InspectedMergeQueue

T = TypeVar("T")


class MergeQueueClient(InspectedMergeQueue, AbstractAsyncContextManager["MergeQueueClient"]):
    """The endpoints as methods, which raise only MergeQueueError; leaving it closes `http`.

    A write whose answer is lost is looked up. Pauses go over endpoints 2 to 4, or over 9 to 12
    where a service lacks these: it is asked which it has when it first answers 404. With
    `deprecated_pause` it is not asked.
    """

    def __init__(self, http: Http, *, deprecated_pause: bool = False) -> None:
        self._http = http
        self._deprecated_pause = deprecated_pause
        self._pauses = Pauses(http, deprecated=deprecated_pause)
        self.statistics = http.statistics

    @cached_property
    def scheduled(self) -> "MergeQueueClient":
        """The same for what the schedule asks: it never takes the last request in flight."""
        return MergeQueueClient(self._http.scheduled(), deprecated_pause=self._deprecated_pause)

    @override
    async def __aexit__(self, *_raised: object) -> None:
        await self._http.aclose()

    @override
    async def status(self, repository: RepositoryName, branch: str | None = None) -> QueueStatus:
        """Endpoint 1."""
        path = models.repository_path(repository, "merge-queue/status")
        call = Call("status", "GET", path, checked(StatusQuery, branch=branch))
        return await self._http.call(call, models.read_status)

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
            await self._pauses.remove(repository, hear, may_send)
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

    @override
    async def rules(self, repository: RepositoryName) -> tuple[QueueRule, ...]:
        """Endpoint 5. InvalidRequest (422): the repository's configuration file is invalid."""
        call = Call("rules", "GET", models.repository_path(repository, "queues/configuration"))
        return await self._of_repository(repository, call, models.read_rules)

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
        query = checked(
            EventQuery,
            received_from=timestamp(window.received_from),
            received_to=timestamp(window.received_to),
            per_page=per_page,
            pull_request=pull_request,
            base_ref=base_ref,
            cursor=cursor,
            event_type=sorted(types),
        )
        call = Call("event_page", "GET", models.repository_path(repository, "logs"), query)
        page = await self._http.call(
            call, partial(models.read_event_page, repository=repository, asked_cursor=cursor)
        )
        self._http.statistics.note_unreadable(repository, page)
        return page

    @override
    async def branches(self, repository: RepositoryName, window: Window) -> tuple[str, ...]:
        """Endpoint 7: base branches with queue activity in the window."""
        begin, end = timestamp(window.received_from), timestamp(window.received_to)
        path = models.repository_path(repository, "queues/branches")
        call = Call("branches", "GET", path, {"start_at": begin, "end_at": end})
        return await self._of_repository(repository, call, models.read_branches)

    async def _of_repository(
        self, repository: RepositoryName, call: Call, read: Callable[[httpx.Response], T]
    ) -> T:
        """Tell a repository that isn't there from an endpoint that isn't: both are a 404."""
        try:
            return await self._http.call(call, read)
        except ResourceNotFound as error:
            await self.status(repository)
            raise NotOffered(error.status, error.detail) from None

    @override
    async def application(self) -> Application:
        """Endpoint 8."""
        call = Call("application", "GET", "/application")
        return await self._http.call(call, models.read_application)

    @override
    async def clock_ahead(self) -> timedelta | None:
        """From the `Date` of an answer to endpoint 8, whatever its status is."""
        call = Call("application", "GET", "/application", expected=models.ANY)
        return await self._http.call(
            call, lambda response: models.read_clock_ahead(response, self._http.clock.now())
        )

    async def queues(self, repository: RepositoryName) -> tuple[Queue, ...]:
        """Endpoint 13, deprecated: the queues by base branch."""
        call = Call("queues", "GET", models.repository_path(repository, "queues"))
        return await self._http.call(call, models.read_queues)


def _unheard(_answer: str) -> None:
    """Nobody puts it on record."""
