"""Failures armed on purpose, and which requests they meet."""

from collections.abc import Mapping
from dataclasses import dataclass, field

EFFECTS: Mapping[str, str] = {
    "drop_before": "the connection closes before the request is carried out",
    "drop_after_accept": "carried out, then the connection closes without an answer",
    "error": "answers `status` with `body` as JSON",
    "html_error": "answers `status` with a page, as a gateway does",
    "slow": "answers after `seconds`",
    "rate_limit": "429 with the text `retry_after` as `Retry-After`: seconds, a date, or null",
    "malformed": "200 with an answer that isn't JSON",
    "truncate": "the true answer, cut in half",
    "stale_cursor": "answers `status` to requests with a cursor",
    "wrong_date": "the true answer, dated `seconds` ahead",
    "endless_links": "always the first page of events, with a link to another",
}
ANSWERED_FALSELY = frozenset({"error", "html_error", "malformed"})
"""Those whose answer says nothing of the request, so that it may be carried out first."""


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
    #: the request is carried out first: a gateway's 502 or 504 is about the answer that it waited
    #: for, not about the request (RFC 9110, 15.6)
    carried_out: bool = False
    hits: int = 0

    def __post_init__(self) -> None:
        if self.kind not in EFFECTS:
            raise ValueError(f"unknown fault {self.kind!r}; choose one of {', '.join(EFFECTS)}")
        if self.carried_out and self.kind not in ANSWERED_FALSELY:
            kinds = ", ".join(sorted(ANSWERED_FALSELY))
            raise ValueError(f"carried_out is a field of: {kinds}")

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

    def disarm(self, only: Fault | None = None) -> None:
        """Disarm all faults, or one of them."""
        self.armed = [fault for fault in self.armed if only is not None and fault is not only]

    def meet(self, method: str, path: str, *, has_cursor: bool) -> Fault | None:
        """Give the fault that this request meets, counting it."""
        for fault in self.armed:
            if fault.kind == "stale_cursor" and not has_cursor:
                continue
            if fault.meets(method, path):
                fault.hits += 1
                return fault
        return None
