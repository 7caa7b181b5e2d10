"""Slack's answers, remembered for a while."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from bot.kernel.bounded import Bounded
from bot.kernel.clock import Clock
from bot.slack.person import PersonUnknown

REMEMBERED_FOR = timedelta(minutes=1)
REMEMBERED_MOST = 10_000

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """The answers of `ask` by key, asked for once at a time; failures are not remembered.

    An answer is as old as its question, and is not used after `lifetime`.
    """

    def __init__(
        self,
        ask: Callable[[str], Awaitable[Value | PersonUnknown]],
        clock: Clock,
        *,
        lifetime: timedelta = REMEMBERED_FOR,
        most: int = REMEMBERED_MOST,
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._lifetime = lifetime
        self._known = Bounded[str, tuple[Value, datetime]](most)
        self._asking: dict[str, asyncio.Task[Value | PersonUnknown]] = {}

    def known(self, key: str, within: timedelta | None = None) -> Value | None:
        """The answer, if it is no older than `within`, by default `lifetime`."""
        value, asked_at = self._known.get(key, (None, self._clock.now()))
        age = self._clock.now() - asked_at
        return value if timedelta() <= age < (within or self._lifetime) else None

    def last(self, key: str) -> Value | None:
        """The last answer, whatever its age."""
        return self._known[key][0] if key in self._known else None

    def forget(self, key: str) -> None:
        self._known.pop(key, None)

    def put(self, key: str, value: Value, since: datetime | None = None) -> None:
        """Remember something that Slack said without a question, or to one asked at `since`."""
        said_at = since or self._clock.now()
        _, known_since = self._known.get(key, (None, said_at))
        if known_since <= said_at:
            self._known[key] = (value, said_at)

    async def get(self, key: str) -> Value | PersonUnknown:
        known = self.known(key)
        return known if known is not None else await self.ask(key)

    async def ask(self, key: str) -> Value | PersonUnknown:
        """Ask now, or wait for the answer to a question under way."""
        asking = self._asking.get(key)
        if asking is None:
            asking = self._asking[key] = asyncio.create_task(self._find_out(key))
        # If one caller gives up waiting, the others still get the answer.
        return await asyncio.shield(asking)

    async def _find_out(self, key: str) -> Value | PersonUnknown:
        asked_at = self._clock.now()
        try:
            answer = await self._ask(key)
        finally:
            del self._asking[key]
        if not isinstance(answer, PersonUnknown):
            # An event may have come while Slack was asked.
            self.put(key, answer, asked_at)
        return answer
