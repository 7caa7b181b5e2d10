"""The port of Slack's limits, in a dictionary."""

from collections.abc import Mapping
from datetime import datetime

from typing_extensions import override

from bot.ports.slack_limits import SlackLimits


class InMemorySlackLimits(SlackLimits):
    def __init__(self, closed_until: dict[str, datetime]) -> None:
        self._closed_until = closed_until

    @override
    async def close(self, method: str, until: datetime) -> None:
        self._closed_until[method] = max(until, self._closed_until.get(method, until))

    @override
    async def closed(self, now: datetime) -> Mapping[str, datetime]:
        return {method: until for method, until in self._closed_until.items() if until > now}
