"""Move a channel's data when Slack gives the channel another id."""

import logging
from dataclasses import dataclass

from bot.ports import Clock, Wake
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

ATTEMPTS = 60
"""A second apart: a claim of posts that are being sent lasts half as long."""


@dataclass(frozen=True, slots=True)
class RenameChannel:
    """Waits until nothing is being sent to the old id."""

    store: Store
    clock: Clock
    wake: Wake

    async def run(self, old: str, new: str) -> None:
        """Move the data; raises StoreError."""
        for _ in range(ATTEMPTS):
            if await self.store.run(
                lambda transaction: transaction.outbox.rename_channel(old, new)
            ):
                # Settings that name the old id would restore it at the next start.
                logger.warning("channel id changed", extra=_fields("channel_renamed", old, new))
                self.wake()
                return
            await self.clock.sleep(1)
        logger.error("channel id not changed", extra=_fields("channel_not_renamed", old, new))


def _fields(action: str, old: str, new: str) -> dict[str, str]:
    return {"action": action, "channel": old, "new_channel": new}
