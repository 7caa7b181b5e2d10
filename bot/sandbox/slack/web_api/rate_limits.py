"""Slack's rate limits: so many calls a minute for each method, with a burst let through."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bot.sandbox.slack.web_api.methods.method import Method

RateLimits = Literal["posting", "all", "off"]
_POSTING = "chat.postMessage"
# Slack tolerates bursts and does not publish their size.
_POSTING_BURST = 100


@dataclass
class _Allowance:
    left: float
    counted_at: float


class RateLimiter:
    """Lets calls through or says how long to wait; chat.postMessage counts for each channel."""

    def __init__(self, limits: RateLimits, monotonic: Callable[[], float]) -> None:
        self._limits = limits
        self._monotonic = monotonic
        self._allowances: dict[tuple[str, str], _Allowance] = {}

    def seconds_to_wait(self, name: str, method: Method, channel: str) -> int:
        """Count a call; 0 lets it through, else the whole seconds for `Retry-After`."""
        if self._limits == "off" or (self._limits == "posting" and name != _POSTING):
            return 0
        posting = name == _POSTING
        burst = _POSTING_BURST if posting else method.per_minute
        now = self._monotonic()
        key = (name, channel if posting else "")
        allowance = self._allowances.setdefault(key, _Allowance(burst, now))
        a_second = method.per_minute / 60
        earned = (now - allowance.counted_at) * a_second
        allowance.left = min(burst, allowance.left + earned)
        allowance.counted_at = now
        if allowance.left < 1:
            return max(1, math.ceil((1 - allowance.left) / a_second))
        allowance.left -= 1
        return 0
