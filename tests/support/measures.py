"""Measures that tests read."""

from collections import Counter
from dataclasses import dataclass, field

from typing_extensions import override

from bot.ports import Count, Measures, Time


@dataclass
class KeptCounts(Measures):
    """What was counted, by what and its labels, and the lengths that were timed."""

    found: Counter[tuple[str, ...]] = field(default_factory=Counter)
    lengths: list[float] = field(default_factory=list)

    @override
    def count(self, what: Count, *labels: str, by: float = 1) -> None:
        self.found[what, *labels] += int(by)

    @override
    def time(self, what: Time, seconds: float) -> None:
        self.lengths.append(seconds)

    def of(self, what: Count) -> dict[tuple[str, ...], int]:
        """By the other labels."""
        return {one[1:]: count for one, count in self.found.items() if one[0] == what}
