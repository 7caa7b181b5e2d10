"""How far a repository's event log is known to reach, in the service's own clock."""

from datetime import datetime

from bot.domain.repository import RepositoryName
from bot.ports import Clock
from bot.store.transactions import Store


async def newest_known(store: Store, clock: Clock, repository: RepositoryName) -> datetime:
    """Our now for a repository whose log was never read."""
    positions = await store.run(lambda transaction: transaction.positions.load([repository]))
    position = positions.get(repository)
    return position.watermark if position is not None else clock.now()
