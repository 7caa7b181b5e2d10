"""The service's own words: event types, batch codes, check states, abort and dequeue codes."""

DEFAULT_PARTITION = "__default__"
INTERNAL_TRIGGER = "merge queue internal"

_ACTIONS = [
    "assign",
    "backport",
    "close",
    "comment",
    "copy",
    "delete_head_branch",
    "dismiss_reviews",
    "edit",
    "label",
    "merge",
    "post_check",
    "rebase",
    "refresh",
    "request_reviews",
    "requeue",
    "review",
    "squash",
    "unqueue",
    "update",
]
_QUEUE = [
    "batch_bisection_end",
    "batch_bisection_start",
    "change",
    "checks.change",
    "checks_end",
    "checks_not_started",
    "checks_start",
    "enter",
    "leave",
    "merged",
]
_CI_ISSUE = ("created", "linked", "merged", "renamed", "reopened", "resolved", "unresolved")
_CHANGES = ("create", "delete", "update")

BATCH_STATUS_CODES = (
    "running",
    "bisecting",
    "preparing",
    "failed",
    "merged",
    "waiting_for_merge",
    "waiting_for_previous_batches",
    "waiting_for_requeue",
    "waiting_schedule",
    "waiting_for_batch",
    "frozen",
)

CHECK_STATES = (
    "failure",
    "error",
    "cancelled",
    "action_required",
    "timed_out",
    "pending",
    "neutral",
    "skipped",
    "stale",
    "success",
)

# The states of CheckState in which a check has failed.
BROKEN_STATES = ("failure", "error", "cancelled", "timed_out")

# Codes after which the pull request stays in the queue and its checks start again.
REEMBARKED_CODES = frozenset(
    {
        "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE",
        "PR_AHEAD_DEQUEUED",
        "BATCH_AHEAD_FAILED",
        "PR_WITH_HIGHER_PRIORITY_QUEUED",
        "SCHEDULED_FREEZE_STATUS_CHANGED",
        "MERGE_QUEUE_RESET",
        "CHECKS_RETRIED",
    },
)

REASONS = {
    "PR_MERGED": "The pull request was merged by the merge queue.",
    "CHECKS_FAILED": "Required checks failed: the merge conditions can no longer be met.",
    "CHECKS_INTERRUPTED": "A required check was cancelled before it gave a result.",
    "CHECKS_TIMEOUT": "The checks did not finish within the time allowed for them.",
    "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS": (
        "The batch failed and was split as often as allowed without finding the culprit."
    ),
    "CONFLICT_WITH_BASE_BRANCH": "The pull request conflicts with its base branch.",
    "CONFLICT_WITH_PULL_AHEAD": "The pull request conflicts with a pull request ahead of it.",
    "PR_MANUALLY_DEQUEUED": "The pull request was removed from the queue on request.",
    "STACK_PREDECESSOR_DEQUEUED": "A pull request that it is stacked on left the queue.",
    "PULL_REQUEST_UPDATED": "A new commit was pushed to the queued pull request.",
    "PR_DEQUEUED": "The pull request no longer meets the conditions to be queued.",
    "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE": (
        "The merge queue was paused; checks start again when the pause is removed."
    ),
    "PR_AHEAD_DEQUEUED": "A pull request ahead left the queue; checks start again without it.",
    "BATCH_AHEAD_FAILED": "A batch ahead failed; checks start again without it.",
    "PR_WITH_HIGHER_PRIORITY_QUEUED": "A pull request with a higher priority entered the queue.",
    "SCHEDULED_FREEZE_STATUS_CHANGED": (
        "A freeze no longer applies to all pull requests of the batch alike."
    ),
    "MERGE_QUEUE_RESET": "The base branch changed outside the queue; checks start again on it.",
    "CHECKS_RETRIED": "The checks failed and are run once more.",
}


CONFLICTS = ("CONFLICT_WITH_BASE_BRANCH", "CONFLICT_WITH_PULL_AHEAD")


_NO_LONGER = ("action.requeue", "action.unqueue", "command.requeue", "ci_issue.")
_SINCE = (
    "action.dequeue",
    "action.queue.conflict_deferred",
    "ci_insights.auto_quarantine.disabled",
    "ci_insights.auto_quarantine.enabled",
    "ci_insights.auto_quarantine.modified",
    "product.disabled",
    "product.enabled",
    "test.dequarantined",
    "test.quarantined",
)


def event_types(host: str, *, live: bool = False) -> tuple[str, ...]:
    """List the 47 event types of the API document (section Events) for one hosting platform.

    `live`: the 46 of the vendor's published schema of August 2026 (`EventType`).
    """
    documented = _documented(host)
    if not live:
        return documented
    kept = [name for name in documented if not name.startswith(_NO_LONGER)]
    return tuple(sorted((*kept, *_SINCE)))


def _documented(host: str) -> tuple[str, ...]:
    actions = sorted([*_ACTIONS, f"{host}_actions"])
    return (
        *(f"action.{name}" for name in actions),
        *(f"action.queue.{name}" for name in _QUEUE),
        "ci_insights.job_retried",
        *(f"ci_issue.{name}" for name in _CI_ISSUE),
        *(f"command.{name}" for name in ("dequeue", "queue", "requeue")),
        *(f"queue.pause.{name}" for name in _CHANGES),
        *(f"scheduled_freeze.{name}" for name in _CHANGES),
    )
