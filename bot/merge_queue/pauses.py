"""The pause family: a pause is read, set and lifted, and a lost answer looked up."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeVar

from bot.domain.errors import (
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueRefused,
    MergeQueueUnavailable,
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

    set_request: Callable[[RepositoryName, str], Request]
    get_request: Callable[[RepositoryName], Request]
    delete_requests: tuple[Callable[[RepositoryName], Request], ...]
    read: Callable[[Answer], Pause | None]


def _latest_queue_pause(answer: Answer) -> Pause | None:
    """The deprecated answers hold an array; the document does not say of how many."""
    pauses = [sent.as_pause() for sent in protocol.read_queue_pauses(answer)]
    return max(pauses, key=lambda pause: pause.paused_at, default=None)


CURRENT = PauseEndpoints(
    requests.set_pause_request,
    requests.get_pause_request,
    (requests.delete_pause_request,),
    protocol.read_pause,
)
DEPRECATED = PauseEndpoints(
    requests.set_queue_pause_request,
    requests.get_queue_pause_request,
    (requests.delete_queue_pause_request, requests.post_queue_pause_delete_request),
    _latest_queue_pause,
)
"""The second way to delete is for a service, or a gateway before it, that refuses DELETE."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a look at the state showed."""

    pause: Pause | None


class Pauses:
    """The pause of a repository's queue, over one family of endpoints."""

    def __init__(self, caller: Caller, endpoints: PauseEndpoints) -> None:
        self._caller = caller
        self._endpoints = endpoints

    async def current(
        self, repository: RepositoryName, *, total: float | None = None
    ) -> Pause | None:
        """None on 404 too, which the document gives to a queue that is not paused."""
        request = self._endpoints.get_request(repository)
        try:
            return await self._caller.call(request, self._endpoints.read, total=total)
        except ResourceNotFound:
            return None

    async def set(self, repository: RepositoryName, reason: str, hear: Hear) -> Pause:
        """When the answer is lost, a pause in force with this reason is taken for ours."""

        def is_ours(pause: Pause | None) -> bool:
            return pause is not None and pause.reason.strip() == reason.strip()

        request = self._endpoints.set_request(repository, reason)
        try:
            return await self._caller.call(request, _heard(self._read_set, hear))
        except (MergeQueueUnavailable, MergeQueueProtocolError) as error:
            seen = await self._look_after(error, repository, request, is_ours)
            if seen is None or seen.pause is None:
                raise
            hear(answer_of(error))
            hear(SEEN_DONE)
            return seen.pause

    async def lift(self, repository: RepositoryName, hear: Hear) -> None:
        """When the answer is lost, a queue that is not paused is taken for our doing.

        Raises ResourceNotFound on 404: not paused, or no such repository.
        """
        *others, last = self._endpoints.delete_requests
        for build in others:
            try:
                return await self._lift(repository, build(repository), hear)
            except MergeQueueRefused as error:
                if error.status != HTTPStatus.METHOD_NOT_ALLOWED:
                    raise
        return await self._lift(repository, last(repository), hear)

    async def _lift(self, repository: RepositoryName, request: Request, hear: Hear) -> None:
        try:
            await self._caller.call(request, _heard(protocol.read_removal, hear))
        except (MergeQueueUnavailable, MergeQueueProtocolError) as error:
            seen = await self._look_after(error, repository, request, lambda pause: pause is None)
            if seen is None:
                raise
            hear(answer_of(error))
            hear(SEEN_DONE)

    def _read_set(self, answer: Answer) -> Pause:
        pause = self._endpoints.read(answer)
        if pause is None:
            raise MergeQueueProtocolError("the answer to a pause holds no pause")
        return pause

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
