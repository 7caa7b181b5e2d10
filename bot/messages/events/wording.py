"""Words for events: why a pull request left the queue, by the service's code, and rare events.

An unknown code is shown in its own words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.domain.event_records import EventDetails, EventRecord
from bot.messages.text import code as as_code, plural, quote

TEXT_LIMIT = 120
LISTED = 5

FIX = "fix it and requeue"
NOTHING = "no action needed"


@dataclass(frozen=True, slots=True)
class Leaving:
    """Why the pull request left or was put back, and the next step."""

    verdict: str
    next_step: str


_WITHOUT_STEP = {
    "PR_MERGED": "merged by the queue",
    "PR_MERGED_INTERMEDIATE_RESULTS_SKIPPED": "merged: a later batch that contains it passed",
    "PR_MANUALLY_MERGED": "merged by hand, outside the queue",
    "PR_MANUALLY_DEQUEUED": "removed on request",
    "PR_AHEAD_DEQUEUED": "a pull request ahead left",
    "BATCH_AHEAD_FAILED": "a batch ahead failed",
    "PR_WITH_HIGHER_PRIORITY_QUEUED": "a pull request with a higher priority came first",
    "SCHEDULED_FREEZE_STATUS_CHANGED": "a freeze now affects part of its batch",
    "SPECULATIVE_CHECK_NUMBER_REDUCED": "fewer batches are checked in parallel now",
    "MERGE_QUEUE_RESET": "the queue was reset",
    "INTERMEDIATE_RESULTS_SKIPPED": "its own result is no longer needed",
    "CHECKS_RETRIED": "its failed checks run again",
    "SCHEDULE_BLOCKED_AHEAD_YIELDED": "a pull request waiting for its schedule let it pass",
    "BATCH_SCOPES_CHANGED": "its batch was rebuilt: scopes changed",
    "BATCH_AHEAD_BRANCH_EDITED": "a batch ahead was edited",
}
_TO_REQUEUE = {
    "CHECKS_INTERRUPTED": "a required check was cancelled before it finished",
    "DROPPED_BY_BISECTION_ELIMINATION": "blamed by elimination while bisecting, never tested alone",
    "PR_UNEXPECTEDLY_FAILED_TO_MERGE": "the merge itself failed",
    "DRAFT_PULL_REQUEST_CREATION_FAILED": "the pull request for its checks could not be created",
    "DRAFT_PULL_REQUEST_CREATION_BRANCH_NOT_INDEXED": (
        "the host had not yet indexed the branch for its checks"
    ),
    "BASE_BRANCH_CHANGED": "its base branch was changed",
    "CONFIGURATION_CHANGED": "the configuration changed under it",
}
_TO_REQUEUE_WHEN_READY = {
    "PULL_REQUEST_UPDATED": "new commits were pushed to it",
    "DRAFT_PULL_REQUEST_CHANGED": "someone pushed to the branch of its batch",
    "BATCH_PULL_REQUEST_CLOSED": "the pull request of its batch was closed",
}
LEAVINGS = {
    **{code: Leaving(verdict, NOTHING) for code, verdict in _WITHOUT_STEP.items()},
    **{code: Leaving(verdict, "requeue it") for code, verdict in _TO_REQUEUE.items()},
    **{
        code: Leaving(verdict, "requeue it when ready")
        for code, verdict in _TO_REQUEUE_WHEN_READY.items()
    },
    "CHECKS_FAILED": Leaving("its checks failed", FIX),
    "CHECKS_TIMEOUT": Leaving("its checks took too long", "find the hanging check, then requeue"),
    "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS": Leaving(
        "its batch failed and the culprit was not found in the allowed number of splits", FIX
    ),
    "STACK_PREDECESSOR_DEQUEUED": Leaving(
        "a pull request it is stacked on left the queue", "requeue that one first"
    ),
    "PR_DEQUEUED": Leaving("the queue conditions no longer match", "see its conditions"),
    "PR_DEQUEUED_FROM_PARTITION": Leaving(
        "it no longer matches the rules of one partition", "see its conditions"
    ),
    "CONFLICT_WITH_BASE_BRANCH": Leaving(
        "it conflicts with its base branch", "resolve the conflict and requeue"
    ),
    "CONFLICT_WITH_PULL_AHEAD": Leaving(
        "it conflicts with a pull request ahead", "update it once that one merges, then requeue"
    ),
    "BRANCH_UPDATE_FAILED": Leaving(
        "its branch could not be updated", "update the branch and requeue"
    ),
    "INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS": Leaving(
        "the queue's settings clash with the branch protection",
        "an administrator has to fix the settings",
    ),
    "UNPROCESSABLE_PULL_REQUEST": Leaving(
        "it has too many checks, comments or files", "make it smaller and requeue"
    ),
    "BASE_BRANCH_MISSING": Leaving("its base branch is gone", "choose another base branch"),
    "QUEUE_RULE_MISSING": Leaving(
        "its queue rule is gone", "an administrator has to fix the configuration"
    ),
    "BASE_REF_ALIGNMENT_TIMEOUT": Leaving(
        "it was never moved onto its base branch", "change its base and requeue"
    ),
    "GITHUB_STACKED_PULL_REQUEST_MERGE_UNSUPPORTED": Leaving(
        "the host cannot merge this stacked pull request", "merge it by hand"
    ),
    "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE": Leaving(
        "stopped by the pause", "it keeps its place, no action needed"
    ),
}


def leaving(code: str | None, reason: str | None) -> Leaving:
    """The sentence for a code; for an unknown one, the service's own reason, if any."""
    known = LEAVINGS.get(code) if code is not None else None
    if known is not None:
        return known
    if code is not None:
        return Leaving(quote(code.replace("_", " ").lower(), 80), "see the pull request")
    if reason:
        return Leaving(quote(reason.strip().rstrip("."), 120), "see the pull request")
    return Leaving("the service gave no reason", "see the pull request")


