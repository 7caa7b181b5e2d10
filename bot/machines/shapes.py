"""From what the bot knows to the documented shapes of answers."""

from collections.abc import Sequence
from datetime import datetime

from bot.acts.group_act import RepositoryResult
from bot.doctor.diagnosis import (
    ComesBack,
    Diagnosis,
    Done,
    Empty,
    Finding,
    Hangs,
    ManyChecks,
    Misconfigured,
    NeverStart,
    Normal,
    NoStatus,
    Restarted,
    SameCheck,
    StartLate,
    StuckBehindOne,
    Unknown,
)
from bot.freezes.freeze import Freeze
from bot.machines.answers import (
    BatchShape,
    CheckShape,
    EstimateShape,
    EventShape,
    FindingShape,
    FreezeShape,
    LogAnswer,
    PauseShape,
    PullRequestPlace,
    QueuedShape,
    QueueShape,
    QueueState,
    RepositoryShape,
    WhyPullRequestAnswer,
    WhyQueueAnswer,
)
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.position import InBatch, InQueue, NotQueued
from bot.merge_queue.queue import Batch, QueuedPullRequest
from bot.pauses.pause import PauseRecord
from bot.questions.snapshots import LogPage
from bot.queues.estimate import NO_OUTLOOK, Estimate, Outlook
from bot.queues.position import Explanation
from bot.queues.snapshot import ReadQueue, Snapshot


def pause_shape(pause: PauseRecord | None) -> PauseShape | None:
    if pause is None:
        return None
    return PauseShape(
        reason=pause.line.reason,
        by=pause.by_name,
        since=pause.since,
        ends_at=pause.resumes_at,
    )


def freeze_shape(freeze: Freeze, now: datetime) -> FreezeShape:
    return FreezeShape(
        id=freeze.freeze_id,
        repository=freeze.repository,
        reason=freeze.reason,
        by=freeze.by,
        begins_at=freeze.begins_at,
        ends_at=freeze.ends_at,
        in_force=freeze.is_in_force(now),
        conditions=list(freeze.terms.matching_conditions),
        exceptions=list(freeze.terms.exclude_conditions),
    )


def repository_shapes(results: Sequence[RepositoryResult]) -> list[RepositoryShape]:
    return [
        RepositoryShape(
            repository=result.repository,
            outcome=result.outcome,
            by=result.who,
            failure=result.detail,
        )
        for result in results
    ]


def queue_shape(queue: ReadQueue, outlook: Outlook = NO_OUTLOOK) -> QueueShape:
    """A queue as it was read, or the bare name of one that couldn't be read."""
    if not isinstance(queue, Snapshot):
        return QueueShape(
            repository=queue,
            state=QueueState.UNKNOWN,
            read_at=None,
            pause=None,
            freezes=[],
            next_freeze=None,
            queued=None,
            batches=[],
            waiting=[],
            merge_expected_at=None,
            merge_expected_by_past=None,
            added_now_expected_by_past=None,
        )
    to_come = queue.next_freeze
    return QueueShape(
        repository=queue.repository,
        state=_queue_state(queue),
        read_at=queue.read_at,
        pause=pause_shape(queue.pause),
        freezes=[freeze_shape(freeze, queue.read_at) for freeze in queue.freezes],
        next_freeze=freeze_shape(to_come, queue.read_at) if to_come is not None else None,
        queued=len(queue.status.queued),
        batches=[_batch_shape(batch) for batch in queue.status.batches],
        waiting=[_queued_shape(waiting) for waiting in queue.status.waiting_pull_requests],
        merge_expected_at=queue.merge_expected_at,
        merge_expected_by_past=_estimate_shape(outlook.next_merge, queue.read_at),
        added_now_expected_by_past=_estimate_shape(outlook.added_now, queue.read_at),
    )


def _estimate_shape(estimate: Estimate | None, at: datetime) -> EstimateShape | None:
    if estimate is None:
        return None
    return EstimateShape(
        expected_at=at + estimate.remaining,
        earliest=at + estimate.low,
        latest=at + estimate.high,
    )


def _queue_state(snapshot: Snapshot) -> QueueState:
    if snapshot.pause is not None:
        return QueueState.PAUSED
    if not snapshot.is_pause_known:
        return QueueState.UNKNOWN
    return QueueState.FROZEN if snapshot.is_frozen else QueueState.RUNNING


def _batch_shape(batch: Batch) -> BatchShape:
    return BatchShape(
        code=batch.status.code,
        pull_requests=[member.number for member in batch.members],
        checks_passed=batch.checks_summary.passed,
        checks=batch.checks_summary.total,
    )


