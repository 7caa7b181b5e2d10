"""A diagnosis: what keeps a queue from merging, each cause with its evidence."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar

from bot.doctor.facts import QueueFacts, ServiceProblem
from bot.doctor.past import UsualPace
from bot.freezes.freeze import Freeze
from bot.merge_queue.queue import Obstacle, QueuedPullRequest
from bot.pauses.pause import PauseRecord
from bot.queues.estimate import NO_OUTLOOK, Outlook


class QueueVerdict(StrEnum):
    """Why nothing merges, or why it is slow, in the order in which the rules are tried."""

    NO_ANSWER = "no_answer"  #: the service is silent or refuses
    PAUSED = "paused"
    FROZEN = "frozen"  #: or outside the hours of merging
    MISCONFIGURED = "misconfigured"
    EMPTY = "empty"  #: nothing is queued
    SAME_CHECK = "same_check"  #: every batch fails at the same check
    MANY_CHECKS = "many_checks"  #: many different checks fail
    COMES_BACK = "comes_back"  #: one pull request fails again and again
    HELD = "held"  #: one pull request that can't advance blocks others
    NEVER_START = "never_start"  #: checks don't start
    START_LATE = "start_late"  #: checks start late: runners
    HANGS = "hangs"  #: a check runs far longer than usual
    DONE = "done"  #: the checks are done and nothing happens
    RESTARTED = "restarted"  #: by pushes, requeues, priorities or merges around the queue
    NORMAL = "normal"  #: it merges as usual, if slowly
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class NoStatus:
    """The service is silent or refuses."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.NO_ANSWER
    problem: ServiceProblem


@dataclass(frozen=True, slots=True)
class Paused:
    """The queue is paused."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.PAUSED
    pause: PauseRecord | None  #: None if only the status says that it is paused

    @property
    def since(self) -> datetime | None:
        return self.pause.since if self.pause is not None else None


@dataclass(frozen=True, slots=True)
class Frozen:
    """The queue is frozen, or outside the hours in which it merges."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.FROZEN
    freezes: tuple[Freeze, ...]  #: those in force that hold the head; may be empty
    is_outside_hours: bool  #: the service says that the head waits for its schedule

    @property
    def since(self) -> datetime | None:
        begun = [freeze.begins_at for freeze in self.freezes if freeze.begins_at is not None]
        return min(begun, default=None)


@dataclass(frozen=True, slots=True)
class Misconfigured:
    """The repository's configuration is invalid."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.MISCONFIGURED
    code: str | None  #: the service's code with which pull requests left
    said: str  #: its own words
    left: tuple[int, ...]  #: the pull requests that left for it
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing is queued."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.EMPTY


@dataclass(frozen=True, slots=True)
class SameCheck:
    """Every batch fails at the same check."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.SAME_CHECK
    names: tuple[str, ...]  #: the checks that failed in every batch
    batches: int
    pull_requests: int  #: the different ones in these batches
    since: datetime
    passed_at: datetime | None  #: when checks last passed, if known
    passed: tuple[int, ...]  #: and the pull requests of that batch
    run: str  #: the address of its last failed run; empty if the service gives none


@dataclass(frozen=True, slots=True)
class ManyChecks:
    """Many checks fail at random."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.MANY_CHECKS
    names: tuple[str, ...]  #: those that failed most often first
    pull_requests: int
    passed: int  #: how many passed their checks or merged in the same time
    since: datetime


@dataclass(frozen=True, slots=True)
class ComesBack:
    """One pull request comes back again and again."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.COMES_BACK
    number: int
    times: int  #: how often its checks failed, or it left
    since: datetime
    names: tuple[str, ...]  #: the checks that failed each time
    is_queued: bool
    code: str | None = None  #: the service's, with which it left last; None for failed checks


@dataclass(frozen=True, slots=True)
class StuckBehindOne:
    """One pull request that can't advance blocks others."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.HELD
    number: int
    obstacle: Obstacle
    blocked: tuple[int, ...]  #: the pull requests that wait for it


class NotStarted(StrEnum):
    """How checks fail to start."""

    REFUSED = "refused"  #: the service says that it couldn't start them
    NO_CHECK = "no_check"  #: a batch is being tested, and no check has shown up
    NO_BATCH = "no_batch"  #: nothing is being tested although pull requests wait


@dataclass(frozen=True, slots=True)
class NeverStart:
    """Checks don't start."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.NEVER_START
    how: NotStarted
    number: int
    since: datetime
    times: int = 0  #: how often the service tried
    said: str = ""  #: its words