def other_event(record: EventRecord) -> tuple[str, str]:
    """The word and, if the event has details, the verdict; an unknown type by its own name."""
    writer = _WRITERS.get(record.type)
    if writer is not None:
        return writer(record.details)
    if record.type.endswith("_actions"):
        return "Workflow started", _text(record.details.workflow)
    return "Event", as_code(record.type)


Writer = Callable[[EventDetails], tuple[str, str]]


def _text(value: str | None, limit: int = TEXT_LIMIT) -> str:
    return quote(value, limit) if value else ""


def _names(names: Sequence[str]) -> str:
    return ", ".join(quote(one) for one in names)


def _plainly(word: str) -> Writer:
    return lambda _details: (word, "")


def _with_text(word: str, name: Literal["message", "branch", "job_name", "new_name"]) -> Writer:
    return lambda details: (word, _text(getattr(details, name)))


def _added_and_removed(word: str) -> Writer:
    def write(details: EventDetails) -> tuple[str, str]:
        added, removed = _names(details.added), _names(details.removed)
        changes = [f"added {added}" if added else "", f"removed {removed}" if removed else ""]
        return word, "; ".join(change for change in changes if change)

    return write


def _carried(word: str) -> Writer:
    def write(details: EventDetails) -> tuple[str, str]:
        branch, number = _text(details.to), details.pull_request_number
        verdict = f"to {branch}" if branch else ""
        verdict += f" as #{number}" if number is not None else ""
        if details.conflicts is True:
            verdict += " with conflicts — resolve them there"
        return word, verdict.strip()

    return write


def _product(word: str) -> Writer:
    return lambda details: (word, _text(details.product).replace("_", " "))


def _edited(details: EventDetails) -> tuple[str, str]:
    words = {True: "it is a draft now", False: "it is ready for review now"}
    return "Edited", words[details.draft] if details.draft is not None else ""


def _checked(details: EventDetails) -> tuple[str, str]:
    parts = [_text(details.title), _text(details.conclusion).replace("_", " ")]
    return "Check posted", ": ".join(part for part in parts if part)