def _queued_shape(queued: QueuedPullRequest) -> QueuedShape:
    obstacle = queued.obstacle
    return QueuedShape(
        number=queued.number,
        title=queued.title,
        author=queued.author.login,
        queued_at=queued.queued_at,
        obstacle=obstacle.kind if obstacle is not None else None,
    )


def diagnosis_shape(diagnosis: Diagnosis, message: str) -> WhyQueueAnswer:
    seen = diagnosis.seen
    return WhyQueueAnswer(
        message=message,
        repository=diagnosis.facts.repository,
        at=diagnosis.at,
        findings=[_finding_shape(finding) for finding in diagnosis.findings],
        queued=seen.queued,
        head=seen.head.number if seen.head is not None else None,
        checks_passed=seen.passed,
        checks=seen.total,
        last_merge=seen.merged,
        last_merge_at=seen.merged_at,
    )


def _finding_shape(finding: Finding) -> FindingShape:
    return FindingShape(
        verdict=finding.verdict,
        since=_begun_at(finding),
        pull_requests=list(_numbers_in(finding)),
        checks=list(_checks_in(finding)),
        times=_times_it_happened(finding),
    )


def _begun_at(finding: Finding) -> datetime | None:
    match finding:
        case NoStatus() | Empty() | StuckBehindOne() | Normal() | Unknown():
            return None
        case _:
            return finding.since


def _numbers_in(finding: Finding) -> Sequence[int]:
    """The pull requests that the cause rests on."""
    match finding:
        case Misconfigured(left=left):
            return left
        case StuckBehindOne(number=number, blocked=blocked):
            return [number, *blocked]
        case Restarted(causes=causes):
            return [number for cause in causes for number in cause.numbers]
        case ComesBack() | NeverStart() | Hangs() | Done():
            return [finding.number]
        case _:
            return ()


def _checks_in(finding: Finding) -> Sequence[str]:
    match finding:
        case SameCheck() | ManyChecks() | ComesBack() | Hangs():
            return finding.names
        case _:
            return ()


def _times_it_happened(finding: Finding) -> int | None:
    """How often it happened; None where the verdict counts nothing."""
    match finding:
        case SameCheck() | StartLate():
            return finding.batches
        case ComesBack() | NeverStart() | Restarted():
            return finding.times or None
        case _:
            return None


def explanation_shape(found: Explanation, message: str) -> WhyPullRequestAnswer:
    position = found.position
    verdict = found.verdict
    queued = position.pull_request if isinstance(position, InBatch | InQueue) else None
    obstacle = queued.obstacle if queued is not None else None
    failed = verdict.found.checks.named if verdict is not None else ()
    return WhyPullRequestAnswer(
        message=message,
        repository=found.repository,
        pull_request=found.number,
        where=_where(found),
        since=_since(found),
        ahead=position.ahead if isinstance(position, InBatch) else None,
        obstacle=obstacle.kind if obstacle is not None else None,
        cause=verdict.cause if verdict is not None else None,
        code=verdict.record.details.code if verdict is not None else None,
        checks=[CheckShape(name=check.name or "", url=check.url) for check in failed],
        turn=verdict.next.turn if verdict is not None else None,
        step=verdict.next.step if verdict is not None else None,
        hold=verdict.next.hold if verdict is not None else None,
    )


def _where(found: Explanation) -> PullRequestPlace:
    match found.position:
        case InBatch():
            return PullRequestPlace.BATCH
        case InQueue():
            return PullRequestPlace.WAITING
        case NotQueued(has_merged=True):
            return PullRequestPlace.MERGED
        case NotQueued(end=EventRecord()):
            return PullRequestPlace.LEFT
        case _:
            return PullRequestPlace.UNKNOWN


def _since(found: Explanation) -> datetime | None:
    match found.position:
        case InBatch(pull_request=queued) | InQueue(pull_request=queued):
            return queued.queued_at
        case NotQueued(end=EventRecord() as end):
            return end.received_at
        case _:
            return None


def log_shape(page: LogPage, message: str) -> LogAnswer:
    events = [
        EventShape(
            id=record.event_id,
            type=record.type,
            kind=page.kinds[record.event_id],
            at=record.received_at,
            pull_request=record.pull_request,
            branch=record.base_ref,
            by=record.details.actor,
            code=record.details.code,
            reason=record.details.reason,
        )
        for record in page.records
    ]
    return LogAnswer(
        message=message,
        repository=page.place.selection.repository,
        events=events,
        older=page.older.cursor if page.older is not None else None,
        unreadable=page.unreadable,
    )
