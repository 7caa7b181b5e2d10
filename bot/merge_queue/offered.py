"""What the service was found to offer."""

import math
from dataclasses import dataclass
from typing import Generic, TypeVar

from bot.kernel.clock import Clock

T = TypeVar("T")

BELIEVED_SECONDS = (
    300.0  # A gateway may have given the answers that show that something is missing.
)


@dataclass(slots=True)
class Offered(Generic[T]):
    """What the service was found to offer, for all clients of it, and whether to ask again."""

    clock: Clock
    value: T
    known_until: float = -math.inf

    @property
    def is_known(self) -> bool:
        return self.clock.monotonic() < self.known_until

    def learn(self, value: T, *, is_offered: bool) -> None:
        """Use it from now on; if it isn't offered, only for some minutes."""
        self.value = value
        self.known_until = math.inf if is_offered else self.clock.monotonic() + BELIEVED_SECONDS
