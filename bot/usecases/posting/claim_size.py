"""How much is taken on in one transaction: less where transactions take long."""

from dataclasses import dataclass, field
from datetime import timedelta

_SMALLEST = 3
_BITS = 2


@dataclass(slots=True)
class ClaimSize:
    """What is claimed may be sent for a while only, and the transaction also reads what it says.

    Where machine and database are so slow that this alone takes most of the while, the same would
    be claimed again and again and nothing ever sent, unless it becomes less.
    """

    _steps: int = field(default=0, init=False)

    def of(self, most: int) -> int:
        """So many at present, where it is `most` as long as transactions are quick."""
        return max(1, most >> _BITS * self._steps)

    def learn(self, took: timedelta, may_take: timedelta) -> None:
        """How long the last transaction took, of the time until when what it claimed is sent."""
        step = 1 if 2 * took > may_take else -1
        self._steps = min(_SMALLEST, max(0, self._steps + step))
