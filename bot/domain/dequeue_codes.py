"""What the service's dequeue and abort codes mean.

The API document does not show them; they are those the service is known to send, `abort_code`
of `action.queue.checks_end` and `dequeue_code` of `action.queue.leave` alike. A code tells why;
whether a pull request left, and whether it was merged, is told by the leave event alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class CodeClass(StrEnum):
    """What a code says about the pull request."""

    MERGED = "M"
    FAILED = "F"
    """CI gave a verdict against it."""
    TECHNICAL = "T"
    """It left for a technical reason, its configuration or a conflict."""
    UNPROVEN = "U"
    """It left without a verdict."""
    REQUEUED = "R"
    """It stays in the queue: no failure."""
    HUMAN = "H"
    """A person asked for it or caused it."""


@dataclass(frozen=True, slots=True)
class DequeueCode:
    """One code. `by_person`: a person asked for it or caused it, whatever its class.

    `of_whole_batch`: the verdict is on the batch, not on this pull request. `live_only`: sent by
    later services only. `leave_only`: never on `checks_end`.
    """

    code: str
    code_class: CodeClass
    meaning: str
    by_person: bool = False
    of_whole_batch: bool = False
    live_only: bool = False
    leave_only: bool = False


_M, _F, _T = CodeClass.MERGED, CodeClass.FAILED, CodeClass.TECHNICAL
_U, _R, _H = CodeClass.UNPROVEN, CodeClass.REQUEUED, CodeClass.HUMAN

_TABLE = (
    DequeueCode("PR_MERGED", _M, "merged by the queue", leave_only=True),
    DequeueCode(
        "PR_MERGED_INTERMEDIATE_RESULTS_SKIPPED",
        _M,
        "merged because a later batch that contains it passed",
        live_only=True,
        leave_only=True,
    ),
    DequeueCode("PR_MANUALLY_MERGED", _M, "merged outside the queue", by_person=True),
    DequeueCode("CHECKS_FAILED", _F, "required checks failed"),
    DequeueCode("CHECKS_TIMEOUT", _F, "checks ran out of time"),
    DequeueCode(
        "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS",
        _F,
        "all allowed splits of the batch were used up without finding the culprit",
        of_whole_batch=True,
    ),
    DequeueCode(
        "CHECKS_INTERRUPTED",
        _U,
        "a required check was cancelled before its verdict",
        live_only=True,
    ),
    DequeueCode(
        "DROPPED_BY_BISECTION_ELIMINATION",
        _U,
        "blamed by elimination, never tested alone",
        live_only=True,
    ),
    DequeueCode("STACK_PREDECESSOR_DEQUEUED", _T, "a pull request it is stacked on was dequeued"),
    DequeueCode("PR_DEQUEUED", _T, "it stopped matching the queue conditions"),
    DequeueCode("PR_DEQUEUED_FROM_PARTITION", _T, "it stopped matching a partition's rules"),
    DequeueCode("CONFLICT_WITH_BASE_BRANCH", _T, "it conflicts with the base branch"),
    DequeueCode("CONFLICT_WITH_PULL_AHEAD", _T, "it conflicts with a pull request ahead"),
    DequeueCode("BRANCH_UPDATE_FAILED", _T, "its branch could not be updated"),
    DequeueCode("PR_UNEXPECTEDLY_FAILED_TO_MERGE", _T, "the merge itself failed"),
    DequeueCode(
        "DRAFT_PULL_REQUEST_CREATION_FAILED", _T, "the pull request for checks could not be made"
    ),
    DequeueCode(
        "DRAFT_PULL_REQUEST_CREATION_BRANCH_NOT_INDEXED",
        _T,
        "the pull request for checks could not be made: its branch was not known yet",
    ),
    DequeueCode(
        "INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS",
        _T,
        "the queue's settings clash with the branch protection",
    ),
    DequeueCode("UNPROCESSABLE_PULL_REQUEST", _T, "it has too many checks, comments or files"),
    DequeueCode("BASE_BRANCH_MISSING", _T, "its base branch is gone"),
    DequeueCode("BASE_BRANCH_CHANGED", _T, "it was given another base branch"),
    DequeueCode("QUEUE_RULE_MISSING", _T, "its queue rule is gone"),
    DequeueCode("CONFIGURATION_CHANGED", _T, "the configuration changed under it"),
    DequeueCode(
        "BASE_REF_ALIGNMENT_TIMEOUT",
        _T,
        "it is stacked and was not put onto the base branch in time",
        live_only=True,
    ),
    DequeueCode(
        "GITHUB_STACKED_PULL_REQUEST_MERGE_UNSUPPORTED",
        _T,
        "the hosting platform cannot merge this stacked pull request",
        live_only=True,
    ),
    DequeueCode("PR_MANUALLY_DEQUEUED", _H, "somebody removed it from the queue", by_person=True),
    DequeueCode("PULL_REQUEST_UPDATED", _H, "somebody pushed to it", by_person=True),
    DequeueCode(
        "DRAFT_PULL_REQUEST_CHANGED",
        _H,
        "somebody pushed to the batch branch",
        by_person=True,
        of_whole_batch=True,
    ),
    DequeueCode(
        "BATCH_PULL_REQUEST_CLOSED",
        _H,
        "somebody closed the batch's pull request",
        by_person=True,
        of_whole_batch=True,
        live_only=True,
    ),
    DequeueCode(
        "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE",
        _R,
        "the queue was paused and its checks stopped",
        by_person=True,
    ),
    DequeueCode("PR_AHEAD_DEQUEUED", _R, "a pull request ahead left; checks start again"),
    DequeueCode("BATCH_AHEAD_FAILED", _R, "a batch ahead failed; checks start again"),
    DequeueCode("PR_WITH_HIGHER_PRIORITY_QUEUED", _R, "one of higher priority went ahead"),
    DequeueCode(
        "SCHEDULED_FREEZE_STATUS_CHANGED", _R, "a freeze holds some of its batch, which was split"
    ),
    DequeueCode("SPECULATIVE_CHECK_NUMBER_REDUCED", _R, "fewer checks may run side by side"),
    DequeueCode("MERGE_QUEUE_RESET", _R, "the queue was reset"),
    DequeueCode("INTERMEDIATE_RESULTS_SKIPPED", _R, "its own result is not needed any more"),
    DequeueCode("CHECKS_RETRIED", _R, "its failed checks run again"),
    DequeueCode(
        "SCHEDULE_BLOCKED_AHEAD_YIELDED",
        _R,
        "one that waits for its schedule let ready ones pass",
        live_only=True,
    ),
    DequeueCode("BATCH_SCOPES_CHANGED", _R, "its batch was built anew", live_only=True),
    DequeueCode(
        "BATCH_AHEAD_BRANCH_EDITED",
        _R,
        "a batch ahead was edited; checks start again",
        live_only=True,
    ),
)

DEQUEUE_CODES: Mapping[str, DequeueCode] = {row.code: row for row in _TABLE}


def class_of(code: str | None) -> CodeClass | None:
    """None for a code we do not know, and for no code."""
    row = DEQUEUE_CODES.get(code or "")
    return row.code_class if row is not None else None
