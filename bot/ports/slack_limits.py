"""What processes tell each other of Slack's rate limits."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol


class SlackLimits(Protocol):
    """The methods of Slack's Web API that are closed to the app in its workspace for a while."""

    async def close(self, method: str, until: datetime) -> None:
        """Nobody is to call it before; a later time that is known already stays."""
        ...

    async def closed(self, now: datetime) -> Mapping[str, datetime]:
        """Those that are closed still, and until when."""
        ...
