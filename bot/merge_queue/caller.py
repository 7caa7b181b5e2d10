"""Sends requests until there is an answer: retries what is safe, counts, logs."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import TypeVar

from bot.domain.errors import MergeQueueProtocolError, MergeQueueUnavailable
from bot.merge_queue.answer import Answer
from bot.merge_queue.connection import Connection
from bot.merge_queue.requests import Request
from bot.merge_queue.retries import Patience, wait_before_retry
from bot.merge_queue.statistics import Statistics
from bot.ports import Clock

logger = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_WAIT = 300.0
"""Seconds. A service that asks for more is asked again all the same: it may be a mistake."""


class Caller:
    """One call = one request, its retries, and the reading of the answer."""

    def __init__(
        self,
        connection: Connection,
        *,
        clock: Clock,
        patience: Patience,
        statistics: Statistics,
        behind_people: bool = False,
    ) -> None:
        self._connection = connection
        self._clock = clock
        self.patience = patience
        self.statistics = statistics
        self._behind_people = behind_people

    def behind_people(self) -> "Caller":
        """One for the schedule, over the same connection: a request is left to people."""
        return Caller(
            self._connection,
            clock=self._clock,
            patience=self.patience,
            statistics=self.statistics,
            behind_people=True,
        )

    async def call(
        self, request: Request, read: Callable[[Answer], T], *, total: float | None = None
    ) -> T:
        """Raise only MergeQueueError. `total` is in seconds, that of `patience` by default."""
        seconds = self.patience.total if total is None else total
        deadline = self._clock.now() + timedelta(seconds=seconds)
        attempt = 1
        while True:
            try:
                read_answer = read(await self._attempt(request, self._seconds_until(deadline)))
            except MergeQueueProtocolError as error:
                self._note_unreadable(request, error)
                raise
            except MergeQueueUnavailable as error:
                _cut_wait(request, error)
                wait = wait_before_retry(
                    request,
                    error,
                    attempt=attempt,
                    remaining=self._seconds_until(deadline),
                    patience=self.patience,
                )
                self._note_limit(error, wait)
                if wait is None:
                    error.last_answer_at = self.statistics.last_answer_at
                    raise
                self._note_retry(request, error, attempt, wait)
            else:
                self.statistics.last_answer_at = self._clock.now()
                return read_answer
            await self._clock.sleep(wait)
            attempt += 1

    def _seconds_until(self, deadline: datetime) -> float:
        return (deadline - self._clock.now()).total_seconds()

    def now(self) -> datetime:
        return self._clock.now()

    async def wait(self, seconds: float) -> None:
        await self._clock.sleep(seconds)

    async def _attempt(self, request: Request, within: float) -> Answer:
        try:
            answer = await self._connection.exchange(
                request, within=within, behind_people=self._behind_people
            )
        except MergeQueueUnavailable as error:
            outcome = "lost" if error.arrived else "unreachable"
            self.statistics.outcomes[request.endpoint, outcome] += 1
            raise
        self.statistics.outcomes[request.endpoint, str(answer.status)] += 1
        return answer

    def _note_limit(self, error: MergeQueueUnavailable, wait: float | None) -> None:
        if error.status == HTTPStatus.TOO_MANY_REQUESTS:
            self.statistics.rate_limit_waits += 1
            self.statistics.rate_limit_seconds += wait or error.retry_after or 0.0

    def _note_unreadable(self, request: Request, error: MergeQueueProtocolError) -> None:
        self.statistics.unreadable_answers[request.endpoint] += 1
        logger.warning(
            "An answer of the merge queue service could not be read",
            extra={
                "action": "answer_unreadable",
                "endpoint": request.endpoint,
                "problem": error.detail,
            },
        )

    def _note_retry(
        self, request: Request, error: MergeQueueUnavailable, attempt: int, wait: float
    ) -> None:
        self.statistics.retries[request.endpoint] += 1
        logger.info(
            "A request to the merge queue service is sent again",
            extra={
                "action": "request_retried",
                "endpoint": request.endpoint,
                "attempt": attempt,
                "cause": error.cause,
                "status": error.status,
                "wait_seconds": round(wait, 3),
            },
        )


def _cut_wait(request: Request, error: MergeQueueUnavailable) -> None:
    if error.retry_after is None or error.retry_after <= LONGEST_WAIT:
        return
    logger.warning(
        "The merge queue service asks for a longer wait than is granted",
        extra={
            "action": "wait_cut",
            "endpoint": request.endpoint,
            "status": error.status,
            "asked_seconds": error.retry_after,
            "wait_seconds": LONGEST_WAIT,
        },
    )
    error.retry_after = LONGEST_WAIT
