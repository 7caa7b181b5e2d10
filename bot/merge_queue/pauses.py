"""The pause family: a pause is read, set and lifted, and a lost answer looked up."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import TypeVar

from bot.domain.errors import (
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueRefused,
    MergeQueueUnavailable,
    PauseNotOffered,
    ResourceNotFound,
)
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.service_answers import answer_of
from bot.merge_queue import protocol, requests
from bot.merge_queue.answer import Answer
from bot.merge_queue.caller import Caller
from bot.merge_queue.requests import Request
from bot.ports import Hear

logger = logging.getLogger(__name__)

T = TypeVar("T")

SEEN_DONE = "seen done when looked up"
"""What is heard of a change whose answer was lost, after the answer."""

LOOKS = 2
LOOK_AGAIN_SECONDS = 1.0
"""A service that was too slow to answer may still be at it: a second look, after a while."""


@dataclass(frozen=True, slots=True)
class PauseEndpoints:
    """One of the two families of endpoints, and how its answers are read."""

    path: str
    set_request: Callable[[RepositoryName, str], Request]
    get_request: Callable[[RepositoryName], Request]
    delete_requests: tuple[Callable[[RepositoryName], Request], ...]
    read: Callable[[Answer], Pause | None]


def _latest_queue_pause(answer: Answer) -> Pause | None:
    """The deprecated answers hold an array; the document does not say of how many."""
    pauses = [sent.as_pause() for sent in protocol.read_queue_pauses(answer)]
    return max(pauses, key=lambda pause: pause.paused_at, default=None)


CURRENT = PauseEndpoints(
    "merge-queue/pause",
    requests.set_pause_request,
    requests.get_pause_request,
    (requests.delete_pause_request,),
    protocol.read_pause,
)
DEPRECATED = PauseEndpoints(
    "queue/pause",
    requests.set_queue_pause_request,
    requests.get_queue_pause_request,
    (requests.delete_queue_pause_request, requests.post_queue_pause_delete_request),
    _latest_queue_pause,
)
"""The second way to delete is for a service, or a gateway before it, that refuses DELETE."""

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
"""How long what could not be found out for certain is believed before it is asked again."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a look at the state showed."""

    pause: Pause | None


