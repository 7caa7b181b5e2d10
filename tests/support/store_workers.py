"""The port of the workers, in dictionaries."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from typing_extensions import override

from bot.ports import Lease
from bot.ports.workers import JUMPS_KEPT, POLL_LEASES, Workers

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class InMemoryWorkers(Workers):
    def __init__(
        self,
        alive: dict[str, datetime],
        leases: dict[str, Lease],
        clock_jumps: dict[datetime, timedelta],
    ) -> None:
        self._alive = alive
        self._leases = leases
        self._clock_jumps = clock_jumps

    @override
    async def announce(self, holder: str, *, now: datetime, until: datetime) -> Collection[str]:
        self._alive[holder] = until
        for gone in [one for one, end in self._alive.items() if end <= now]:
            del self._alive[gone]
            for name, lease in self._leases.items():
                if lease.holder == gone and name.startswith(POLL_LEASES):
                    self._leases[name] = replace(lease, expires_at=LONG_AGO)
        return frozenset(self._alive)

    @override
    async def leave(self, holder: str) -> None:
        self._alive.pop(holder, None)

    @override
    async def clock_jumped(self, at: datetime, jump: timedelta) -> None:
        for old in [one for one in self._clock_jumps if one < at - JUMPS_KEPT]:
            del self._clock_jumps[old]
        self._clock_jumps[at] = timedelta(seconds=round(jump.total_seconds()))

    @override
    async def clock_jumps(self, since: datetime) -> Sequence[tuple[datetime, timedelta]]:
        known = sorted(self._clock_jumps.items(), reverse=True)
        return [(at, jump) for at, jump in known if at >= since]
