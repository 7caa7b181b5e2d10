"""A pause is read, set and removed over either family of endpoints; lost answers are looked up."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus

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

BELIEVED = timedelta(minutes=5)
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
        self._is_known = deprecated_pause
        self._is_missing = False
        self._believed_until: datetime | None = None

    async def current_pause(
        self, repository: RepositoryName, *, total: float | None = None
    ) -> Pause | None:
        """Endpoint 4, or 11. None also for a repository that does not exist: both are 404.

        `total` is how many seconds it may take. Raises PauseNotOffered when the service has no such
        endpoint at all.
        """
        family = self._family
        call = Call(f"get_{family.name}", "GET", models.repository_path(repository, family.path))
        try:
            pause = await self.http.call(
                call, lambda response: family.read(response, self.http.clock.now()), total=total
            )
        except MergeQueueRefused as error:
            if await self._has_other(error, family, repository):
                return await self.current_pause(repository, total=total)
            if isinstance(error, ResourceNotFound):
                return None
            raise
        self._is_known = True
        return pause

    async def pause(
        self, repository: RepositoryName, reason: str, *, hear: Hear | None = None
    ) -> Pause:
        """Endpoint 2, or 9. A queue that is paused already gets this reason."""
        try:
            return await self._set(repository, reason, hear or _unheard)
        except StateConflict as error:
            await self._note_state(repository, error)
            raise

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
            await self._remove(repository, hear, may_send)
        except ResourceNotFound as error:
            hear(answer_of(error))
            pause = await self.current_pause(repository)
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

    async def status(self, repository: RepositoryName, branch: str | None = None) -> QueueStatus:
        """Endpoint 1."""
        path = models.repository_path(repository, "merge-queue/status")
        query = models.checked(models.StatusQuery, branch=branch)
        return await self.http.call(Call("status", "GET", path, query), models.read_status)

    async def _note_state(self, repository: RepositoryName, error: StateConflict) -> None:
        try:
            error.pause = await self.current_pause(repository)
        except MergeQueueError:
            return
        error.is_state_known = True

    async def _set(self, repository: RepositoryName, reason: str, hear: Hear) -> Pause:
        """When the answer is lost, a pause in force with this reason is taken for ours."""
        family = self._family
        path = models.repository_path(repository, family.path)
        body = models.checked(models.PauseBody, reason=reason)
        call = Call(f"set_{family.name}", "PUT", path, json=body)

        def read(response: httpx.Response) -> Pause:
            pause = family.read(response, self.http.clock.now())
            if pause is None:
                raise MergeQueueProtocolError("the answer to a pause holds no pause")
            hear(str(response.status_code))
            return pause

        try:
            return await self.http.call(call, read)
        except MergeQueueRefused as error:
            if not await self._has_other(error, family, repository):
                raise
        except (MergeQueueUnavailable, MergeQueueProtocolError) as error:
            is_done, pause = await self._look_up(error, repository, call, partial(_is_for, reason))
            if is_done and pause is not None:
                _hear_of_look(error, hear)
                return pause
            if self._family is family:
                raise
        # There is no such endpoint, as the error or the look has shown: nothing was done.
        return await self._set(repository, reason, hear)

    async def _remove(
        self, repository: RepositoryName, hear: Hear, may_send: Callable[[], bool] | None
    ) -> None:
        """When the answer is lost, a queue that is not paused is taken for our doing.

        Raises ResourceNotFound on 404: not paused, or no such repository.
        """
        family = self._family
        *others, last = (
            Call(
                endpoint,
                method,
                models.repository_path(repository, path),
                expected=models.REMOVED,
                may_send=may_send,
            )
            for endpoint, method, path in family.removals
        )
        for call in others:
            try:
                return await self._delete(repository, call, hear)
            except MergeQueueRefused as error:
                if error.status not in MISSING:
                    raise
        try:
            return await self._delete(repository, last, hear)
        except MergeQueueRefused as error:
            if await self._has_other(error, family, repository):
                return await self._remove(repository, hear, may_send)
            raise

    async def _delete(self, repository: RepositoryName, call: Call, hear: Hear) -> None:
        try:
            await self.http.call(call, lambda response: hear(str(response.status_code)))
        except (MergeQueueUnavailable, MergeQueueProtocolError) as error:
            is_done, _ = await self._look_up(error, repository, call, lambda pause: pause is None)
            if not is_done:
                raise
            _hear_of_look(error, hear)

    async def _look_up(
        self,
        error: MergeQueueError,
        repository: RepositoryName,
        call: Call,
        is_as_wanted: Callable[[Pause | None], bool],
    ) -> tuple[bool, Pause | None]:
        """Whether a write whose answer was lost is seen to be done, and the pause then."""
        for look in range(LOOKS if _is_in_doubt(error) else 0):
            if look:
                await self.http.clock.sleep(LOOK_AGAIN_SECONDS)
            try:
                pause = await self.current_pause(repository, total=self.http.patience.read_back)
            except MergeQueueError:
                # The write's own error is the one to tell; this one only left it in doubt.
                break
            if is_as_wanted(pause):
                logger.warning(
                    "The answer to a request was lost, and the state shows that it was done",
                    extra={
                        "action": "write_read_back",
                        "endpoint": call.endpoint,
                        "repository": repository,
                    },
                )
                return True, pause
        return False, None

    async def _has_other(
        self, error: MergeQueueRefused, asked: Family, repository: RepositoryName
    ) -> bool:
        """Whether the service lacks the endpoints that were `asked` and has the others.

        A 404 is both "not paused" and "no such endpoint". Which family exists is found out once,
        by asking for the methods of the paths. Raises PauseNotOffered when there is neither.
        """
        if error.status not in MISSING:
            return False
        if not self._is_known and not self._is_believed():
            await self._find_out(repository)
        if self._is_missing:
            raise PauseNotOffered(error.status, error.detail) from None
        return self._family is not asked

    def _is_believed(self) -> bool:
        return self._believed_until is not None and self.http.clock.now() < self._believed_until

    async def _find_out(self, repository: RepositoryName) -> None:
        async def has(path: str) -> bool:
            target = models.repository_path(repository, path)
            call = Call("is_offered", "OPTIONS", target, expected=models.NOT_BROKEN)
            return await self.http.call(call, models.read_is_offered)

        offered = CURRENT if await has(CURRENT.path) else None
        if offered is None and await has(DEPRECATED.path):
            offered = DEPRECATED
        # Where the status has no methods either, they tell nothing: the document is believed.
        is_missing = offered is None and await has("merge-queue/status")
        self._family = offered or CURRENT
        self._is_known, self._is_missing = offered is not None, is_missing
        self._believed_until = self.http.clock.now() + BELIEVED
        logger.log(
            logging.INFO if offered is CURRENT else logging.WARNING,
            "pause endpoints found out",
            extra={
                "action": "pause_endpoints",
                "offered": offered.path if offered is not None else None,
                "believed": None if is_missing else self._family.path,
            },
        )


def _is_for(reason: str, pause: Pause | None) -> bool:
    return pause is not None and pause.reason.strip() == reason.strip()


def _hear_of_look(lost: MergeQueueError, hear: Hear) -> None:
    hear(answer_of(lost))
    hear(SEEN_DONE)


def _is_in_doubt(error: MergeQueueError) -> bool:
    """Whether the service may have done what was asked.

    Not when the request did not arrive, nor when it was turned away for coming too often.
    """
    if isinstance(error, MergeQueueUnavailable):
        return error.arrived and error.status not in {
            HTTPStatus.TOO_MANY_REQUESTS,
            HTTPStatus.FORBIDDEN,
        }
    return True


def _unheard(_answer: str) -> None:
    """Nobody puts it on record."""
