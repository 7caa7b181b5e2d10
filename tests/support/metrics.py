"""What a bot's metrics have counted and timed."""

from prometheus_client import Counter, Histogram
from typing_extensions import override


def counted(counter: Counter) -> dict[tuple[str, ...], float]:
    """The counts that are not zero, by the values of their labels."""
    return {
        tuple(sample.labels.values()): sample.value
        for family in counter.collect()
        for sample in family.samples
        if sample.name.endswith("_total") and sample.value
    }


class KeptTimes(Histogram):
    """A histogram that also keeps each of its times."""

    def __init__(self) -> None:
        super().__init__("kept_seconds", "Times that a test reads", registry=None)
        self.seconds: list[float] = []

    @override
    def observe(self, amount: float, exemplar: dict[str, str] | None = None) -> None:
        self.seconds.append(amount)
