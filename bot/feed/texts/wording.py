"""Words for events: why a pull request left the queue, by the service's code, and rare events.

An unknown code is shown in its own words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.blocks.text import code as as_code, plural, quote
from bot.merge_queue.event_records import EventDetails, EventRecord

EVENT_TEXT_LIMIT = 120
BLOCKING_LISTED = 5

QUEUE_AGAIN = "comment `@mergifyio queue`"
"""The service's own words; its command `requeue` has been deprecated since February 2026."""

FIX = f"fix it, then {QUEUE_AGAIN}"
NO_STEP = "no action needed"


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
    **{code: Leaving(verdict, NO_STEP) for code, verdict in _WITHOUT_STEP.items()},
    **{code: Leaving(verdict, QUEUE_AGAIN) for code, verdict in _TO_REQUEUE.items()},
    **{
        code: Leaving(verdict, f"{QUEUE_AGAIN} when it's ready")
        for code, verdict in _TO_REQUEUE_WHEN_READY.items()
    },
    "CHECKS_FAILED": Leaving("its checks failed", FIX),
    "CHECKS_TIMEOUT": Leaving(
        "its checks took too long", f"find the hanging check, then {QUEUE_AGAIN}"
    ),
    "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS": Leaving(
        "its batch failed and the culprit was not found in the allowed number of splits", FIX
    ),
    "STACK_PREDECESSOR_DEQUEUED": Leaving(
        "a pull request it is stacked on left the queue", f"{QUEUE_AGAIN} on that one first"
    ),
    "PR_DEQUEUED": Leaving("the queue conditions no longer match", "see its conditions"),
    "PR_DEQUEUED_FROM_PARTITION": Leaving(
        "it no longer matches the rules of one partition", "see its conditions"
    ),
    "CONFLICT_WITH_BASE_BRANCH": Leaving(
        "it conflicts with its base branch", f"resolve the conflict, then {QUEUE_AGAIN}"
    ),
    "CONFLICT_WITH_PULL_AHEAD": Leaving(
        "it conflicts with a pull request ahead",
        f"update it once that one merges, then {QUEUE_AGAIN}",
    ),
    "BRANCH_UPDATE_FAILED": Leaving(
        "its branch could not be updated", f"update the branch, then {QUEUE_AGAIN}"
    ),
    "INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS": Leaving(
        "the queue's settings clash with the branch protection",
        "an administrator has to fix the settings",
    ),
    "UNPROCESSABLE_PULL_REQUEST": Leaving(
        "it has too many checks, comments or files", f"make it smaller, then {QUEUE_AGAIN}"
    ),
    "BASE_BRANCH_MISSING": Leaving("its base branch is gone", "choose another base branch"),
    "QUEUE_RULE_MISSING": Leaving(
        "its queue rule is gone", "an administrator has to fix the configuration"
    ),
    "BASE_REF_ALIGNMENT_TIMEOUT": Leaving(
        "it was never moved onto its base branch", f"change its base, then {QUEUE_AGAIN}"
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
    details = record.details
    if record.type in _ACTION_WRITERS:
        return _ACTION_WRITERS[record.type](details)
    if record.type.endswith("_actions"):
        return "Workflow started", _text(details.workflow)
    word = _WITHOUT_VERDICT.get(record.type)
    return (word, "") if word is not None else ("Event", as_code(record.type))


def _text(value: str | None) -> str:
    return quote(value, EVENT_TEXT_LIMIT) if value else ""


def _names(names: Sequence[str]) -> str:
    return ", ".join(quote(name) for name in names)


def _changes(details: EventDetails) -> str:
    changes = {"added": _names(details.added), "removed": _names(details.removed)}
    return "; ".join(f"{word} {names}" for word, names in changes.items() if names)


def _target(details: EventDetails) -> str:
    branch = _text(details.to)
    number = details.pull_request_number
    parts = [f"to {branch}" if branch else "", f"as #{number}" if number is not None else ""]
    conflicts = "with conflicts — resolve them there" if details.conflicts is True else ""
    return " ".join(filter(None, [*parts, conflicts]))


def _product(details: EventDetails) -> str:
    return _text(details.product).replace("_", " ")


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
    said = words.get(details.review_type or "", "")
    by = _text(details.reviewer)
    return "Reviewed", f"{said} by {by}".strip() if by else said


def _held(details: EventDetails) -> tuple[str, str]:
    numbers = [f"#{number}" for number in details.blocking[:BLOCKING_LISTED]]
    ahead = ", ".join(numbers) or "a pull request ahead"
    return "Held back", f"it conflicts with {ahead} — it keeps its place, no action needed"


def _length(details: EventDetails) -> tuple[str, str]:
    if details.size is None:
        return "Queue changed", ""
    return "In the queue now", plural(details.size, "pull request")


def _running(details: EventDetails) -> tuple[str, str]:
    if details.running_checks is None:
        return "Running checks changed", ""
    return "Running now", plural(details.running_checks, "check")


def _retried(details: EventDetails) -> tuple[str, str]:
    attempt = details.retry_attempt
    most = details.max_retry
    verdict = _text(details.rule_name)
    if attempt is not None and most is not None:
        verdict = f"{verdict}, try {attempt} of {most}".lstrip(", ")
    if details.outcome == "skipped_quota_exceeded":
        return "CI job not retried", f"{verdict}: the quota is used up".lstrip(": ")
    return "CI job retried", verdict


_WITHOUT_VERDICT = {
    "action.dequeue": "Removed from the queue by a rule",
    "action.rebase": "Rebased",
    "action.refresh": "Refreshed",
    "action.requeue": "Queued again by a rule",
    "action.squash": "Squashed",
    "action.unqueue": "Removed from the queue by a rule",
    "action.update": "Updated with its base branch",
    "ci_insights.auto_quarantine.disabled": "Automatic test quarantine switched off",
    "ci_insights.auto_quarantine.enabled": "Automatic test quarantine switched on",
    "ci_insights.auto_quarantine.modified": "Automatic test quarantine changed",
    "ci_issue.merged": "CI issues merged into one",
    "ci_issue.resolved": "CI issue resolved",
    "ci_issue.unresolved": "CI issue unresolved",
    "test.dequarantined": "Test removed from quarantine",
    "test.quarantined": "Test quarantined",
}
_ACTION_WRITERS: Mapping[str, Callable[[EventDetails], tuple[str, str]]] = {
    "action.assign": lambda details: ("Assignees changed", _changes(details)),
    "action.backport": lambda details: ("Backported", _target(details)),
    "action.close": lambda details: ("Closed", _text(details.message)),
    "action.comment": lambda details: ("Commented", _text(details.message)),
    "action.copy": lambda details: ("Copied", _target(details)),
    "action.delete_head_branch": lambda details: ("Branch deleted", _text(details.branch)),
    "action.dismiss_reviews": lambda details: ("Reviews dismissed", _names(details.users)),
    "action.edit": _edited,
    "action.label": lambda details: ("Labels changed", _changes(details)),
    "action.merge": lambda details: ("Merged by a rule, outside the queue", _text(details.branch)),
    "action.post_check": _checked,
    "action.queue.change": _length,
    "action.queue.checks.change": _running,
    "action.queue.conflict_deferred": _held,
    "action.request_reviews": _asked_for_review,
    "action.review": _reviewed,
    "ci_insights.job_retried": _retried,
    "ci_issue.created": lambda details: ("CI issue found", _text(details.job_name)),
    "ci_issue.linked": lambda details: ("CI issue seen again", _text(details.job_name)),
    "ci_issue.renamed": lambda details: ("CI issue renamed", _text(details.new_name)),
    "ci_issue.reopened": lambda details: ("CI issue reopened", _text(details.job_name)),
    "product.disabled": lambda details: ("Service feature switched off", _product(details)),
    "product.enabled": lambda details: ("Service feature switched on", _product(details)),
}
