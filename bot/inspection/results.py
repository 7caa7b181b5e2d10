"""Results of an inspection of the installation, and how its parts are run."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TypeVar

from bot.kernel.clock import Clock
from bot.slack.web_api.clients import DEFAULT_WAIT_SECONDS
from bot.slack.web_api.failures import FAILURES, read_failure

logger = logging.getLogger(__name__)

CHECKS_AT_ONCE = 8
"""Repositories, or channels, checked concurrently."""

SECONDS = 20.0
"""For one part of the inspection."""

GROUP_SECONDS = 60.0
"""For all repositories, and for all channels, and more where there are many of them."""

T = TypeVar("T")


class CheckStatus(StrEnum):
    """The result of a check; a `WARNING` stops nothing."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    UNKNOWN = "not checked"


class Area(StrEnum):
    """An inspected area, which makes the results about it."""

    CONFIGURATION = "configuration"
    DATABASE = "database"
    DELIVERIES = "deliveries"
    MERGE_QUEUE = "merge queue"
    SLACK = "Slack"
    CHANNEL = "channel"
    CLOCK = "clock"

    def ok(self, subject: str, sentence: str) -> "CheckResult":
        return CheckResult(self, subject, CheckStatus.OK, sentence)

    def detail(self, subject: str, sentence: str) -> "CheckResult":
        """One of many that a total of their area counts."""
        return CheckResult(self, subject, CheckStatus.OK, sentence, is_detail=True)

    def problem(self, subject: str, sentence: str, fix: str) -> "CheckResult":
        return CheckResult(self, subject, CheckStatus.WRONG, sentence, fix)

    def warning(self, subject: str, sentence: str, fix: str) -> "CheckResult":
        return CheckResult(self, subject, CheckStatus.WARNING, sentence, fix)

    def unknown(self, subject: str, sentence: str, fix: str | None = None) -> "CheckResult":
        return CheckResult(self, subject, CheckStatus.UNKNOWN, sentence, fix)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One line of the report: a sentence, and how to fix a problem."""

    area: Area
    subject: str
    standing: CheckStatus
    sentence: str
    fix: str | None = None
    is_detail: bool = False
    """Whether a total of the area counts it, so that it need not be shown by itself."""


async def guarded(
    area: Area, subject: str, work: Awaitable[Iterable[CheckResult]], seconds: float = SECONDS
) -> Sequence[CheckResult]:
    """The results of `work`; a timeout or a defect becomes a result too."""
    try:
        async with asyncio.timeout(seconds):
            return list(await work)
    except TimeoutError:
        return [
            area.unknown(
                subject,
                f"No result within {seconds:g} seconds.",
                "Fix the problems above first, then check again.",
            )
        ]
    except Exception as error:
        # A failing check must not stop the others.
        logger.debug(
            "a part of the inspection failed", extra={"action": "inspection_failed"}, exc_info=error
        )
        return [
            area.problem(
                subject,
                f"The check itself failed ({type(error).__name__}).",
                "Please report this. MQBOT_LOG_LEVEL=DEBUG shows more.",
            )
        ]


async def together(
    items: Sequence[T],
    area: Area,
    inspect: Callable[[T], Awaitable[Iterable[CheckResult]]],
    *,
    seconds: float = SECONDS,
    group_seconds: float = GROUP_SECONDS,
) -> Sequence[CheckResult]:
    """Check the items, some at a time; those without time left get a result saying so."""
    concurrency = asyncio.Semaphore(CHECKS_AT_ONCE)
    deadline = asyncio.get_running_loop().time() + group_seconds

    async def check(item: T) -> Sequence[CheckResult]:
        async with concurrency:
            left = deadline - asyncio.get_running_loop().time()
            limit = max(0.0, min(seconds, left))
            return await guarded(area, str(item), inspect(item), limit)

    found = await asyncio.gather(*(check(item) for item in items))
    return [result for results in found for result in results]


async def patiently(clock: Clock, ask: Callable[[], Awaitable[T]]) -> T:
    """Ask again when Slack's rate limit allows it; raises one of FAILURES."""
    while True:
        try:
            return await ask()
        except FAILURES as error:
            failure = read_failure(error)
            if not failure.is_for_rate:
                raise
        await clock.sleep(failure.retry_after or DEFAULT_WAIT_SECONDS)


def as_sentence(text: str) -> str:
    text = " ".join(text.split())[:300]
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def age_of(age: timedelta) -> str:
    seconds = max(0, round(age.total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
