"""The port of Slack's limits, in a dictionary."""

import time
from collections.abc import Mapping

from typing_extensions import override

from bot.ports.slack_limits import SlackLimits


class InMemorySlackLimits(SlackLimits):
    """By this machine's clock, as a database has one of its own."""

    def __init__(self, closed_until: dict[str, float]) -> None:
        self._closed_until = closed_until

    @override
    async def close(self, name: str, seconds: float) -> None:
        until = time.monotonic() + seconds
        self._closed_until[name] = max(until, self._closed_until.get(name, until))

    @override
    async def closed(self) -> Mapping[str, float]:
        now = time.monotonic()
        return {name: until - now for name, until in self._closed_until.items() if until > now}
