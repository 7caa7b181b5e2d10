"""A pause is read, set and removed over either family of endpoints; lost answers are looked up."""

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
from bot.ports import Hear

logger = logging.getLogger(__name__)

T = TypeVar("T")

SEEN_DONE = "seen done when looked up"
"""What is heard of a change whose answer was lost, after the answer."""

LOOKS = 2
LOOK_AGAIN_SECONDS = 1.0
"""A service that was too slow to answer may still be at it: a second look, after a while."""

MISSING = frozenset(
    {
        HTTPStatus.NOT_FOUND,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.GONE,
        HTTPStatus.NOT_IMPLEMENTED,
    }
)
"""How a service answers at an endpoint that it does not have."""

TURNED_AWAY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.FORBIDDEN})
"""For coming too often: then nothing was done."""

LOST = (MergeQueueUnavailable, MergeQueueProtocolError)
"""What leaves it open whether a change was made."""

FOREVER = math.inf
BELIEVED_SECONDS = 300.0
"""How long an uncertain finding is believed before the service is asked again."""


@dataclass(frozen=True, slots=True)
class Family:
    """One of the two families of pause endpoints.

    `removals` are an endpoint's name, its method and its path each; the next is tried where a
    service, or a gateway before it, refuses the one before.
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

    That is endpoints 2 to 4, or 9 to 12 where a service lacks these: it is asked which it has when
    it first answers 404. With `deprecated_pause` it is not asked: it has 9 to 12 only.
    """

    def __init__(self, http: Http, *, deprecated_pause: bool) -> None:
        self.http = http
        self._family = DEPRECATED if deprecated_pause else CURRENT
        self._is_missing = False
        # Until when the family is not asked for; None before it was asked for.
        self._known_until = FOREVER if deprecated_pause else None

    async def status(self, repository: RepositoryName, branch: str | None = None) -> QueueStatus:
        """Endpoint 1."""
        query = models.checked(models.StatusQuery, branch=branch)
        call = Call.about(repository, "status", "GET", "merge-queue/status", query=query)
        return await self.http.call(call, models.read_status)

    async def current_pause(
        self, repository: RepositoryName, *, total: float | None = None
    ) -> Pause | None:
        """Endpoint 4, or 11. None also for a repository that does not exist: both are 404.

        `total` is how many seconds it may take. Raises PauseNotOffered when the service has no such
        endpoint at all.
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
        self, repository: RepositoryName, reason: str, *, hear: Hear | None = None
    ) -> Pause:
        """Endpoint 2, or 9. A queue that is paused already gets this reason.

        When the answer is lost, a pause in force with this reason is taken for ours.
        """
        hear = hear or _unheard
        body = models.checked(models.PauseBody, reason=reason)

        async def put(family: Family) -> Pause:
            def read(response: httpx.Response) -> Pause:
                pause = family.read(response, self.http.clock.now())
                if pause is None:
                    raise MergeQueueProtocolError("the answer to a pause holds no pause")
                hear(str(response.status_code))
                return pause

            call = Call.about(repository, f"set_{family.name}", "PUT", family.path, json=body)
            try:
                return await self.http.call(call, read)
            except LOST as error:
                is_ours = partial(_is_for, reason)
                pause = await self._seen_done(error, repository, call, is_ours, hear)
                if pause is None:
                    raise
                return pause

        return await self._change(repository, put)

    async def resume(
        self,
        repository: RepositoryName,
        *,
        hear: Hear | None = None,
        may_send: Callable[[], bool] | None = None,
    ) -> bool:
        """Endpoint 3, 10 or 12. On 404 the pause and the status tell its meanings apart.

        When the answer is lost, a queue that is not paused is taken for our doing. Raises
        ResourceNotFound when the repository does not exist, and StateConflict when there is
        a pause nevertheless; False when it is not paused.
        """
        hear = hear or _unheard

        async def remove(family: Family) -> bool:
            for endpoint, method, path in family.removals:
                call = Call.about(
                    repository, endpoint, method, path, expected=models.REMOVED, may_send=may_send
                )
                try:
                    await self.http.call(call, lambda response: hear(str(response.status_code)))
                except LOST as error:
                    await self._seen_done(error, repository, call, _is_none, hear)
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
            hear(answer_of(error))
            pause = await self.current_pause(repository)
            if pause is not None:
                conflict = StateConflict(error.status, error.detail)
                conflict.pause, conflict.is_state_known = pause, True
                raise conflict from None
            await self.status(repository)
            return False

    async def _change(
        self, repository: RepositoryName, send: Callable[[Family], Awaitable[T]]
    ) -> T:
        """The same as `_over_family`; a conflict knows the pause in force just after."""
        try:
            return await self._over_family(repository, send)
        except StateConflict as error:
            with suppress(MergeQueueError):
                error.pause = await self.current_pause(repository)
                error.is_state_known = True
            raise

    async def _seen_done(
        self,
        lost: MergeQueueError,
        repository: RepositoryName,
        call: Call,
        is_done: Callable[[Pause | None], bool],
        hear: Hear,
    ) -> Pause | None:
        """The pause, once a write whose answer was lost is seen to be done; raises `lost` else."""
        for look in range(LOOKS if _is_in_doubt(lost) else 0):
            if look:
                await self.http.clock.sleep(LOOK_AGAIN_SECONDS)
            try:
                pause = await self.current_pause(repository, total=self.http.patience.read_back)
            except MergeQueueError:
                # The write's own error is the one to tell; this one only left it in doubt.
                break
            if is_done(pause):
                extra = {"action": "write_read_back", "endpoint": call.endpoint}
                logger.warning(
                    "The answer to a request was lost, and the state shows that it was done",
                    extra={**extra, "repository": repository},
                )
                hear(answer_of(lost))
                hear(SEEN_DONE)
                return pause
        raise lost

    async def _over_family(
        self, repository: RepositoryName, send: Callable[[Family], Awaitable[T]]
    ) -> T:
        """Send to the family that the service is taken to have, or to the other.

        A 404 is both "not paused" and "no such endpoint". Which family exists is found out once,
        by asking for the methods of the paths. Raises PauseNotOffered when there is neither.
        """
        family = self._family
        try:
            return await send(family)
        except LOST:
            # The look for what became of it may have shown that there is no such endpoint.
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
        # Where the status has no methods either, they tell nothing: the document is believed.
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


def _is_for(reason: str, pause: Pause | None) -> bool:
    return pause is not None and pause.reason.strip() == reason.strip()


def _is_none(pause: Pause | None) -> bool:
    return pause is None


def _is_in_doubt(error: MergeQueueError) -> bool:
    """Whether the service may have done what was asked; not when the request did not arrive."""
    if isinstance(error, MergeQueueUnavailable):
        return error.arrived and error.status not in TURNED_AWAY
    return True


def _unheard(_answer: str) -> None:
    """Nobody puts it on record."""
