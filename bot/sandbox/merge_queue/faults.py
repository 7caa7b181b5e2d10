"""Failures armed on purpose, and which requests they meet."""

from dataclasses import dataclass, field

KINDS = (
    "drop_after_accept",
    "drop_before",
    "error",
    "html_error",
    "slow",
    "rate_limit",
    "malformed",
    "truncate",
    "stale_cursor",
    "wrong_date",
    "endless_links",
)


@dataclass(slots=True)
class Fault:
    """A failure for the next `times` requests that match (None: until it is disarmed).

    kind: `drop_after_accept` does what was asked and closes without an answer; `drop_before`
    closes at once; `error` answers `status` with a JSON body, `html_error` with a page; `slow`
    waits `seconds` first; `rate_limit` answers 429 with `retry_after` as its header, sent as it
    is (seconds or a date; None: no header); `malformed` answers 200 with what is not JSON;
    `truncate` sends half of the true answer and closes; `stale_cursor` refuses any cursor with
    `status`; `wrong_date` gives the true answer, dated `seconds` ahead; `endless_links` answers
    with the first page of the log, for any cursor, and a link to one more.
    status: None is 500, or 422 for a stale cursor. body: what an `error` sends as JSON.
    path: part of the request path, "" for all. method: None for all.
    """

    kind: str
    path: str = ""
    method: str | None = None
    times: int | None = 1
    status: int | None = None
    seconds: float = 1.0
    retry_after: str | None = None
    body: object = None
    hits: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown fault {self.kind!r}; choose one of {', '.join(KINDS)}")

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
