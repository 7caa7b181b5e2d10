"""Everything the simulated service knows, as plain values."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.sandbox.merge_queue.simulation.event_log import EventLog
from bot.sandbox.merge_queue.simulation.moments import Moment

MEDIUM_PRIORITY = 2000
TITLES_REMEMBERED = 30
PRIORITY_ALIASES = {1000: "low", MEDIUM_PRIORITY: "medium", 3000: "high"}

Condition = str | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Person:
    """An account of the source-hosting platform."""

    id: int
    login: str


@dataclass(frozen=True, slots=True)
class Actor:
    """Who paused or froze: a person (`user`, integer id) or an application (uuid id)."""

    type: str
    id: int | str
    name: str


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """One CI check of a repository, with the shortest and longest time it takes in seconds."""

    name: str
    shortest: float
    longest: float


@dataclass(slots=True)
class Check:
    """One CI result of a run. `ends_at` is None when it would never end.

    One that is not required may fail without ending the run.
    """

    name: str
    url: str
    ends_at: Moment | None
    state: str = "pending"
    is_required: bool = True


@dataclass(frozen=True, slots=True)
class QueueRule:
    """A named configuration of the queue; durations in seconds.

    `max_splits` is the document's `batch_max_failure_resolution_attempts`: None means no limit.
    `merge_hours` are the hours of the day (UTC, end excluded) in which merging is allowed.
    """

    name: str
    batch_size: int = 1
    batch_max_wait: float = 30
    checks_timeout: float = 3600
    max_splits: int | None = None
    max_retries: int = 0
    merge_hours: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PriorityRule:
    """Pull requests with `label` get this priority (1 to 10000)."""

    name: str
    label: str
    priority: int
    interrupts: bool = False


@dataclass(slots=True)
class PullRequest:
    """An open pull request, with what its checks will turn out to be.

    `broken_check` names the check that fails whenever this pull request is part of the run, as
    often as `broken_runs` says (None: always), and `broken_state` how it ends; `optional_check`
    names a further one that fails and is not required; `hangs` makes the checks last for ever; the
    checks of a `steady` one never fail by chance. `stacked_on` is the one that it builds on,
    `waits_for` one that the status says it depends on.
    """

    number: int
    title: str
    author: Person
    base_ref: str
    head_sha: str
    labels: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    broken_check: str | None = None
    broken_runs: int | None = None
    broken_state: str = "failure"
    optional_check: str | None = None
    hangs: bool = False
    conflict: str | None = None
    steady: bool = False
    stacked_on: int | None = None
    waits_for: int | None = None


@dataclass(slots=True, eq=False)
class QueuedPullRequest:
    """One stay of a pull request in the queue; a later stay has another `session_id`."""

    pull: PullRequest
    session_id: str
    queued_at: Moment
    rule: QueueRule
    priority: int = MEDIUM_PRIORITY
    priority_rule_name: str | None = None
    retries: int = 0
    frozen_since: Moment | None = None
    frozen_for: int = 0
    schedule_since: Moment | None = None
    schedule_for: int = 0
    runs: int = 0
    dequeue_requested: bool = False

    @property
    def number(self) -> int:
        return self.pull.number

    @property
    def priority_alias(self) -> str:
        return PRIORITY_ALIASES.get(self.priority, str(self.priority))


@dataclass(slots=True, eq=False)
class Batch:
    """Pull requests checked together; also a sub-batch, when it hangs below another one.

    `verdict` is None until the run ends, then `success`, `failure`, `cancelled` or `timed_out`.
    `split_of` is the sub-batch that failed and was split into this one and others.
    """

    id: str
    name: str
    rule: QueueRule
    members: list[QueuedPullRequest]
    parent_ids: list[str]
    code: str
    max_start_at: Moment | None = None
    ready_at: Moment | None = None
    started_at: Moment | None = None
    ended_at: Moment | None = None
    verdict: str | None = None
    checks: list[Check] = field(default_factory=list)
    tested: list[QueuedPullRequest] = field(default_factory=list)
    check_pull_request: int | None = None
    in_place: bool = False
    merge_at: Moment | None = None
    sub_batches: list["Batch"] | None = None
    split_of: "Batch | None" = None
    splits: int = 0
    retrying: bool = False
    shown_until: Moment | None = None

    @property
    def is_running(self) -> bool:
        return self.started_at is not None and self.ended_at is None

    @property
    def has_failed(self) -> bool:
        return self.verdict in ("failure", "cancelled", "timed_out")


@dataclass(slots=True)
class Line:
    """One line of pull requests: batches in merging order, then waiting pull requests.

    A base branch has one line, or several that don't wait for each other (`Repository.mode`).
    `gone` holds batches that merged or failed a moment ago, which the status still shows.
    """

    base_ref: str
    waiting: list[QueuedPullRequest] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    gone: list[Batch] = field(default_factory=list)
    hiccups: int = 0

    def queued(self) -> Iterator[QueuedPullRequest]:
        """Yield every queued pull request in order, each once."""
        for batch in self.batches:
            yield from batch.members
        yield from self.waiting

    def runs(self) -> Iterator[Batch]:
        """Yield every batch and sub-batch whose checks run."""
        for batch in self.batches:
            if batch.is_running:
                yield batch
            yield from (part for part in batch.sub_batches or () if part.is_running)


@dataclass(frozen=True, slots=True)
class Pause:
    """The pause of a repository's queue."""

    reason: str
    paused_at: Moment


