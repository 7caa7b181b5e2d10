"""Whether the service answers, and takes requests: the log says that once, not for each request."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http import HTTPStatus

from bot.kernel.clock import Clock
from bot.kernel.errors import MergeQueueError
from bot.merge_queue.errors import MergeQueueUnavailable

logger = logging.getLogger(__name__)

FAILURES_IN_A_ROW = 10
"""So many requests in a row without a usable answer mean that there is none for anybody."""

STILL_SECONDS = 300.0
"""How often the log repeats that it lasts."""

UNLIMITED_SECONDS = 60.0
"""Once it has asked nobody to wait for so long, the service takes requests as usual."""


class Silence:
    """Counts requests without a usable answer since the last that got one, if only a refusal."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.last_answer_at: datetime | None = None  #: a good one, also to the schedule
        self._failures = 0
        self._began_at = 0.0
        self._logged_at = 0.0
        self._cause = ""
        self._limits = _Limits(clock)

    @property
    def cause(self) -> str | None:
        """Why the service gives nobody a usable answer; None while it does."""
        return self._cause if self.is_logged else None

    @property
    def is_logged(self) -> bool:
        """Whether the log has said that the service doesn't answer; details are noise then."""
        return self._failures >= FAILURES_IN_A_ROW

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Around a request; an error says whether the log has said it for all."""
        try:
            yield
        except MergeQueueUnavailable as error:
            # A service that asks for fewer requests does answer.
            if error.status == HTTPStatus.TOO_MANY_REQUESTS:
                self._answered()
                self._limits.asked_to_wait()
                error.is_logged = True
            else:
                self._failed(error)
                error.is_logged = self.is_logged
            raise
        except MergeQueueError:
            self._answered()
            raise
        self._answered()
        self._limits.taken()

    def _failed(self, error: MergeQueueUnavailable) -> None:
        now = self._clock.monotonic()
        if not self._failures:
            self._began_at = now
        self._failures += 1
        self._cause = error.cause
        is_begin = self._failures == FAILURES_IN_A_ROW
        if is_begin or (self.is_logged and now - self._logged_at >= STILL_SECONDS):
            self._logged_at = now
            logger.warning(
                "the merge queue service doesn't answer",
                extra={"action": "service_silent", "cause": error.cause, **self._fields(now)},
            )

    def _answered(self) -> None:
        if self.is_logged:
            extra = {"action": "service_answers", **self._fields(self._clock.monotonic())}
            logger.warning("the merge queue service answers again", extra=extra)
        self._failures = 0

    def _fields(self, now: float) -> dict[str, int]:
        return {"failed": self._failures, "seconds": round(now - self._began_at)}


class _Limits:
    """Counts answers that asked for fewer requests: for each repository, if there are too many."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count = 0
        self._began_at = 0.0
        self._last_at = 0.0
        self._logged_at = 0.0

    def asked_to_wait(self) -> None:
        now = self._clock.monotonic()
        is_begin = not self._count
        if is_begin:
            self._began_at = now
        self._count += 1
        self._last_at = now
        if is_begin or now - self._logged_at >= STILL_SECONDS:
            self._logged_at = now
            logger.warning(
                "the merge queue service asks for fewer requests",
                extra={"action": "service_limited", **self._fields(now)},
            )

    def taken(self) -> None:
        now = self._clock.monotonic()
        if self._count and now - self._last_at >= UNLIMITED_SECONDS:
            extra = {"action": "service_unlimited", **self._fields(self._last_at)}
            logger.info("the merge queue service takes requests as usual again", extra=extra)
            self._count = 0

    def _fields(self, until: float) -> dict[str, int]:
        return {"asked": self._count, "seconds": round(until - self._began_at)}