class Pauses:
    """The pause of a repository's queue, over the family of endpoints that the service has."""

    def __init__(self, caller: Caller, *, deprecated: bool) -> None:
        """With `deprecated` nothing is found out: the service has endpoints 9 to 12 only."""
        self._caller = caller
        self._endpoints = DEPRECATED if deprecated else CURRENT
        self._is_known = deprecated
        self._is_missing = False
        self._believed_until: datetime | None = None

    async def current(
        self, repository: RepositoryName, *, total: float | None = None
    ) -> Pause | None:
        """None on 404 too, which the document gives to a queue that is not paused.

        Raises PauseNotOffered when the service has no such endpoint at all.
        """
        endpoints = self._endpoints
        request = endpoints.get_request(repository)
        try:
            pause = await self._caller.call(request, endpoints.read, total=total)
        except MergeQueueRefused as error:
            if await self._has_other(error, endpoints, repository):
                return await self.current(repository, total=total)
            if isinstance(error, ResourceNotFound):
                return None
            raise
        self._is_known = True
        return pause

    async def _has_other(
        self, error: MergeQueueRefused, asked: PauseEndpoints, repository: RepositoryName
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
        return self._endpoints is not asked

    def _is_believed(self) -> bool:
        return self._believed_until is not None and self._caller.now() < self._believed_until

    async def _find_out(self, repository: RepositoryName) -> None:
        async def has(path: str) -> bool:
            request = requests.is_offered_request(repository, path)
            return await self._caller.call(request, protocol.read_is_offered)

        offered = CURRENT if await has(CURRENT.path) else None
        if offered is None and await has(DEPRECATED.path):
            offered = DEPRECATED
        # Where the status has no methods either, they tell nothing: the document is believed.
        is_missing = offered is None and await has("merge-queue/status")
        self._endpoints = offered or CURRENT
        self._is_known, self._is_missing = offered is not None, is_missing
        self._believed_until = self._caller.now() + BELIEVED
        logger.log(
            logging.INFO if offered is CURRENT else logging.WARNING,
            "pause endpoints found out",
            extra={
                "action": "pause_endpoints",
                "offered": offered.path if offered is not None else None,
                "believed": None if is_missing else self._endpoints.path,
            },
        )

    async def set(self, repository: RepositoryName, reason: str, hear: Hear) -> Pause:
        """When the answer is lost, a pause in force with this reason is taken for ours."""

        def is_ours(pause: Pause | None) -> bool:
            return pause is not None and pause.reason.strip() == reason.strip()

        endpoints = self._endpoints
        request = endpoints.set_request(repository, reason)
        try:
            return await self._caller.call(request, _heard(partial(_read_set, endpoints), hear))
        except MergeQueueRefused as error:
            if await self._has_other(error, endpoints, repository):
                return await self.set(repository, reason, hear)
            raise
        except (MergeQueueUnavailable, MergeQueueProtocolError) as error:
            seen = await self._look_after(error, repository, request, is_ours)
            if self._endpoints is not endpoints:
                # The look has shown that there is no such endpoint: nothing was done.
                return await self.set(repository, reason, hear)
            if seen is None or seen.pause is None:
                raise
            hear(answer_of(error))
            hear(SEEN_DONE)
            return seen.pause

    async def lift(
        self, repository: RepositoryName, hear: Hear, may_send: Callable[[], bool] | None = None
    ) -> None:
        """When the answer is lost, a queue that is not paused is taken for our doing.

        Raises ResourceNotFound on 404: not paused, or no such repository.
        """
        endpoints = self._endpoints
        *others, last = (
            replace(build(repository), may_send=may_send) for build in endpoints.delete_requests
        )
        for request in others:
            try:
                return await self._lift(repository, request, hear)
            except MergeQueueRefused as error:
                if error.status not in MISSING:
                    raise
        try:
            return await self._lift(repository, last, hear)
        except MergeQueueRefused as error:
            if await self._has_other(error, endpoints, repository):
                return await self.lift(repository, hear, may_send)
            raise

    async def _lift(self, repository: RepositoryName, request: Request, hear: Hear) -> None:
        try:
            await self._caller.call(request, _heard(protocol.read_removal, hear))
        except (MergeQueueUnavailable, MergeQueueProtocolError) as error:
            seen = await self._look_after(error, repository, request, lambda pause: pause is None)
            if seen is None:
                raise
            hear(answer_of(error))
            hear(SEEN_DONE)

    async def _look_after(
        self,
        error: MergeQueueError,
        repository: RepositoryName,
        request: Request,
        is_as_wanted: Callable[[Pause | None], bool],
    ) -> _Seen | None:
        """What became of a write: the state when it is as wanted, None when that is not known."""
        if not _is_in_doubt(error):
            return None
        for look in range(LOOKS):
            if look:
                await self._caller.wait(LOOK_AGAIN_SECONDS)
            try:
                pause = await self.current(repository, total=self._caller.patience.read_back)
            except MergeQueueError:
                # The write's own error is the one to tell; this one only left it in doubt.
                return None
            if is_as_wanted(pause):
                logger.warning(
                    "The answer to a request was lost, and the state shows that it was done",
                    extra={
                        "action": "write_read_back",
                        "endpoint": request.endpoint,
                        "repository": repository,
                    },
                )
                return _Seen(pause)
        return None


def _read_set(endpoints: PauseEndpoints, answer: Answer) -> Pause:
    pause = endpoints.read(answer)
    if pause is None:
        raise MergeQueueProtocolError("the answer to a pause holds no pause")
    return pause


def _heard(read: Callable[[Answer], T], hear: Hear) -> Callable[[Answer], T]:
    """Tell the status of an answer once it could be read."""

    def read_and_tell(answer: Answer) -> T:
        found = read(answer)
        hear(str(answer.status))
        return found

    return read_and_tell


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