@dataclass(frozen=True, slots=True)
class Freeze:
    """A scheduled freeze: merging of what matches is held from `start` until `end`."""

    id: str
    reason: str
    start: Moment
    end: Moment | None = None
    timezone: str = "UTC"
    matching_conditions: tuple[Condition, ...] = ()
    exclude_conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Tempo:
    """How lively a repository is. Shares are between 0 and 1; durations in seconds."""

    arrival: float | None
    checks: tuple[CheckPlan, ...]
    broken: float = 0.0
    hanging: float = 0.0
    conflicting: float = 0.0
    flaky: float = 0.0
    urgent: float = 0.0
    regretted: float = 0.0
    pushed: float = 0.0
    fixed: float = 0.6
    hiccups: float = 0.0
    release: float = 0.2
    queue_limit: int = 40


@dataclass(frozen=True, slots=True)
class Plan:
    """Something a person will do at a moment: `enter`, `dequeue`, `push`; `leave` is a removal."""

    at: Moment
    act: str
    number: int
    pull: PullRequest | None = None


@dataclass(slots=True)
class Repository:
    """One repository and its merge queue.

    `mode` is the hosted service's `merge_queue.mode`
    (https://docs.mergify.com/merge-queue/queue-modes/): `serial`, one line for each base branch;
    `parallel`, one for each set of scopes; `isolated`, one for each pull request, as no batch
    depends on another.
    """

    name: str
    host: str
    tempo: Tempo
    rules: tuple[QueueRule, ...]
    priority_rules: tuple[PriorityRule, ...]
    rule_of_branch: dict[str, str]
    log: EventLog
    mode: str = "serial"
    max_parallel_checks: int = 5
    lines: dict[str, Line] = field(default_factory=dict)
    pause: Pause | None = None
    freezes: list[Freeze] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    next_arrival_at: Moment | None = None
    next_number: int = 1
    configuration_error: str | None = None
    latest_titles: deque[str] = field(default_factory=lambda: deque(maxlen=TITLES_REMEMBERED))
    """Of pull requests, so that the next ones have others."""

    def line(self, base_ref: str) -> Line:
        """Give the line of a base branch, opening it when it is the first time."""
        return self.lines.setdefault(base_ref, Line(base_ref))

    def line_for(self, pull: PullRequest) -> Line:
        """Give the line that a pull request joins; drop empty ones of the other modes."""
        if self.mode == "serial":
            return self.line(pull.base_ref)
        self.lines = {
            name: line
            for name, line in self.lines.items()
            if name == line.base_ref or line.batches or line.waiting or line.gone
        }
        name = " ".join(sorted(pull.scopes)) if self.mode == "parallel" else f"#{pull.number}"
        return self.lines.setdefault(f"{pull.base_ref} {name}", Line(pull.base_ref))

    def rule_for(self, base_ref: str, labels: tuple[str, ...]) -> QueueRule:
        """Choose the queue rule: one named by a label, else the branch's, else the last."""
        by_name = {rule.name: rule for rule in self.rules}
        for label in labels:
            if label in by_name:
                return by_name[label]
        return by_name.get(self.rule_of_branch.get(base_ref, ""), self.rules[-1])


@dataclass(slots=True)
class Service:
    """All repositories, on one clock. Durations are divided by `speed`.

    `pause_lag` is the time from a pause to the moment at which the log receives its event, and
    `removal_lag` the time from a removal asked through the API to the leave.
    Without `logs_pauses` the log has no events of pauses at all. Before `nothing_until` time alone
    changes nothing; None when that has to be found out.
    """

    now: Moment
    speed: float = 1.0
    pause_lag: Moment = 0
    removal_lag: Moment = 0
    logs_pauses: bool = True
    repositories: dict[str, Repository] = field(default_factory=dict)
    nothing_until: Moment | None = None
    next_event_id: int = 1
    last_received_at: Moment = 0
