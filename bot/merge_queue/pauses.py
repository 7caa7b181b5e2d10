"""Reads, sets and removes pauses over either family of endpoints, and looks up lost answers."""

import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import TypeVar

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
from bot.ports import OnAnswer

logger = logging.getLogger(__name__)

T = TypeVar("T")

FOUND_DONE = "seen done when looked up"
"""Recorded after the answer of a change whose answer was lost."""

LOOKUPS = 2
RETRY_SECONDS = 1.0
"""A slow service may still be working on the request, so there is a second lookup."""

MISSING = frozenset(
    {
        HTTPStatus.NOT_FOUND,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.GONE,
        HTTPStatus.NOT_IMPLEMENTED,
    }
)
"""How a service answers at an endpoint that it doesn't have."""

TURNED_AWAY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.FORBIDDEN})
"""How a service answers too many requests: then nothing was done."""

LOST = (MergeQueueUnavailable, MergeQueueProtocolError)
"""Errors after which the change may have been made."""

FOREVER = math.inf
BELIEVED_SECONDS = 300.0
"""How long an uncertain finding is used before the service is asked again."""


@dataclass(frozen=True, slots=True)
class Family:
    """One of the two families of pause endpoints.

    `removals`: name, method and path of each endpoint that removes a pause. If the service or a
    gateway refuses one, the next is tried.
    """

    name: str
    path: str
    read: Callable[[httpx.Response, datetime], Pause | None]
    removals: tuple[tuple[str, str, str], ...]


CURRENT = Family(
    "pause",
    "merge-queue/pause",
    models.read_pause,
    (("delete_pause", "DELETE", "merge-queue/pause"),),
)
DEPRECATED = Family(
    "queue_pause",
    "queue/pause",
    models.read_queue_pause,
    (
        ("delete_queue_pause", "DELETE", "queue/pause"),
        ("post_queue_pause_delete", "POST", "queue/pause/delete"),
    ),
)


