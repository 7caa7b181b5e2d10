"""Reads, sets and removes pauses over either family of endpoints, and looks up lost answers."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import NamedTuple, TypeVar

import httpx

from bot.domain.errors import (
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueRefused,
    MergeQueueUnavailable,
    PauseNotOffered,
    ResourceNotFound,
    StateConflict,
    answer_of,
)
from bot.domain.queue import Pause, QueueStatus
from bot.domain.repository import RepositoryName
from bot.merge_queue import models
from bot.merge_queue.http import Http
from bot.merge_queue.models import Call
from bot.ports import OnAnswer, ignore

logger = logging.getLogger(__name__)

T = TypeVar("T")

FOUND_DONE = "seen done when looked up"
"""Recorded after the answer of a change whose answer was lost."""

LOOKUPS = 2
RETRY_SECONDS = 1.0
"""A slow service may still be working on the request, so there is a second lookup."""

GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
MISSING = GONE | {HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
"""How a service answers at an endpoint that it doesn't have; an answer to OPTIONS is in GONE."""

TURNED_AWAY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.FORBIDDEN})
"""How a service answers too many requests: then nothing was done."""

LOST = (MergeQueueUnavailable, MergeQueueProtocolError)
"""Errors after which the change may have been made."""

BELIEVED_SECONDS = 300.0
"""How long an uncertain finding is used before the service is asked again."""


class Family(NamedTuple):
    """One of the two families of pause endpoints."""

    name: str
    path: str


CURRENT = Family("pause", "merge-queue/pause")
DEPRECATED = Family("queue_pause", "queue/pause")


