"""The port of the workers, in dictionaries."""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime

from typing_extensions import override

from bot.ports import Lease
from bot.ports.workers import POLL_LEASES, Workers

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class InMemoryWorkers(Workers):
    def __init__(self, alive: dict[str, datetime], leases: dict[str, Lease]) -> None:
        self._alive = alive
        self._leases = leases

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