class PauseEndpoints:
    """The pause of a repository's queue, over the family of endpoints that the service has.

    These are endpoints 2 to 4, or 9 to 12: the client asks which when the service first answers
    404. With `deprecated_pause` it uses 9 to 12 without asking.
    """

    def __init__(self, http: Http, *, deprecated_pause: bool) -> None:
        self.http = http
        self._family = DEPRECATED if deprecated_pause else CURRENT
        self._is_missing = False
        # Until then the client doesn't ask for the family; None before it first asked.
        self._known_until = FOREVER if deprecated_pause else None

    async def status(
        self, repository: RepositoryName, branch: str | None = None, *, total: float | None = None
    ) -> QueueStatus:
        """Endpoint 1. `total`: how many seconds it may take."""
        query = models.checked(models.StatusQuery, branch=branch)
        call = Call.about(repository, "status", "GET", "merge-queue/status", query=query)
        return await self.http.call(call, models.read_status, total=total)

    async def current_pause(
        self, repository: RepositoryName, *, total: float | None = None
    ) -> Pause | None:
        """Endpoint 4 or 11. None also for a repository that doesn't exist: both are 404.

        `total`: how many seconds it may take. Raises PauseNotOffered if there is no such endpoint.
        """

        async def read(family: Family) -> Pause | None:
            call = Call.about(repository, f"get_{family.name}", "GET", family.path)
            return await self.http.call(
                call, lambda response: family.read(response, self.http.clock.now()), total=total
            )

        try:
            pause = await self._over_family(repository, read)
        except ResourceNotFound:
            return None
        self._known_until = FOREVER
        return pause

    async def pause(
        self, repository: RepositoryName, reason: str, *, on_answer: OnAnswer | None = None
    ) -> Pause:
        """Endpoint 2 or 9. A queue that is already paused gets this reason.

        If the answer is lost, a pause with this reason counts as ours.
        """
        on_answer = on_answer or ignore
        body = models.checked(models.PauseBody, reason=reason)

        async def put(family: Family) -> Pause:
            def read(response: httpx.Response) -> Pause:
                pause = family.read(response, self.http.clock.now())
                if pause is None:
                    raise MergeQueueProtocolError("the answer to a pause holds no pause")
                on_answer(str(response.status_code))
                return pause

            call = Call.about(repository, f"set_{family.name}", "PUT", family.path, json=body)
            try:
                return await self.http.call(call, read)
            except LOST as error:

                async def ours() -> Pause | None:
                    pause = await self.current_pause(repository, total=self._read_back)
                    return pause if pause is not None and _is_for(reason, pause) else None

                return await seen_done(self.http, error, call, ours, on_answer)

        return await self._change(repository, put)

    async def resume(
        self,
        repository: RepositoryName,
        *,
        on_answer: OnAnswer | None = None,
        may_send: Callable[[], bool] | None = None,
    ) -> bool:
        """Endpoint 3, 10 or 12. False if the queue was not paused.

        If the answer is lost, a queue that is not paused counts as resumed by us. Raises
        ResourceNotFound if the repository doesn't exist, StateConflict if a pause remains.
        """
        on_answer = on_answer or ignore

        async def remove(family: Family) -> bool:
            for endpoint, method, path in family.removals:
                call = Call.about(
                    repository, endpoint, method, path, expected=models.REMOVED, may_send=may_send
                )
                try:
                    await self.http.call(
                        call, lambda response: on_answer(str(response.status_code))
                    )
                except LOST as error:
                    await seen_done(
                        self.http, error, call, partial(self._gone, repository), on_answer
                    )
                except MergeQueueRefused as error:
                    is_last = path == family.removals[-1][2]
                    if is_last or error.status not in MISSING:
                        raise
                    continue
                return True
            raise AssertionError

        try:
            return await self._change(repository, remove)
        except ResourceNotFound as error:
            on_answer(answer_of(error))
            pause = await self.current_pause(repository)
            if pause is not None:
                conflict = StateConflict(error.status, error.detail)
                conflict.pause, conflict.is_state_known = pause, True
                raise conflict from None
            await self.status(repository)
            return False

    async def _gone(self, repository: RepositoryName) -> bool | None:
        return await self.current_pause(repository, total=self._read_back) is None or None

    @property
    def _read_back(self) -> float:
        return self.http.patience.read_back

    async def _change(
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
            if self._known_until is None or self.http.clock.monotonic() >= self._known_until:
                await self._find_out(repository)
            if self._is_missing:
                raise PauseNotOffered(error.status, error.detail) from None
            if self._family is family:
                raise
        return await send(self._family)

    async def _find_out(self, repository: RepositoryName) -> None:
        async def has(path: str) -> bool:
            call = Call.about(repository, "is_offered", "OPTIONS", path, expected=models.NOT_BROKEN)
            return await self.http.call(call, models.read_is_offered)

        offered = CURRENT if await has(CURRENT.path) else None
        if offered is None and await has(DEPRECATED.path):
            offered = DEPRECATED
        # If even the status has no methods, they mean nothing, and the document counts.
        self._is_missing = offered is None and await has("merge-queue/status")
        self._family = offered or CURRENT
        believed_until = self.http.clock.monotonic() + BELIEVED_SECONDS
        self._known_until = FOREVER if offered else believed_until
        logger.log(
            logging.INFO if offered is CURRENT else logging.WARNING,
            "pause endpoints found out",
            extra={
                "action": "pause_endpoints",
                "offered": offered.path if offered is not None else None,
                "believed": None if self._is_missing else self._family.path,
            },
        )


async def seen_done(
    http: Http,
    lost: MergeQueueError,
    call: Call,
    lookup: Callable[[], Awaitable[T | None]],
    on_answer: OnAnswer,
) -> T:
    """Look up whether a write whose answer was lost was done. If not, raise `lost`.

    `lookup`: what the write made; None if that is not there.
    """
    for attempt in range(LOOKUPS if _is_in_doubt(lost) else 0):
        if attempt:
            await http.clock.sleep(RETRY_SECONDS)
        try:
            made = await lookup()
        except MergeQueueError:
            break
        if made is not None:
            extra = {"action": "write_read_back", "endpoint": call.endpoint}
            logger.warning(
                "The answer to a request was lost, and the state shows that it was done",
                extra={**extra, "repository": call.repository},
            )
            on_answer(answer_of(lost))
            on_answer(FOUND_DONE)
            return made
    raise lost


def _is_for(reason: str, pause: Pause) -> bool:
    return pause.reason.strip() == reason.strip()


def _is_in_doubt(error: MergeQueueError) -> bool:
    """Whether the service may have made the change."""
    if isinstance(error, MergeQueueUnavailable):
        return error.arrived and error.status not in TURNED_AWAY
    return True


def ignore(_answer: str) -> None:
    """Nobody puts it on record."""
