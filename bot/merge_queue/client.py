"""The merge queue service over HTTP: the endpoints of the API document, and some beyond it."""

import logging
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from copy import copy
from datetime import timedelta
from functools import cached_property, partial
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from typing_extensions import override

from bot.domain.errors import FreezesNotOffered, NotOffered, ResourceNotFound
from bot.domain.event_log import LARGEST_PAGE, Window
from bot.domain.event_records import EventPage
from bot.domain.freezing import FreezeChange, FreezeTerms, ScheduledFreeze
from bot.domain.queue import (
    Application,
    Queue,
    QueuedDetails,
    QueueRule,
    Removal,
    RemovalImpact,
)
from bot.domain.queue_position import still_queued
from bot.domain.repository import RepositoryName
from bot.merge_queue import models
from bot.merge_queue.errors import http_date
from bot.merge_queue.event_log import Unreadable, read_event_page
from bot.merge_queue.http import Http
from bot.merge_queue.models import Call, checked, timestamp
from bot.merge_queue.pauses import PauseEndpoints
from bot.ports import MergeQueue, OnAnswer, ignore

logger = logging.getLogger(__name__)

T = TypeVar("T")

FREEZES = "scheduled_freeze"


class MergeQueueClient(PauseEndpoints, MergeQueue, AbstractAsyncContextManager["MergeQueueClient"]):
    """The endpoints as methods, which raise only MergeQueueError. Leaving it closes `http`.

    A service may lack the endpoints that the API document doesn't have: on a 404 the status shows
    whether it is one of those, or the repository is missing. `offers_freezes`: None until the
    service has answered.
    """

    offers_freezes: bool | None = None

    def __init__(self, http: Http, *, deprecated_pause: bool = False) -> None:
        super().__init__(http, deprecated_pause=deprecated_pause)
        self.counts = http.counts
        self._unreadable = Unreadable(http.counts)

    @cached_property
    def scheduled(self) -> "MergeQueueClient":
        """The same for the schedule, which leaves a request in flight free for people."""
        scheduled = copy(self)
        scheduled.http = self.http.scheduled()
        return scheduled

    @override
    async def __aexit__(self, *_raised: object) -> None:
        await self.http.aclose()

    @override
    async def application(self, credential_of: RepositoryName | None = None) -> Application:
        """Endpoint 8."""
        call = Call("application", "GET", "/application", repository=credential_of)
        return await self.http.call(call, partial(models.read, Application))

    @override
    async def clock_ahead(self) -> timedelta | None:
        """From the `Date` of any answer to endpoint 8."""
        call = Call("application", "GET", "/application", expected=models.ANY)
        date = await self.http.call(
            call, lambda response: http_date(response.headers.get("date", ""))
        )
        return None if date is None else self.http.clock.now() - date

    @override
    async def rules(self, repository: RepositoryName) -> tuple[QueueRule, ...]:
        """Endpoint 5. InvalidRequest (422): the repository's configuration file is invalid."""
        call = Call.about(repository, "rules", "GET", "queues/configuration")
        return await self._list(call, repository, models.read_rules)

    @override
    async def branches(self, repository: RepositoryName, window: Window) -> tuple[str, ...]:
        """Endpoint 7: base branches with queue activity in the window."""
        begin, end = timestamp(window.received_from), timestamp(window.received_to)
        query = {"start_at": begin, "end_at": end}
        call = Call.about(repository, "branches", "GET", "queues/branches", query=query)
        return await self._list(call, repository, models.read_branches)

    @override
    async def queued_branches(self, repository: RepositoryName) -> tuple[str, ...]:
        """The successor of endpoint 7, beyond the document."""
        call = Call.about(repository, "queued_branches", "GET", "merge-queue/branches")
        return await self._list(call, repository, models.read_queued_branches)

    async def _list(
        self,
        call: Call,
        repository: RepositoryName,
        read: Callable[[httpx.Response], T],
    ) -> T:
        try:
            return await self.http.call(call, read)
        except ResourceNotFound as error:
            await self.status(repository)
            raise NotOffered(error.status, error.detail) from None

    @override
    async def queues(self, repository: RepositoryName) -> tuple[Queue, ...]:
        """Endpoint 13 (deprecated): the queues by base branch."""
        call = Call.about(repository, "queues", "GET", "queues")
        return await self.http.call(call, models.read_queues)

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
            models.EventQuery,
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
            call, partial(read_event_page, repository=repository, asked_cursor=cursor)
        )
        self._unreadable.note(repository, page)
        return page

    @override
    async def queued_details(self, repository: RepositoryName, number: int) -> QueuedDetails:
        """Raises ResourceNotFound if it isn't queued, and without such an endpoint."""
        call = Call.about(repository, "queued_details", "GET", f"merge-queue/pull/{number}")
        return await self.http.call(call, partial(models.read, QueuedDetails))

    @override
    async def removal_impact(self, repository: RepositoryName, number: int) -> RemovalImpact | None:
        """None if it isn't queued. Raises NotOffered."""
        path = f"merge-queue/pull/{number}/dequeue-impact"
        call = Call.about(repository, "removal_impact", "GET", path)
        try:
            return await self.http.call(call, partial(models.read, RemovalImpact))
        except ResourceNotFound as error:
            await self._not_queued(repository, number, error)
            return None

    @override
    async def remove(
        self, repository: RepositoryName, number: int, *, on_answer: OnAnswer
    ) -> Removal:
        """Raises NotOffered. If the answer is lost, the status shows whether it has left."""
        path = f"merge-queue/pull/{number}/dequeue"
        call = Call.about(repository, "remove", "POST", path, on_answer=on_answer)

        async def left() -> Removal | None:
            """Whether it is surely gone, or about to go as somebody asked."""
            status = await self.status(repository)
            found = still_queued(number, status)
            has_left = found.pull_request.dequeue_requested if found else not status.unreadable
            return Removal.LEFT if has_left else None

        try:
            return await self._change(call, lambda _response: Removal.DONE, left)
        except ResourceNotFound as error:
            await self._not_queued(repository, number, error)
            return Removal.NOT_QUEUED

    async def _not_queued(
        self, repository: RepositoryName, number: int, error: ResourceNotFound
    ) -> None:
        """Raises NotOffered if it is queued after all."""
        if still_queued(number, await self.status(repository)) is not None:
            raise NotOffered(error.status, error.detail) from None

    @override
    async def freezes(self, repository: RepositoryName) -> tuple[ScheduledFreeze, ...]:
        """Those in force or to come."""
        if self.offers_freezes is False:
            raise FreezesNotOffered(None, "the service offers no freezes")
        call = Call.about(repository, "freezes", "GET", FREEZES)
        try:
            found = await self.http.call(call, models.read_freezes)
        except (ResourceNotFound, NotOffered) as error:
            if self.offers_freezes:
                raise
            # If the repository is missing too, this says nothing about freezes.
            await self.status(repository)
            self._found_out(offered=False)
            raise FreezesNotOffered(error.status, error.detail) from None
        self._found_out(offered=True)
        return found

    def _found_out(self, *, offered: bool) -> None:
        """It counts until a restart."""
        if self.offers_freezes is None:
            details = {"action": "freeze_endpoints", "offered": offered}
            logger.info("freeze endpoints found out", extra=details)
        self.offers_freezes = offered

    @override
    async def create_freeze(
        self, repository: RepositoryName, wanted: FreezeTerms, *, on_answer: OnAnswer = ignore
    ) -> ScheduledFreeze:
        """If the answer is lost, a freeze that wasn't there before with this reason is ours."""
        before = {one.id for one in await self.freezes(repository)}
        checked(models.Reason, reason=wanted.reason)
        call = Call.about(
            repository, "create_freeze", "POST", FREEZES, json=wanted.sent, on_answer=on_answer
        )

        def is_ours(found: ScheduledFreeze) -> bool:
            return found.id not in before and found.reason == wanted.reason

        return await self._change_freeze(repository, call, is_ours)

    @override
    async def change_freeze(
        self,
        repository: RepositoryName,
        freeze: ScheduledFreeze,
        change: FreezeChange,
        *,
        on_answer: OnAnswer = ignore,
    ) -> ScheduledFreeze:
        """If the answer is lost, the freeze with these terms is as we changed it."""
        body: dict[str, Any] = {}
        if change.end is not None:
            body["end"] = freeze.local(change.end)
        if change.excluded is not None:
            body["exclude_conditions"] = list(change.excluded)
        call = Call.about(
            repository, "change_freeze", "PATCH", _path(freeze), json=body, on_answer=on_answer
        )

        def is_changed(found: ScheduledFreeze) -> bool:
            return found.id == freeze.id and found.has(change)

        return await self._change_freeze(repository, call, is_changed)

    async def _change_freeze(
        self, repository: RepositoryName, call: Call, is_done: Callable[[ScheduledFreeze], bool]
    ) -> ScheduledFreeze:
        async def look_up() -> ScheduledFreeze | None:
            return next(filter(is_done, await self.freezes(repository)), None)

        return await self._change(call, partial(models.read, ScheduledFreeze), look_up)

    @override
    async def delete_freeze(
        self,
        repository: RepositoryName,
        freeze: ScheduledFreeze,
        reason: str,
        *,
        on_answer: OnAnswer = ignore,
    ) -> bool:
        """If the answer is lost, a freeze that is gone counts as deleted by us."""
        path, body = f"{_path(freeze)}/delete", {"delete_reason": reason}
        call = Call.about(repository, "delete_freeze", "POST", path, json=body, on_answer=on_answer)

        async def gone() -> bool | None:
            return freeze.id not in {one.id for one in await self.freezes(repository)} or None

        try:
            return await self._change(call, lambda _response: True, gone)
        except ResourceNotFound as error:
            on_answer(str(error.status))
            if not await gone():
                raise
            return False


def _path(freeze: ScheduledFreeze) -> str:
    return f"{FREEZES}/{quote(freeze.id, safe='')}"