class PauseEndpoints:
    """The pause of a repository's queue, over the family of endpoints that the service has.

    These are endpoints 2 to 4, or 9 to 12: the client asks which when the service first answers
    404. With `deprecated_pause` it uses 9 to 12 without asking.
    """

    def __init__(self, http: Http, *, deprecated_pause: bool) -> None:
        self.http = http
        self._family = DEPRECATED if deprecated_pause else CURRENT
        self._is_missing = False
        # Until then the client doesn't ask for the family.
        self._known_until = math.inf if deprecated_pause else -math.inf

    async def status(self, repository: RepositoryName, branch: str | None = None) -> QueueStatus:
        """Endpoint 1, of all base branches or one."""
        query = models.checked(models.StatusQuery, branch=branch)
        call = Call.about(repository, "status", "GET", "merge-queue/status", query=query)
        return await self.http.call(call, models.read_status)

    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        """Endpoint 4 or 11. None also for a repository that doesn't exist: both are 404.

        Raises PauseNotOffered if there is no such endpoint.
        """

        async def get(family: Family) -> Pause | None:
            call = Call.about(repository, f"get_{family.name}", "GET", family.path)
            return await self.http.call(call, self._read_pause)

        try:
            pause = await self._over_family(repository, get)
        except ResourceNotFound:
            return None
        self._known_until = math.inf
        return pause

    def _read_pause(self, response: httpx.Response) -> Pause | None:
        return models.read_pause(response, self.http.clock.now())

    async def pause(
        self, repository: RepositoryName, reason: str, *, on_answer: OnAnswer = ignore
    ) -> Pause:
        """Endpoint 2 or 9. A queue that is already paused gets this reason.

        If the answer is lost, a pause with this reason counts as ours.
        """
        body = models.checked(models.Reason, reason=reason)

        async def ours() -> Pause | None:
            pause = await self.current_pause(repository)
            return pause if pause is not None and pause.reason.strip() == reason.strip() else None

        def read(response: httpx.Response) -> Pause:
            pause = self._read_pause(response)
            if pause is None:
                raise MergeQueueProtocolError("the answer to a pause holds no pause")
            return pause

        async def put(family: Family) -> Pause:
            endpoint = f"set_{family.name}"
            call = Call.about(
                repository, endpoint, "PUT", family.path, json=body, on_answer=on_answer
            )
            return await self._change(call, read, ours)

        return await self._change_over_family(repository, put)

    async def resume(
        self,
        repository: RepositoryName,
        *,
        on_answer: OnAnswer = ignore,
        may_send: Callable[[], bool] | None = None,
    ) -> bool:
        """Endpoint 3, 10 or 12. False if the queue was not paused.

        If the answer is lost, a queue that is not paused counts as resumed by us. Raises
        ResourceNotFound if the repository doesn't exist, StateConflict if a pause remains.
        """

        async def gone() -> bool | None:
            return await self.current_pause(repository) is None or None

        async def send(endpoint: str, method: str, path: str) -> bool:
            call = Call.about(
                repository, endpoint, method, path, on_answer=on_answer, may_send=may_send
            )
            return await self._change(call, lambda _response: True, gone)

        async def remove(family: Family) -> bool:
            try:
                return await send(f"delete_{family.name}", "DELETE", family.path)
            except MergeQueueRefused as error:
                # The service, or a gateway, may refuse DELETE.
                if family is CURRENT or error.status not in MISSING:
                    raise
            return await send("post_queue_pause_delete", "POST", "queue/pause/delete")

        try:
            return await self._change_over_family(repository, remove)
        except ResourceNotFound as error:
            on_answer(answer_of(error))
            await self._check_not_paused(repository, error)
            return False

    async def _check_not_paused(self, repository: RepositoryName, error: ResourceNotFound) -> None:
        pause = await self.current_pause(repository)
        if pause is not None:
            conflict = StateConflict(error.status, error.detail)
            conflict.pause, conflict.is_state_known = pause, True
            raise conflict from None
        # It raises ResourceNotFound if there is no such repository.
        await self.status(repository)

    async def _change(
        self,
        call: Call,
        read: Callable[[httpx.Response], T],
        look_up: Callable[[], Awaitable[T | None]],
    ) -> T:
        """Send a change; if its answer is lost, look up whether it was made.

        `look_up`: what the change made; None if that is not there.
        """
        try:
            return await self.http.call(call, read)
        except LOST as lost:
            made = await self._looked_up(look_up) if _is_in_doubt(lost) else None
            if made is None:
                raise
            logger.warning(
                "The answer to a request was lost, and the state shows that it was done",
                extra={
                    "action": "write_read_back",
                    "endpoint": call.endpoint,
                    "repository": call.repository,
                },
            )
            call.on_answer(answer_of(lost))
            call.on_answer(FOUND_DONE)
            return made

    async def _looked_up(self, look_up: Callable[[], Awaitable[T | None]]) -> T | None:
        with suppress(MergeQueueError, TimeoutError):
            for attempt in range(LOOKUPS):
                if attempt:
                    await self.http.clock.sleep(RETRY_SECONDS)
                async with asyncio.timeout(self.http.patience.read_back):
                    made = await look_up()
                if made is not None:
                    return made
        return None

    async def _change_over_family(
        self, repository: RepositoryName, send: Callable[[Family], Awaitable[T]]
    ) -> T:
        """Like `_over_family`; a conflict carries the pause in force just after it."""
        try:
            return await self._over_family(repository, send)
        except StateConflict as error:
            with suppress(MergeQueueError):
                error.pause = await self.current_pause(repository)
                error.is_state_known = True
            raise

    async def _over_family(
        self, repository: RepositoryName, send: Callable[[Family], Awaitable[T]]
    ) -> T:
        """Send to the assumed family, and to the other if the service doesn't have that one.

        A 404 means "not paused" or "no such endpoint", so the client asks once for the methods of
        the paths. Raises PauseNotOffered if the service has neither family.
        """
        family = self._family
        try:
            return await send(family)
        except LOST:
            # The lookup may have shown that there is no such endpoint.
            if self._family is family:
                raise
        except MergeQueueRefused as error:
            if error.status not in MISSING:
                raise
            if self.http.clock.monotonic() >= self._known_until:
                await self._find_out(repository)
            if self._is_missing:
                raise PauseNotOffered(error.status, error.detail) from None
            if self._family is family:
                raise
        return await send(self._family)

    async def _find_out(self, repository: RepositoryName) -> None:
        async def has(path: str) -> bool:
            call = Call.about(repository, "is_offered", "OPTIONS", path, expected=models.NOT_BROKEN)
            return await self.http.call(call, lambda response: response.status_code not in GONE)

        offered = CURRENT if await has(CURRENT.path) else None
        if offered is None and await has(DEPRECATED.path):
            offered = DEPRECATED
        # If even the status has no methods, they mean nothing, and the document counts.
        self._is_missing = offered is None and await has("merge-queue/status")
        self._family = offered or CURRENT
        believed_until = self.http.clock.monotonic() + BELIEVED_SECONDS
        self._known_until = math.inf if offered else believed_until
        details = {
            "action": "pause_endpoints",
            "offered": offered.path if offered is not None else None,
            "believed": None if self._is_missing else self._family.path,
        }
        level = logging.INFO if offered is CURRENT else logging.WARNING
        logger.log(level, "pause endpoints found out", extra=details)


def _is_in_doubt(lost: MergeQueueError) -> bool:
    """Whether the service may have made the change."""
    if isinstance(lost, MergeQueueUnavailable):
        return lost.arrived and lost.status not in TURNED_AWAY
    return True
