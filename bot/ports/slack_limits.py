"""What processes tell each other of Slack's rate limits."""

from collections.abc import Mapping
from typing import Protocol


class SlackLimits(Protocol):
    """What Slack has closed to the app in its workspace for a while, by the database's clock.

    `name` is a method, or a method and the one channel that it is closed for.
    """

    async def close(self, name: str, seconds: float) -> None:
        """Nobody uses it for so long from now; a later end that is known already stays."""
        ...

    async def closed(self) -> Mapping[str, float]:
        """The names that are closed, and for how many more seconds."""
        ...
