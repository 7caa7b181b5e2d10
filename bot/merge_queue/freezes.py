"""Lists and changes scheduled freezes, over endpoints that the API document doesn't have.

An installation's service may lack them. The first answer says so, and it counts until a restart.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import BaseModel, Field

from bot.domain.errors import (
    FreezesNotOffered,
    NotOffered,
    ResourceNotFound,
)
from bot.domain.freezing import FreezeChange, FreezeTerms, ScheduledFreeze
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.merge_queue import models
from bot.merge_queue.models import Call, checked
from bot.merge_queue.pauses import LOST, PauseEndpoints, ignore, seen_done
from bot.ports import OnAnswer

logger = logging.getLogger(__name__)

PATH = "scheduled_freeze"


class FreezeBody(BaseModel):
    """A freeze to create, in the service's own limits; `start` None means now."""

    reason: str = Field(min_length=1, max_length=REASON_LIMIT)
    start: str | None
    end: str | None
    timezone: str
    matching_conditions: list[Any]
    exclude_conditions: list[Any]


class FreezeEndpoints(PauseEndpoints):
    """The freezes of a repository; every method raises only MergeQueueError.

    `offers_freezes`: None until the service has answered.
    """

    offers_freezes: bool | None = None

    async def freezes(
        self, repository: RepositoryName, *, total: float | None = None
    ) -> tuple[ScheduledFreeze, ...]:
        """Those in force or to come. `total`: how many seconds it may take."""
        if self.offers_freezes is False:
            raise FreezesNotOffered(None, "the service offers no freezes")
        call = Call.about(repository, "freezes", "GET", PATH)
        try:
            found = await self.http.call(call, models.read_freezes, total=total)
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
        if self.offers_freezes is None:
            details = {"action": "freeze_endpoints", "offered": offered}
            logger.info("freeze endpoints found out", extra=details)
        self.offers_freezes = offered

    async def create_freeze(
        self,
        repository: RepositoryName,
        wanted: FreezeTerms,
        *,
        on_answer: OnAnswer | None = None,
    ) -> ScheduledFreeze:
        """If the answer is lost, a freeze that wasn't there before with this reason is ours."""
        before = {one.id for one in await self.freezes(repository)}
        body = _written(wanted)
        call = Call.about(
            repository, "create_freeze", "POST", PATH, json=body, expected=models.CREATED
        )

        def is_ours(found: ScheduledFreeze) -> bool:
            return found.id not in before and found.reason == wanted.reason

        return await self._send_change(repository, call, is_ours, on_answer or ignore)

    async def change_freeze(
        self,
        repository: RepositoryName,
        freeze: ScheduledFreeze,
        change: FreezeChange,
        *,
        on_answer: OnAnswer | None = None,
    ) -> ScheduledFreeze:
        """If the answer is lost, the freeze with these terms is as we changed it."""
        body: dict[str, Any] = {}
        if change.end is not None:
            body["end"] = freeze.local(change.end)
        if change.excluded is not None:
            body["exclude_conditions"] = list(change.excluded)
        call = Call.about(repository, "change_freeze", "PATCH", _one(freeze), json=body)

        def is_changed(found: ScheduledFreeze) -> bool:
            return found.id == freeze.id and found.has(change)

        return await self._send_change(repository, call, is_changed, on_answer or ignore)

    async def delete_freeze(
        self,
        repository: RepositoryName,
        freeze: ScheduledFreeze,
        reason: str,
        *,
        on_answer: OnAnswer | None = None,
    ) -> bool:
        """If the answer is lost, a freeze that is gone counts as deleted by us."""
        on_answer = on_answer or ignore
        call = Call.about(
            repository,
            "delete_freeze",
            "POST",
            f"{_one(freeze)}/delete",
            json={"delete_reason": reason},
            expected=models.REMOVED,
        )

        async def gone() -> bool | None:
            left = await self.freezes(repository, total=self.http.patience.read_back)
            return freeze.id not in {one.id for one in left} or None

        try:
            await self.http.call(call, lambda response: on_answer(str(response.status_code)))
        except LOST as error:
            return await seen_done(self.http, error, call, gone, on_answer)
        except ResourceNotFound as error:
            on_answer(str(error.status))
            if not await gone():
                raise
            return False
        return True

    async def _send_change(
        self,
        repository: RepositoryName,
        call: Call,
        is_done: Callable[[ScheduledFreeze], bool],
        on_answer: OnAnswer,
    ) -> ScheduledFreeze:
        def read(response: httpx.Response) -> ScheduledFreeze:
            freeze = models.read_freeze(response)
            on_answer(str(response.status_code))
            return freeze

        async def lookup() -> ScheduledFreeze | None:
            found = await self.freezes(repository, total=self.http.patience.read_back)
            return next(filter(is_done, found), None)

        try:
            return await self.http.call(call, read)
        except LOST as error:
            return await seen_done(self.http, error, call, lookup, on_answer)


def _one(freeze: ScheduledFreeze) -> str:
    return f"{PATH}/{quote(freeze.id, safe='')}"


def _written(wanted: FreezeTerms) -> Mapping[str, Any]:
    """The body, with its nulls: `start` is required."""
    sent = wanted.sent
    checked(FreezeBody, **sent)
    return sent
