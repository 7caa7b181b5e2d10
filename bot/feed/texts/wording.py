"""Words for rare events."""

from collections.abc import Callable, Mapping, Sequence

from bot.blocks.text import code as as_code, plural, quote
from bot.merge_queue.event_records import EventDetails, EventRecord

EVENT_TEXT_LIMIT = 120
BLOCKING_LISTED = 5


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