def _asked_for_review(details: EventDetails) -> tuple[str, str]:
    asked = [_names(details.reviewers), _names(details.team_reviewers)]
    names = ", ".join(part for part in asked if part)
    return "Review requested", f"of {names}" if names else ""


def _reviewed(details: EventDetails) -> tuple[str, str]:
    words = {
        "APPROVE": "approved",
        "REQUEST_CHANGES": "changes are asked for",
        "COMMENT": "a comment",
    }
    said, by = words.get(details.review_type or "", ""), _text(details.reviewer)
    return "Reviewed", f"{said} by {by}".strip() if by else said


def _held(details: EventDetails) -> tuple[str, str]:
    numbers = [f"#{number}" for number in details.blocking[:LISTED]]
    ahead = ", ".join(numbers) or "a pull request ahead"
    return "Held back", f"it conflicts with {ahead} — it keeps its place, no action needed"


def _length(details: EventDetails) -> tuple[str, str]:
    size = details.size
    if size is None:
        return "Queue changed", ""
    return "In the queue now", plural(size, "pull request")


def _running(details: EventDetails) -> tuple[str, str]:
    running = details.running_checks
    if running is None:
        return "Running checks changed", ""
    return "Running now", plural(running, "check")


def _retried(details: EventDetails) -> tuple[str, str]:
    attempt, most = details.retry_attempt, details.max_retry
    verdict = _text(details.rule_name)
    if attempt is not None and most is not None:
        verdict = f"{verdict}, try {attempt} of {most}".lstrip(", ")
    if details.outcome == "skipped_quota_exceeded":
        return "CI job not retried", f"{verdict}: the quota is used up".lstrip(": ")
    return "CI job retried", verdict


_WRITERS: Mapping[str, Writer] = {
    "action.assign": _added_and_removed("Assignees changed"),
    "action.backport": _carried("Backported"),
    "action.close": _with_text("Closed", "message"),
    "action.comment": _with_text("Commented", "message"),
    "action.copy": _carried("Copied"),
    "action.delete_head_branch": _with_text("Branch deleted", "branch"),
    "action.dequeue": _plainly("Removed from the queue by a rule"),
    "action.dismiss_reviews": lambda details: ("Reviews dismissed", _names(details.users)),
    "action.edit": _edited,
    "action.label": _added_and_removed("Labels changed"),
    "action.merge": _with_text("Merged by a rule, outside the queue", "branch"),
    "action.post_check": _checked,
    "action.queue.change": _length,
    "action.queue.checks.change": _running,
    "action.queue.conflict_deferred": _held,
    "action.rebase": _plainly("Rebased"),
    "action.refresh": _plainly("Refreshed"),
    "action.request_reviews": _asked_for_review,
    "action.requeue": _plainly("Queued again by a rule"),
    "action.review": _reviewed,
    "action.squash": _plainly("Squashed"),
    "action.unqueue": _plainly("Removed from the queue by a rule"),
    "action.update": _plainly("Updated with its base branch"),
    "ci_insights.auto_quarantine.disabled": _plainly("Automatic test quarantine switched off"),
    "ci_insights.auto_quarantine.enabled": _plainly("Automatic test quarantine switched on"),
    "ci_insights.auto_quarantine.modified": _plainly("Automatic test quarantine changed"),
    "ci_insights.job_retried": _retried,
    "ci_issue.created": _with_text("CI issue found", "job_name"),
    "ci_issue.linked": _with_text("CI issue seen again", "job_name"),
    "ci_issue.merged": _plainly("CI issues merged into one"),
    "ci_issue.renamed": _with_text("CI issue renamed", "new_name"),
    "ci_issue.reopened": _with_text("CI issue reopened", "job_name"),
    "ci_issue.resolved": _plainly("CI issue resolved"),
    "ci_issue.unresolved": _plainly("CI issue unresolved"),
    "product.disabled": _product("Service feature switched off"),
    "product.enabled": _product("Service feature switched on"),
    "test.dequarantined": _plainly("Test removed from quarantine"),
    "test.quarantined": _plainly("Test quarantined"),
}
