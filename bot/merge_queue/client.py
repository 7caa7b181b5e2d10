"""The merge queue service over HTTP: the endpoints of the API document, and some beyond it."""

from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import cached_property, partial
from typing import TypeVar

import httpx
from typing_extensions import override

from bot.domain.errors import NotOffered, ResourceNotFound
from bot.domain.event_log import LARGEST_PAGE, Window
from bot.domain.events import EventPage
from bot.domain.queue import Application, Queue, QueueRule
from bot.domain.repository import RepositoryName
from bot.merge_queue import models
from bot.merge_queue.freezes import FreezeEndpoints
from bot.merge_queue.http import Http
from bot.merge_queue.models import Call, EventQuery, checked, timestamp
from bot.merge_queue.pull_requests import PullRequestEndpoints
from bot.ports import InspectedMergeQueue

T = TypeVar("T")


class MergeQueueClient(
    PullRequestEndpoints,
    FreezeEndpoints,
    InspectedMergeQueue,
    AbstractAsyncContextManager["MergeQueueClient"],
):
    """The endpoints as methods, which raise only MergeQueueError. Leaving it closes `http`."""

    def __init__(self, http: Http, *, deprecated_pause: bool = False) -> None:
        super().__init__(http, deprecated_pause=deprecated_pause)
        self._deprecated_pause = deprecated_pause
        self.statistics = http.statistics

    @cached_property
    def scheduled(self) -> "MergeQueueClient":
        """The same for the schedule, which leaves a request in flight free for people."""
        return MergeQueueClient(self.http.scheduled(), deprecated_pause=self._deprecated_pause)

    @override
    async def __aexit__(self, *_raised: object) -> None:
        await self.http.aclose()

    @override
    async def rules(self, repository: RepositoryName) -> tuple[QueueRule, ...]:
        """Endpoint 5. InvalidRequest (422): the repository's configuration file is invalid."""
        call = Call.about(repository, "rules", "GET", "queues/configuration")
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
        call = Call.about(repository, "event_page", "GET", "logs", query=query)
        page = await self.http.call(
            call, partial(models.read_event_page, repository=repository, asked_cursor=cursor)
        )
        self.http.statistics.note_unreadable(repository, page)
        return page

    @override
    async def branches(self, repository: RepositoryName, window: Window) -> tuple[str, ...]:
        """Endpoint 7: base branches with queue activity in the window."""
        begin, end = timestamp(window.received_from), timestamp(window.received_to)
        query = {"start_at": begin, "end_at": end}
        call = Call.about(repository, "branches", "GET", "queues/branches", query=query)
        return await self._of_repository(repository, call, models.read_branches)

    @override
    async def queued_branches(self, repository: RepositoryName) -> tuple[str, ...]:
        """The successor of endpoint 7, beyond the document."""
        call = Call.about(repository, "queued_branches", "GET", "merge-queue/branches")
        return await self._of_repository(repository, call, models.read_queued_branches)

    async def _of_repository(
        self, repository: RepositoryName, call: Call, read: Callable[[httpx.Response], T]
    ) -> T:
        """On a 404, find out whether the repository or the endpoint is missing."""
        try:
            return await self.http.call(call, read)
        except ResourceNotFound as error:
            await self.status(repository)
            raise NotOffered(error.status, error.detail) from None

    @override
    async def application(self, credential_of: RepositoryName | None = None) -> Application:
        """Endpoint 8."""
        call = Call("application", "GET", "/application", repository=credential_of)
        return await self.http.call(call, models.read_application)

    @override
    async def clock_ahead(self) -> timedelta | None:
        """From the `Date` of any answer to endpoint 8."""
        call = Call("application", "GET", "/application", expected=models.ANY)
        return await self.http.call(
            call, lambda response: models.read_clock_ahead(response, self.http.clock.now())
        )

    @override
    async def queues(self, repository: RepositoryName) -> tuple[Queue, ...]:
        """Endpoint 13 (deprecated): the queues by base branch."""
        call = Call.about(repository, "queues", "GET", "queues")
        return await self.http.call(call, models.read_queues)
