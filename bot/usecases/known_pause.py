"""Who made the pause that is in force, when it was made through this bot."""

from bot.domain.audit import Action
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import KnownPause
from bot.ports import Store

LOOKED_AT = 5


async def know_pause(
    store: Store, repository: RepositoryName, pause: Pause | None
) -> KnownPause | None:
    """The service knows no author of a pause; our record of the act with its very time does."""
    if pause is None:
        return None
    async with store.begin() as transaction:
        acts = await transaction.audit.latest(repository, Action.PAUSE, LOOKED_AT)
    unknown = KnownPause(pause)
    same = (act for act in acts if unknown.is_of(act.paused_at))
    return KnownPause(pause, next(same, None))
