"""What processes that share repositories out need to know of each other."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
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

    async def clock_jumped(self, at: datetime, jump: timedelta) -> None:
        """Remember for a month that a process's clock was set ahead, or back, to show `at`."""
        ...

    async def clock_jumps(self, since: datetime) -> Sequence[tuple[datetime, timedelta]]:
        """Those remembered, in whole seconds, the latest first."""
        ...


JUMPS_KEPT = timedelta(days=30)

POLL_LEASES = "poll:"
"""Leases of this name and a repository's are shared out."""
