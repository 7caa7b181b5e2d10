"""Status and pauses, over either family of endpoints."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import httpx

from bot.kernel import errors as kernel_errors
from bot.kernel.repository import RepositoryName
from bot.merge_queue import errors as merge_queue_errors, models
from bot.merge_queue.http import ApiRequest, Http
from bot.merge_queue.models import T
from bot.merge_queue.offered import Offered
from bot.merge_queue.port import OnAnswer, UnclearChange, ignore
from bot.merge_queue.queue import Pause, PauseAnswer, QueueStatus

logger = logging.getLogger(__name__)

Send = Callable[[ApiRequest], Awaitable[T]]

NOT_BROKEN = frozenset({*range(500), 501}) - {429}
MISSING = frozenset({404, 405, 410, 501})  # Answers at an endpoint that a service doesn't have.
LOST = (merge_queue_errors.MergeQueueUnavailable, merge_queue_errors.MergeQueueProtocolError)
STATUS = "merge-queue/status"
CURRENT = "merge-queue/pause"
DEPRECATED = "queue/pause"


class PauseEndpoints:
    """The pause of a repository's queue, over the family of endpoints that the service has.

    These are endpoints 2 to 4, or 9 to 12, which alone are used with `deprecated_pause`. A 404
    means "not paused" or "no such endpoint": the client then asks for the paths' methods, once if
    endpoints 2 to 4 are there.
    """

    def __init__(self, http: Http, *, deprecated_pause: bool = False) -> None:
        self.http = http
        # While it isn't known, a 404 leads to the question which family there is.
        self._family = Offered[str | None](http.clock, CURRENT)
        if deprecated_pause:
            self._family.learn(DEPRECATED, is_offered=True)
        self._finding_out = asyncio.Lock()

    async def status(self, repository: RepositoryName, branch: str | None = None) -> QueueStatus:
        """Endpoint 1, of all base branches or one."""
        call = ApiRequest(repository, "status", "GET", STATUS, {"branch": branch})
        return await self.http.call(call, models.read_queue_status)

    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        """Endpoint 4 or 11. None also for a repository that doesn't exist: both are 404."""
        call = ApiRequest(repository, "get_pause", "GET", CURRENT)
        try:
            pause = await self._over_family(call, partial(self.http.call, read=self._read_pause))
        except merge_queue_errors.ResourceNotFound:
            return None
        if self._family.value != DEPRECATED and self._family.known_until != math.inf:
            self._family.learn(CURRENT, is_offered=True)
        return pause

    def _read_pause(self, response: httpx.Response) -> Pause | None:
        return models.read_answer(PauseAnswer, response).in_force(self.http.clock.now())

    async def pause(
        self, repository: RepositoryName, reason: str, on_answer: OnAnswer = ignore
    ) -> Pause | UnclearChange:
        """Endpoint 2 or 9.

        Raises ResourceNotFound if the repository doesn't exist, NotOffered if the service doesn't
        pause it, as one whose endpoint 9 only changes a pause.
        """

        def read(response: httpx.Response) -> Pause:
            pause = self._read_pause(response)
            if pause is None:
                raise merge_queue_errors.MergeQueueProtocolError(
                    "the answer to a pause holds no pause"
                )
            return pause

        body = {"reason": reason}
        call = ApiRequest(repository, "set_pause", "PUT", CURRENT, json=body, on_answer=on_answer)
        try:
            return await self._change_pause(call, partial(self.http.call, read=read))
        except merge_queue_errors.ResourceNotFound as error:
            # It raises ResourceNotFound if there is no such repository.
            await self.status(repository)
            with merge_queue_errors.naming_repository(repository):
                raise merge_queue_errors.NotOffered(error.status, error.detail) from None

    async def resume(
        self,
        repository: RepositoryName,
        on_answer: OnAnswer = ignore,
        may_send: Callable[[], bool] | None = None,
    ) -> bool | UnclearChange:
        """Endpoint 3, 10 or 12.

        Raises ResourceNotFound if the repository doesn't exist, StateConflict if a pause remains.
        """
        change = partial(self.http.call, read=lambda _response: True)

        async def remove(call: ApiRequest) -> bool:
            try:
                return await change(call)
            except kernel_errors.MergeQueueRefused as error:
                # The service, or a gateway, may refuse DELETE.
                if call.path == CURRENT or error.status not in MISSING:
                    raise
            return await change(replace(call, method="POST", path=f"{call.path}/delete"))

        call = ApiRequest(
            repository, "delete_pause", "DELETE", CURRENT, on_answer=on_answer, may_send=may_send
        )
        try:
            return await self._change_pause(call, remove)
        except merge_queue_errors.ResourceNotFound as error:
            on_answer(merge_queue_errors.answer_of(error))
            pause = await self.current_pause(repository)
            if pause is not None:
                conflict = merge_queue_errors.StateConflict(error.status, error.detail)
                conflict.pause = pause
                conflict.is_state_known = True
                raise conflict from None
            # It raises ResourceNotFound if there is no such repository.
            await self.status(repository)
            return False

    async def _change_pause(self, call: ApiRequest, send: Send[T]) -> T | UnclearChange:
        """Like `_over_family`; a conflict carries the pause in force just after it.

        If the answer is lost, that pause is all that is known.
        """
        deadline = self.http.clock.monotonic() + self.http.patience.total
        try:
            return await self._over_family(call, send)
        except merge_queue_errors.StateConflict as error:
            with suppress(kernel_errors.MergeQueueError):
                error.pause = await self.current_pause(call.repository)
                error.is_state_known = True
            raise
        except LOST as lost:
            if merge_queue_errors.is_undone(lost):
                raise
            with suppress(kernel_errors.MergeQueueError, TimeoutError):
                rest = deadline - self.http.clock.monotonic()
                async with asyncio.timeout(max(rest, self.http.patience.read_back)):
                    pause = await self.current_pause(call.repository)
                call.on_answer(merge_queue_errors.answer_of(lost))
                return UnclearChange(lost, pause)
            raise

    async def _over_family(self, call: ApiRequest, send: Send[T]) -> T:
        """Send to the assumed family, and to the other if the service doesn't have that one.

        Raises PauseNotOffered if it has neither.
        """
        assumed = self._family.value or CURRENT
        try:
            return await send(replace(call, path=assumed))
        except kernel_errors.MergeQueueRefused as error:
            if error.status not in MISSING:
                raise
            async with self._finding_out:
                # At the start, every repository gets here with its first request.
                if not self._family.is_known:
                    await self._find_out(call.repository)
            family = self._family.value
            if family is None:
                with merge_queue_errors.naming_repository(call.repository):
                    raise merge_queue_errors.PauseNotOffered(error.status, error.detail) from None
            if family == assumed:
                raise
        return await send(replace(call, path=family))

    async def _find_out(self, repository: RepositoryName) -> None:
        async def has(path: str) -> bool:
            call = ApiRequest(repository, "is_offered", "OPTIONS", path, expected=NOT_BROKEN)
            return await self.http.call(call, lambda answer: answer.status_code not in {404, 410})

        offered = CURRENT if await has(CURRENT) else None
        if offered is None and await has(DEPRECATED):
            offered = DEPRECATED
        believed = offered
        if offered is None and not await has(STATUS):
            # If even the status has no methods, they mean nothing, and the document counts.
            believed = CURRENT
        is_new = self._family.known_until == -math.inf or believed != self._family.value
        # One answer may be odd, and the deprecated endpoints may end one day: where they were
        # found, the question is asked again.
        is_sure = offered == CURRENT and self._family.value != DEPRECATED
        self._family.learn(believed, is_offered=is_sure)
        if not is_new:
            return
        level = logging.INFO if offered == CURRENT else logging.WARNING
        details = {"action": "pause_endpoints", "offered": offered, "believed": believed}
        logger.log(level, "pause endpoints detected", extra=details)
