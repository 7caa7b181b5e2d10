"""Answers of Slack, remembered for a while and asked for once at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from bot.domain.permissions import Unanswered
from bot.ports import Clock

REMEMBERED = timedelta(minutes=1)
REMEMBERED_MOST = 10_000

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Known(Generic[Value]):
    value: Value
    asked_at: datetime


class Remembered(Generic[Value]):
    """What `ask` answered for a key. A failure is not remembered: the next one asks again.

    An answer counts as old as the question, so that nothing older than `kept` is ever used.
    """

    def __init__(
        self,
        ask: Callable[[str], Awaitable[Value | Unanswered]],
        clock: Clock,
        *,
        keeps: Callable[[Value], bool] = lambda _: True,
        kept: timedelta = REMEMBERED,
    ) -> None:
        """`keeps`: which answers are remembered; `kept`: for how long."""
        self._ask = ask
        self._clock = clock
        self._keeps = keeps
        self._kept = kept
        self._known: dict[str, _Known[Value]] = {}
        self._asking: dict[str, asyncio.Task[Value | Unanswered]] = {}

    def known(self, key: str) -> Value | None:
        """What is remembered."""
        known = self._known.get(key)
        if known is not None and known.asked_at <= self._clock.now() < known.asked_at + self._kept:
            return known.value
        return None

    def last(self, key: str) -> Value | None:
        """What was answered last, however long ago."""
        known = self._known.get(key)
        return known.value if known is not None else None

    def forget(self, key: str) -> None:
        self._known.pop(key, None)

    def put(self, key: str, value: Value) -> None:
        """Remember what Slack has said without being asked for this key."""
        self._remember(key, value, self._clock.now())

    async def get(self, key: str) -> Value | Unanswered:
        known = self.known(key)
        if known is not None:
            return known
        asking = self._asking.get(key)
        if asking is None:
            asking = asyncio.create_task(self._find_out(key))
            self._asking[key] = asking
        # One who gives up waiting must not take the answer from the others.
        return await asyncio.shield(asking)

    async def _find_out(self, key: str) -> Value | Unanswered:
        asked_at = self._clock.now()
        try:
            answer = await self._ask(key)
        finally:
            del self._asking[key]
        if not isinstance(answer, Unanswered):
            self.forget(key)
            if self._keeps(answer):
                self._remember(key, answer, asked_at)
        return answer

    def _remember(self, key: str, value: Value, asked_at: datetime) -> None:
        self.forget(key)
        if len(self._known) >= REMEMBERED_MOST:
            self._known.pop(next(iter(self._known)))
        self._known[key] = _Known(value, asked_at)
