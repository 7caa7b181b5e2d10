"""The merge queue service over HTTP: the endpoints of the API document, and some beyond it."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, suppress
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from urllib.parse import quote

import httpx
from typing_extensions import override

from bot.kernel.errors import InvalidRequest, MergeQueueError
from bot.kernel.pacing import http_date
from bot.kernel.repository import RepositoryName
from bot.merge_queue import models
from bot.merge_queue.errors import (
    EventTypesRefused,
    FreezesNotOffered,
    NotOffered,
    ResourceNotFound,
    answer_of,
    is_undone,
    naming_repository,
)
from bot.merge_queue.event_records import EventPage
from bot.merge_queue.freezes import FreezeChange, FreezeList, FreezeTerms, ListedFreeze
from bot.merge_queue.http import NO_REPOSITORY, ApiRequest, Http
from bot.merge_queue.models import T
from bot.merge_queue.offered import Offered
from bot.merge_queue.pauses import LOST, PauseEndpoints
from bot.merge_queue.port import FreezeSupport, OnAnswer, ignore
from bot.merge_queue.position import still_queued
from bot.merge_queue.queue import (
    Application,
    Queue,
    QueuedDetails,
    QueueRule,
    Removal,
    RemovalImpact,
)
from bot.merge_queue.window import LARGEST_PAGE, Window

logger = logging.getLogger(__name__)

Read = Callable[[httpx.Response], T]
LookUp = Callable[[], Awaitable[T | None]]

FOUND_DONE = "seen done when looked up"  # Recorded after the lost answer of a change.
LOOKUPS = 2
LOOKUP_RETRY_SECONDS = 1.0  # A slow service may still be working on it.
FREEZES_PATH = "scheduled_freeze"
LARGEST_EVENT = 64 * 1024
SMALLEST_LIMIT = 1024 * 1024
REPORTED_EVENTS = 10_000  # Polls overlap and return the same unreadable event repeatedly.


class MergeQueueClient(PauseEndpoints, AbstractAsyncContextManager["MergeQueueClient"]):
    """The endpoints as methods, as `bot.merge_queue.port.MergeQueue` has them.

    Leaving it closes `http`.

    A service may lack the endpoints that the API document doesn't have: on a 404 the status shows
    whether it is one of those, or the repository is missing.
    """

    def __init__(self, http: Http, *, deprecated_pause: bool = False) -> None:
        super().__init__(http, deprecated_pause=deprecated_pause)
        self._freeze_support = Offered(http.clock, FreezeSupport.UNKNOWN)
        self._asking_for_freezes = asyncio.Lock()  # held by the first question
        self._reported = deque[tuple[RepositoryName, object]](maxlen=REPORTED_EVENTS)

    @property
    def freeze_support(self) -> FreezeSupport:
        found = self._freeze_support
        return found.value if found.is_known else FreezeSupport.UNKNOWN

    @cached_property
    def scheduled(self) -> "MergeQueueClient":
        """The same for the schedule, which is less patient and leaves a request free for people."""
        scheduled = copy(self)
        scheduled.http = copy(self.http)
        scheduled.http.turn = self.http.scheduled
        scheduled.http.patience = self.http.patience_of_schedule
        return scheduled

    @override
    async def __aexit__(self, *_raised: object) -> None:
        await self.http.aclose()

    async def application(self, credential_of: RepositoryName | None = None) -> Application:
        """Endpoint 8."""
        call = ApiRequest(credential_of or NO_REPOSITORY, "application", "GET", "/application")
        return await self.http.call(call, partial(models.read_answer, Application))

    @property
    def service_time(self) -> datetime:
        """From the `Date` of its last answers; our time if it sends none."""
        return self.http.service_time

    async def clock_ahead(self) -> timedelta | None:
        """From the `Date` of any answer to endpoint 8."""
        call = ApiRequest(NO_REPOSITORY, "application", "GET", "/application", expected=range(1000))
        date = await self.http.call(call, lambda answer: http_date(answer.headers.get("date")))
        return None if date is None else self.http.clock.now() - date

    async def rules(self, repository: RepositoryName) -> tuple[QueueRule, ...]:
        """Endpoint 5. InvalidRequest (422): the repository's configuration file is invalid."""
        call = ApiRequest(repository, "rules", "GET", "queues/configuration")
        return await self._list(call, models.read_rules)

    async def branches(self, repository: RepositoryName, window: Window) -> tuple[str, ...]:
        """Endpoint 7: base branches with queue activity in the window."""
        query = {
            "start_at": _as_the_service_writes(window.received_from),
            "end_at": _as_the_service_writes(window.received_to),
        }
        call = ApiRequest(repository, "branches", "GET", "queues/branches", query)
        return await self._list(call, models.read_names)

    async def queued_branches(self, repository: RepositoryName) -> tuple[str, ...]:
        """The successor of endpoint 7, beyond the document."""
        call = ApiRequest(repository, "queued_branches", "GET", "merge-queue/branches")
        return await self._list(call, models.read_names)

    async def queues(self, repository: RepositoryName) -> tuple[Queue, ...]:
        """Endpoint 13 (deprecated): the queues by base branch."""
        return await self.http.call(
            ApiRequest(repository, "queues", "GET", "queues"), models.read_queues
        )

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
        """Endpoint 6: the filters and both ends go with every cursor.

        Raises EventTypesRefused if the service names the types that it doesn't know.
        """
        sent_types = sorted(types)
        query = {
            "received_from": _as_the_service_writes(window.received_from),
            "received_to": _as_the_service_writes(window.received_to),
            "per_page": per_page,
            "pull_request": pull_request,
            "base_ref": base_ref,
            "cursor": cursor,
            "event_type": sent_types,
        }
        read = partial(
            models.read_event_page, repository=repository, asked_cursor=cursor, per_page=per_page
        )
        most = per_page * LARGEST_EVENT + SMALLEST_LIMIT
        call = ApiRequest(repository, "event_page", "GET", "logs", query, largest_body=most)
        try:
            page = await self.http.call(call, read)
        except InvalidRequest as error:
            indexes = error.wrong.get("event_type", ())
            refused = {sent_types[index] for index in indexes if 0 <= index < len(sent_types)}
            if not refused:
                raise
            with naming_repository(repository):
                raise _types_refused(error, refused) from None
        self._report(repository, page)
        return page

    def _report(self, repository: RepositoryName, page: EventPage) -> None:
        """Count and log each event that could not be read in full, once."""
        known = self._reported
        lost = [event for event in page.unreadable if (repository, event.identity) not in known]
        partly = [event for event in page.incomplete if (repository, event.event_id) not in known]
        if not lost and not partly:
            return
        known.extend((repository, event.identity) for event in lost)
        known.extend((repository, event.event_id) for event in partly)
        self.http.metrics.service_unreadable_events.inc(len(lost))
        self.http.metrics.service_unreadable_metadata.inc(len(partly))
        details = {
            "action": "events_unreadable",
            "repository": repository,
            "event_ids": [event.identity for event in lost if isinstance(event.identity, int)][:20],
            "problems": sorted({event.problem for event in lost})[:20],
            "metadata_event_ids": [event.event_id for event in partly][:20],
            "metadata_types": sorted({event.type for event in partly})[:20],
        }
        logger.warning("events of the log could not be read completely", extra=details)

    async def queued_details(self, repository: RepositoryName, number: int) -> QueuedDetails:
        call = ApiRequest(repository, "queued_details", "GET", f"merge-queue/pull/{number}")
        return await self.http.call(call, partial(models.read_answer, QueuedDetails))

    async def removal_impact(self, repository: RepositoryName, number: int) -> RemovalImpact | None:
        path = f"merge-queue/pull/{number}/dequeue-impact"
        call = ApiRequest(repository, "removal_impact", "GET", path)
        try:
            return await self.http.call(call, partial(models.read_answer, RemovalImpact))
        except ResourceNotFound as error:
            await self._check_offered(repository, error, number)
            return None

    async def remove(self, repository: RepositoryName, number: int, on_answer: OnAnswer) -> Removal:
        """Raises NotOffered. If the answer is lost, the status shows whether it has left."""
        path = f"merge-queue/pull/{number}/dequeue"
        call = ApiRequest(repository, "remove", "POST", path, on_answer=on_answer)

        async def left() -> Removal | None:
            """Whether it is surely gone, or about to go as somebody asked."""
            status = await self.status(repository)
            found = still_queued(number, status)
            if found is not None:
                has_left = bool(found.pull_request.dequeue_requested)
            else:
                has_left = not status.unreadable
            return Removal.LEFT if has_left else None

        try:
            return await self._change(call, lambda _response: Removal.DONE, left)
        except ResourceNotFound as error:
            await self._check_offered(repository, error, number)
            return Removal.NOT_QUEUED

    async def _change(self, call: ApiRequest, read: Read[T], look_up: LookUp[T]) -> T:
        """Send a change; if its answer is lost, look up whether it was made.

        `look_up`: what the change made; None if that is not there.
        """
        deadline = self.http.clock.monotonic() + self.http.patience.total
        try:
            return await self.http.call(call, read)
        except LOST as lost:
            if is_undone(lost):
                raise
            made = await self._looked_up(look_up, deadline)
            if made is None:
                raise
            call.on_answer(answer_of(lost))
            call.on_answer(FOUND_DONE)
            return made

    async def _looked_up(self, look_up: LookUp[T], deadline: float) -> T | None:
        with suppress(MergeQueueError, TimeoutError):
            for attempt in range(LOOKUPS):
                if attempt:
                    await self.http.clock.sleep(LOOKUP_RETRY_SECONDS)
                rest = deadline - self.http.clock.monotonic()
                async with asyncio.timeout(max(rest, self.http.patience.read_back)):
                    made = await look_up()
                if made is not None:
                    return made
        return None

    async def _list(self, call: ApiRequest, read: Read[T]) -> T:
        try:
            return await self.http.call(call, read)
        except ResourceNotFound as error:
            await self._check_offered(call.repository, error)
            raise

    async def _check_offered(
        self, repository: RepositoryName, error: ResourceNotFound, number: int | None = None
    ) -> None:
        """Raise NotOffered if a 404 is neither about the repository nor the pull request."""
        status = await self.status(repository)
        if number is None or still_queued(number, status) is not None:
            with naming_repository(repository):
                raise NotOffered(error.status, error.detail) from None

    async def freezes(self, repository: RepositoryName) -> FreezeList:
        if self.freeze_support is not FreezeSupport.UNKNOWN:
            return await self._freezes(repository)
        asking = self._asking_for_freezes
        is_first = not asking.locked()
        # At the start several ask at once: whether the service has freezes is asked once.
        async with asking:
            if is_first:
                return await self._freezes(repository)
        return await self._freezes(repository)

    async def _freezes(self, repository: RepositoryName) -> FreezeList:
        if self.freeze_support is FreezeSupport.NOT_OFFERED:
            raise FreezesNotOffered(None, "the service offers no freezes")
        try:
            call = ApiRequest(repository, "freezes", "GET", FREEZES_PATH)
            found = await self._list(call, models.read_freezes)
        except NotOffered as error:
            if self.freeze_support is FreezeSupport.OFFERED:
                raise
            self._learn_support(FreezeSupport.NOT_OFFERED)
            with naming_repository(repository):
                raise FreezesNotOffered(error.status, error.detail) from None
        self._learn_support(FreezeSupport.OFFERED)
        return found

    def _learn_support(self, found: FreezeSupport) -> None:
        is_offered = found is FreezeSupport.OFFERED
        is_new = found is not self._freeze_support.value
        self._freeze_support.learn(found, is_offered=is_offered)
        if not is_new:
            return
        details = {"action": "freeze_endpoints", "offered": is_offered}
        logger.info("freeze endpoints detected", extra=details)

    async def create_freeze(
        self, repository: RepositoryName, wanted: FreezeTerms, on_answer: OnAnswer = ignore
    ) -> ListedFreeze:
        """If the answer is lost, a freeze that wasn't there before with this reason is ours."""
        listed = await self.freezes(repository)
        before = {freeze.id for freeze in listed.freezes}
        body = wanted.sent
        call = ApiRequest(
            repository, "create_freeze", "POST", FREEZES_PATH, json=body, on_answer=on_answer
        )
        return await self._change_freeze(
            call, lambda found: found.id not in before and found.reason == wanted.reason
        )

    async def change_freeze(
        self,
        repository: RepositoryName,
        freeze_id: str,
        change: FreezeChange,
        on_answer: OnAnswer = ignore,
    ) -> ListedFreeze:
        """If the answer is lost, the freeze with these terms is as we changed it."""
        path = f"{FREEZES_PATH}/{quote(freeze_id, safe='')}"
        body = change.sent
        call = ApiRequest(
            repository, "change_freeze", "PATCH", path, json=body, on_answer=on_answer
        )
        return await self._change_freeze(
            call, lambda found: found.id == freeze_id and found.has(change)
        )

    async def _change_freeze(
        self, call: ApiRequest, is_done: Callable[[ListedFreeze], bool]
    ) -> ListedFreeze:
        async def look_up() -> ListedFreeze | None:
            listed = await self.freezes(call.repository)
            return next((freeze for freeze in listed.freezes if is_done(freeze)), None)

        return await self._change(call, partial(models.read_answer, ListedFreeze), look_up)

    async def delete_freeze(
        self,
        repository: RepositoryName,
        freeze_id: str,
        reason: str,
        on_answer: OnAnswer = ignore,
    ) -> bool:
        """If the answer is lost, a freeze that is gone counts as deleted by us."""
        path = f"{FREEZES_PATH}/{quote(freeze_id, safe='')}/delete"
        body = {"delete_reason": reason}
        call = ApiRequest(repository, "delete_freeze", "POST", path, json=body, on_answer=on_answer)

        async def gone() -> bool | None:
            """True, or None if it is still there, as `_change` asks."""
            listed = await self.freezes(repository)
            is_there = any(freeze.id == freeze_id for freeze in listed.freezes)
            return None if is_there else True

        try:
            return await self._change(call, lambda _response: True, gone)
        except ResourceNotFound as error:
            on_answer(str(error.status))
            if not await gone():
                raise
            return False


def _types_refused(error: InvalidRequest, types: Collection[str]) -> EventTypesRefused:
    refused = EventTypesRefused(error.status, error.detail)
    refused.types = frozenset(types)
    return refused


def _as_the_service_writes(moment: datetime) -> str:
    """RFC 3339 with microseconds, as the service writes its own times."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
