"""Leases: how processes on one database share repositories and jobs."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import blake2b

from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class Lease:
    """An exclusive right until `expires_at`. Only the store makes one.

    `token` increases with every new holder, which exposes a former holder that slept.
    """

    name: str
    holder: str
    token: int
    expires_at: datetime


POLL_LEASES = "poll:"
"""Leases of this name and a repository's are shared out."""

WORKER_LEASES = "worker:"
"""A process holds the lease of this name and its own while it takes a share."""

JUMPS_KEPT = timedelta(days=30)
"""For how long a jump of a process's clock is remembered."""


class KeyKind(StrEnum):
    """The meaning of an expiring key."""

    REQUEST = "request"
    LIMIT = "limit"
    JUMP = "jump"
    OFFER = "offer"


KEY_BYTES = 8
KEYS = 2 ** (8 * KEY_BYTES) - 1
SPREAD = 0x9E3779B97F4A7C15
"""Odd, so that no two keys become one; its bits are those of the golden ratio, which spread any."""


def share_of(
    worker: str, workers: Collection[str], repositories: Collection[RepositoryName]
) -> frozenset[RepositoryName]:
    """The repositories of one worker; every repository belongs to exactly one worker.

    Nobody has more than the average, rounded up. A change of workers moves few repositories: each
    has its own order of the workers and goes to the first with room.
    """
    if worker not in workers:
        return frozenset()
    if len(workers) == 1:
        return frozenset(repositories)
    most = -(-len(repositories) // len(workers))
    room = dict.fromkeys(workers, most)
    with_room = {_key(one): one for one in workers}
    ours = set()
    for name in sorted(repositories):
        # A key per pair would need a digest per pair, which blocks the process for seconds with
        # 100,000 repositories and 20 workers.
        key = _key(name)
        first = max(((key ^ other) * SPREAD & KEYS, other) for other in with_room)[1]
        holder = with_room[first]
        room[holder] -= 1
        if not room[holder]:
            del with_room[first]
        if holder == worker:
            ours.add(name)
    return frozenset(ours)


def _key(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=KEY_BYTES).digest())
