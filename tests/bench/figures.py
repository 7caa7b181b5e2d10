"""The result of a measurement: ours, the floor, their ratio and its goal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured: `rounds` of each program, by turns."""

    rounds: int
    quick: bool = False

    def scaled(self, full: int, quick: int) -> int:
        return quick if self.quick else full


FULL = Extent(rounds=5)
QUICK = Extent(rounds=1, quick=True)

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    `floor` is None where the goal is a figure and not a ratio, `goal` where two programs that do
    different things are shown side by side.
    """

    what: str
    unit: str
    ours: float
    floor: float | None
    ratio: float
    goal: float | None
    more_is_better: bool = False

    @property
    def is_missed(self) -> bool:
        if self.goal is None:
            return False
        return self.ratio < self.goal if self.more_is_better else self.ratio > self.goal

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return "missed" if self.is_missed else "met"

    @property
    def goal_text(self) -> str:
        if self.goal is None:
            return "none"
        return f"{'≥' if self.more_is_better else '≤'} {self.goal:g}"


@dataclass(frozen=True, slots=True)
class Rounds:
    """The figures of both programs, whose rounds alternate."""

    ours: Sequence[Figures]
    floor: Sequence[Figures]

    def row(
        self, what: str, name: str, *, unit: str, goal: float | None, more_is_better: bool = False
    ) -> Row:
        """Medians over the rounds; the ratio is the median of the rounds' own ratios."""
        pairs = [(a[name], b[name]) for a, b in zip(self.ours, self.floor, strict=True)]
        return Row(
            what,
            unit,
            median(a for a, _ in pairs),
            median(b for _, b in pairs),
            median(a / b for a, b in pairs),
            goal,
            more_is_better,
        )
