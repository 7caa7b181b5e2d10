"""Slack's rate limits, honoured by all tasks of all processes."""

import asyncio
import logging
from collections.abc import Mapping

from bot.domain.errors import StoreUnavailable
from bot.slack.web_api.failures import LONGEST_SECONDS
from bot.store.transactions import Store, Transaction

logger = logging.getLogger(__name__)

SYNC_SECONDS = 1.0
"""How often to read the limits that other processes met."""

CHANNELS_OF_A_WORKSPACE = 3
"""If posts are limited in so many channels at a time, the limit is the workspace's."""


class Limits:
    """How long Slack has closed which methods, or posting to which channels.

    With a `store`, all processes on one database share their limits: each tells the others
    immediately, and reads theirs in `sync`.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._closed_until: dict[str, float] = {}
        self._unshared: set[str] = set()

    def left(self, method: str, channel: str = "") -> float:
        """Seconds until the method may be called again; zero or less if it may be called now."""
        return max(self._left(method), self._left(f"{method} {channel}"))

    async def close(self, method: str, seconds: float, channel: str = "") -> None:
        """Close it for a while. If the database doesn't answer, the next `sync` stores that."""
        closed = [f"{method} {channel}" if channel else method]
        self._close(closed[0], seconds)
        others = [one for one in self._closed_until if one.startswith(f"{method} ")]
        if channel and sum(self._left(one) > 0 for one in others) >= CHANNELS_OF_A_WORKSPACE:
            closed.append(method)
            self._close(method, seconds)
        self._unshared.update(closed)
        try:
            await self._exchange()
        except StoreUnavailable as error:
            extra = {"action": "slack_limit_not_shared", "method": method, "detail": error.cause}
            logger.warning("a limit of Slack's is not stored yet", extra=extra)

    async def sync(self) -> None:
        """Read the limits that others met. Raises StoreUnavailable; known limits stay."""
        for name, shared in (await self._exchange()).items():
            seconds = min(shared, LONGEST_SECONDS)
            if seconds - self._left(name) > SYNC_SECONDS:
                extra = {"action": "slack_limit_shared", "method": name, "seconds": seconds}
                logger.info("another process met a limit of Slack's", extra=extra)
                self._close(name, seconds)

    def _left(self, name: str) -> float:
        return self._closed_until.get(name, 0.0) - asyncio.get_running_loop().time()

    def _close(self, name: str, seconds: float) -> None:
        until = asyncio.get_running_loop().time() + seconds
        self._closed_until[name] = max(until, self._closed_until.get(name, until))

    async def _exchange(self) -> Mapping[str, float]:
        if self._store is None:
            return {}
        names, self._unshared = self._unshared, set()
        left = {name: seconds for name in sorted(names) if (seconds := self._left(name)) > 0}
        try:
            return await self._store.run(_exchange, left)
        except StoreUnavailable:
            self._unshared |= names
            raise


def _exchange(transaction: Transaction, left: Mapping[str, float]) -> Mapping[str, float]:
    for name, seconds in left.items():
        transaction.expiring_keys.close(name, seconds)
    return transaction.expiring_keys.closed()
