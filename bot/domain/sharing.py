"""Which process looks after which repository, decided alike by every process."""

from collections.abc import Collection
from hashlib import blake2b

from bot.domain.repository import RepositoryName


def share_of(
    worker: str, workers: Collection[str], repositories: Collection[RepositoryName]
) -> frozenset[RepositoryName]:
    """The repositories of one of the workers; all together have each repository once.

    Nobody has more than the average, rounded up. When a worker comes or goes, little else changes
    hands: each repository has an order of the workers of its own, and goes to the first with room.
    """
    if worker not in workers:
        return frozenset()
    if len(workers) == 1:
        return frozenset(repositories)
    most = -(-len(repositories) // len(workers))
    room = dict.fromkeys(workers, most)
    ours = set()
    for name in sorted(repositories):
        first = max((one for one in room if room[one]), key=lambda one: _weight(one, name))
        room[first] -= 1
        if first == worker:
            ours.add(name)
    return frozenset(ours)


def _weight(worker: str, repository: RepositoryName) -> tuple[bytes, str]:
    digest = blake2b(f"{worker} {repository}".encode(), digest_size=8).digest()
    return digest, worker
