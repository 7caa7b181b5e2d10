"""What processes that share repositories out need to know of each other."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol


class Workers(Protocol):
    """The processes that follow event logs, each with a time until which it counts as alive."""

    async def announce(self, holder: str, *, now: datetime, until: datetime) -> Collection[str]:
        """Say that one is alive; return who is, with oneself.

        Those whose time has passed are forgotten, and their leases of names that begin with
        POLL_LEASES end: they are dead, or hang, and a fencing token stops them if they go on.
        """
        ...

    async def leave(self, holder: str) -> None:
        """Nothing happens when it is not known."""
        ...


POLL_LEASES = "poll:"
"""Leases of this name and a repository's are shared out."""
