"""Words for rare events."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from bot.blocks.text import code as as_code, plural, quote
from bot.merge_queue.event_records import EventDetails, EventRecord

EVENT_TEXT_LIMIT = 120
BLOCKING_LISTED = 5


class Wording(NamedTuple):
    """What a message says of an event without words of its own."""

    word: str
    verdict: str  #: empty if the event has no details


def other_event(record: EventRecord) -> Wording:
    """The words for a rare event; an unknown type by its own name."""
    details = record.details
    if record.type in _ACTION_WRITERS:
        return _ACTION_WRITERS[record.type](details)
    if record.type.endswith("_actions"):
        return Wording("Workflow started", _quoted_value(details.workflow))
    word = _WITHOUT_VERDICT.get(record.type)
    if word is None:
        return Wording("Event", as_code(record.type))
    return Wording(word, "")


def _quoted_value(value: str | None) -> str:
    return quote(value, EVENT_TEXT_LIMIT) if value else ""


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(quote(name) for name in names)


def _added_and_removed(details: EventDetails) -> str:
    changes = {"added": _quoted(details.added), "removed": _quoted(details.removed)}
    return "; ".join(f"{word} {names}" for word, names in changes.items() if names)


def _target(details: EventDetails) -> str:
    branch = _quoted_value(details.to)
    parts: list[str] = []
    if branch:
        parts.append(f"to {branch}")
    if details.pull_request_number is not None:
        parts.append(f"as #{details.pull_request_number}")
    if details.conflicts is True:
        parts.append("with conflicts to resolve there")
    return " ".join(parts)


def _product(details: EventDetails) -> str:
    return _quoted_value(details.product).replace("_", " ")


def _edited(details: EventDetails) -> Wording:
    verdict = ""
    if details.draft is True:
        verdict = "it is a draft now"
    elif details.draft is False:
        verdict = "it is ready for review now"
    return Wording("Edited", verdict)


def _worded_check(details: EventDetails) -> Wording:
    parts = [_quoted_value(details.title), _quoted_value(details.conclusion).replace("_", " ")]
    return Wording("Check posted", ": ".join(part for part in parts if part))


def _asked_for_review(details: EventDetails) -> Wording:
    asked = [_quoted(details.reviewers), _quoted(details.team_reviewers)]
    names = ", ".join(part for part in asked if part)
    return Wording("Review requested", f"of {names}" if names else "")


def _reviewed(details: EventDetails) -> Wording:
    words = {
        "APPROVE": "approved",
        "REQUEST_CHANGES": "changes are asked for",
        "COMMENT": "a comment",
    }
    verdict = words.get(details.review_type or "", "")
    by = _quoted_value(details.reviewer)
    if by:
        verdict = f"{verdict} by {by}".strip()
    return Wording("Reviewed", verdict)


def _deferred(details: EventDetails) -> Wording:
    numbers = [f"#{number}" for number in details.blocking[:BLOCKING_LISTED]]
    ahead = ", ".join(numbers) or "a pull request ahead"
    return Wording("Held back", f"it conflicts with {ahead}. It keeps its place.")


def _worded_length(details: EventDetails) -> Wording:
    if details.size is None:
        return Wording("Queue changed", "")
    return Wording("In the queue now", plural(details.size, "pull request"))


def _running(details: EventDetails) -> Wording:
    if details.running_checks is None:
        return Wording("Running checks changed", "")
    return Wording("Running now", plural(details.running_checks, "check"))


def _retried(details: EventDetails) -> Wording:
    attempt = details.retry_attempt
    most = details.max_retry
    verdict = _quoted_value(details.rule_name)
    if attempt is not None and most is not None:
        verdict = f"{verdict}, try {attempt} of {most}".lstrip(", ")
    if details.outcome == "skipped_quota_exceeded":
        return Wording("CI job not retried", f"{verdict}: the quota is used up".lstrip(": "))
    return Wording("CI job retried", verdict)


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
_ACTION_WRITERS: Mapping[str, Callable[[EventDetails], Wording]] = {
    "action.assign": lambda details: Wording("Assignees changed", _added_and_removed(details)),
    "action.backport": lambda details: Wording("Backported", _target(details)),
    "action.close": lambda details: Wording("Closed", _quoted_value(details.message)),
    "action.comment": lambda details: Wording("Commented", _quoted_value(details.message)),
    "action.copy": lambda details: Wording("Copied", _target(details)),
    "action.delete_head_branch": lambda details: Wording(
        "Branch deleted", _quoted_value(details.branch)
    ),
    "action.dismiss_reviews": lambda details: Wording("Reviews dismissed", _quoted(details.users)),
    "action.edit": _edited,
    "action.label": lambda details: Wording("Labels changed", _added_and_removed(details)),
    "action.merge": lambda details: Wording(
        "Merged by a rule, outside the queue", _quoted_value(details.branch)
    ),
    "action.post_check": _worded_check,
    "action.queue.change": _worded_length,
    "action.queue.checks.change": _running,
    "action.queue.conflict_deferred": _deferred,
    "action.request_reviews": _asked_for_review,
    "action.review": _reviewed,
    "ci_insights.job_retried": _retried,
    "ci_issue.created": lambda details: Wording("CI issue found", _quoted_value(details.job_name)),
    "ci_issue.linked": lambda details: Wording(
        "CI issue seen again", _quoted_value(details.job_name)
    ),
    "ci_issue.renamed": lambda details: Wording(
        "CI issue renamed", _quoted_value(details.new_name)
    ),
    "ci_issue.reopened": lambda details: Wording(
        "CI issue reopened", _quoted_value(details.job_name)
    ),
    "product.disabled": lambda details: Wording("Service feature switched off", _product(details)),
    "product.enabled": lambda details: Wording("Service feature switched on", _product(details)),
}
