"""Shows and removes one pull request: endpoints beyond the document, which a service may lack."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import httpx

from bot.domain.errors import NotOffered, ResourceNotFound
from bot.domain.queue import QueuedDetails, Removal, RemovalImpact
from bot.domain.queue_position import still_queued
from bot.domain.repository import RepositoryName
from bot.merge_queue import models
from bot.merge_queue.models import Call
from bot.merge_queue.pauses import LOST, PauseEndpoints, seen_done
from bot.ports import OnAnswer

T = TypeVar("T")


class PullRequestEndpoints(PauseEndpoints):
    """A 404 means "not queued" or "no such endpoint": then the status decides."""

    async def queued_details(self, repository: RepositoryName, number: int) -> QueuedDetails:
        """Raises ResourceNotFound if it isn't queued, and without such an endpoint."""
        call = Call.about(repository, "queued_details", "GET", f"merge-queue/pull/{number}")
        return await self.http.call(call, models.read_queued_details)

    async def removal_impact(self, repository: RepositoryName, number: int) -> RemovalImpact | None:
        """None if it isn't queued. Raises NotOffered."""
        path = f"merge-queue/pull/{number}/dequeue-impact"
        call = Call.about(repository, "removal_impact", "GET", path)
        return await self._of_queued(repository, number, call, models.read_removal_impact)

    async def remove(
        self, repository: RepositoryName, number: int, *, on_answer: OnAnswer
    ) -> Removal:
        """Raises NotOffered. If the answer is lost, the status shows whether it has left."""
        path = f"merge-queue/pull/{number}/dequeue"
        call = Call.about(repository, "remove", "POST", path, expected=models.REMOVED)

        def read(response: httpx.Response) -> Removal:
            on_answer(str(response.status_code))
            return Removal.DONE

        try:
            removal = await self._of_queued(repository, number, call, read)
        except LOST as error:
            lookup = partial(self._left, repository, number)
            return await seen_done(self.http, error, call, lookup, on_answer)
        return removal or Removal.NOT_QUEUED

    async def _left(self, repository: RepositoryName, number: int) -> Removal | None:
        """Whether it is surely gone, or about to go as somebody asked."""
        status = await self.status(repository, total=self.http.patience.read_back)
        found = still_queued(number, status)
        has_left = found.pull_request.dequeue_requested if found else not status.unreadable
        return Removal.LEFT if has_left else None

    async def _of_queued(
        self,
        repository: RepositoryName,
        number: int,
        call: Call,
        read: Callable[[httpx.Response], T],
    ) -> T | None:
        try:
            return await self.http.call(call, read)
        except ResourceNotFound as error:
            if still_queued(number, await self.status(repository)) is None:
                return None
            raise NotOffered(error.status, error.detail) from None
