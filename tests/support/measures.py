"""Measures that tests read."""

from collections import Counter
from dataclasses import dataclass, field

from typing_extensions import override

from bot.ports import Count, Measures


@dataclass
class KeptCounts(Measures):
    """What was counted, by what and its labels."""

    found: Counter[tuple[str, ...]] = field(default_factory=Counter)

    @override
    def count(self, what: Count, *labels: str, by: float = 1) -> None:
        self.found[what, *labels] += int(by)

    def of(self, what: Count) -> dict[tuple[str, ...], int]:
        """By the other labels."""
        return {one[1:]: count for one, count in self.found.items() if one[0] == what}