@dataclass(frozen=True, slots=True)
class StartLate:
    """Checks start late."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.START_LATE
    batches: int
    waited: timedelta  #: until their first check, or so far without one that passed
    usual: timedelta
    is_over: bool  #: measured on runs that ended; else on those under way
    since: datetime


@dataclass(frozen=True, slots=True)
class Hangs:
    """Checks run far longer than usual."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.HANGS
    number: int
    names: tuple[str, ...]  #: the checks without a result
    since: datetime
    times_out_at: datetime | None


@dataclass(frozen=True, slots=True)
class Done:
    """The checks are done and nothing happens."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.DONE
    number: int
    since: datetime | None  #: when its checks ended, if known
    unmet: tuple[str, ...]  #: the conditions of its rule that aren't met


class Restart(StrEnum):
    """Why checks started over although they hadn't failed."""

    PUSH = "push"  #: somebody pushed to a queued pull request or to a batch
    REQUEUE = "requeue"  #: somebody took out a pull request and queued it again right away
    REMOVAL = "removal"  #: somebody took out a pull request ahead
    PRIORITY = "priority"  #: a pull request with a higher priority came first
    MERGE = "merge"  #: somebody merged or pushed to the base branch around the queue


@dataclass(frozen=True, slots=True)
class RestartCause:
    """One cause, and what it rests on."""

    kind: Restart
    times: int
    numbers: tuple[int, ...]  #: the pull requests pushed, queued, taken out or merged, if known


@dataclass(frozen=True, slots=True)
class Restarted:
    """Checks start over again and again."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.RESTARTED
    times: int
    causes: tuple[RestartCause, ...]  #: the most frequent first
    since: datetime
    said: str  #: the service's words for the last one; empty if it has none


@dataclass(frozen=True, slots=True)
class Normal:
    """It merges as usual, if slowly."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.NORMAL


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can tell."""

    verdict: ClassVar[QueueVerdict] = QueueVerdict.UNKNOWN


Finding = (
    NoStatus
    | Paused
    | Frozen
    | Misconfigured
    | Empty
    | SameCheck
    | ManyChecks
    | ComesBack
    | StuckBehindOne
    | NeverStart
    | StartLate
    | Hangs
    | Done
    | Restarted
    | Normal
    | Unknown
)


@dataclass(frozen=True, slots=True)
class Seen:
    """How the queue stands, whatever the cause: the evidence that goes with every verdict."""

    queued: int
    head: QueuedPullRequest | None
    head_code: str | None  #: the service's code for its batch; None for no batch
    tested_since: datetime | None  #: when the checks of its batch began
    passed: int  #: of the `total` checks of its batch
    total: int
    merged_at: datetime | None  #: the last merge on its branch in the last day
    merged: int | None  #: and the pull request
    waited: timedelta | None  #: how long something could have merged; None for an empty queue
    is_wait_known: bool  #: False if it may be longer
    are_merges_read: bool  #: False if the log may lack the latest
    is_log_fresh: bool
    failed_runs: int  #: of checks, lately, since one passed or merged
    failed_checks: tuple[str, ...]  #: in these; empty if the service names none
    past: UsualPace


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One or more causes, the first of which is the headline."""

    facts: QueueFacts
    at: datetime
    findings: tuple[Finding, ...]
    seen: Seen
    #: when merges are to be expected, for a queue that merges normally and was asked about
    outlook: Outlook = NO_OUTLOOK

    @property
    def first(self) -> Finding:
        return self.findings[0]

    @property
    def is_stalled(self) -> bool:
        """Whether nothing has merged for longer than usual, whatever the cause."""
        seen = self.seen
        if seen.waited is None or not seen.are_merges_read:
            return False
        return seen.waited > seen.past.merge.limit

    @property
    def verdicts(self) -> tuple[QueueVerdict, ...]:
        return tuple(finding.verdict for finding in self.findings)


@dataclass(frozen=True, slots=True)
class QueueCause:
    """Why nothing merges, in words that are safe to show."""

    verdict: QueueVerdict
    said: str  #: a clause
    evidence: str = ""  #: sentences about it
