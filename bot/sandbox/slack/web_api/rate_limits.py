"""Slack's rate limits: calls a minute for each method, with a burst."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bot.sandbox.slack.web_api.methods.method import Method

RateLimits = Literal["posting", "all", "off"]
_POSTING = "chat.postMessage"
# Slack tolerates bursts and does not publish their size.
_POSTING_BURST = 100
# "Several hundred" a minute, says Slack.
_WORKSPACE_PER_MINUTE = 300
_EVERY_CHANNEL = "*"


@dataclass
class _Allowance:
    left: float
    counted_at: float
    a_second: float

    def seconds_to_wait(self) -> int:
        return 0 if self.left >= 1 else max(1, math.ceil((1 - self.left) / self.a_second))


class RateLimiter:
    """Lets calls through or says how long to wait.

    chat.postMessage counts for each channel, and for the workspace beside that.
    """

    def __init__(self, limits: RateLimits, monotonic: Callable[[], float]) -> None:
        self._limits = limits
        self._monotonic = monotonic
        self._allowances: dict[tuple[str, str], _Allowance] = {}

    def seconds_to_wait(self, name: str, method: Method, channel: str) -> int:
        """Count a call; 0 lets it through, else the whole seconds for `Retry-After`."""
        if self._limits == "off" or (self._limits == "posting" and name != _POSTING):
            return 0
        now = self._monotonic()
        if name != _POSTING:
            wanted = [self._allowance((name, ""), method.per_minute, method.per_minute, now)]
        else:
            per_minute = {channel: method.per_minute, _EVERY_CHANNEL: _WORKSPACE_PER_MINUTE}
            wanted = [
                self._allowance((name, each), _POSTING_BURST, rate, now)
                for each, rate in per_minute.items()
            ]
        wait = max(limit.seconds_to_wait() for limit in wanted)
        if not wait:
            for limit in wanted:
                limit.left -= 1
        return wait

    def _allowance(
        self, key: tuple[str, str], burst: int, per_minute: int, now: float
    ) -> _Allowance:
        known = self._allowances.setdefault(key, _Allowance(burst, now, per_minute / 60))
        known.left = min(burst, known.left + (now - known.counted_at) * known.a_second)
        known.counted_at = now
        return known
