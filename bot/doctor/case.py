"""The case of one queue: what the rules look at, worked out once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.doctor.attempts import Attempt, attempts, of_branch
from bot.doctor.diagnosis import Seen
from bot.doctor.facts import EXAMINED_TYPES, Log, QueueFacts
from bot.doctor.past import UsualPace, gaps, usual_pace
from bot.freezes.freeze import Freeze
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import (
    CHECKS_END,
    CHECKS_START,
    ENTER,
    LEAVE,
    MERGED,
    CodeClass,
    class_of,
)
from bot.merge_queue.queue import (
    Batch,
    BatchStatusCode,
    ObstacleKind,
    QueuedPullRequest,
    QueueStatus,
)

LOG_IS_FRESH = timedelta(minutes=5)
"""A log read longer ago may lack the latest merges."""

BETWEEN_RUNS = timedelta(minutes=15)
"""A batch may wait so long for more pull requests before the next run begins."""

SLOW_MERGES = 3

MADE_TO_WAIT = frozenset({BatchStatusCode.FROZEN, BatchStatusCode.WAITING_SCHEDULE})
BY_HAND = "PR_MANUALLY_MERGED"


@dataclass(frozen=True, slots=True)
class Head:
    """The pull request that everything else waits for, and its batch, if it is in one."""

    pull_request: QueuedPullRequest
    batch: Batch | None


@dataclass(frozen=True, slots=True)
class Case:
    """One queue at one time."""

    facts: QueueFacts
    at: datetime
    queued: Sequence[QueuedPullRequest]
    live: Sequence[Batch]  #: the batches that are neither merged nor failed
    leads: Sequence[Batch]  #: those of them that are built on no other
    head: Head | None
    branch: str | None  #: the head's base branch; None if no event names it
    merges: Sequence[EventRecord]  #: on that branch, oldest first
    attempts: Sequence[Attempt]  #: on that branch, oldest first
    past: UsualPace

    @property
    def status(self) -> QueueStatus | None:
        return self.facts.status

    @property
    def is_paused(self) -> bool:
        says_so = self.status is not None and bool(self.status.paused)
        return says_so or self.facts.pause is not None

    @property
    def may_be_paused(self) -> bool:
        """Whether a pause would explain it that nothing happens."""
        return self.is_paused or not self.facts.is_pause_known

    @property
    def holding(self) -> Sequence[Freeze]:
        """The freezes that surely keep the head from merging."""
        return [freeze for freeze in self.facts.freezes if freeze.holds(self.branch)]

    @property
    def is_frozen(self) -> bool:
        """Whether a freeze or a schedule keeps all that could merge from merging."""
        if self.holding:
            return True
        if self.leads:
            return all(batch.status.code in MADE_TO_WAIT for batch in self.leads)
        return bool(self.queued) and all(queued.is_frozen for queued in self.queued)

    @property
    def is_stopped(self) -> bool:
        """Whether somebody wants nothing to merge, as far as known."""
        return self.may_be_paused or self.is_frozen

    @property
    def is_log_fresh(self) -> bool:
        read_at = self.facts.log.read_at
        return read_at is not None and self.at - read_at <= LOG_IS_FRESH

    @property
    def are_merges_read(self) -> bool:
        """Whether a merge that isn't in the log didn't happen."""
        log = self.facts.log
        return self.is_log_fresh and (log.reads(MERGED) or log.reads(LEAVE))

    @property
    def merged_at(self) -> datetime | None:
        return self.merges[-1].received_at if self.merges else None

    @property
    def waits_since(self) -> datetime | None:
        """Since when something could have merged and hasn't; None for an empty queue."""
        if self.head is None:
            return None
        times = [self.head.pull_request.queued_at, self.merged_at, self.facts.released_at]
        return max(at for at in times if at is not None)

    @property
    def is_wait_known(self) -> bool:
        """Whether the log reaches back to the last merge, or to when the head was queued."""
        since = self.facts.log.since
        if self.head is None or self.merged_at is not None:
            return True
        return since is not None and since <= self.head.pull_request.queued_at

    @property
    def waited(self) -> timedelta:
        """How long nothing has merged, or longer, where the log doesn't reach back so far."""
        times = [self.waits_since or self.at]
        if not self.is_wait_known:
            times.append(self.facts.log.since or self.at)
        return self.at - max(times)

    @property
    def is_long(self) -> bool:
        """Whether nothing has merged for longer than usual, as far as the log shows."""
        return self.waited > self.past.merge.limit

    @property
    def is_slow(self) -> bool:
        """Whether each of the last merges took longer than usual."""
        last = list(gaps(self.merges[-SLOW_MERGES - 1 :], self.facts.releases))
        return len(last) >= SLOW_MERGES and min(last) > self.past.merge.limit

    @property
    def is_one_branch(self) -> bool:
        """Whether the merges and attempts are surely those of the head's branch."""
        return self.branch is not None or len({merge.base_ref for merge in self.merges}) <= 1

    @property
    def lead(self) -> Batch | None:
        """The batch of the head, if nothing has to merge before it."""
        return self.head.batch if self.head is not None else None

    def tested_for(self, batch: Batch) -> timedelta:
        """How long its checks have run; a pause stops checks, and they start over after it."""
        since = batch.started_at
        if since is None:
            return timedelta()
        released_at = self.facts.released_at
        return self.at - (max(since, released_at) if released_at is not None else since)

    @property
    def judged_at(self) -> datetime:
        """Now, or when the pause stopped everything; if nobody knows when, the last thing done."""
        pause = self.facts.pause
        if pause is not None:
            return min(self.at, pause.since)
        return self._last_event_at if self.is_paused else self.at

    @property
    def _last_event_at(self) -> datetime:
        log = self.facts.log
        newest = [events[-1].received_at for type_ in EXAMINED_TYPES if (events := log.of(type_))]
        return max(newest, default=self.at)

    @property
    def failing(self) -> Sequence[Attempt]:
        """The attempts that failed since one last passed, or since the last merge."""
        failed: list[Attempt] = []
        for attempt in reversed(self.attempts):
            is_before_merge = self.merged_at is not None and attempt.ended_at <= self.merged_at
            if attempt.has_passed or is_before_merge:
                break
            failed.append(attempt)
        return failed[::-1]

    def is_recent(self, failed_at: datetime) -> bool:
        """Whether what failed then still says something: the next run may not have ended."""
        return self.judged_at - failed_at <= self.past.check_run.limit + BETWEEN_RUNS

    @property
    def seen(self) -> Seen:
        head = self.head
        batch = head.batch if head is not None else None
        failing = self.failing
        if failing and not self.is_recent(failing[-1].ended_at):
            failing = ()
        return Seen(
            queued=len(self.queued),
            head=head.pull_request if head is not None else None,
            head_code=batch.status.code if batch is not None else None,
            tested_since=batch.started_at if batch is not None else None,
            passed=batch.checks_summary.passed if batch is not None else 0,
            total=batch.checks_summary.total if batch is not None else 0,
            merged_at=self.merged_at,
            merged=self.merges[-1].pull_request if self.merges else None,
            waited=self.waited if head is not None else None,
            is_wait_known=self.is_wait_known,
            are_merges_read=self.are_merges_read,
            is_log_fresh=self.is_log_fresh,
            failed_runs=len(failing),
            failed_checks=tuple(sorted({name for attempt in failing for name in attempt.names})),
            past=self.past,
        )


