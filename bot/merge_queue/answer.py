"""One answer of the service, as bytes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers by lower-case name, body. The body stays out of `repr` and so of logs.

    `received_at` is our clock.
    """

    status: int
    received_at: datetime
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)

    def header(self, name: str) -> str | None:
        """The first field of this lower-case name."""
        fields = self.headers.get(name)
        return fields[0] if fields else None


def collect_headers(pairs: Iterable[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    """Header fields by lower-case name, in their order."""
    collected: dict[str, tuple[str, ...]] = {}
    for name, text in pairs:
        lower = name.lower()
        collected[lower] = (*collected.get(lower, ()), text)
    return collected
