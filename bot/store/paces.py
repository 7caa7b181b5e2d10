"""Limits how fast a person or machine sends requests: each process by itself, then all together."""

from collections.abc import Mapping, Sequence

from bot.kernel.bounded import Bounded
from bot.kernel.clock import Clock
from bot.store.slack_limits import SharedPaces
from bot.store.transaction import Transaction
from bot.store.transactions import Store

MOST_NAMES = 10_000

SHARED_FROM = 0.25
"""The part of its burst from which a name's requests are shared: ordinary use writes nothing."""


class Paces:
    """Lets each name send a burst of requests, and then one each so many seconds.

    Each process decides by itself, so that no request waits for the database. `share`, once a
    second, adds up what all of them let through. Between two of its runs, each process may let
    through a burst of its own.
    """

    def __init__(
        self,
        kind: str,
        burst: int,
        each_seconds: float,
        clock: Clock,
        most_names: int = MOST_NAMES,
    ) -> None:
        """`kind` distinguishes its names from those of others in the database."""
        self._kind = kind
        self._clock = clock
        self._each_seconds = each_seconds
        self._burst_seconds = burst * each_seconds
        self._free_at = Bounded[str, float](most_names)
        """When all of the burst is free again, by `clock.monotonic`."""
        self._unshared: dict[str, float] = {}
        """Seconds by which a name was set back here since the last exchange."""
        self._shared: frozenset[str] = frozenset()
        """The names that the last exchange told of, and those in one that takes place."""

    def admits(self, name: str) -> bool:
        """Whether the name may send a request now; if so, the request counts."""
        ahead = self._ahead(name)
        if ahead + self._each_seconds > self._burst_seconds:
            return False
        self._set(name, ahead + self._each_seconds)
        if ahead >= SHARED_FROM * self._burst_seconds:
            # The first time, all that it used before as well.
            used_before = 0.0 if name in self._shared else ahead
            unshared = self._unshared.get(name, used_before)
            self._unshared[name] = unshared + self._each_seconds
        return True

    def take_unshared(self) -> Mapping[str, float]:
        """The seconds by which the names' own requests since the last call set them back."""
        unshared = self._unshared
        self._unshared = {}
        # What they send while the exchange takes place is all that is new of them.
        self._shared = self._shared.union(unshared)
        return {f"{self._kind} {name}": seconds for name, seconds in unshared.items()}

    def learn(self, shared: Mapping[str, float]) -> None:
        """Set names back as far as all processes together have."""
        names = set()
        for key, seconds in shared.items():
            kind, _, name = key.partition(" ")
            if kind != self._kind:
                continue
            names.add(name)
            if seconds > self._ahead(name):
                self._set(name, seconds)
        self._shared = frozenset(names)

    def _ahead(self, name: str) -> float:
        """How many seconds of its burst are used."""
        now = self._clock.monotonic()
        return max(self._free_at.get(name, now) - now, 0.0)

    def _set(self, name: str, ahead: float) -> None:
        self._free_at[name] = self._clock.monotonic() + ahead


async def share(store: Store, all_paces: Sequence[Paces]) -> None:
    """Exchange with the other processes. Raises StoreUnavailable, and then forgets a second."""
    unshared: dict[str, float] = {}
    for paces in all_paces:
        unshared.update(paces.take_unshared())
    if unshared:
        shared = await store.run(_spend, unshared)
    else:
        shared = await store.read(_paces)
    for paces in all_paces:
        paces.learn(shared)


def _spend(transaction: Transaction, spent: Mapping[str, float]) -> Mapping[str, float]:
    for key, seconds in sorted(spent.items()):
        SharedPaces(transaction).spend(key, seconds)
    return SharedPaces(transaction).ahead()


def _paces(transaction: Transaction) -> Mapping[str, float]:
    return SharedPaces(transaction).ahead()
