"""What the store raises."""

from dataclasses import dataclass

from bot.kernel.errors import BotError


class StoreError(BotError):
    """The database failed to carry out an operation."""


@dataclass(eq=False)
class StoreUnavailable(StoreError):
    """The database can't be read or written now: locked, full, read-only or gone."""

    cause: str


class StoreUnusable(StoreUnavailable):
    """Retrying doesn't help: not our database, or changed by a newer version."""


@dataclass(eq=False)
class LeaseLost(StoreError):
    """The lease expired or another process took it; nothing was written."""

    name: str