def case_of(facts: QueueFacts, at: datetime) -> Case:
    status = facts.status
    head = head_of(status) if status is not None else None
    branch = branch_of(head.pull_request.number, facts.log) if head is not None else None
    merges = _merges(facts, branch)
    return Case(
        facts=facts,
        at=at,
        queued=status.queued if status is not None else (),
        live=status.live if status is not None else (),
        leads=status.leads if status is not None else (),
        head=head,
        branch=branch,
        merges=merges,
        attempts=attempts(facts.log, branch),
        past=usual_pace(facts.log, merges, facts.releases),
    )


def head_of(status: QueueStatus) -> Head | None:
    """The one that has waited longest of those that could merge next; None for an empty queue.

    One that is held back says something about the queue only if all are.
    """
    heads = []
    for batch in status.leads:
        carried = batch.smallest_parts()
        first = next((member for member in batch.members if member.number in carried), None)
        if first is not None:
            heads.append(Head(first, batch))
    if not heads:
        heads = [Head(queued, None) for queued in status.waiting_pull_requests]
    free = [head for head in heads if not _is_held(head)]
    candidates = free or heads
    return min(candidates, key=lambda head: head.pull_request.queued_at, default=None)


def _is_held(head: Head) -> bool:
    is_made_to_wait = head.batch is not None and head.batch.status.code in MADE_TO_WAIT
    return is_made_to_wait or head.pull_request.obstacle is not None


def is_blocked(queued: QueuedPullRequest) -> bool:
    """Whether something but a freeze keeps it from advancing."""
    obstacle = queued.obstacle
    return obstacle is not None and obstacle.kind is not ObstacleKind.FREEZE


def branch_of(number: int, log: Log) -> str | None:
    """The base branch of a pull request; None if no event names it."""
    for type_ in (ENTER, CHECKS_START, CHECKS_END):
        for event in reversed(log.of(type_)):
            if event.pull_request == number and event.base_ref is not None:
                return event.base_ref
    return None


def _merges(facts: QueueFacts, branch: str | None) -> Sequence[EventRecord]:
    """The merges by the queue; where these weren't read, the leaves that say so."""
    merged = list(of_branch(facts.log.of(MERGED), branch))
    if merged:
        return merged
    return [leave for leave in of_branch(facts.log.of(LEAVE), branch) if says_merged(leave)]


def says_merged(leave: EventRecord) -> bool:
    """Whether the queue merged it, and no person did around the queue."""
    code = leave.details.code
    is_merge = leave.details.merged is True or class_of(code) is CodeClass.MERGED
    return is_merge and code != BY_HAND
