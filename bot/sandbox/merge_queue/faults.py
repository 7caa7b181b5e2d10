"""Failures armed on purpose, and which requests they meet."""

from collections.abc import Mapping
from dataclasses import dataclass, field

EFFECTS: Mapping[str, str] = {
    "drop_before": "the connection closes before the request is carried out",
    "drop_after_accept": "carried out, then the connection closes without an answer",
    "error": "answers `status` with `body` as JSON",
    "html_error": "answers `status` with a page",
    "slow": "answers after `seconds`",
    "rate_limit": "429 with the text `retry_after` as `Retry-After`: seconds, a date, or null",
    "malformed": "200 with an answer that isn't JSON",
    "truncate": "the true answer, cut in half",
    "stale_cursor": "answers `status` to requests with a cursor",
    "wrong_date": "the true answer, dated `seconds` ahead",
    "endless_links": "always the first page of events, with a link to another",
}


@dataclass(slots=True)
class Fault:
    """A failure for the next `times` requests that match."""

    kind: str
    path: str = ""  #: part of the request path, "" for all
    method: str | None = None  #: None for all
    times: int | None = 1  #: None until it is disarmed
    status: int | None = None  #: None is 500, or 422 for a stale cursor
    seconds: float = 1.0
    retry_after: str | None = None
    body: object = None
    hits: int = 0

    def __post_init__(self) -> None:
        if self.kind not in EFFECTS:
            raise ValueError(f"unknown fault {self.kind!r}; choose one of {', '.join(EFFECTS)}")

    def meets(self, method: str, path: str) -> bool:
        if self.times is not None and self.hits >= self.times:
            return False
        return self.path in path and self.method in (None, method)


@dataclass(slots=True)
class ArmedFaults:
    """The faults armed at present, in the order of arming; the first that fits is met."""

    armed: list[Fault] = field(default_factory=list)

    def arm(self, fault: Fault) -> None:
        self.armed.append(fault)

    def disarm(self) -> None:
        self.armed.clear()

    def meet(self, method: str, path: str, *, has_cursor: bool) -> Fault | None:
        """Give the fault that this request meets, counting it."""
        for fault in self.armed:
            if fault.kind == "stale_cursor" and not has_cursor:
                continue
            if fault.meets(method, path):
                fault.hits += 1
                return fault
        return None
